"""Whole texts of results that were too long to be handed out, and texts that were handed out whole and are read on in.

A text belongs to its call: it is read only together with the sealed record of that call's result, which has its id and digest,
its trust and its labels. Where that record was erased, the text is gone for every reader too.
"""

from __future__ import annotations

from sqlalchemy import delete, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.sealed import read_payload, sealed_columns
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, insertion
from gateway.adapters.storage.stored import texts
from gateway.core.attachments import KeptAttachment
from gateway.core.model import ToolRequest
from gateway.core.results import KeptText, restore_result
from gateway.core.vocabulary import Outcome
from gateway.runtime.ports import KeptResult, StoredAttachment

KEEP_TEXT = insertion(t.kept_results)
KEEP_ATTACHMENT = insertion(t.attachments)
DELETE_ATTACHMENTS = Statement(delete(t.attachments).where(t.attachments.c.conversation_id == given("id")))
DELETE_KEPT_TEXTS = Statement(delete(t.kept_results).where(t.kept_results.c.conversation_id == given("id")))
"""Those of one conversation."""


def keep_text(request: ToolRequest, kept: KeptText) -> Change:
    """The row of a text that is kept with its call."""
    values = {
        "id": kept.id,
        "conversation_id": request.conversation_id,
        "call_id": request.call_id,
        "page_bytes": kept.page_bytes,
        "redacted": texts.write(kept.redacted),
        "content": kept.text,
    }
    return Change(KEEP_TEXT, values)


def keep_attachment(request: ToolRequest, kept: KeptAttachment) -> Change:
    """The row of bytes that are kept with their call."""
    values = {"id": kept.id, "conversation_id": request.conversation_id, "call_id": request.call_id, "content": kept.data}
    return Change(KEEP_ATTACHMENT, values)


_of_this_person = (
    t.calls.c.principal_id == given("principal_id"),
    t.calls.c.conversation_id == given("conversation_id"),
    t.conversations.c.deleted_at.is_(None),
)
"""In this conversation, which was not deleted."""

_kept = (
    select(t.kept_results, *(column.label(f"closing_{column.name}") for column in sealed_columns(t.leaves)))
    .join(
        t.calls,
        (t.calls.c.conversation_id == t.kept_results.c.conversation_id) & (t.calls.c.call_id == t.kept_results.c.call_id),
    )
    .join(t.conversations, t.conversations.c.id == t.calls.c.conversation_id)
    .join(t.leaves, t.leaves.c.position == t.calls.c.closing_leaf)
    .where(t.kept_results.c.id == given("id"), *_of_this_person)
)

_attachment = (
    select(
        t.attachments,
        t.conversations.c.label.label("conversation_label"),
        *(column.label(f"closing_{column.name}") for column in sealed_columns(t.leaves)),
    )
    .join(
        t.calls,
        (t.calls.c.conversation_id == t.attachments.c.conversation_id) & (t.calls.c.call_id == t.attachments.c.call_id),
    )
    .join(t.conversations, t.conversations.c.id == t.calls.c.conversation_id)
    .join(t.leaves, t.leaves.c.position == t.calls.c.closing_leaf)
    .where(
        t.attachments.c.id == given("id"),
        given("principal_id") == t.calls.c.principal_id,
        t.conversations.c.deleted_at.is_(None),
    )
)

_closed_call = (
    select(
        t.calls.c.conversation_id,
        t.calls.c.call_id,
        *(column.label(f"closing_{column.name}") for column in sealed_columns(t.leaves)),
    )
    .join(t.conversations, t.conversations.c.id == t.calls.c.conversation_id)
    .join(t.leaves, t.leaves.c.position == t.calls.c.closing_leaf)
    .where(t.calls.c.call_id == given("id"), *_of_this_person)
)


@stored("result", "conversation_id", "call_id")
def _read_closed(row: ARow) -> KeptResult | None:
    """The result of a call as it was handed out: one page, for there was no need of a second."""
    closing = read_payload(row.closing_body, row.closing_salt, row.closing_payload)
    if closing is None:
        return None
    result = restore_result(closing["result"])
    if result.outcome is not Outcome.OK:
        return None
    text = result.content.encode()
    # What was taken out of it is not on record, so it is looked through again before anybody reads on.
    return KeptResult(KeptText(row.call_id, text, max(len(text), 1), ()), result.trust, result.labels, result.own)


@stored("result", "conversation_id", "call_id")
def _read_kept(row: ARow) -> KeptResult | None:
    closing = read_payload(row.closing_body, row.closing_salt, row.closing_payload)
    if closing is None:
        return None
    result = restore_result(closing["result"])
    redacted = texts.read(row.redacted)
    text = KeptText(row.id, row.content, row.page_bytes, redacted)
    if result.kept != text.reference:
        raise ValueError("not the text that was recorded")
    return KeptResult(text, result.trust, result.labels, result.own)


@stored("attachment", "id")
def _read_attachment(row: ARow) -> StoredAttachment | None:
    closing = read_payload(row.closing_body, row.closing_salt, row.closing_payload)
    if closing is None:
        return None
    result = restore_result(closing["result"])
    attachment = KeptAttachment(row.id, row.content)
    if attachment.reference not in result.attachments:
        raise ValueError("not the bytes that were recorded")
    return StoredAttachment(row.conversation_id, attachment, result.trust, result.labels, row.conversation_label)


class KeptReader(Reader):
    """Kept texts of one person in one conversation. An id is that of a kept text, or else of a call."""

    async def kept_result(self, principal_id: str, conversation_id: str, result_id: str) -> KeptResult | None:
        owner = {"of_principal_id": principal_id, "of_conversation_id": conversation_id}
        kept = self._find(_kept, _read_kept, of_id=result_id, **owner)
        return kept if kept is not None else self._find(_closed_call, _read_closed, of_id=result_id, **owner)

    async def attachment(self, principal_id: str, attachment_id: str) -> StoredAttachment | None:
        return self._find(_attachment, _read_attachment, of_id=attachment_id, of_principal_id=principal_id)
