"""The runtime's values as wire types: only the parts that a client may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

import orjson
from pydantic import PrivateAttr

from gateway.core.approval import Approval, Grant
from gateway.core.attachments import AttachmentReference
from gateway.core.canonical import Json
from gateway.core.excerpts import excerpt_of
from gateway.core.ledger import IMPORTED, Message, Passkey, ToolResult
from gateway.core.model import PublishedTool, Snapshot
from gateway.core.times import rfc3339
from gateway.core.untrusted_text import Comparison
from gateway.core.vocabulary import Label, Profile
from gateway.protocol import shapes
from gateway.protocol.agent_methods import WireFoundMessage, WireOpenTurn, WireSnapshotIssued
from gateway.protocol.console_methods import (
    AuditEntry,
    BreakGlassView,
    CopiedArguments,
    PasskeyView,
    ProfilePolicy,
    StoppedView,
    WireCopiedText,
)
from gateway.runtime import ports, turns
from gateway.runtime.approvals import order_arguments
from gateway.runtime.calls import CallAnswer
from gateway.runtime.denials import StoppedQuestions
from gateway.server.methods.encoding import encode_base64url

LABEL_NAMES: dict[int, Literal["public", "internal", "confidential", "high"]] = {
    Label.PUBLIC: "public",
    Label.INTERNAL: "internal",
    Label.CONFIDENTIAL: "confidential",
    Label.HIGH: "high",
}

_GATEWAY = "gateway:"
_OWN = "gateway/own:"
"""The prefixes of a recorded result's provenance; the tool's name follows."""


def view_conversation(record: ports.ConversationRecord) -> shapes.WireConversation:
    """A conversation without its messages."""
    return shapes.WireConversation(
        id=record.id,
        title=record.title,
        created_at=rfc3339(record.created_at),
        updated_at=rfc3339(record.updated_at),
        parent_id=record.parent_id,
        inherited_turns=None if record.parent_id is None and not record.inherited_turns else record.inherited_turns,
        turn_count=record.turn_count,
        message_count=record.message_count,
        tainted=record.taint > 0,
        label=LABEL_NAMES[record.label],
        open_turn_id=record.open_turn_id,
    )


def view_message(message: Message) -> shapes.StoredMessage:
    """A message, with its source."""
    own = message.provenance.startswith(_OWN)
    vouched = own or message.provenance.startswith(_GATEWAY)
    return shapes.StoredMessage(
        role=message.role,
        content=message.content,
        tool_call_id=message.call_id,
        tool_calls=tuple(shapes.WireToolCall.admit(call) for call in message.tool_calls) or None,
        index=message.index if message.index >= 0 else None,
        turn_id=message.turn_id,
        provenance="gateway" if vouched else "imported" if message.provenance == IMPORTED else "claimed",
        tool=message.provenance.removeprefix(_OWN if own else _GATEWAY) if vouched else None,
        own=True if own else None,
        at=rfc3339(message.at),
    )


def view_found(found: ports.FoundMessage, words: Sequence[str]) -> WireFoundMessage:
    """A message that was found, by a piece of it."""
    message = found.message
    return WireFoundMessage(
        conversation_id=message.conversation_id,
        title=found.title,
        turn_id=message.turn_id,
        role=message.role,
        excerpt=excerpt_of(message.content, words),
        at=rfc3339(message.at),
    )


def view_call(record: ports.CallRecord, toolbox: ports.Toolbox, approval: Approval | None = None) -> shapes.CallView:
    """A call and its state, with the approval it waits for. A closed one has its result, marked as replayed. Its arguments stand
    in the order in which the tool's author wrote them."""
    names = order_arguments(toolbox, record.tool, record.arguments)
    result = None
    if record.result is not None:
        result = _view_result(record.result, record.closing_index, replayed=True)
    return shapes.CallView(
        call=shapes.WireToolCall(id=record.call_id, name=record.tool, arguments={name: record.arguments[name] for name in names}),
        turn_id=record.turn_id,
        state=record.state.value,
        approval_id=record.approval_id,
        approval=None if approval is None else view_approval(approval),
        received_at=rfc3339(record.received_at),
        result=result,
    )


def view_copies(compared: Comparison) -> CopiedArguments | None:
    """What of a call's arguments came from untrusted results; None where nothing did."""
    if not compared.found:
        return None
    copies = tuple(
        WireCopiedText(
            argument=copy.argument,
            text=copy.text,
            tool=copy.origin.tool,
            call_id=copy.origin.call_id,
            about=copy.origin.about,
        )
        for copy in compared.copies
    )
    return CopiedArguments(copies=copies, complete=compared.complete)


def view_answer(answer: CallAnswer) -> shapes.WireToolResult:
    """The result of an invocation."""
    return _view_result(answer.result, answer.closing_index, replayed=answer.replayed)


def view_snapshot(snapshot: Snapshot) -> shapes.TurnSnapshot:
    """A snapshot, exactly as its digest covers it."""
    return shapes.TurnSnapshot.admit(snapshot.wire())


class _WrittenSnapshot(WireSnapshotIssued):
    """What a new snapshot is answered with, as it was written for its digest: thousands of tools are not looked through and
    written again for each turn, and copied once. It holds nothing but that."""

    _parts: tuple[bytes, ...] = PrivateAttr(())

    def hold(self, snapshot: Snapshot) -> Self:
        self._parts = snapshot.write_wire()
        return self

    def to_json(self) -> bytes:
        return self.enclose(b"", b"")

    def enclose(self, before: bytes, after: bytes) -> bytes:
        return b"".join((before, b'{"snapshot":', *self._parts, b"}", after))

    def to_members(self) -> dict[str, Json]:
        return orjson.loads(self.to_json())


def view_issued(snapshot: Snapshot) -> WireSnapshotIssued:
    """The answer that gives a client its snapshot."""
    return _WrittenSnapshot.model_construct().hold(snapshot)


def view_open_turn(turn: turns.OpenTurn) -> WireOpenTurn:
    """An open turn, for `conversations/open`."""
    return WireOpenTurn(
        turn_id=turn.id,
        turn_index=turn.index,
        model_id=turn.model_id,
        snapshot=None if turn.snapshot is None else view_snapshot(turn.snapshot),
    )


def view_tool(tool: PublishedTool) -> shapes.ToolDescriptor:
    """A tool's descriptor."""
    return shapes.ToolDescriptor.admit(tool.descriptor())


def view_model(info: ports.ModelInfo) -> shapes.WireModelInfo:
    """A model that can be used."""
    return shapes.WireModelInfo(
        id=info.id,
        display_name=info.display_name,
        arch=info.arch,
        context_tokens=info.context_tokens,
        output_tokens=info.output_tokens,
        backend=info.backend,
        quantisation=info.quantisation,
        supports_tools=info.supports_tools,
        licence=info.licence,
        local=info.local,
        tool_call_rank=info.tool_call_rank,
        approx_peak_ram_bytes=info.approx_peak_ram_bytes,
        tier=info.tier,
        sees_images=info.sees_images or None,
        trouble=info.trouble or None,
    )


def view_broken_glass(row: ports.AuditRow, names: Mapping[str, str]) -> BreakGlassView:
    """The record that somebody did alone what takes several people."""
    body = row.body
    return BreakGlassView(
        approval_id=body["approvalId"],
        tool=body["tool"],
        name=names.get(body["principalId"], body["principalId"]),
        at=rfc3339(body["at"]),
        reason="" if row.payload is None else row.payload["reason"],
    )


def view_approval(approval: Approval) -> shapes.WireApproval:
    """A request for a person's decision."""
    return shapes.WireApproval.admit(approval.wire())


def view_grant(grant: Grant, toolbox: ports.Toolbox) -> shapes.WireGrant:
    """A grant, with its arguments in the order in which the tool's author wrote them, as they stood on the question."""
    pins = order_arguments(toolbox, grant.tool, grant.pins)
    return shapes.WireGrant.admit({**grant.wire(), "pins": {name: orjson.loads(grant.pins[name]) for name in pins}})


def view_passkey(passkey: Passkey) -> PasskeyView:
    """A passkey, without its public key."""
    return PasskeyView(
        id=encode_base64url(passkey.id),
        name=passkey.name,
        created_at=rfc3339(passkey.created_at),
        last_used_at=None if passkey.last_used_at is None else rfc3339(passkey.last_used_at),
        transports=passkey.transports,
        backed_up=passkey.backed_up,
    )


def view_stopped(stopped: StoppedQuestions) -> StoppedView:
    """What asks its person nothing more."""
    return StoppedView(
        session_id=stopped.session_id,
        denials=stopped.denials,
        conversation_id=stopped.conversation_id,
        turn_id=stopped.turn_id,
    )


def view_audit_row(row: ports.AuditRow) -> AuditEntry:
    """A leaf of the log."""
    return AuditEntry(
        index=row.index,
        hash=row.hash,
        body=dict(row.body),
        payload=None if row.payload is None else dict(row.payload),
    )


def view_limits(profile: Profile, limits: ports.ProfileLimits) -> ProfilePolicy:
    """The limits of a profile."""
    return ProfilePolicy(
        profile=profile,
        calls_per_turn=limits.calls_per_turn,
        calls_per_session=limits.calls_per_session,
        calls_per_day=limits.calls_per_principal_per_day,
        pending_approvals=limits.pending_approvals,
        shows_forbidden=limits.shows_forbidden,
        suppressed_tools=limits.suppressed_tools,
        session_seconds=limits.session_seconds,
    )


def _view_result(result: ToolResult, closing_index: int | None, *, replayed: bool) -> shapes.WireToolResult:
    return shapes.WireToolResult(
        call_id=result.call_id,
        outcome=result.outcome,
        reason=result.reason,
        content=result.content,
        structured=result.structured,
        error=result.error,
        truncated=result.truncated,
        redactions=result.redactions,
        labels=result.labels,
        trust=result.trust,
        duration_ms=result.duration_ms,
        replayed=replayed,
        audit_seq=closing_index,
        receipt_id=result.receipt_id,
        attachments=tuple(map(_view_attachment, result.attachments)) or None,
        own=True if result.own else None,
    )


def _view_attachment(attachment: AttachmentReference) -> shapes.WireAttachment:
    return shapes.WireAttachment(
        id=attachment.id, media_type=attachment.media_type, bytes=attachment.bytes, digest=attachment.digest
    )
