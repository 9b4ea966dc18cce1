"""Tool calls: the intent before a tool runs, and the one closing entry of every request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gateway.core.approval import RuleReason
from gateway.core.attachments import KeptAttachment
from gateway.core.audit import Leaf, header
from gateway.core.budget import QuotaUse
from gateway.core.canonical import Json, canonical_bytes, own_bytes
from gateway.core.judgement import Judgement
from gateway.core.ledger.requests import describe_call, identify_call, payload_of_intent, payload_of_proposal
from gateway.core.model import Snapshot, ToolRequest
from gateway.core.results import KeptText, ToolResult, result_record, unknown_result
from gateway.core.value_types import quick
from gateway.core.vocabulary import Decision, Recovery

__all__ = [
    "CallClosed",
    "CallFoundUnknown",
    "CallIntended",
    "CallRefusedUnrecorded",
    "LateResultDiscarded",
    "ToolResult",
]


@quick
@dataclass(frozen=True, slots=True)
class CallIntended:
    """About to run: durable before the tool starts. Consumes the approval or one use of the grant in the same transaction."""

    EVENT: ClassVar[str] = "call:intended"

    at: int
    request: ToolRequest
    snapshot: Snapshot
    descriptor_digest: str
    decision: Decision
    because: tuple[RuleReason, ...]
    approval_id: str | None
    grant_id: str | None
    judgement: Judgement | None = None
    """What the policy was asked last, and answered; None in logs that are older than it."""
    reserved: tuple[QuotaUse, ...] = ()
    """What is set aside for it of quotas. In the tables only."""
    erase_at: int | None = None
    """When its content is to be erased if nobody ever learns its outcome; None where it is kept. In the tables only."""

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **describe_call(self.EVENT, self.at, self.request, self.snapshot, self.descriptor_digest),
                "decision": self.decision.value,
                "because": [rule.id for rule in self.because],
                "approvalId": self.approval_id,
                "grantId": self.grant_id,
            },
            payload_of_intent(self.request, self.judgement),
        )


@quick
@dataclass(frozen=True, slots=True)
class CallClosed:
    """A closing entry; every request has exactly one. Ran or not, this is the result that replays see."""

    EVENT: ClassVar[str] = "call:closed"

    at: int
    request: ToolRequest
    snapshot: Snapshot | None
    descriptor_digest: str | None
    decision: Decision
    because: tuple[RuleReason, ...]
    result: ToolResult
    executed: bool
    kept: KeptText | None = None
    """All of the result's text where `result` holds only its first page. The leaf covers its digest."""
    attachments: tuple[KeptAttachment, ...] = ()
    """The bytes that came with the result. The leaf covers their digests."""
    judgement: Judgement | None = None
    """What the policy was asked about a call that did not run; None where it was refused before anybody asked the policy."""
    settled: tuple[QuotaUse, ...] = ()
    """What is given back of what its intent set aside. In the tables only."""
    erase_at: int | None = None
    """When its content is to be erased; None where it is kept. In the tables only."""

    def leaf(self) -> Leaf:
        if self.executed:
            # Its intent says the rest: what was on offer, why it was allowed, and with which arguments.
            return Leaf(
                {
                    **identify_call(self.EVENT, self.at, self.request),
                    "tool": self.request.tool,
                    "decision": self.decision.value,
                    "executed": True,
                    **_describe_outcome(self.result),
                },
                _payload_of_result(self.result),
            )
        return Leaf(
            {
                **describe_call(self.EVENT, self.at, self.request, self.snapshot, self.descriptor_digest),
                "decision": self.decision.value,
                "because": [rule.id for rule in self.because],
                "executed": False,
                **_describe_outcome(self.result),
            },
            payload_of_proposal(self.request, result=result_record(self.result), **_judged(self.judgement)),
        )


@dataclass(frozen=True, slots=True)
class CallRefusedUnrecorded:
    """A refusal that must not touch the call's own row: `replayConflict` leaves the original as it was."""

    EVENT: ClassVar[str] = "call:refused"

    at: int
    request: ToolRequest
    result: ToolResult

    def leaf(self) -> Leaf:
        return Leaf(
            {**describe_call(self.EVENT, self.at, self.request, None, None), **_describe_outcome(self.result)},
            payload_of_proposal(self.request, result=result_record(self.result)),
        )


@dataclass(frozen=True, slots=True)
class LateResultDiscarded:
    """The tool finished after its call was closed (cancelled, timed out). Recorded, never sent."""

    EVENT: ClassVar[str] = "call:result-discarded"

    at: int
    principal_id: str
    conversation_id: str
    call_id: str
    result_digest: str

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "conversationId": self.conversation_id,
                "callId": self.call_id,
            },
            own_bytes({"resultDigest": self.result_digest}),
        )


@dataclass(frozen=True, slots=True)
class CallFoundUnknown:
    """Recovery: an intent without an outcome. The tool may or may not have acted; it is never run again by itself.

    `recovery` is what the tool's author says may be done about it."""

    EVENT: ClassVar[str] = "call:found-unknown"

    at: int
    principal_id: str
    conversation_id: str
    call_id: str
    receipt_id: str
    recovery: Recovery | None = None

    def leaf(self) -> Leaf:
        result = self.result()
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "conversationId": self.conversation_id,
                "callId": self.call_id,
                **_describe_outcome(result),
                # Absent where nobody looked it up, as in every log written before it was.
                **({} if self.recovery is None else {"recovery": self.recovery.value}),
            },
            _payload_of_result(result),
        )

    def result(self) -> ToolResult:
        """The result that replays and the model see."""
        return unknown_result(self.call_id, self.receipt_id, self.recovery)


CallEntry = CallIntended | CallClosed | CallRefusedUnrecorded | LateResultDiscarded | CallFoundUnknown


def _describe_outcome(result: ToolResult) -> dict[str, Json]:
    return {
        "outcome": result.outcome.value,
        "reason": None if result.reason is None else result.reason.value,
        "receiptId": result.receipt_id,
        "truncated": result.truncated,
        "redactions": result.redactions,
        "trust": result.trust.value,
        "durationMs": result.duration_ms,
    }


def _judged(judgement: Judgement | None) -> dict[str, Json]:
    return {} if judgement is None else {"judged": judgement.described()}


def _payload_of_result(result: ToolResult) -> bytes:
    members = {"result": result_record(result)}
    # A tool's structured result may hold floats and any member names; everything else here is the gateway's own.
    return own_bytes(members) if result.structured is None else canonical_bytes(members)
