"""Approvals: asked, waited for, answered once, or withdrawn.

Nothing here writes an answer. The driver of the call that waits records it together with what follows from it, in one
transaction, so that no crash can part an approval from the intent it allowed.
"""

from __future__ import annotations

from gateway.runtime.approvals.inspection import CallObstacle, order_arguments, preview_call
from gateway.runtime.approvals.pending import (
    Approved,
    Decided,
    Denied,
    Pending,
    PersonalAnswer,
    StepUpFailed,
    resolve_without_answer,
)
from gateway.runtime.approvals.plans import Approvals, PlanPart

__all__ = [
    "Approvals",
    "Approved",
    "CallObstacle",
    "Decided",
    "Denied",
    "Pending",
    "PersonalAnswer",
    "PlanPart",
    "StepUpFailed",
    "order_arguments",
    "preview_call",
    "resolve_without_answer",
]
