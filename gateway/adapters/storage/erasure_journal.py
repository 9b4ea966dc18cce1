"""The journal of erasures: what was asked to be erased, kept in a file outside the database, beside its mark.

An older copy of the database has what was erased since, and not the records that say so: those went with the rest. Only something
beside it can tell. Each erasure that somebody asks for is put here, and reaches the disk, before its transaction; whatever puts
an older copy back erases again what this file names. It holds ids and no text, one signed note a line.

What a retention erased is not in it: the copy knows itself how long it may keep what it has.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, assert_never

import orjson

from gateway.adapters.storage.mark import sync_folder
from gateway.adapters.storage.reader import RECOVER
from gateway.core.canonical import Json, own_bytes
from gateway.core.checkpoint import SigningKey, Unverified, VerificationKey, open_text_of
from gateway.core.errors import LedgerDamaged
from gateway.core.ledger import CallSubject, ConversationSubject, ErasureSubject, PersonSubject

JOURNAL: Final = "ledger.erasures"

FORM: Final = "countersign erasure v1"


def note_erasures(folder: Path, key: SigningKey, subjects: Sequence[ErasureSubject]) -> None:
    """Have these in the journal, on the disk. Raises OSError."""
    lines = b"".join(own_bytes(key.sign_text(f"{FORM}\n{_write(each)}\n")) + b"\n" for each in subjects)
    _append(folder / JOURNAL, lines)


def read_journal(folder: Path, keys: Sequence[VerificationKey]) -> Sequence[ErasureSubject]:
    """What was asked to be erased, each once, in order. `keys` are all that the log has had. Raises LedgerDamaged for a line
    that none of them signed."""
    return tuple(dict.fromkeys(_read_lines(folder, keys)))


def join_journals(folder: Path, other: Path) -> None:
    """Have what another folder's journal names in this folder's, too. Raises OSError."""
    if not (other / JOURNAL).exists():
        return
    path = folder / JOURNAL
    here = path.read_bytes() if path.exists() else b""
    known = set(here.splitlines())
    more = [line for line in (other / JOURNAL).read_bytes().splitlines() if line not in known]
    _append(path, b"".join(line + b"\n" for line in more))


def _append(path: Path, lines: bytes) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "r+b", buffering=0) as file:
        # What a write that failed left of its line is no line.
        end = file.read().rfind(b"\n") + 1
        file.truncate(end)
        file.seek(end)
        if file.write(lines) != len(lines):
            raise OSError(errno.ENOSPC, "no room for the whole line")
        os.fsync(file.fileno())
    sync_folder(path.parent)


def _read_lines(folder: Path, keys: Sequence[VerificationKey]) -> Iterator[ErasureSubject]:
    try:
        raw = (folder / JOURNAL).read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise LedgerDamaged(f"`{JOURNAL}` cannot be read: {error.strerror}; {RECOVER}") from None
    *lines, torn = raw.split(b"\n")
    # A last line without its end was never on the disk whole, so its erasure did not happen either.
    del torn
    for number, line in enumerate(lines, 1):
        subject = _read(line, keys)
        if subject is None:
            raise LedgerDamaged(
                f"line {number} of `{JOURNAL}` was not written by this log's gateway; what it named would come back:"
                " put the file in order, or move it away to go on without it"
            )
        yield subject


def _read(line: bytes, keys: Sequence[VerificationKey]) -> ErasureSubject | None:
    try:
        text = open_text_of(str(orjson.loads(line)), keys)
        if isinstance(text, Unverified):
            return None
        form, content, _ = text.split("\n")
        if form != FORM:
            return None
        match orjson.loads(content):
            case {"conversationId": str(conversation_id), "callId": str(call_id)}:
                return CallSubject(conversation_id, call_id)
            case {"conversationId": str(conversation_id)}:
                return ConversationSubject(conversation_id)
            case {"personId": str(person_id)}:
                return PersonSubject(person_id)
            case _:
                return None
    except ValueError:
        return None


def _write(subject: ErasureSubject) -> str:
    members: dict[str, Json]
    match subject:
        case CallSubject():
            members = {"conversationId": subject.conversation_id, "callId": subject.call_id}
        case ConversationSubject():
            members = {"conversationId": subject.conversation_id}
        case PersonSubject():
            members = {"personId": subject.person_id}
        case _:
            assert_never(subject)
    return own_bytes(members).decode()
