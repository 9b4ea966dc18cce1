"""Looking at a log from outside: in the database of a gateway that may be running, or in an exported file.

An export is JSON lines, each beginning with its `type`: one `log` with the verification key, every `descriptor` and `snapshot`
that was published, then the `leaf`s by index with each `checkpoint` after the last leaf it covers. Bodies and payloads are
plain JSON; their hashes are over its RFC 8785 form, so any verifier can make them again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Protocol

import orjson
from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage import log, tables
from gateway.adapters.storage.decisions import read_decisions, read_policies, read_policy_versions
from gateway.adapters.storage.keys import load_verification_key
from gateway.adapters.storage.projections.audit import read_audit_row, select_leaves
from gateway.adapters.storage.sqlite import DATABASE, hold_snapshot, open_for_reading
from gateway.core.canonical import Json, canonical_bytes, parse
from gateway.core.checkpoint import VerificationKey, read_verification_key
from gateway.core.errors import LedgerUnavailable, MalformedJson, Misconfigured
from gateway.core.signed_answers import AnswerCheck
from gateway.core.verification import LeafRecord, LogReport, SnapshotRecord, verify
from gateway.runtime.ports import AuditQuery, AuditRow, DamagedPolicy, LoadedPolicy, RecordedDecision

EXPORT_VERSION: Final = 1


class Log(Protocol):
    """A whole log at one moment."""

    @property
    def key(self) -> VerificationKey: ...
    def leaves(self) -> Iterator[LeafRecord]: ...
    def notes(self) -> Iterator[str]: ...
    def snapshots(self) -> Iterator[SnapshotRecord]: ...


def examine(
    examined: Log,
    key: VerificationKey | None = None,
    anchor: str | None = None,
    *,
    every_signature: bool = False,
    check_answer: AnswerCheck | None = None,
) -> LogReport:
    """Check a log with its own key, or with one that was kept elsewhere.

    A gateway with one caller signs for every record, and a signature takes longer to check than ten records. So the newest is
    checked first, which covers them all; only where something is wrong, or when asked, each is, to name the first bad record.
    """

    def check(*, newest_only: bool) -> LogReport:
        return verify(
            examined.leaves(),
            examined.notes(),
            key or examined.key,
            snapshots=examined.snapshots(),
            anchor=anchor,
            newest_only=newest_only,
            check_answer=check_answer,
        )

    if not every_signature and (report := check(newest_only=True)).sound:
        return report
    return check(newest_only=False)


@dataclass(frozen=True, slots=True)
class StoredLog:
    """The log in a database, in one read transaction: further writes of the gateway do not change what it reads."""

    key: VerificationKey
    connection: Connection

    def leaves(self) -> Iterator[LeafRecord]:
        """By index."""
        return log.read_leaves(self.connection)

    def notes(self) -> Iterator[str]:
        """By size."""
        return log.read_notes(self.connection)

    def snapshots(self) -> Iterator[SnapshotRecord]:
        """In no order."""
        return log.read_snapshots(self.connection)

    def rows(self, query: AuditQuery) -> Sequence[AuditRow]:
        """What matches, newest first."""
        return [read_audit_row(row) for row in self.connection.execute(select_leaves(query))]

    def policies(self) -> Sequence[LoadedPolicy]:
        """Every time that another policy came into force, newest first."""
        return read_policies(self.connection)

    def policy_versions(self) -> Iterator[LoadedPolicy | DamagedPolicy]:
        """The same, one by one, so that one that is damaged does not hide the others."""
        return read_policy_versions(self.connection)

    def decisions(self, since: int) -> Iterator[RecordedDecision]:
        """What was decided about each call since a moment, in epoch milliseconds."""
        return read_decisions(self.connection, since)

    def names(self) -> Mapping[str, str]:
        """What people are called, by their ids."""
        return {row.id: row.name for row in self.connection.execute(select(tables.principals))}

    def newest_note(self) -> str | None:
        """The newest checkpoint."""
        return log.newest_note(self.connection)

    def export(self, file: IO[bytes]) -> int:
        """Write everything to a file, and give the number of leaves."""
        descriptors = log.read_descriptors(self.connection)
        _write(file, {"type": "log", "v": EXPORT_VERSION, "key": self.key.line()})
        for digest, body in descriptors.items():
            _write(file, {"type": "descriptor", "digest": digest, "body": body})
        for digest, body in log.read_compact_snapshots(self.connection):
            _write(file, {"type": "snapshot", "digest": digest, "body": body})
        notes = log.read_notes(self.connection)
        note = next(notes, None)
        count = 0
        for leaf in self.leaves():
            _write(file, _leaf_line(leaf))
            count += 1
            while note is not None and _size_of(note) <= count:
                _write(file, {"type": "checkpoint", "note": note})
                note = next(notes, None)
        while note is not None:
            _write(file, {"type": "checkpoint", "note": note})
            note = next(notes, None)
        return count


@contextmanager
def open_stored_log(directory: Path) -> Generator[StoredLog]:
    """The log of a state directory, read-only. Raises Misconfigured where there is none, LedgerUnavailable if unreadable."""
    path = directory / DATABASE
    if not path.is_file():
        raise Misconfigured(f"there is no `{DATABASE}` in `{directory}`; name the gateway's state folder with --state")
    key = load_verification_key(directory)
    engine = open_for_reading(path)
    try:
        with engine.connect() as connection:
            hold_snapshot(connection)
            yield StoredLog(key, connection)
    except DBAPIError as error:
        raise LedgerUnavailable(f"the database cannot be read: {error.orig}") from None
    finally:
        engine.dispose()


def verify_stored_log(directory: Path, check_answer: AnswerCheck | None = None) -> LogReport:
    """Check the log of a state directory with its own key. Raises what `open_stored_log` raises."""
    with open_stored_log(directory) as stored:
        return examine(stored, check_answer=check_answer)


class ExportedLog:
    """The log in an exported file. The file is read anew for each kind of line, so that a long one needs little memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        header = next(self._lines("log"), None)
        if header is None or header.get("v") != EXPORT_VERSION:
            raise Misconfigured(f"`{path}` is no export of this version of the audit log")
        self.key = read_verification_key(str(header.get("key")))

    def leaves(self) -> Iterator[LeafRecord]:
        """As they stand in the file."""
        for line in self._lines("leaf"):
            try:
                payload: Json = line["payload"]
                yield LeafRecord(
                    index=line["index"],
                    hash=bytes.fromhex(line["hash"]),
                    body=canonical_bytes(line["body"]),
                    salt=None if line["salt"] is None else bytes.fromhex(line["salt"]),
                    payload=None if payload is None else canonical_bytes(payload),
                )
            except (KeyError, TypeError, ValueError, MalformedJson):
                raise self._malformed() from None

    def notes(self) -> Iterator[str]:
        """As they stand in the file."""
        for line in self._lines("checkpoint"):
            yield str(line.get("note"))

    def snapshots(self) -> Iterator[SnapshotRecord]:
        """With their tools put back."""
        try:
            descriptors = {line["digest"]: line["body"] for line in self._lines("descriptor")}
            for line in self._lines("snapshot"):
                yield SnapshotRecord(line["digest"], log.restore_snapshot(line["body"], descriptors))
        except (KeyError, TypeError, ValueError):
            raise self._malformed() from None

    def _lines(self, kind: str) -> Iterator[dict[str, Json]]:
        start = b'{"type":"%b",' % kind.encode()
        try:
            with self._path.open("rb") as file:
                for line in file:
                    if line.startswith(start):
                        yield parse(line)
        except OSError as error:
            raise Misconfigured(f"`{self._path}` cannot be read: {error.strerror}") from None
        except MalformedJson:
            raise self._malformed() from None

    def _malformed(self) -> Misconfigured:
        return Misconfigured(f"`{self._path}` has a line that no export has")


def _leaf_line(leaf: LeafRecord) -> dict[str, Json]:
    return {
        "type": "leaf",
        "index": leaf.index,
        "hash": leaf.hash.hex(),
        "body": orjson.Fragment(leaf.body),
        "salt": None if leaf.salt is None else leaf.salt.hex(),
        "payload": None if leaf.payload is None else orjson.Fragment(leaf.payload),
    }


def _size_of(note: str) -> int:
    """The size that a note claims; 0 for one that claims none, so that it is exported where it will be noticed."""
    size = note.split("\n")[1:2]
    return int(size[0]) if size and size[0].isdecimal() else 0


def _write(file: IO[bytes], line: Mapping[str, Any]) -> None:
    file.write(orjson.dumps(line) + b"\n")
