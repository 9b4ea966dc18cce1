"""The high-water mark: how far the log had come, kept in a file outside the database.

A database that lost its newest transactions is whole: an older copy, a write-ahead log that was torn, cut or removed. Only
something beside it can tell. Each batch writes the checkpoint that it signed into this file after its commit, so a log that is
shorter than the mark has lost what was acknowledged. A mark that is behind the log is no loss: a crash came between the two.

The file has two slots. The one in use is written with every batch and reaches the disk about once a second; then the other is
used, so that a power failure can tear one of them at most. A slot holds two signed notes: which database, and how far.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.adapters.storage.reader import RECOVER
from gateway.core.checkpoint import Checkpoint, SigningKey, Unverified, VerificationKey, open_note_of, open_text_of
from gateway.core.errors import LedgerDamaged

MARK: Final = "ledger.mark"

SLOT_SIZE: Final = 4_096
"""One page, which no file system writes in parts that overlap the other slot."""

SYNC_SECONDS: Final = 1.0
"""How old the mark on the disk may be. What a power failure can hide is what was committed within that time."""

FORM: Final = "countersign ledger mark v1"
_SEPARATOR: Final = "---\n"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Mark:
    """The log of that database had come so far. `written_at` is the file's time, in epoch milliseconds."""

    database: str
    checkpoint: Checkpoint
    written_at: int


class MarkFile:
    """The mark, while a writer keeps it. For one thread at a time."""

    def __init__(self, folder: Path, key: SigningKey, database: str, note: str) -> None:
        """Begin a new file that says what `note` says, whatever the old one held. Raises OSError."""
        self._header = key.sign_text(f"{FORM}\n{database}\n") + _SEPARATOR
        part = folder / f"{MARK}.part"
        part.unlink(missing_ok=True)
        self._file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._slot = 0
        self._synced_at = time.monotonic()
        self._unsynced = False
        self._failed = False
        # Both slots have their place from now on, so that no later write needs room on the disk.
        os.pwrite(self._file, bytes(2 * SLOT_SIZE), 0)
        self._put(note)
        os.fsync(self._file)
        part.rename(folder / MARK)
        sync_folder(folder)

    @property
    def unsynced(self) -> bool:
        """Whether the newest mark may not be on the disk yet."""
        return self._unsynced

    def write(self, note: str) -> None:
        """The log has come so far. A mark that cannot be written stays behind, which is no alarm."""
        try:
            self._put(note)
            self._unsynced = True
            if time.monotonic() - self._synced_at >= SYNC_SECONDS:
                self.sync()
            self._failed = False
        except OSError as error:
            if not self._failed:
                _log.error("`%s` cannot be written: %s", MARK, error.strerror)
            self._failed = True

    def sync(self) -> None:
        """Have the newest mark on the disk, and use the other slot from now on. Raises OSError."""
        os.fdatasync(self._file)
        self._slot = 1 - self._slot
        self._synced_at = time.monotonic()
        self._unsynced = False

    def settle(self) -> None:
        """Sync, whether or not that works."""
        try:
            self.sync()
        except OSError as error:
            _log.error("`%s` cannot be written: %s", MARK, error.strerror)

    def close(self) -> None:
        """Sync, and let go of the file."""
        self.settle()
        os.close(self._file)

    def _put(self, note: str) -> None:
        # A slot's text only grows, with the digits of the size, so nothing of an older one can stay behind it.
        os.pwrite(self._file, f"{self._header}{note}".encode(), self._slot * SLOT_SIZE)


def read_mark(folder: Path, keys: Sequence[VerificationKey]) -> Mark | None:
    """The newest mark of a state folder, None where there is no file. Raises LedgerDamaged where no slot holds one.

    `keys` are all that the log has had: when its key was handed over to another, the mark may be older than that.
    """
    path = folder / MARK
    try:
        raw = path.read_bytes()
        written_at = int(path.stat().st_mtime * 1000)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LedgerDamaged(f"`{MARK}` cannot be read: {error.strerror}; {RECOVER}") from None
    slots = (_read_slot(raw[start : start + SLOT_SIZE], keys, written_at) for start in (0, SLOT_SIZE))
    found = [mark for mark in slots if mark is not None]
    if not found:
        raise LedgerDamaged(f"`{MARK}` is damaged or was signed by another key; {RECOVER}")
    return max(found, key=lambda mark: mark.checkpoint.size)


def _read_slot(raw: bytes, keys: Sequence[VerificationKey], written_at: int) -> Mark | None:
    try:
        header, separator, note = raw.rstrip(b"\0").decode().partition(_SEPARATOR)
    except UnicodeDecodeError:
        return None
    text, checkpoint = open_text_of(header, keys), open_note_of(note, keys)
    if not separator or isinstance(text, Unverified) or isinstance(checkpoint, Unverified):
        return None
    match text.split("\n"):
        case [form, database, ""] if form == FORM:
            return Mark(database, checkpoint, written_at)
        case _:
            return None


def sync_folder(folder: Path) -> None:
    """Have a folder's list of names on the disk. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
