"""A call as plain members, which every format begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.core.call_history import AuditedCall, read_rules
from gateway.core.canonical import Json
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Label


@dataclass(frozen=True, slots=True)
class Named:
    """What a call alone does not say: the log it is from, the version of this program, and the names of people by their ids."""

    log: str
    version: str
    people: Mapping[str, str]

    def person(self, id_: str) -> str:
        """A person's name, or the id where it is not known any more."""
        return self.people.get(id_, id_)


MEMBERS: Final = (
    "position",
    "at",
    "principalId",
    "principalName",
    "conversationId",
    "turnId",
    "turnIndex",
    "callId",
    "tool",
    "source",
    "outcome",
    "reason",
    "decision",
    "modelId",
    "label",
    "rules",
    "policyVersion",
    "approvalKind",
    "approvalId",
    "askedAt",
    "decidedAt",
    "answer",
    "approverId",
    "approverName",
    "credentialId",
    "grantId",
    "startedAt",
    "closedAt",
    "durationMs",
)
"""The members, in the order of a spreadsheet's columns. They are named as on the wire (docs/PROTOCOL.md, `audit/calls`)."""


def describe_call(call: AuditedCall, named: Named) -> dict[str, Json]:
    """All of `MEMBERS`; null for what is not known. Times are RFC 3339."""
    traits = call.traits
    values: tuple[Json, ...] = (
        call.position,
        rfc3339(call.at),
        traits.principal_id,
        named.person(traits.principal_id),
        call.conversation_id,
        call.turn_id,
        call.turn_index,
        call.call_id,
        traits.tool or None,
        traits.source or None,
        traits.outcome,
        traits.reason or None,
        traits.decision or None,
        traits.model_id or None,
        None if traits.label < 0 else Label(traits.label).name.lower(),
        list(read_rules(traits.rules)),
        traits.policy_version or None,
        traits.approval_kind or None,
        call.approval_id,
        _time(call.asked_at),
        _time(call.decided_at),
        call.answer,
        call.approver_id,
        None if call.approver_id is None else named.people.get(call.approver_id),
        call.credential_id,
        call.grant_id,
        _time(call.started_at),
        _time(call.closed_at),
        call.duration_ms,
    )
    return dict(zip(MEMBERS, values, strict=True))


def _time(at: int | None) -> str | None:
    return None if at is None else rfc3339(at)
