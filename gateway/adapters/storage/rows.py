"""From rows to the values of the core. What `changes` writes, this reads back, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import orjson
from sqlalchemy import Row

from gateway.core.approval import Approval, Grant, Needs, RuleReason
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.ledger import Message, Passkey, ToolResult
from gateway.core.merkle import leaf_hash
from gateway.core.model import ModelRef, Principal, Session, ToolRequest
from gateway.core.results import restore_result
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, GrantScope, Label, Profile, Role, Runner
from gateway.runtime.ports import (
    AuditRow,
    CallRecord,
    CallState,
    ConsoleSession,
    ConversationRecord,
    EnrolmentOffer,
)

ARow = Row[Any]


def principal(row: ARow) -> Principal:
    return Principal(row.principal_id, row.principal_name, Profile(row.profile))


def enrolment(row: ARow) -> EnrolmentOffer:
    return EnrolmentOffer(row.name, Profile(row.profile), row.expires_at)


def passkey(row: ARow) -> Passkey:
    return Passkey(
        id=row.credential_id,
        principal_id=row.principal_id,
        public_key=row.public_key,
        sign_count=row.sign_count,
        backup_eligible=row.backup_eligible,
        backed_up=row.backed_up,
        user_handle=row.user_handle,
        transports=_texts(row.transports),
        name=row.name,
        created_at=row.created_at,
        last_used_at=row.last_used_at,
    )


def console_session(row: ARow) -> ConsoleSession:
    return ConsoleSession(row.id, principal(row), row.created_at, row.expires_at)


def session(row: ARow) -> Session:
    return Session(
        id=row.id,
        principal=principal(row),
        console_session_id=row.console_session_id,
        labels=_texts(row.labels),
        label=Label(row.label),
        created_at=row.created_at,
        expires_at=row.expires_at,
    )


def conversation(row: ARow) -> ConversationRecord:
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
    )


def message(row: ARow) -> Message:
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


def call(row: ARow) -> CallRecord:
    """A call with its payloads. One that was erased reads as no arguments and no result."""
    request: Mapping[str, Json] = {} if row.request_payload is None else orjson.loads(row.request_payload)
    return CallRecord(
        conversation_id=row.conversation_id,
        turn_id=row.turn_id,
        call_id=row.call_id,
        tool=row.tool,
        arguments=canonical_bytes(request.get("arguments", {})),
        request_digest=row.request_digest,
        state=CallState(row.state),
        approval_id=row.approval_id,
        received_at=row.received_at,
        result=_result(row.closing_payload),
        closing_index=row.closing_leaf,
        closed_at=row.closed_at,
    )


def _result(payload: bytes | None) -> ToolResult | None:
    return None if payload is None else restore_result(orjson.loads(payload)["result"])


def approval(row: ARow) -> Approval:
    presence, approvers, requester_may_approve = orjson.loads(row.needs)
    because: list[tuple[str, str]] = orjson.loads(row.because)
    return Approval(
        id=row.id,
        kind=ApprovalKind(row.kind),
        principal_id=row.principal_id,
        session_id=row.session_id,
        conversation_id=row.conversation_id,
        turn_id=row.turn_id,
        call_id=row.call_id,
        tool=row.tool,
        arguments=row.arguments,
        summary=row.summary,
        effects=_texts(row.effects),
        because=tuple(RuleReason(id_, why) for id_, why in because),
        needs=Needs(presence, approvers, requester_may_approve),
        offers=tuple(GrantScope(scope) for scope in _texts(row.offers)),
        statement=row.statement,
        statement_digest=row.statement_digest,
        requested_at=row.requested_at,
        expires_at=row.expires_at,
        status=ApprovalStatus(row.status),
    )


def request(written: str) -> ToolRequest:
    """The request that `changes.write_request` wrote down."""
    members: dict[str, Any] = orjson.loads(written)
    id_, name, profile = members.pop("principal")
    model = members.pop("model")
    arguments: str = members.pop("arguments")
    runner: str = members.pop("runner", Runner.BROWSER)
    return ToolRequest(
        principal=Principal(id_, name, Profile(profile)),
        arguments=arguments.encode(),
        model=None if model is None else ModelRef(*model),
        runner=Runner(runner),
        **members,
    )


def grant(row: ARow) -> Grant:
    pins: dict[str, str] = orjson.loads(row.pins)
    return Grant(
        id=row.id,
        approval_id=row.approval_id,
        principal_id=row.principal_id,
        session_id=row.session_id,
        conversation_id=row.conversation_id,
        turn_id=row.turn_id,
        scope=GrantScope(row.scope),
        tool=row.tool,
        descriptor_digest=row.descriptor_digest,
        pins={name: pinned.encode() for name, pinned in pins.items()},
        freed=_texts(row.freed),
        issued_at=row.issued_at,
        expires_at=row.expires_at,
        max_uses=row.max_uses,
        uses=row.uses,
        revoked_at=row.revoked_at,
    )


def audit_row(row: ARow) -> AuditRow:
    """The hash is computed, not copied: what is shown is what the tree would have to hold."""
    return AuditRow(
        index=row.position,
        hash=leaf_hash(row.body.encode()).hex(),
        body=orjson.loads(row.body),
        payload=None if row.payload is None else orjson.loads(row.payload),
    )


def _texts(written: str) -> tuple[str, ...]:
    return tuple(cast("list[str]", orjson.loads(written)))
