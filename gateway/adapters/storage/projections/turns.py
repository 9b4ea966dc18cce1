"""Turns and the snapshots of tools that they were given, as the tables keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

import orjson
from sqlalchemy import bindparam, null, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.conversations import LIVE, NO_CONVERSATION
from gateway.adapters.storage.projections.sessions import ALLOW_QUESTIONS_OF_TURN
from gateway.adapters.storage.reader import Reader
from gateway.adapters.storage.statements import Change, Statement, given, highest, insertion, insertion_once
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.ledger.turns import QuestionsAllowed, SnapshotIssued, TurnBegun, TurnEnded, TurnEntry
from gateway.core.model import PublishedTool, Snapshot
from gateway.core.vocabulary import Role
from gateway.runtime.ports import UnfinishedTurn

# ── writing ──

BEGIN_TURN = insertion(t.turns, without={"suspended_at"})
OPEN_TURN = Statement(
    update(t.conversations)
    .where(LIVE)
    .values(
        updated_at=highest(t.conversations.c.updated_at, "at"),
        turn_count=highest(t.conversations.c.turn_count, "turn_count"),
        open_turn_id=bindparam("open_turn_id"),
    ),
    refusal=NO_CONVERSATION,
)
CLOSE_TURN = Statement(
    update(t.conversations)
    .where(t.conversations.c.id == given("id"), t.conversations.c.open_turn_id == given("turn_id"))
    .values(open_turn_id=null())
)
BIND_TURN = Statement(update(t.turns).where(t.turns.c.id == given("id")).values(suspended_at=null()))
SUSPEND_TURN = Statement(update(t.turns).where(t.turns.c.id == given("id")).values(suspended_at=bindparam("suspended_at")))
# What is stored under a digest never differs.
KEEP_DESCRIPTOR = insertion_once(t.descriptors, "digest")
KEEP_SNAPSHOT = insertion_once(t.snapshots, "digest")


def change_turns(entry: TurnEntry) -> Sequence[Change]:
    """What an entry about a turn changes, in order."""
    match entry:
        case TurnBegun():
            return _begin_turn(entry)
        case SnapshotIssued():
            return (*_keep_snapshot(entry.snapshot), Change(BIND_TURN, {"of_id": entry.snapshot.turn_id}))
        case TurnEnded():
            return (Change(CLOSE_TURN, {"of_id": entry.conversation_id, "of_turn_id": entry.turn_id}),)
        case QuestionsAllowed():
            return (Change(ALLOW_QUESTIONS_OF_TURN, {"of_turn_id": entry.turn_id}),)
        case _:
            assert_never(entry)


def _begin_turn(entry: TurnBegun) -> Sequence[Change]:
    snapshot = entry.snapshot
    turn = {
        "id": snapshot.turn_id,
        "conversation_id": snapshot.conversation_id,
        "session_id": snapshot.session_id,
        "position": snapshot.turn_index,
        "model_id": entry.model_id,
    }
    opened = {
        "of_id": snapshot.conversation_id,
        "of_at": entry.at,
        "of_turn_count": snapshot.turn_index + 1,
        "open_turn_id": snapshot.turn_id,
    }
    return (*_keep_snapshot(snapshot), Change(BEGIN_TURN, turn), Change(OPEN_TURN, opened))


def _keep_snapshot(snapshot: Snapshot) -> Sequence[Change]:
    return (Change(KEEP_SNAPSHOT, {"digest": snapshot.digest, "body": snapshot.write_compact().decode()}),)


def definitions_of(entry: object) -> Sequence[PublishedTool]:
    """The tools whose definitions have to be on record with an entry, since it only names them."""
    return entry.snapshot.tools if isinstance(entry, (TurnBegun, SnapshotIssued)) else ()


def keep_definition(tool: PublishedTool) -> Change:
    """Turn after turn publishes the same tools: a definition is stored once."""
    return Change(KEEP_DESCRIPTOR, {"digest": tool.spec.digest, "body": canonical_bytes(tool.spec.described()).decode()})


# ── reading ──


def restore_snapshot(body: Mapping[str, Json], descriptors: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    """A stored snapshot's body as it was issued. A tool whose definition is gone is left empty; no digest will fit it."""
    tools = [{**descriptors.get(digest, {}), "permission": permission, "digest": digest} for digest, permission in body["tools"]]
    return {**body, "tools": tools}


class TurnReader(Reader):
    """Turns."""

    async def turn_indices(self, conversation_id: str) -> Mapping[str, int]:
        own = select(t.turns.c.id, t.turns.c.position).where(t.turns.c.conversation_id == conversation_id)
        return dict(await self._list(own, lambda row: (row.id, row.position)))

    async def snapshot(self, digest: str) -> Mapping[str, Json] | None:
        stored = select(t.snapshots.c.body).where(t.snapshots.c.digest == digest)
        bodies = await self._list(stored, lambda row: orjson.loads(row.body))
        if not bodies:
            return None
        named = select(t.descriptors).where(t.descriptors.c.digest.in_([tool for tool, _ in bodies[0]["tools"]]))
        definitions = dict(await self._list(named, lambda row: (row.digest, orjson.loads(row.body))))
        return restore_snapshot(bodies[0], definitions)

    async def request_of(self, conversation_id: str, turn_id: str) -> str | None:
        written = select(t.messages.c.content).where(
            t.messages.c.conversation_id == conversation_id,
            t.messages.c.turn_id == turn_id,
            t.messages.c.role == Role.USER.value,
        )
        found = await self._list(written.order_by(t.messages.c.position), lambda row: str(row.content))
        return "\n\n".join(found) or None

    async def model_of_turn(self, conversation_id: str, turn_id: str) -> str | None:
        of_turn = t.turns.c.conversation_id == conversation_id, t.turns.c.id == turn_id
        return next(iter(await self._list(select(t.turns.c.model_id).where(*of_turn), lambda row: row.model_id)), None)

    async def unfinished_turns(self) -> Sequence[UnfinishedTurn]:
        opened = select(t.conversations.c.id.label("conversation_id"), t.turns.c.id, t.turns.c.suspended_at).join_from(
            t.conversations, t.turns, t.turns.c.id == t.conversations.c.open_turn_id
        )
        live = opened.where(t.conversations.c.deleted_at.is_(None))
        return await self._list(live, lambda row: UnfinishedTurn(row.conversation_id, row.id, row.suspended_at))
