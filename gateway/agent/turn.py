"""A turn under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.agent.messages import Message
from gateway.agent.ports import StopSignal

_VOID_SNAPSHOT: Final = frozenset({"staleSnapshot", "snapshotExpired", "policyChanged"})
"""Reasons after which the snapshot in hand is good for nothing more."""


@dataclass(slots=True)
class LoopTurn:
    """`model` is a `ModelInfo`, None where the person calls a tool themself, `snapshot` a `TurnSnapshot`, and `stale` asks for a
    new one.

    `messages` and `shown` are the conversation's own lists, of all that happened and of what the model is shown of it; the turn
    writes to their ends. `streamed` is the answer so far, `broken` one that broke off and is asked for again: it stays until
    there is something else to read. `sent` is the id of the call that was sent last, `actions` what the message was split into;
    `may_summarise` is over once no summary came.
    """

    snapshot: Mapping[str, Any]
    model: Mapping[str, Any] | None
    messages: list[Message]
    shown: list[Message]
    stop: StopSignal = field(default_factory=StopSignal)
    stale: bool = False
    token: Mapping[str, Any] | None = None
    actions: Sequence[str] | None = None
    may_summarise: bool = True
    sent: str | None = None
    streamed: str = ""
    broken: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def keep(self, message: Message) -> None:
        """Write down what happened, for the loop and for the model."""
        self.messages.append(message)
        self.shown.append(message)

    @property
    def id(self) -> str:
        """The gateway's id for it."""
        return self.snapshot["turnId"]

    @property
    def reference(self) -> dict[str, str]:
        """The parameters that name it."""
        return {"conversationId": self.snapshot["conversationId"], "turnId": self.id}


def voids_snapshot(reason: str | None) -> bool:
    """Whether a call was refused because its snapshot no longer holds."""
    return reason in _VOID_SNAPSHOT
