"""Planning an erasure: the records whose payloads are about a call, a conversation or a person, and the entries that erase them.

Read from the bodies themselves, as the audit log's own filters are: through the log, from where the subject began.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, assert_never, cast

import orjson
from sqlalchemy import CTE, ColumnElement, Connection, Select, and_, func, or_, select, true

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.record_texts import UnpackedText
from gateway.adapters.storage.sqlite import JsonMember
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.ledger import (
    MOST_ERASED_AT_ONCE,
    CallSubject,
    ConversationDeleted,
    ConversationSubject,
    EnrolmentOffered,
    Entry,
    ErasedMessage,
    ErasureReason,
    ErasureSubject,
    GrantIssued,
    LocalOperatorAdded,
    MessageAppended,
    PasskeyAdded,
    PersonSubject,
    PrincipalEnrolled,
    PrincipalRemoved,
    RecordsErased,
)
from gateway.core.pages import READER
from gateway.runtime.ports import CallState

_NAMING: Final = (LocalOperatorAdded.EVENT, PrincipalEnrolled.EVENT, PasskeyAdded.EVENT)
"""Records with what a person is called. What they did for others, such as approving, stays with those it was done for."""


class Erasable(NamedTuple):
    """Records by their positions, ascending, and messages that held a call."""

    records: Sequence[int]
    messages: Sequence[ErasedMessage] = ()


def plan_erasure(
    connection: Connection, subject: ErasureSubject, reason: ErasureReason, at: int, by: str | None = None
) -> Sequence[Entry]:
    """The entries that erase a subject, to be written together. Empty where nothing is kept of it."""
    match subject:
        case CallSubject():
            calls = subject, *_find_readings(connection, subject)
            return [each for call in calls for each in _entries(call, _find_of_call(connection, call, reason), reason, at, by)]
        case ConversationSubject():
            return [*_plan_conversation(connection, subject, reason, at, by)] or [*_delete_again(connection, subject, reason, at)]
        case PersonSubject():
            own = select(t.conversations.c.id).where(t.conversations.c.principal_id == subject.person_id)
            conversations = [ConversationSubject(row.id) for row in connection.execute(own)]
            names = Erasable(sorted(_find_names(connection, subject.person_id)))
            return [
                *_remove_again(connection, subject, reason, at),
                *(entry for each in conversations for entry in _plan_conversation(connection, each, reason, at, by)),
                *_entries(subject, names, reason, at, by),
            ]
        case _:
            assert_never(subject)


def count_open_turns(connection: Connection, subject: ErasureSubject) -> int:
    """How many of the subject's conversations have a turn that has not ended."""
    match subject:
        case CallSubject() | ConversationSubject():
            of = t.conversations.c.id == subject.conversation_id
        case PersonSubject():
            of = t.conversations.c.principal_id == subject.person_id
        case _:
            assert_never(subject)
    still = select(func.count()).select_from(t.conversations).where(of, t.conversations.c.open_turn_id.is_not(None))
    return connection.execute(still).scalar_one()


def select_conversations_of_call(call_id: str) -> Select[Any]:
    """The conversations that have a call of that id."""
    return select(t.calls.c.conversation_id).where(t.calls.c.call_id == call_id)


def select_due_calls(now: int, limit: int) -> Select[Any, Any]:
    """The closed calls whose content has been kept for long enough, those that are longest due first."""
    # A call has its time from its intent on, so that one whose outcome nobody learns has it too.
    due = t.calls.c.erase_at.is_not(None), t.calls.c.erase_at <= now, t.calls.c.closed_at.is_not(None)
    return select(t.calls.c.conversation_id, t.calls.c.call_id).where(*due).order_by(t.calls.c.erase_at).limit(limit)


def select_copies(conversation_id: str) -> Select[Any]:
    """What was copied from a conversation, directly or not, and is still there."""
    family = _family(conversation_id)
    others = t.conversations.c.id.in_(select(family.c.id)), t.conversations.c.id != conversation_id
    return select(t.conversations.c.id).where(*others, t.conversations.c.deleted_at.is_(None)).order_by(t.conversations.c.id)


def name_records(records: Sequence[int], reason: ErasureReason, at: int) -> Sequence[RecordsErased]:
    """The entries that erase these records, which are of nothing in particular."""
    return _entries(None, Erasable(records), reason, at, None)


def _entries(
    subject: ErasureSubject | None, found: Erasable, reason: ErasureReason, at: int, by: str | None
) -> Sequence[RecordsErased]:
    """As many as it takes. What the tables hold of the subject is changed with the first."""
    starts = range(0, len(found.records), MOST_ERASED_AT_ONCE)
    return [
        RecordsErased(
            at,
            reason,
            tuple(found.records[start : start + MOST_ERASED_AT_ONCE]),
            subject,
            by,
            tuple(found.messages) if start == 0 else (),
        )
        for start in starts
    ]


def _plan_conversation(
    connection: Connection, subject: ConversationSubject, reason: ErasureReason, at: int, by: str | None
) -> Iterator[Entry]:
    conversation = connection.execute(select(t.conversations).where(t.conversations.c.id == subject.conversation_id)).first()
    of = _member("conversationId") == subject.conversation_id
    if conversation is not None and conversation.deleted_at is None:
        # Its deletion erases the digests of its messages, and says so.
        yield ConversationDeleted(at, subject.conversation_id, conversation.principal_id, reason)
        of = and_(of, _member("event") != MessageAppended.EVENT)
    yield from _entries(subject, Erasable(_positions(connection, of)), reason, at, by)


def _delete_again(
    connection: Connection, subject: ConversationSubject, reason: ErasureReason, at: int
) -> Iterator[ConversationDeleted]:
    """Of what its person deleted nothing may be left here, and an older copy of the database has it still: an entry says once
    that it may not come back."""
    conversation = connection.execute(select(t.conversations).where(t.conversations.c.id == subject.conversation_id)).first()
    if conversation is None or reason is not ErasureReason.REQUESTED:
        return
    of = _member("conversationId") == subject.conversation_id
    deleted = select(t.leaves.c.position).where(of, _member("event") == ConversationDeleted.EVENT).limit(2)
    erased = select(t.leaves.c.position).where(of, _member("event") == RecordsErased.EVENT, _member("callId").is_(None))
    if len(connection.execute(deleted).all()) < 2 and connection.execute(erased.limit(1)).first() is None:
        yield ConversationDeleted(at, subject.conversation_id, conversation.principal_id, reason)


def _remove_again(connection: Connection, subject: PersonSubject, reason: ErasureReason, at: int) -> Iterator[PrincipalRemoved]:
    """Only a removed person is erased, and an older copy of the database has their passkeys still."""
    theirs = select(t.passkeys.c.credential_id).where(t.passkeys.c.principal_id == subject.person_id).limit(1)
    if reason is ErasureReason.RESTORED and connection.execute(theirs).first() is not None:
        yield PrincipalRemoved(at, subject.person_id)


def _find_readings(connection: Connection, call: CallSubject) -> Iterator[CallSubject]:
    """The calls that read on in the long result of this one: what they gave is its content."""
    of_call = t.kept_results.c.conversation_id == call.conversation_id, t.kept_results.c.call_id == call.call_id
    kept = {row.id for row in connection.execute(select(t.kept_results.c.id).where(*of_call))}
    if not kept:
        return
    reading = (
        select(t.calls.c.call_id, t.leaves.c.payload)
        .join(t.leaves, t.leaves.c.position == t.calls.c.request_leaf)
        .where(
            t.calls.c.conversation_id == call.conversation_id,
            t.calls.c.tool == READER,
            t.calls.c.state == CallState.CLOSED.value,
            t.leaves.c.payload.is_not(None),
        )
    )
    for row in connection.execute(reading):
        if orjson.loads(row.payload)["arguments"].get("result_id") in kept:
            yield CallSubject(call.conversation_id, row.call_id)


def _find_of_call(connection: Connection, call: CallSubject, reason: ErasureReason) -> Erasable:
    of_call = t.calls.c.conversation_id == call.conversation_id, t.calls.c.call_id == call.call_id
    row = connection.execute(select(t.calls.c.request_leaf, t.calls.c.closing_leaf).where(*of_call)).first()
    if row is None:
        return Erasable(())
    # A result that came too late stands after the end, by its digest; a retention does not read all of the log for that.
    ended = row.closing_leaf if reason is ErasureReason.RETENTION else None
    asked = select(t.approvals.c.id).where(
        t.approvals.c.conversation_id == call.conversation_id, t.approvals.c.call_id == call.call_id
    )
    own = and_(_member("conversationId") == call.conversation_id, _member("callId") == call.call_id)
    # A grant pins what was shown of the call that it was given for.
    given = and_(_member("event") == GrantIssued.EVENT, _member("approvalId").in_(asked))
    found = set(_positions(connection, or_(own, given), row.request_leaf, ended))
    messages: list[ErasedMessage] = []
    for row in connection.execute(_messages_with(call)):
        is_result = row.call_id == call.call_id
        if is_result:
            found.update(_positions(connection, true(), row.leaf, row.leaf))
        left = _without_arguments(row.tool_calls, call.call_id)
        messages.append(ErasedMessage(row.conversation_id, row.position, "" if is_result else row.content, left))
    return Erasable(sorted(found), messages)


def _family(conversation_id: str) -> CTE:
    """A conversation and what was copied from it, directly or not."""
    family = select(t.conversations.c.id).where(t.conversations.c.id == conversation_id).cte("family", recursive=True)
    return family.union(select(t.conversations.c.id).join(family, t.conversations.c.parent_id == family.c.id))


def _messages_with(call: CallSubject) -> Select[Any]:
    """Messages in which a model proposed the call, and copies of its result, in its conversation and in those made from it."""
    family = _family(call.conversation_id)
    proposed = t.messages.c.tool_calls.contains(canonical_bytes(call.call_id).decode(), autoescape=True)
    held = or_(proposed, t.messages.c.call_id == call.call_id)
    return select(t.messages).where(t.messages.c.conversation_id.in_(select(family.c.id)), held)


def _without_arguments(tool_calls: str, call_id: str) -> str:
    calls = cast("list[Mapping[str, Json]]", orjson.loads(tool_calls))
    left: list[Json] = [{**each, "arguments": {}} if each.get("id") == call_id else dict(each) for each in calls]
    return canonical_bytes(left).decode()


def _find_names(connection: Connection, person_id: str) -> Iterable[int]:
    yield from _positions(connection, and_(_member("principalId") == person_id, _member("event").in_(_NAMING)))
    name = connection.execute(select(t.principals.c.name).where(t.principals.c.id == person_id)).scalar()
    offered = select(t.leaves.c.position, t.leaves.c.payload).where(
        _member("event") == EnrolmentOffered.EVENT, t.leaves.c.payload.is_not(None)
    )
    for row in connection.execute(offered):
        if orjson.loads(row.payload).get("name") == name:
            yield row.position


def _positions(connection: Connection, of: ColumnElement[bool], since: int = 0, until: int | None = None) -> Sequence[int]:
    chosen = select(t.leaves.c.position).where(t.leaves.c.position >= since, t.leaves.c.payload.is_not(None), of)
    if until is not None:
        chosen = chosen.where(t.leaves.c.position <= until)
    return [row.position for row in connection.execute(chosen.order_by(t.leaves.c.position))]


def _member(name: str) -> ColumnElement[str]:
    return JsonMember(UnpackedText(t.leaves.c.body), name)
