"""The steps of a dispatch, as telemetry and the crash tests see them."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from gateway.core.vocabulary import Outcome, Reason


class Step(StrEnum):
    """The steps of one dispatch, in order; telemetry counts them and the crash tests kill the process at each."""

    RECEIVED = "received"
    BOUND = "bound"
    DECIDED = "decided"
    APPROVED = "approved"
    INTENT = "intent"
    STARTED = "started"
    DONE = "done"
    RECORDED = "recorded"
    REPLIED = "replied"


class Observer(Protocol):
    """Told of steps and outcomes; must not block, must not raise, decides nothing."""

    def step(self, step: Step, call_id: str) -> None: ...
    def closed(self, tool: str, outcome: Outcome, reason: Reason | None, seconds: float) -> None: ...
