"""A question that waits for a person, and the answers that one can get."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from gateway.core.approval import Approval, Grant
from gateway.core.gate import Refuse
from gateway.core.ledger import ApprovalResolved, AssertionRefused, BreakGlassUsed, PasskeyUsed
from gateway.core.model import ToolRequest
from gateway.core.vocabulary import ApprovalStatus
from gateway.runtime.notices import BreakGlassNotice


@dataclass(frozen=True, slots=True)
class Approved:
    """Approved. `resolved` is ready to be recorded; `grant` comes with it when the approval lasts."""

    resolved: ApprovalResolved
    grant: Grant | None
    used: PasskeyUsed | None
    broken: BreakGlassUsed | None = None
    """Where an operator gave alone what needs several."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Turned down by a person."""

    resolved: ApprovalResolved


@dataclass(frozen=True, slots=True)
class StepUpFailed:
    """A passkey answer that does not verify over exactly these bytes."""

    resolved: ApprovalResolved
    refused: AssertionRefused


PersonalAnswer = Approved | Denied | StepUpFailed


@dataclass(frozen=True, slots=True)
class Decided:
    """An answer that is durable: how the approval stands, and the grant if the approval lasts."""

    approval: Approval
    grant: Grant | None


@dataclass(eq=False, slots=True)
class Pending:
    """An approval that waits. `answered` is set by a person, or by the refusal with which it is withdrawn; `recorded` once the
    driver has made it durable, with how it ended and the grant that was issued on it, if one was: an approval that came too
    late for its call grants nothing. `judge` says why its call could not run any more, if it could not."""

    approval: Approval
    request: ToolRequest
    descriptor_digest: str
    deadline: float
    answered: asyncio.Future[PersonalAnswer | Refuse] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    recorded: asyncio.Future[tuple[ApprovalStatus, Grant | None]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    taken: bool = False
    answering: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by one of several people who answer: the next one is judged by what came of it."""
    warning: BreakGlassNotice | None = None
    """What operators are told once it is on record that somebody acts alone."""
    judge: Callable[[], Refuse | None] = lambda: None
    is_early: Callable[[], bool] = lambda: False
    """Whether its call has to wait for another one even when it is approved."""


def resolve_without_answer(request: ToolRequest, approval_id: str, status: ApprovalStatus, at: int) -> ApprovalResolved:
    """The entry for the question of a call that ends with nobody's answer."""
    return ApprovalResolved(
        at=at,
        approval_id=approval_id,
        call_id=request.call_id,
        conversation_id=request.conversation_id,
        status=status,
        approver_id=None,
        console_session_id=None,
        credential_id=None,
        assertion=None,
    )
