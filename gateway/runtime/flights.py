"""A call under way, and one that has closed: the runtime's memory of call ids.

A flight is driven by its own task, never by the connection that asked: losing a socket loses no call. Whoever wants the
answer waits on `closed`; whoever wants it stopped calls `stop`, and the first reason wins.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from gateway.core.ledger import ToolResult
from gateway.core.lifecycle import CallEvent, Phase, advance
from gateway.core.model import ToolRequest
from gateway.core.vocabulary import Reason


@dataclass(frozen=True, slots=True)
class Settled:
    """A closed call. The result is kept in memory only while the conversation is warm; the record has it for good."""

    request_digest: str
    result: ToolResult | None
    closing_index: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back for an invocation."""

    result: ToolResult
    closing_index: int | None
    replayed: bool


@dataclass(eq=False, slots=True)
class Flight:
    """A call between proposal and close."""

    request: ToolRequest
    started: float
    phase: Phase = Phase.PROPOSED
    approval_id: str | None = None
    closed: asyncio.Future[Answer] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    stopped: asyncio.Future[Reason | None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def step(self, event: CallEvent) -> None:
        """Take one step of the lifecycle. Raises IllegalStep."""
        self.phase = advance(self.phase, event)

    def stop(self, reason: Reason | None) -> None:
        """Ask for the call to end; no reason when its own client cancelled it. A tool under way is told at once."""
        if not self.stopped.done():
            self.stopped.set_result(reason)
