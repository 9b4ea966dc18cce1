"""Batches of submissions, each made durable in one transaction with its audit leaves and one signed checkpoint.

There are no savepoints (they cost two thirds of the rate, measured): a batch that fails is rolled back whole. Where one of its
submissions may be at fault each is tried alone, so that only the faulty one fails. Where the database itself is, all of them
fail together: trying each would have every caller wait for the lock as often as there are callers.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage.eraser import Erasure, erasure_of
from gateway.adapters.storage.identity import READ_EPOCH
from gateway.adapters.storage.projections import changes
from gateway.adapters.storage.projections.audit import ADD_CHECKPOINT, ADD_LEAF, KEEP_FRONTIER
from gateway.adapters.storage.projections.calls import GROUP_ORDER
from gateway.adapters.storage.projections.turns import definitions_of, keep_definition
from gateway.adapters.storage.record_texts import LONGEST_QUESTION, AskedCall, QuestionText, asked_call, pack
from gateway.adapters.storage.sqlite import DATABASE, is_busy, is_full, is_read_only, write_at_once
from gateway.adapters.storage.statements import LEAF, ROWS_AT_ONCE, Change, CompiledStatements, Statement
from gateway.core.audit import SALT_SIZE, seal
from gateway.core.checkpoint import SigningKey
from gateway.core.errors import GatewayError, IllegalStep, LedgerBusy, LedgerSuperseded, LedgerUnavailable, MalformedJson
from gateway.core.ledger import Entry
from gateway.core.merkle import Frontier, grow, leaf_hash
from gateway.core.model import PublishedTool

_log = logging.getLogger(__name__)


FRONTIER_EVERY = 4_096
"""Records between two frontiers that are kept, of some 900 bytes each: so many more are read before a start, at most."""

_MOST_KNOWN = 16_384
"""Definitions that are known to be on record, of some 130 bytes each. Forgetting them costs looking them up again."""


class Prepared(NamedTuple):
    """An entry ready to be written: its leaf (no hash: not audited), its changes, the tools whose definitions it rests
    on, and what it erases, if anything."""

    changes: Sequence[Change]
    hash: bytes | None = None
    body: str = ""
    salt: bytes | None = None
    payload: bytes | None = None
    definitions: Sequence[PublishedTool] = ()
    erasure: Erasure | None = None
    asked: AskedCall | None = None
    """Whose record it is, if the body is packed when it is written, which is the writer's work."""


_MOST_QUESTIONS = 1_024
"""Questions whose texts are at hand for the later records of their calls, of 2 KiB at most. Without, those take some more."""

Outcome = tuple[int | None, ...] | GatewayError
"""The audit indices of a submission's entries, or why none of them was written."""


def prepare(entry: Entry, salt: Callable[[int], bytes] = os.urandom) -> Prepared:
    """Make an entry ready. `salt` gives that many random bytes. Raises LedgerUnavailable for what cannot be written down."""
    try:
        leaf = entry.leaf()
        if leaf is None:
            return Prepared(changes(entry))
        chosen = None if leaf.payload is None else salt(SALT_SIZE)
        body, asked = seal(leaf, chosen or b""), asked_call(leaf.body)
        return Prepared(
            changes(entry), leaf_hash(body), body.decode(), chosen, leaf.payload, definitions_of(entry), erasure_of(entry), asked
        )
    except (MalformedJson, orjson.JSONEncodeError, UnicodeError):
        # Text that is no Unicode, or a number that no two readers agree on.
        raise LedgerUnavailable("this entry cannot be written down") from None


class Committer:
    """Writes batches, and carries the tree's frontier from one to the next. For one thread at a time."""

    def __init__(
        self, engine: Engine, key: SigningKey, frontier: Frontier, epoch: int, statements: CompiledStatements | None = None
    ) -> None:
        """`epoch` is the one that this writer began. `statements` that were compiled before, for this dialect; otherwise each is
        compiled when it is first needed."""
        self._driver: Any = engine.dialect.dbapi
        self._key = key
        self._frontier = frontier
        self._keeps_frontier = True
        """With its first batch, so that there is one in a database of an earlier version."""
        self._epoch = epoch
        self._read_epoch = str(READ_EPOCH.compile(dialect=engine.dialect))
        self._statements = statements or CompiledStatements(engine.dialect)
        self._on_record: set[str] = set()
        """Digests of definitions that this writer has written, or found written. Nothing ever removes one."""
        self._questions: dict[tuple[str, str], QuestionText] = {}
        """By call, in the order of their writing. Only what was committed is there, since others are packed with it."""
        self.note: str | None = None
        """The checkpoint of the last batch that was written, where it had one."""

    def commit(self, connection: Connection, batch: Sequence[Sequence[Prepared]]) -> list[Outcome]:
        """Write the submissions of a batch. Whatever failed is in the outcome of the submission that caused it."""
        try:
            with write_at_once(connection) as cursor:
                new = self._find_new_definitions(batch)
                questions: dict[tuple[str, str], QuestionText] = {}
                indices, frontier, note = self._write(cursor, batch, new, questions)
        except Exception as error:  # noqa: BLE001 - whatever failed, the waiting caller must get the error
            if len(batch) > 1 and self._may_be_one_submissions(error):
                return [outcome for submission in batch for outcome in self.commit(connection, [submission])]
            return [self._explain(error)] * len(batch)
        self._frontier = frontier
        self._keeps_frontier = self._keeps_frontier and note is None
        self.note = note
        if len(self._on_record) > _MOST_KNOWN:
            self._on_record.clear()
        self._on_record.update(new)
        self._questions.update(questions)
        while len(self._questions) > _MOST_QUESTIONS:
            del self._questions[next(iter(self._questions))]
        return [*indices]

    def _find_new_definitions(self, batch: Sequence[Sequence[Prepared]]) -> dict[str, PublishedTool]:
        """By digest, those that are not known to be on record."""
        return {
            tool.spec.digest: tool
            for submission in batch
            for entry in submission
            for tool in entry.definitions
            if tool.spec.digest not in self._on_record
        }

    def _write(
        self,
        cursor: Any,
        batch: Sequence[Sequence[Prepared]],
        definitions: Mapping[str, PublishedTool],
        questions: dict[tuple[str, str], QuestionText],
    ) -> tuple[list[tuple[int | None, ...]], Frontier, str | None]:
        # In the transaction that writes, so that no other gateway can take over in between.
        if cursor.execute(self._read_epoch).fetchone() != (self._epoch,):
            raise LedgerSuperseded("another gateway has taken over this state directory; stop this one")
        writes = WriteBatch(cursor, self._statements)
        for tool in definitions.values():
            writes.add(keep_definition(tool), None)
        position = self._frontier.size
        hashes: list[bytes] = []
        indices: list[tuple[int | None, ...]] = []
        for submission in batch:
            places: list[int | None] = []
            for entry in submission:
                place = None
                if entry.hash is not None:
                    place = position
                    position += 1
                    hashes.append(entry.hash)
                for change in entry.changes:
                    writes.add(change, place)
                if place is not None:
                    body = entry.body if entry.asked is None else self._pack(entry.body, place, entry.asked, questions)
                    writes.leaves.append((place, entry.hash, body, entry.salt, entry.payload))
                places.append(place)
            indices.append(tuple(places))
        writes.flush()
        frontier = grow(self._frontier, hashes)
        note = None
        if hashes:
            note = self._key.sign(frontier.size, frontier.root())
            writes.run(ADD_CHECKPOINT, {"size": frontier.size, "note": note})
            if self._keeps_frontier or frontier.size // FRONTIER_EVERY > self._frontier.size // FRONTIER_EVERY:
                writes.run(KEEP_FRONTIER, {"size": frontier.size, "nodes": b"".join(frontier.nodes)})
        return indices, frontier, note

    def _pack(self, text: str, place: int, asked: AskedCall, new: dict[tuple[str, str], QuestionText]) -> bytes | str:
        """What is kept of a text, and with it of the later ones of its call. `new`: the questions of this transaction."""
        call = asked.conversation_id, asked.call_id
        if asked.is_question:
            octets = text.encode()
            if len(octets) <= LONGEST_QUESTION:
                new[call] = QuestionText(place, octets)
            return pack(text)
        return pack(text, place, new.get(call) or self._questions.get(call))

    def _may_be_one_submissions(self, error: Exception) -> bool:
        """Whether the others of a batch may succeed without the one that failed."""
        if isinstance(error, LedgerSuperseded):
            return False
        cause, driver = _cause(error), self._driver
        if not isinstance(cause, driver.Error):
            return True
        if isinstance(cause, driver.IntegrityError | driver.DataError | driver.ProgrammingError | driver.InterfaceError):
            return True
        # A full disk refuses at once, without a wait, and may have room for a small entry beside a large one.
        return is_full(cause)

    def _explain(self, error: Exception) -> GatewayError:
        if isinstance(error, GatewayError):
            return error
        cause = _cause(error)
        if isinstance(cause, self._driver.IntegrityError):
            return IllegalStep("this is on record already, or rests on something that is not")
        _log.error("the ledger could not be written: %s", cause)
        if is_busy(cause):
            return LedgerBusy("another process has locked the database; nothing was recorded, try again")
        if is_full(cause):
            return LedgerUnavailable("it cannot be recorded: the disk is full; it goes on as soon as there is room")
        if is_read_only(cause):
            return LedgerUnavailable(f"it cannot be recorded: `{DATABASE}` or its file system is read-only")
        if isinstance(cause, self._driver.Error):
            return LedgerUnavailable("it cannot be recorded now; the gateway's own log says why")
        return LedgerUnavailable("this entry cannot be written down")


def _cause(error: Exception) -> Any:
    return error.orig if isinstance(error, DBAPIError) else error


@dataclass(eq=False, slots=True)
class WriteBatch:
    """Runs changes in order, gathering those that may run together."""

    cursor: Any
    statements: CompiledStatements
    leaves: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    groups: dict[Statement, list[tuple[Any, ...]]] = field(default_factory=dict[Statement, list[tuple[Any, ...]]])
    calls: dict[tuple[str, str], int | None] = field(default_factory=dict[tuple[str, str], int | None])

    def add(self, change: Change, place: int | None) -> None:
        """One change of the entry whose leaf has that position."""
        statement, values, call = change
        if statement.takes_leaf:
            values[LEAF] = place
        if not statement.grouped or call is None:
            self.flush()
            self.run(statement, values)
            return
        # Two entries of one call keep their order; the changes of one entry are in group order by themselves.
        if self.calls.setdefault(call, place) != place:
            self.flush()
            self.calls[call] = place
        self.groups.setdefault(statement, []).append(self.statements.one(statement).row(values))

    def run(self, statement: Statement, values: dict[str, Any]) -> None:
        """One statement over one row, now."""
        compiled = self.statements.one(statement)
        self.cursor.execute(compiled.sql, compiled.row(values))
        _require(statement, 1, self.cursor.rowcount)

    def flush(self) -> None:
        """Run what was gathered."""
        if self.leaves:
            self._run_rows(ADD_LEAF, self.leaves)
            self.leaves.clear()
        if self.groups:
            for statement in GROUP_ORDER:
                rows = self.groups.get(statement)
                if rows:
                    _require(statement, len(rows), self._run_rows(statement, rows))
            self.groups.clear()
            self.calls.clear()

    def _run_rows(self, statement: Statement, rows: Sequence[tuple[Any, ...]]) -> int:
        """Gives how many rows of the table changed."""
        done = changed = 0
        if statement.many is not None and len(rows) > 1:
            for count in ROWS_AT_ONCE:
                while len(rows) - done >= count:
                    sql = self.statements.many(statement, count)
                    self.cursor.execute(sql, [*chain.from_iterable(rows[done : done + count])])
                    done += count
                    changed += self.cursor.rowcount
        if done < len(rows):
            self.cursor.executemany(self.statements.one(statement).sql, rows[done:])
            changed += self.cursor.rowcount
        return changed


def _require(statement: Statement, rows: int, changed: int) -> None:
    if statement.refusal is not None and changed != rows:
        raise IllegalStep(statement.refusal)
