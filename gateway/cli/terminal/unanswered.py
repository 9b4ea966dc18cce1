"""Calls that needed a person and got none: what a program that started the agent has to learn from its exit status."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.agent.events import AgentEvent, CallClosedEvent
from gateway.agent.ports import ChatMessage
from gateway.agent.trajectory import TokenIds
from gateway.core.vocabulary import Outcome, Reason


class UnansweredCalls:
    """Listens for calls that were withdrawn, ran out of time or found no passkey because nobody was there. A person's no is an
    answer."""

    def __init__(self) -> None:
        self.count = 0

    def hear(self, event: AgentEvent) -> None:
        """An event of the loop."""
        if isinstance(event, CallClosedEvent):
            result = event.result
            self.count += result["outcome"] == Outcome.CANCELLED or result.get("reason") in _NOBODY

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """Says nothing of people."""

    def faulted(self, reason: str) -> None:
        """Nor does this."""


_NOBODY = frozenset({Reason.APPROVAL_EXPIRED, Reason.NO_CREDENTIAL})
