"""The tables of the call history. They lie in a file of their own beside the ledger: whoever calls never waits for their indices,
and whoever doubts them deletes the file.

A call is one row of numbers. What many calls have in common (`kinds`) and where they were made (`turns`) is written once, and how
many calls of each kind began in each hour and day is counted as they are read, so that a count over months reads no calls.

Beside the calls there is what finds a few leaves among many: which are about a conversation, where those are that are rare and
are about everybody, and hashes of subtrees (`gateway.core.merkle_tiles`).
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, MetaData, Table, Text

from gateway.adapters.storage.sqlite import Place, partial_index

VERSION: Final = 4
"""Of these tables and of what is told in them. A file of another version is made again from the log."""

metadata = MetaData()

_Time = BigInteger

progress = Table(
    "progress",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version", Integer, nullable=False),
    # How many leaves were read, and the hash of the last of them: a log that has another one there is another log.
    Column("size", BigInteger, nullable=False),
    Column("last_hash", LargeBinary, nullable=False),
)

kinds = Table(
    "kinds",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("principal_id", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("decision", Text, nullable=False),
    Column("model_id", Text, nullable=False),
    Column("label", Integer, nullable=False),
    Column("rules", Text, nullable=False),
    Column("policy_version", Text, nullable=False),
    Column("approval_kind", Text, nullable=False),
    Column("ran", Boolean, nullable=False),
    # What is mostly filtered by, and nothing long: the kinds of one person are on a few pages, those of a tool on half of all.
    Index("ix_kinds_chosen", "principal_id", "tool", "outcome", "decision", "source", "model_id", "label"),
)

turns = Table(
    "turns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("conversation_id", Text, nullable=False),
    Column("turn_id", Text, nullable=False),
    Column("turn_index", Integer),
    Index("ix_turns_conversation", "conversation_id", "turn_id", unique=True),
    Index("ix_turns_turn", "turn_id"),
)

calls = Table(
    "calls",
    metadata,
    Column("position", Place, primary_key=True, autoincrement=False),
    Column("turn", Integer, nullable=False),
    Column("kind", Integer, nullable=False),
    Column("call_id", Text, nullable=False),
    Column("at", _Time, nullable=False),
    Column("approval_id", Text),
    Column("asked_at", _Time),
    Column("decided_at", _Time),
    Column("answer", Text),
    Column("approver_id", Text),
    Column("credential_id", Text),
    Column("grant_id", Text),
    Column("started_at", _Time),
    Column("closed_at", _Time),
    Column("duration_ms", BigInteger),
    # The positions of all leaves about the call, such as `[7,9]`.
    Column("leaves", Text, nullable=False),
    Index("ix_calls_at", "at", "kind"),
    Index("ix_calls_kind", "kind", "at"),
    Index("ix_calls_turn", "turn", "at"),
    Index("ix_calls_call", "call_id"),
    Index("ix_calls_approval", "approval_id", **partial_index("approval_id IS NOT NULL")),
    Index("ix_calls_asked", "asked_at", **partial_index("asked_at IS NOT NULL")),
    Index("ix_calls_open", "position", **partial_index("closed_at IS NULL")),
)


def _count_table(name: str, *indices: Index) -> Table:
    return Table(
        name,
        metadata,
        # The beginning of the hour or day, in UTC.
        Column("at", _Time, primary_key=True),
        Column("kind", Integer, primary_key=True),
        Column("calls", BigInteger, nullable=False),
        *indices,
        sqlite_with_rowid=False,
    )


hours = _count_table("hours")
# How far back the page of a rare kind of call reaches is asked of the days: of its own, without those of all others.
days = _count_table("days", Index("ix_days_kind", "kind", "at", "calls"))

model_hours = Table(
    "model_hours",
    metadata,
    Column("at", _Time, primary_key=True),
    Column("principal_id", Text, primary_key=True),
    Column("model_id", Text, primary_key=True),
    Column("turns", BigInteger, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("failures", BigInteger, nullable=False),
    Column("prompt_tokens", BigInteger, nullable=False),
    Column("completion_tokens", BigInteger, nullable=False),
    Column("milliseconds", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("conversation_id", Text, nullable=False, unique=True),
)

conversation_leaves = Table(
    "conversation_leaves",
    metadata,
    Column("conversation", Integer, primary_key=True),
    Column("position", Place, primary_key=True),
    sqlite_with_rowid=False,
)

erased_leaves = Table(
    "erased_leaves",
    metadata,
    Column("position", Place, primary_key=True),
    # The leaf that says so.
    Column("erasure", Place, primary_key=True),
    sqlite_with_rowid=False,
)

event_leaves = Table(
    "event_leaves",
    metadata,
    Column("event", Text, primary_key=True),
    Column("position", Place, primary_key=True),
    sqlite_with_rowid=False,
)

person_leaves = Table(
    "person_leaves",
    metadata,
    # Of what `event_leaves` has, what says who somebody is: by whom it is about.
    Column("person", Text, primary_key=True),
    Column("position", Place, primary_key=True),
    sqlite_with_rowid=False,
)

tiles = Table(
    "tiles",
    metadata,
    Column("level", Integer, primary_key=True),
    Column("number", Place, primary_key=True),
    Column("hash", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
