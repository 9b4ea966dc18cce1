"""Conversations and their messages, as the tables keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, assert_never, cast

import orjson
from sqlalchemy import ColumnElement, Select, and_, bindparam, delete, null, or_, select, tuple_, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.kept import DELETE_ATTACHMENTS, DELETE_KEPT_TEXTS
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, highest, insertion
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.ledger.conversations import (
    IMPORTED,
    ConversationDeleted,
    ConversationEntry,
    ConversationOpened,
    ConversationRenamed,
    ConversationTainted,
    Message,
    MessageAppended,
)
from gateway.core.vocabulary import Role
from gateway.runtime.ports import ConversationRecord, FoundMessage

# ── writing ──

LIVE = and_(t.conversations.c.id == given("id"), t.conversations.c.deleted_at.is_(None))
"""The conversation of that id, unless it was deleted."""

NO_CONVERSATION = "there is no such conversation"

OPEN_CONVERSATION = insertion(t.conversations)
RENAME_CONVERSATION = Statement(update(t.conversations).where(LIVE).values(title=bindparam("title")), refusal=NO_CONVERSATION)
DELETE_CONVERSATION = Statement(
    update(t.conversations).where(LIVE).values(deleted_at=bindparam("deleted_at"), title="", open_turn_id=null()),
    refusal=NO_CONVERSATION,
)
# Also one that its person deleted before: only an older copy of the database has it still, and the journal keeps it away.
ERASE_CONVERSATION = Statement(
    update(t.conversations)
    .where(t.conversations.c.id == given("id"))
    .values(deleted_at=bindparam("deleted_at"), title="", open_turn_id=null()),
    refusal=NO_CONVERSATION,
)
# A message's digest in the log goes with it: otherwise a deleted message's text could still be confirmed by its digest.
ERASE_MESSAGE_DIGESTS = Statement(
    update(t.leaves)
    .where(t.leaves.c.position.in_(select(t.messages.c.leaf).where(t.messages.c.conversation_id == given("id"))))
    .values(salt=null(), payload=null())
)
DELETE_MESSAGES = Statement(delete(t.messages).where(t.messages.c.conversation_id == given("id")))
TAINT_CONVERSATION = Statement(
    update(t.conversations)
    .where(LIVE)
    .values(taint=highest(t.conversations.c.taint, "taint"), label=highest(t.conversations.c.label, "label")),
    refusal=NO_CONVERSATION,
)
ADD_MESSAGE = insertion(t.messages, leaf="leaf")
COUNT_MESSAGE = Statement(
    update(t.conversations)
    .where(LIVE)
    .values(
        updated_at=highest(t.conversations.c.updated_at, "at"),
        message_count=highest(t.conversations.c.message_count, "message_count"),
    ),
    refusal=NO_CONVERSATION,
)


def change_conversations(entry: ConversationEntry) -> Sequence[Change]:
    """What an entry about a conversation changes, in order."""
    match entry:
        case MessageAppended():
            return _append_message(entry)
        case ConversationOpened():
            return (Change(OPEN_CONVERSATION, _conversation_row(entry)),)
        case ConversationRenamed():
            return (Change(RENAME_CONVERSATION, {"of_id": entry.id, "title": entry.title}),)
        case ConversationDeleted():
            return (
                Change(
                    DELETE_CONVERSATION if entry.erased is None else ERASE_CONVERSATION,
                    {"of_id": entry.id, "deleted_at": entry.at},
                ),
                Change(ERASE_MESSAGE_DIGESTS, {"of_id": entry.id}),
                Change(DELETE_MESSAGES, {"of_id": entry.id}),
                Change(DELETE_KEPT_TEXTS, {"of_id": entry.id}),
                Change(DELETE_ATTACHMENTS, {"of_id": entry.id}),
            )
        case ConversationTainted():
            return (Change(TAINT_CONVERSATION, {"of_id": entry.id, "of_taint": entry.taint, "of_label": entry.label}),)
        case _:
            assert_never(entry)


def _append_message(entry: MessageAppended) -> Sequence[Change]:
    message = entry.message
    values = {
        "conversation_id": message.conversation_id,
        "position": message.index,
        "turn_id": message.turn_id,
        "role": message.role.value,
        "content": message.content,
        "provenance": message.provenance,
        "at": message.at,
        "call_id": message.call_id,
        # The calls that a model asked for, as it wrote them: canonical, since they may be compared.
        "tool_calls": canonical_bytes(list(message.tool_calls)).decode(),
    }
    # What was imported was said when its file says so, and the conversation has not been used since.
    used_at = message.at if message.provenance == IMPORTED else entry.at
    count = {"of_id": message.conversation_id, "of_at": used_at, "of_message_count": message.index + 1}
    return (Change(ADD_MESSAGE, values), Change(COUNT_MESSAGE, count))


def _conversation_row(entry: ConversationOpened) -> dict[str, Any]:
    return {
        "id": entry.id,
        "principal_id": entry.principal_id,
        "title": entry.title,
        "created_at": entry.at if entry.imported is None else entry.imported.begun_at,
        "updated_at": entry.at if entry.imported is None else entry.imported.used_at,
        "parent_id": entry.parent_id,
        "fork_at": entry.fork_at,
        "taint": 0,
        "label": 0,
        "turn_count": 0,
        "message_count": 0,
        "open_turn_id": None,
        "deleted_at": None,
    }


# ── reading ──

_conversations = (
    select(
        t.conversations,
        t.turns.c.position.label("open_turn_index"),
        t.turns.c.model_id.label("open_turn_model_id"),
        t.turns.c.session_id.label("open_turn_session_id"),
    )
    .outerjoin(t.turns, t.turns.c.id == t.conversations.c.open_turn_id)
    .where(t.conversations.c.deleted_at.is_(None))
)


@stored("conversation", "id")
def _read_conversation(row: ARow) -> ConversationRecord:
    return ConversationRecord(
        id=row.id,
        principal_id=row.principal_id,
        title=row.title,
        created_at=row.created_at,
        updated_at=row.updated_at,
        parent_id=row.parent_id,
        taint=row.taint,
        label=row.label,
        turn_count=row.turn_count,
        message_count=row.message_count,
        open_turn_id=row.open_turn_id,
        open_turn_index=row.open_turn_index,
        open_turn_model_id=row.open_turn_model_id,
        open_turn_session_id=row.open_turn_session_id,
        inherited_turns=row.fork_at or 0,
    )


@stored("message", "conversation_id", "position")
def _read_message(row: ARow) -> Message:
    return Message(
        conversation_id=row.conversation_id,
        turn_id=row.turn_id,
        index=row.position,
        role=Role(row.role),
        content=row.content,
        provenance=row.provenance,
        at=row.at,
        call_id=row.call_id,
        tool_calls=tuple(cast("list[Mapping[str, Json]]", orjson.loads(row.tool_calls))),
    )


class ConversationReader(Reader):
    """Conversations that were not deleted, and their messages."""

    async def conversations(
        self, principal_id: str, *, before: tuple[int, str] | None, limit: int
    ) -> Sequence[ConversationRecord]:
        place = (t.conversations.c.updated_at, t.conversations.c.id)
        page = _conversations.where(t.conversations.c.principal_id == principal_id)
        if before is not None:
            page = page.where(tuple_(*place) < before)
        return await self._list(page.order_by(*(column.desc() for column in place)).limit(limit), _read_conversation)

    async def conversation(self, conversation_id: str) -> ConversationRecord | None:
        return self._find(_conversations.where(t.conversations.c.id == conversation_id), _read_conversation)

    async def messages(self, conversation_id: str) -> Sequence[Message]:
        own = select(t.messages).where(t.messages.c.conversation_id == conversation_id)
        return await self._list(own.order_by(t.messages.c.position), _read_message)

    async def find_messages(
        self, principal_id: str, words: Sequence[str], *, label: int, before: tuple[int, str, int] | None, limit: int
    ) -> Sequence[FoundMessage]:
        # No message is newer than the last use of its conversation. So the conversations used last are looked through first, and
        # the others only where these do not fill the page: a word that is everywhere is found in few of them.
        found: list[FoundMessage] = []
        oldest: tuple[int, str] | None = None
        size = _FIRST_SEARCHED
        while True:
            searched = await self._recently_used(principal_id, label=label, before=oldest, limit=size)
            inside = _messages_with(words, [each for _, each in searched], principal_id, label=label)
            if before is not None:
                inside = inside.where(tuple_(*_PLACE) < before)
            newest = inside.order_by(*(column.desc() for column in _PLACE)).limit(limit)
            found += await self._list(newest, lambda row: FoundMessage(_read_message(row), row.title))
            found = sorted(found, key=_place_of, reverse=True)[:limit]
            if len(searched) < size or (len(found) == limit and found[-1].message.at > searched[-1][0]):
                return found
            oldest = searched[-1]
            size = min(4 * size, _MOST_SEARCHED)

    async def _recently_used(
        self, principal_id: str, *, label: int, before: tuple[int, str] | None, limit: int
    ) -> Sequence[tuple[int, str]]:
        place = (t.conversations.c.updated_at, t.conversations.c.id)
        used = select(*place).where(
            t.conversations.c.principal_id == principal_id,
            t.conversations.c.deleted_at.is_(None),
            t.conversations.c.label <= label,
        )
        if before is not None:
            used = used.where(tuple_(*place) < before)
        return await self._list(used.order_by(*(column.desc() for column in place)).limit(limit), lambda row: (row[0], row[1]))


_FIRST_SEARCHED: Final = 32
_MOST_SEARCHED: Final = 4_096
"""Conversations that one query looks through: few at first, and more with each one that did not fill the page."""

_PLACE: Final = (t.messages.c.at, t.messages.c.conversation_id, t.messages.c.position)


def _place_of(found: FoundMessage) -> tuple[int, str, int]:
    return found.message.at, found.message.conversation_id, found.message.index


def _messages_with(
    words: Sequence[str], conversation_ids: Sequence[str], principal_id: str, *, label: int
) -> Select[*tuple[Any, ...]]:
    return (
        select(t.messages, t.conversations.c.title)
        .join(t.conversations, t.conversations.c.id == t.messages.c.conversation_id)
        .where(
            t.messages.c.conversation_id.in_(conversation_ids),
            t.conversations.c.principal_id == principal_id,
            t.conversations.c.deleted_at.is_(None),
            t.conversations.c.label <= label,
            t.messages.c.role.in_((Role.USER.value, Role.ASSISTANT.value)),
            *map(_has_word, words),
        )
    )


def _has_word(word: str) -> ColumnElement[bool]:
    # SQLite compares only ASCII letters without their case, so that other letters are looked for in each of the usual ones. Each
    # form is another look at every message.
    forms = {word} if word.isascii() else {word, word.lower(), word.upper(), word.title()}
    return or_(*(t.messages.c.content.icontains(form, autoescape=True) for form in sorted(forms)))
