"""The ways a call can end, as values: what happened, and what has to be recorded beside the closing entry.

`closing.Closing.close` takes any of them and gives the answer. Nothing here waits or writes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.core.attachments import KeptAttachment
from gateway.core.budget import QuotaUse
from gateway.core.errors import GatewayError, IllegalStep, LedgerUnavailable, Refused
from gateway.core.gate import Refuse
from gateway.core.ledger import Entry, ToolResult
from gateway.core.model import ToolRequest
from gateway.core.results import KeptText
from gateway.core.value_types import quick
from gateway.core.vocabulary import ApprovalStatus, Decision, Outcome, Reason
from gateway.runtime.approvals import Approved, Denied, Pending, StepUpFailed, resolve_without_answer
from gateway.runtime.calls import InFlightCall
from gateway.runtime.checks import CheckedCall
from gateway.runtime.clearance import Clearance
from gateway.runtime.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Resolution:
    """How the question of a call ended. `told` is what whoever answered hears instead of the status, where that is not
    what they asked for."""

    pending: Pending
    status: ApprovalStatus
    told: GatewayError | None = None


@dataclass(frozen=True, slots=True)
class NotRun:
    """Refused, denied, expired or cancelled: there is no intent on record, so nothing ran.

    `alongside` is recorded together with the refusal, before it; `resolution` is there where a person was asked. `told_in` is the
    conversation where the refusal is in a tool's words, which come into it like a result.
    """

    call: InFlightCall
    refusal: Refuse
    checked: CheckedCall | None = None
    alongside: tuple[Entry, ...] = ()
    resolution: Resolution | None = None
    decision: Decision | None = None
    told_in: Conversation | None = None


@quick
@dataclass(frozen=True, slots=True)
class Ran:
    """The intent is on record. `executed` is False when its tool was not started."""

    conversation: Conversation
    call: InFlightCall
    checked: CheckedCall
    clearance: Clearance
    result: ToolResult
    kept: KeptText | None
    attachments: tuple[KeptAttachment, ...]
    executed: bool
    settled: tuple[QuotaUse, ...] = ()


@dataclass(frozen=True, slots=True)
class IdConflict:
    """Row 4: the id belongs to another call, which stays as it is."""

    request: ToolRequest


@dataclass(frozen=True, slots=True)
class NotRecordable:
    """The ledger took no record of the call, so nothing ran."""

    request: ToolRequest
    error: LedgerUnavailable


@dataclass(frozen=True, slots=True)
class ResultLost:
    """The call is on record and its result is not: nobody can say whether it took effect."""

    request: ToolRequest


@dataclass(frozen=True, slots=True)
class Broken:
    """Something failed that nobody foresaw."""

    call: InFlightCall


CallEnding = NotRun | Ran | IdConflict | NotRecordable | ResultLost | Broken


async def at_once(ending: CallEnding) -> CallEnding:
    """The course of a call that has nothing more to wait for."""
    return ending


def denied(call: InFlightCall, checked: CheckedCall, pending: Pending, answer: Denied | StepUpFailed) -> NotRun:
    """A person turned the call down, or their passkey answer did not verify."""
    because = pending.approval.because
    match answer:
        case Denied(resolved):
            refusal = Refuse(Outcome.DENIED_BY_USER, Reason.DENIED, "the person said no", because)
            return NotRun(call, refusal, checked, (resolved,), Resolution(pending, resolved.status), Decision.DENIED)
        case StepUpFailed(resolved, refused):
            message = "the passkey answer did not verify over exactly this call"
            refusal = Refuse(Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID, message, because)
            resolution = Resolution(pending, resolved.status)
            return NotRun(call, refusal, checked, (refused, resolved), resolution, Decision.STEP_UP_FAILED)


def lapsed(
    call: InFlightCall,
    checked: CheckedCall | None,
    pending: Pending,
    refusal: Refuse,
    at: int,
    told: GatewayError | None = None,
) -> NotRun:
    """The question ended without an answer that counts: nobody may answer it any more."""
    status = ApprovalStatus.EXPIRED if refusal.outcome is Outcome.TIMED_OUT else ApprovalStatus.CANCELLED
    resolved = resolve_without_answer(pending.request, pending.approval.id, status, at)
    decision = refusal.decision if refusal.outcome is Outcome.REFUSED_BY_POLICY else Decision.DENIED
    return NotRun(call, refusal, checked, (resolved,), Resolution(pending, status, told), decision)


def overtaken(call: InFlightCall, checked: CheckedCall, pending: Pending, answer: Approved, refusal: Refuse, at: int) -> NotRun:
    """Approved when it could not run any more (row 14): the question is withdrawn, and whoever answered it is told why. The
    use of the passkey that answered goes on record all the same."""
    told = Refused("noLongerOpen", f"this approval is no longer open, nothing ran: {refusal.message}", 409)
    ending = lapsed(call, checked, pending, refusal, at, told=told)
    return ending if answer.used is None else replace(ending, alongside=(answer.used, *ending.alongside))


def approval_not_recorded(
    call: InFlightCall,
    checked: CheckedCall,
    pending: Pending,
    answer: Approved,
    error: LedgerUnavailable | IllegalStep,
    at: int,
) -> NotRun:
    """Approved, but the approval could not be put on record together with the intent, so nothing ran."""
    match error:
        case LedgerUnavailable():
            refusal = Refuse(Outcome.EXECUTION_ERROR, Reason.LEDGER_UNAVAILABLE, f"nothing ran: {error.message}")
            return lapsed(call, checked, pending, refusal, at, told=error)
        case IllegalStep():
            # Its time ran out, or its passkey was used elsewhere or taken away, while the approval was on its way to the disk.
            if answer.used is None:
                late = Refuse(Outcome.TIMED_OUT, Reason.APPROVAL_EXPIRED, "the approval came too late; nothing ran")
            else:
                message = "the passkey's answer no longer holds; nothing ran"
                late = Refuse(Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID, message)
            return lapsed(call, checked, pending, late, at, told=Refused("noLongerOpen", late.message, 409))
