"""A call under way, and one that has closed: the runtime's memory of call ids.

A call is driven by its own task, never by the connection that asked: losing a socket loses no call. Whoever wants the
answer waits for it; whoever wants it stopped calls `stop`, and the first reason wins.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from gateway.core.gate import Refuse
from gateway.core.judgement import Judgement
from gateway.core.ledger import ToolResult
from gateway.core.lifecycle import CallEvent, Phase, advance
from gateway.core.model import ToolRequest
from gateway.core.value_types import quick
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.ports import PolicyVerdict


@quick
@dataclass(frozen=True, slots=True)
class ClosedCall:
    """A closed call. `result` is kept only where no record has it; replays are rare, and results are large."""

    request_digest: str
    result: ToolResult | None
    closing_index: int | None


@quick
@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What goes back for an invocation."""

    result: ToolResult
    closing_index: int | None
    replayed: bool


@dataclass(eq=False, slots=True)
class InFlightCall:
    """A call between proposal and close."""

    request: ToolRequest
    started: float
    phase: Phase = Phase.PROPOSED
    approval_id: str | None = None
    judgement: Judgement | None = None
    retain_days: int | None = None
    waiting: list[asyncio.Future[CallAnswer]] = field(default_factory=list[asyncio.Future[CallAnswer]])
    stopped: asyncio.Future[Reason | None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    closed: asyncio.Future[Outcome] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    earlier: InFlightCall | None = None
    """The call that this one follows, until it has closed as it should."""
    misplaced: Refuse | None = None
    """Why it cannot follow the call that it names."""
    followed: bool = False

    @property
    def request_digest(self) -> str:
        """What tells the same call sent again from another one under the same id."""
        return self.request.digest

    def note(self, verdict: PolicyVerdict, judgement: Judgement) -> PolicyVerdict:
        """What the policy said of it last; gives the verdict back."""
        self.judgement, self.retain_days = judgement, verdict.obligations.retain_days
        return verdict

    def step(self, event: CallEvent) -> None:
        """Take one step of the lifecycle. Raises IllegalStep."""
        self.phase = advance(self.phase, event)

    def answer_future(self) -> asyncio.Future[CallAnswer]:
        """The answer, once there is one. Everybody who waits has a future of their own: giving it up stops nobody else."""
        future: asyncio.Future[CallAnswer] = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        return future

    def answer(self, answer: CallAnswer) -> None:
        """Give the answer to everybody who still waits."""
        self.closed.set_result(answer.result.outcome)
        for future in self.waiting:
            if not future.done():
                future.set_result(answer)

    def abandon(self) -> None:
        """There will be no answer."""
        for future in self.waiting:
            future.cancel()

    def stop(self, reason: Reason | None) -> None:
        """Ask for the call to end; no reason when its own client cancelled it. A tool under way is told at once."""
        if not self.stopped.done():
            self.stopped.set_result(reason)


def cancelled_before_it_ran(call: InFlightCall) -> Refuse:
    """Why a call that was stopped gave nothing, where its tool had not begun."""
    return Refuse(Outcome.CANCELLED, call.stopped.result(), "the call ended before its tool began; nothing ran")


def cancelled_while_it_ran(call: InFlightCall) -> Refuse:
    """Why a call that was stopped gave nothing, where its tool had begun: nobody knows how far it came."""
    return Refuse(Outcome.CANCELLED, call.stopped.result(), "the call ended while its tool ran; it may have taken effect")
