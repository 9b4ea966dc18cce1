"""Looking at a log from outside, in the database of a gateway that may be running."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage import log, tables
from gateway.adapters.storage.decisions import DecisionReader, read_decisions, read_policies, read_policy_versions
from gateway.adapters.storage.history.places import HISTORY, LeafPlaces, open_places
from gateway.adapters.storage.keys import load_verification_key
from gateway.adapters.storage.projections.audit import read_audit_row, select_leaves
from gateway.adapters.storage.readable import explain, require_readable, require_some_database
from gateway.adapters.storage.sqlite import (
    DATABASE,
    FileId,
    choose_driver,
    hold_snapshot,
    identify_file,
    open_for_checking,
    open_for_reading,
)
from gateway.core.anchors import AnchorTrust, Evidence
from gateway.core.canonical import Json
from gateway.core.checkpoint import Checkpoint, VerificationKey, read_note
from gateway.core.merkle_tiles import TiledTree
from gateway.core.signed_answers import AnswerCheck
from gateway.core.verification import LaterRecords, LeafRecord, LogFault, LogReport, SnapshotRecord, read_keys, verify
from gateway.runtime.ports import AuditQuery, AuditRow, DamagedPolicy, LoadedPolicy, RecordedDecision


class Log(Protocol):
    """A whole log at one moment."""

    @property
    def key(self) -> VerificationKey: ...
    def leaves(self) -> Iterator[LeafRecord]: ...
    def notes(self) -> Iterator[str]: ...
    def snapshots(self) -> Iterator[SnapshotRecord]: ...
    def rotations(self) -> Iterator[LeafRecord]: ...


def examine(
    examined: Log,
    key: VerificationKey | None = None,
    anchor: str | None = None,
    *,
    evidence: Sequence[Evidence] = (),
    trust: AnchorTrust | None = None,
    every_signature: bool = False,
    check_answer: AnswerCheck | None = None,
    later: LaterRecords | None = None,
) -> LogReport:
    """Check a log with its own keys, or with one that was kept elsewhere and those that it was handed over to and from.

    A gateway with one caller signs for every record, and a signature takes longer to check than ten records. So the newest is
    checked first, which covers them all; only where something is wrong, or when asked, each is, to name the first bad record.
    """

    keys = read_keys(examined.rotations(), examined.key, key)
    if isinstance(keys, LogFault):
        return LogReport(fault=keys)

    def check(*, newest_only: bool) -> LogReport:
        return verify(
            examined.leaves(),
            examined.notes(),
            keys,
            snapshots=examined.snapshots(),
            anchor=anchor,
            evidence=evidence,
            trust=trust,
            newest_only=newest_only,
            check_answer=check_answer,
            later=later,
        )

    if not every_signature and (report := check(newest_only=True)).sound:
        return report
    return check(newest_only=False)


@dataclass(frozen=True, slots=True)
class StoredLog:
    """The log in a database, in one read transaction: further writes of the gateway do not change what it reads."""

    key: VerificationKey
    connection: Connection
    places: LeafPlaces

    def leaves(self) -> Iterator[LeafRecord]:
        """By index."""
        return log.read_leaves(self.connection)

    def leaves_after(self, index: int | None, most: int) -> Iterator[LeafRecord]:
        """The next records after that one, by index."""
        return log.read_leaves_after(self.connection, index, most)

    def without_payload(self, indices: Iterable[int]) -> frozenset[int]:
        """Those of these records that have none, or none any more."""
        return log.without_payload(self.connection, indices)

    def notes_after(self, size: int | None) -> Iterator[tuple[int, str]]:
        """The checkpoints over more records than that, each with their number."""
        return log.read_notes_after(self.connection, size)

    def notes(self) -> Iterator[str]:
        """By size."""
        return log.read_notes(self.connection)

    def snapshots(self) -> Iterator[SnapshotRecord]:
        """In no order."""
        return log.read_snapshots(self.connection)

    def rotations(self) -> Iterator[LeafRecord]:
        """The records with which its key was handed over, by index."""
        return log.read_rotations(self.connection)

    def tree(self, checkpoint: Checkpoint) -> TiledTree:
        """The tree that it is over."""
        return self.places.tree(checkpoint.size, checkpoint.root)

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

    def decisions_after(self, reader: DecisionReader, size: int) -> Iterator[RecordedDecision]:
        """What the next records decided, at most so many records, from where the reader is."""
        return reader.read_stretch(self.connection, size)

    def payload_at(self, position: int) -> Mapping[str, Json] | None:
        """The payload of a record; None where there is none any more."""
        row = self.connection.execute(select(tables.leaves).where(tables.leaves.c.position == position)).one_or_none()
        return None if row is None else read_audit_row(row).payload

    def names(self) -> Mapping[str, str]:
        """What people are called, by their ids."""
        return {row.id: row.name for row in self.connection.execute(select(tables.principals))}

    def newest_note(self) -> str | None:
        """The newest checkpoint."""
        return log.newest_note(self.connection)

    def has_anchored(self, note: str) -> bool:
        """Whether a checkpoint is one that this log made, and has still."""
        claimed = read_note(note, self.key)
        if not isinstance(claimed, Checkpoint):
            return False
        own = log.note_over(self.connection, claimed.size)
        return own is not None and read_note(own, self.key) == claimed


class StoredLogReader:
    """Opens the log of one state directory again and again. The statements stay as they were written for the database, which
    takes longer than to run most of them. For one thread at a time."""

    def __init__(self, directory: Path, *, stays_open: bool = False) -> None:
        """Opens nothing. `stays_open`: between two times the connections stay open, outside any transaction, as long as the files
        are the same: to open them takes as long as to read a receipt. Whoever wants that closes it."""
        self._directory = directory
        self._stays_open = stays_open
        self._log = open_for_reading(directory / DATABASE)
        self._places = open_for_checking(directory / HISTORY)
        self._files: tuple[FileId, FileId] | None = None
        """The two that the open connections are to, and whose tables were looked at."""

    @contextmanager
    def open(self) -> Generator[StoredLog]:
        """The log as it is now, read-only. Raises Misconfigured where there is none or it is of a newer version,
        LedgerDamaged, and LedgerUnavailable if unreadable."""
        require_some_database(self._directory)
        key = load_verification_key(self._directory)
        files = identify_file(self._directory / DATABASE), identify_file(self._directory / HISTORY)
        if files != self._files:
            # A history that was damaged is made anew under its name while the gateway runs.
            self.close()
        try:
            with self._log.connect() as connection:
                hold_snapshot(connection)
                if self._files is None:
                    require_readable(connection)
                with open_places(self._directory, connection, self._places) as places:
                    yield StoredLog(key, connection, places)
                self._files = files
        except (DBAPIError, choose_driver().Error) as error:
            self.close()
            # The driver's own where it is asked directly.
            raise explain(error) from None
        finally:
            if not self._stays_open:
                self.close()

    def close(self) -> None:
        """Close the connections; the next time opens others."""
        self._files = None
        self._log.dispose()
        self._places.dispose()


@contextmanager
def open_stored_log(directory: Path) -> Generator[StoredLog]:
    """The log of a state directory, once, as `StoredLogReader.open` gives it."""
    with StoredLogReader(directory).open() as stored:
        yield stored
