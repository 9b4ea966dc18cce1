"""Erasures, as the tables keep them: payloads that are gone from their leaves, and rows whose content went with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from sqlalchemy import and_, bindparam, delete, null, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.kept import DELETE_ATTACHMENTS, DELETE_KEPT_TEXTS
from gateway.adapters.storage.statements import Change, Statement, given
from gateway.core.ledger.erasures import (
    CallSubject,
    ConversationSubject,
    ErasedMessage,
    ErasureEntry,
    ErasureSubject,
    PersonSubject,
)

ERASE_PAYLOAD = Statement(
    update(t.leaves)
    .where(t.leaves.c.position == given("position"), t.leaves.c.payload.is_not(None))
    .values(salt=null(), payload=null()),
    # What the record names is what this transaction erases: the log never says more or less than that.
    refusal="the record's content was erased in the meantime",
)
FORGET_CALL = Statement(
    update(t.messages)
    .where(t.messages.c.conversation_id == given("conversation_id"), t.messages.c.position == given("position"))
    .values(content=bindparam("content"), tool_calls=bindparam("tool_calls"))
)

_of_conversation = t.approvals.c.conversation_id == given("conversation_id")
_of_call = and_(_of_conversation, t.approvals.c.call_id == given("call_id"))
_approvals_of_call = select(t.approvals.c.id).where(_of_call)
_approvals_of_conversation = select(t.approvals.c.id).where(_of_conversation)

ERASE_CALL = (
    Statement(delete(t.approval_answers).where(t.approval_answers.c.approval_id.in_(_approvals_of_call))),
    Statement(delete(t.grants).where(t.grants.c.approval_id.in_(_approvals_of_call))),
    Statement(delete(t.approvals).where(_of_call)),
    *(
        Statement(delete(kept).where(kept.c.conversation_id == given("conversation_id"), kept.c.call_id == given("call_id")))
        for kept in (t.kept_results, t.attachments)
    ),
    Statement(
        update(t.calls)
        .where(t.calls.c.conversation_id == given("conversation_id"), t.calls.c.call_id == given("call_id"))
        .values(erase_at=null())
    ),
)
"""What the tables hold of a call's content, besides the leaves: first what refers to its questions, then they."""

ERASE_CONVERSATION = (
    Statement(delete(t.approval_answers).where(t.approval_answers.c.approval_id.in_(_approvals_of_conversation))),
    Statement(delete(t.grants).where(t.grants.c.approval_id.in_(_approvals_of_conversation))),
    Statement(delete(t.approvals).where(_of_conversation)),
    Statement(update(t.calls).where(t.calls.c.conversation_id == given("conversation_id")).values(erase_at=null())),
)

ERASED_NAME = "(erased)"
"""What a person is called after that."""

_name_of_person = select(t.principals.c.name).where(t.principals.c.id == given("id")).scalar_subquery()
ERASE_PERSON = (
    # Spent and void ones: whoever was asked by that name enrolled with one of them.
    Statement(delete(t.enrolments).where(t.enrolments.c.name == _name_of_person, t.enrolments.c.used_at.is_not(None))),
    Statement(update(t.passkeys).where(t.passkeys.c.principal_id == given("id")).values(name=bindparam("name"))),
    Statement(update(t.principals).where(t.principals.c.id == given("id")).values(name=bindparam("name"))),
)


def change_erasures(entry: ErasureEntry) -> Sequence[Change]:
    """What an erasure changes, in order."""
    return (
        *(Change(ERASE_PAYLOAD, {"of_position": position}) for position in entry.records),
        *map(_forget_call, entry.messages),
        *(() if entry.subject is None else _change_rows(entry.subject)),
    )


def _forget_call(message: ErasedMessage) -> Change:
    place = {"of_conversation_id": message.conversation_id, "of_position": message.index}
    return Change(FORGET_CALL, {**place, "content": message.content, "tool_calls": message.tool_calls})


def _change_rows(subject: ErasureSubject) -> Sequence[Change]:
    match subject:
        case CallSubject():
            of = {"of_conversation_id": subject.conversation_id, "of_call_id": subject.call_id}
            return [Change(statement, of) for statement in ERASE_CALL]
        case ConversationSubject():
            of = {"of_conversation_id": subject.conversation_id}
            kept = [Change(each, {"of_id": subject.conversation_id}) for each in (DELETE_KEPT_TEXTS, DELETE_ATTACHMENTS)]
            return [*kept, *(Change(statement, of) for statement in ERASE_CONVERSATION)]
        case PersonSubject():
            return [Change(statement, {"of_id": subject.person_id, "name": ERASED_NAME}) for statement in ERASE_PERSON]
        case _:
            assert_never(subject)
