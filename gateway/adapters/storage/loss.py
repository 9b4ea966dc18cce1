"""Going on after a loss: what is missing, what is kept of the damaged files, and the entry that says so in the log.

Nothing here brings back what was lost. It makes the loss a record of its own, so that whoever reads the log later knows of it,
and ends every session: a sign-out or a revoked grant may be among what was lost, and must not come back to life.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson
from sqlalchemy import Connection, delete, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.anchored import AnchoredNote, find_ahead
from gateway.adapters.storage.checks import (
    checking,
    identity_of,
    require_tables,
    require_whole_pages,
    settle_key,
)
from gateway.adapters.storage.commits import Committer, prepare
from gateway.adapters.storage.erasable import name_records, plan_erasure
from gateway.adapters.storage.eraser import Eraser
from gateway.adapters.storage.erasure_journal import JOURNAL, read_journal
from gateway.adapters.storage.identity import begin_epoch, identify
from gateway.adapters.storage.keys import NEXT, SECRET, known_keys, load_or_make_key, read_rotations
from gateway.adapters.storage.log import grow_checked, newest_note, read_leaves
from gateway.adapters.storage.log import read_rotations as read_log_rotations
from gateway.adapters.storage.mark import MARK, Mark, MarkFile, read_mark
from gateway.adapters.storage.migration import migrate
from gateway.adapters.storage.sqlite import DATABASE, WAL, dispose, open_for_writing
from gateway.core.audit import is_sealed
from gateway.core.checkpoint import SigningKey, VerificationKey
from gateway.core.errors import GatewayError, LedgerDamaged, Misconfigured
from gateway.core.key_rotation import KeyRotation
from gateway.core.ledger import AuditKeyRotated, ConsoleSessionEnded, Entry, ErasureReason, LossReason, RecordsLost
from gateway.core.merkle import EMPTY_ROOT

SHARED_MEMORY: Final = "ledger.db-shm"


@dataclass(frozen=True, slots=True)
class Loss:
    """What a state folder lost. `kept` records are left; `changed` are those of them whose payloads are not what was recorded."""

    reason: LossReason
    kept: int
    mark: Mark | None
    last_at: int | None
    changed: tuple[int, ...] = ()

    @property
    def until(self) -> int | None:
        """The size that the log had, where the mark says so."""
        return None if self.mark is None else self.mark.checkpoint.size

    def entry(self, at: int) -> RecordsLost:
        """What goes on record."""
        mark = self.mark
        return RecordsLost(
            at=at,
            reason=self.reason,
            until=self.until,
            root=None if mark is None else mark.checkpoint.root.hex(),
            last_at=self.last_at,
            marked_at=None if mark is None else mark.written_at,
            erased=len(self.changed),
        )


def load_key(folder: Path) -> SigningKey:
    """The key of a log that there was. Raises Misconfigured without one: what it signed could not be told from anything."""
    if not (folder / SECRET).exists():
        raise Misconfigured(f"there is no `{SECRET}` in this state folder; restore a backup with `countersign restore`")
    return load_or_make_key(folder, "", fresh=False)


def load_keys(folder: Path) -> Sequence[VerificationKey]:
    """All keys that the log has had, the present one first. Raises Misconfigured without a present one."""
    return known_keys(folder, load_key(folder).verification_key)


def assess(folder: Path, *, discard: bool = False, anchored: Sequence[AnchoredNote] = ()) -> Loss | None:
    """What is lost in a state folder that is held; None when nothing is. `discard`: the database is given up; `anchored` is what
    lies elsewhere of the log.

    Raises GatewayError for damage that can only be given up, or replaced by a backup.
    """
    _settle(folder, discard=discard)
    keys = load_keys(folder)
    try:
        mark = read_mark(folder, keys)
    except LedgerDamaged:
        mark = None
    path = folder / DATABASE
    if discard or not path.exists() or path.stat().st_size == 0:
        return Loss(LossReason.ABSENT, 0, mark, None)
    with checking(folder) as connection:
        require_whole_pages(connection)
        try:
            revision = require_tables(connection, folder)
        except LedgerDamaged:
            return Loss(LossReason.ABSENT, 0, mark, None)
        frontier, at_mark = grow_checked(connection, keys, None if mark is None else mark.checkpoint.size)
        last_at = _time_of_last(connection)
        changed = _find_changed_payloads(connection)
        identity = identity_of(connection, revision)
        ahead = find_ahead(connection, keys, anchored)
    reason = None
    if ahead is not None and (mark is None or ahead.checkpoint.size > mark.checkpoint.size):
        # More than the mark knows: the folder was put back together with it.
        mark = Mark("" if mark is None else mark.database, ahead.checkpoint, _moment(folder))
        reason = LossReason.SHORTER if ahead.checkpoint.size > frontier.size else LossReason.REPLACED
    elif ahead is not None:
        reason = LossReason.REPLACED
    elif mark is None:
        reason = LossReason.UNMARKED if (folder / MARK).exists() or (identity and identity.epoch) else None
    elif identity is not None and identity.id != mark.database:
        reason = LossReason.REPLACED
    elif at_mark is None:
        reason = LossReason.SHORTER
    elif at_mark != mark.checkpoint.root:
        reason = LossReason.REPLACED
    if reason is None and changed:
        reason = LossReason.CHANGED
    return None if reason is None else Loss(reason, frontier.size, mark, last_at, changed)


def _moment(folder: Path) -> int:
    """When the newest of the files here was written, in epoch milliseconds."""
    return int(max(each.stat().st_mtime for each in folder.iterdir() if each.is_file()) * 1000)


def _settle(folder: Path, *, discard: bool) -> None:
    """A handing over of the key that was cut off: finished where the record of it is left, otherwise it did not happen."""
    path = folder / DATABASE
    if not (folder / NEXT).exists():
        return
    if discard or not path.exists() or path.stat().st_size == 0:
        (folder / NEXT).unlink()
        return
    with checking(folder) as connection:
        settle_key(connection, folder)


def set_aside(folder: Path, name: str) -> Path:
    """Copy the files of the database and its mark into a folder of that name; gives the folder. Raises Misconfigured."""
    aside = folder / name
    try:
        aside.mkdir(mode=0o700)
        for file in (DATABASE, WAL, SHARED_MEMORY, MARK, JOURNAL):
            if (folder / file).exists():
                shutil.copy2(folder / file, aside / file)
    except OSError as error:
        raise Misconfigured(f"the damaged files cannot be kept in `{name}`: {error.strerror}") from None
    return aside


def find_set_aside(folder: Path) -> Sequence[Path]:
    """The folders with databases that were set aside, oldest first."""
    return sorted(found for pattern in ("replaced-*", "damaged-*") for found in folder.glob(pattern) if found.is_dir())


def remove_database(folder: Path) -> None:
    """Before another one takes its place; a copy was set aside."""
    for file in (WAL, SHARED_MEMORY, DATABASE):
        (folder / file).unlink(missing_ok=True)


def go_on(folder: Path, loss: Loss, at: int) -> int:
    """Write the loss into the log of a state folder that is held; gives the index of its record. `at` is the time now.

    A kill on the way leaves a folder that still has to be recovered: the mark is written last.
    """
    key, keys = load_key(folder), load_keys(folder)
    path = folder / DATABASE
    erased_before = read_journal(folder, keys)
    if loss.reason is LossReason.ABSENT:
        remove_database(folder)
    path.touch(mode=0o600)
    with dispose(open_for_writing(path)) as engine:
        with engine.begin() as connection:
            migrate(connection)
            identity = identify(connection)
            epoch = begin_epoch(connection)
            frontier, _ = grow_checked(connection, keys)
            _erase_kept(connection, loss.changed)
        committer = Committer(engine, key, frontier, epoch)
        with engine.connect() as connection:
            with connection.begin():
                named = name_records(loss.changed, ErasureReason.DAMAGED, at)
                rotations = [AuditKeyRotated(at, each) for each in _find_unrecorded(connection, folder, key)]
                entries: Sequence[Entry] = [*rotations, loss.entry(at), *named, *_end_sessions(connection, at)]
            _commit(committer, connection, entries)
            for subject in erased_before:
                # It was erased once, and may be there again in an older copy of the database.
                with connection.begin():
                    entries = plan_erasure(connection, subject, ErasureReason.RESTORED, at)
                _commit(committer, connection, entries)
            Eraser(folder, key).finish(connection)
            with connection.begin():
                note = newest_note(connection) or key.sign(0, EMPTY_ROOT)
        MarkFile(folder, key, identity.id, note).close()
    return frontier.size + len(rotations)


def _find_unrecorded(connection: Connection, folder: Path, key: SigningKey) -> Sequence[KeyRotation]:
    """How the log's key was handed over, as far as the records that are left do not say it: those that did are lost, or are not
    in an older copy. Without them nobody could tell why another key signs what follows."""
    recorded = {orjson.loads(leaf.body)["toKey"] for leaf in read_log_rotations(connection)}
    return [each for each in read_rotations(folder, key.verification_key) if each.to_key not in recorded]


def _commit(committer: Committer, connection: Connection, entries: Sequence[Entry]) -> None:
    (outcome,) = committer.commit(connection, [[prepare(entry) for entry in entries]])
    if isinstance(outcome, GatewayError):
        raise outcome


def _time_of_last(connection: Connection) -> int | None:
    newest = select(t.leaves.c.body).order_by(t.leaves.c.position.desc()).limit(1)
    body = connection.execute(newest).scalar()
    return None if body is None else orjson.loads(body).get("at")


def _find_changed_payloads(connection: Connection) -> tuple[int, ...]:
    return tuple(
        leaf.index
        for leaf in read_leaves(connection)
        if leaf.payload is not None and not is_sealed(leaf.body, leaf.salt, leaf.payload)
    )


def _erase_kept(connection: Connection, positions: Sequence[int]) -> None:
    """The texts and bytes that were kept with calls whose results were changed."""
    for position in positions:
        for kept in (t.kept_results, t.attachments):
            call = select(t.calls).where(
                t.calls.c.closing_leaf == position,
                t.calls.c.conversation_id == kept.c.conversation_id,
                t.calls.c.call_id == kept.c.call_id,
            )
            connection.execute(delete(kept).where(call.exists()))


def _end_sessions(connection: Connection, at: int) -> list[Entry]:
    sessions = t.console_sessions
    live = select(sessions.c.id, sessions.c.principal_id).where(sessions.c.ended_at.is_(None))
    return [ConsoleSessionEnded(at, row.id, row.principal_id, "recovered") for row in connection.execute(live)]
