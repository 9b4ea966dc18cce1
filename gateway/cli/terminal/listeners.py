"""Whoever follows the loop of a conversation: the screen, the event stream, a transcript, a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gateway.agent.events import AgentEvent
from gateway.agent.ports import ChatMessage
from gateway.agent.trajectory import TokenIds


class LoopListener(Protocol):
    """A listener to what happens: the event stream, the transcript, a trajectory."""

    def hear(self, event: AgentEvent) -> None:
        """An event of the loop."""
        ...

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """What a model really wrote."""
        ...

    def faulted(self, reason: str) -> None:
        """Why it was asked again."""
        ...


class LoopListeners:
    """Several listeners as one, in order."""

    def __init__(self, listeners: Sequence[LoopListener]) -> None:
        self._listeners = listeners

    def hear(self, event: AgentEvent) -> None:
        """An event of the loop."""
        for listener in self._listeners:
            listener.hear(event)

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """What a model really wrote."""
        for listener in self._listeners:
            listener.wrote(prompt, text, tokens)

    def faulted(self, reason: str) -> None:
        """Why it was asked again."""
        for listener in self._listeners:
            listener.faulted(reason)
