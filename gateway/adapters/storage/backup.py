"""Backups: one file with the database at one moment and the keys of its log, checked before it counts, and put back.

The file is a tar archive, so that nothing of this version is needed to look into it. It holds the key that signs the log, for
without it a restored log cannot be continued: whoever has the file can read everything and sign in the log's name.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage.anchored import AnchoredNote
from gateway.adapters.storage.checks import checking, require_whole_pages
from gateway.adapters.storage.erasure_journal import JOURNAL, join_journals, read_journal
from gateway.adapters.storage.inspection import examine, open_stored_log
from gateway.adapters.storage.keys import NEXT, PUBLIC, ROTATIONS, SECRET, leave_no_core_file
from gateway.adapters.storage.loss import Loss, assess, go_on, load_key, load_keys, remove_database, set_aside
from gateway.adapters.storage.readable import explain
from gateway.adapters.storage.sqlite import DATABASE, choose_driver, copy_online, require_database
from gateway.core.errors import GatewayError, LedgerDamaged, LedgerUnavailable, Misconfigured
from gateway.core.verification import LogReport

HELD: Final = (DATABASE, SECRET, PUBLIC)
"""What a backup holds. Cookies' key is not among it: everybody signs in again after a restore."""

BESIDE: Final = (JOURNAL, ROTATIONS)
"""What it holds where there is one: what was erased, and how the log's key was handed over."""

OnProgress = Callable[[int, int], None]
"""Told how many pages of how many are copied."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was checked."""

    report: LogReport
    size: int


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did: what is missing since the backup, on record at `index`, and where the files before are kept."""

    report: LogReport
    loss: Loss | None
    index: int | None
    aside: Path | None


def back_up(folder: Path, file: Path, on_progress: OnProgress) -> Backup:
    """Write a backup of a state folder, beside a running gateway or without one. Raises GatewayError; no file is left then."""
    leave_no_core_file()
    require_database(folder)
    load_key(folder)
    _require_free(file)
    if (folder / NEXT).exists():
        raise Misconfigured("the log's key is being changed, or that was cut off; start the gateway, which finishes it")
    with _workplace(file.absolute().parent) as work:
        _copy_database(folder / DATABASE, work / DATABASE, on_progress)
        for name in (SECRET, PUBLIC):
            shutil.copy(folder / name, work / name)
        held = [*HELD]
        for name in BESIDE:
            # After the database: whatever the copy has erased, its journal names.
            if (folder / name).exists():
                shutil.copy(folder / name, work / name)
                held.append(name)
        report = _verify(work)
        part = work / "backup"
        with _open_private(part) as raw, tarfile.open(fileobj=raw, mode="w") as archive:
            for name in held:
                archive.add(work / name, name)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        size = part.stat().st_size
        part.replace(file)
    return Backup(report, size)


def require_backup(file: Path) -> None:
    """Raises Misconfigured for what is no backup by the names in it, or cannot be read. Whether it is sound is not looked at."""
    if not file.is_file():
        raise Misconfigured(f"`{file}` is no regular file")
    with _opened(file) as archive:
        for name in HELD:
            archive.getmember(name)


def has_record(folder: Path) -> bool:
    """Whether a restore there would replace anything."""
    return any((folder / name).exists() for name in (DATABASE, SECRET))


def restore(file: Path, folder: Path, at: int, stamp: str, anchored: Sequence[AnchoredNote] = ()) -> Restored:
    """Put a backup in place of what a held state folder has. `at` is the time now, `stamp` names what is set aside; `anchored` is
    what lies elsewhere of the log.

    Raises GatewayError, before anything is changed, for a file that is no sound backup of this log.
    """
    leave_no_core_file()
    with _workplace(folder) as work:
        _unpack(file, work)
        report = _verify(work)
        newer = _is_newer_key(work, folder)
        for journal in (work, folder):
            read_journal(journal, load_keys(work if newer else folder))
        aside = set_aside(folder, f"replaced-{stamp}") if has_record(folder) else None
        for name in (SECRET, PUBLIC, ROTATIONS):
            if newer and (work / name).exists():
                (work / name).replace(folder / name)
        remove_database(folder)
        join_journals(folder, work)
        (work / DATABASE).replace(folder / DATABASE)
    loss = assess(folder, anchored=anchored)
    return Restored(report, loss, None if loss is None else go_on(folder, loss, at), aside)


def _require_free(file: Path) -> None:
    """Raises Misconfigured where the backup would replace something else than a backup."""
    if not os.path.lexists(file) or (file.is_file() and file.stat().st_size == 0):
        return
    try:
        require_backup(file)
    except Misconfigured:
        raise Misconfigured(
            f"`{file}` is there already and is no backup; nothing is written over it, so name another file"
        ) from None


def _copy_database(source: Path, target: Path, on_progress: OnProgress) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        copy_online(source, target, on_progress)
    except choose_driver().Error as error:
        raise LedgerUnavailable(f"the database cannot be copied: {error}") from None
    except DBAPIError as error:
        # Of the first read, before anything is copied.
        raise explain(error) from None


def _verify(work: Path) -> LogReport:
    """Look at every page and every record. Raises LedgerDamaged."""
    with checking(work) as connection:
        require_whole_pages(connection)
    with open_stored_log(work) as stored:
        report = examine(stored)
    if report.fault is not None:
        raise LedgerDamaged(f"the copy is not sound: {report.fault.detail}")
    return report


def _unpack(file: Path, work: Path) -> None:
    with _opened(file) as archive:
        names = archive.getnames()
        for name in (*HELD, *(each for each in BESIDE if each in names)):
            # None for a member that is no file: a TypeError, as for any other archive that is not ours.
            with cast("IO[bytes]", archive.extractfile(name)) as content, _open_private(work / name) as copy:
                shutil.copyfileobj(content, copy)


@contextmanager
def _opened(file: Path) -> Generator[tarfile.TarFile]:
    """The archive. Raises Misconfigured for what turns out to be none, or not all of one, while it is read."""
    try:
        with tarfile.open(file, mode="r:") as archive:
            yield archive
    except (tarfile.TarError, KeyError, TypeError, EOFError):
        raise Misconfigured(f"`{file}` is no backup that `countersign backup` made, or not all of one") from None
    except OSError as error:
        raise Misconfigured(f"`{file}` cannot be read: {error.strerror}") from None


def _is_newer_key(work: Path, folder: Path) -> bool:
    """Whether the backup's key is the one to go on with: the folder has none, or one that was handed over to the backup's.

    Raises Misconfigured when the folder has another log: its records are not what the backup could replace.
    """
    if not (folder / SECRET).exists():
        return True
    there, here = load_keys(work), load_keys(folder)
    if there[0] in here:
        return False
    if here[0] not in there:
        raise Misconfigured(
            f"the backup is of the log `{there[0].name}`, whose key is not the one in this state folder, nor one before it"
        )
    return True


@contextmanager
def _workplace(folder: Path) -> Generator[Path]:
    """A folder for one's owner only, on the same file system, that is gone afterwards."""
    try:
        with tempfile.TemporaryDirectory(prefix=".countersign-", dir=folder) as work:
            yield Path(work)
    except GatewayError:
        raise
    except OSError as error:
        raise LedgerUnavailable(f"`{folder}` cannot be written: {error.strerror}") from None


def _open_private(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")
