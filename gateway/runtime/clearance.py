"""Leave to run: what decided it, and what has to become durable together with the intent."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.core.approval import Grant, RuleReason
from gateway.core.gate import Allow
from gateway.core.judgement import Judgement
from gateway.core.ledger import CallIntended, Entry, GrantIssued
from gateway.core.value_types import quick
from gateway.core.vocabulary import ApprovalKind, Decision
from gateway.runtime.approvals import Approved, Pending
from gateway.runtime.checks import CheckedCall
from gateway.runtime.usage import NOTHING_RESERVED, Reservation


@quick
@dataclass(frozen=True, slots=True)
class Clearance:
    """Leave to run. `pending` is the approval that gave it, `used` the grant; `issued` is a grant that the approval gives."""

    decision: Decision
    because: tuple[RuleReason, ...]
    pending: Pending | None = None
    used: Grant | None = None
    issued: Grant | None = None
    alongside: tuple[Entry, ...] = ()
    reserved: Reservation = NOTHING_RESERVED

    def intend(self, checked: CheckedCall, at: int, judgement: Judgement | None, erase_at: int | None) -> tuple[Entry, ...]:
        """The approval, what it grants and the intent that it allows, for one transaction: no crash can part them."""
        intent = CallIntended(
            at=at,
            request=checked.request,
            snapshot=checked.snapshot,
            descriptor_digest=checked.spec.digest,
            decision=self.decision,
            because=self.because,
            approval_id=None if self.pending is None else self.pending.approval.id,
            grant_id=None if self.used is None else self.used.id,
            judgement=judgement,
            reserved=self.reserved.uses,
            erase_at=erase_at,
        )
        return (*self.alongside, intent)


def clear_allowed(allowed: Allow, reserved: Reservation) -> Clearance:
    """By the policy, or by a grant."""
    return Clearance(allowed.decision, allowed.because, used=allowed.grant, reserved=reserved)


def clear_approved(pending: Pending, answer: Approved, reserved: Reservation) -> Clearance:
    """By a person."""
    grant = answer.grant
    return Clearance(
        decision=Decision.STEP_UP_SUCCEEDED if pending.approval.kind is ApprovalKind.STEP_UP else Decision.CONSENTED,
        because=pending.approval.because,
        pending=pending,
        issued=grant,
        reserved=reserved,
        alongside=(
            *(() if answer.used is None else (answer.used,)),
            *(() if answer.broken is None else (answer.broken,)),
            answer.resolved,
            *(() if grant is None else (GrantIssued(answer.resolved.at, grant),)),
        ),
    )
