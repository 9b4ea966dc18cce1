"""Turns what the loop tells of a conversation into its trajectory.

The loop reports two things: what models really wrote (a reply observer), and what followed (events). Here they get one order:
words for the model wait until the model is given them, and then the ids of what it was fed are booked on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.agent.browser import as_json
from gateway.agent.events import (
    AgentEvent,
    AssistantSaidEvent,
    CallClosedEvent,
    CallProposedEvent,
    TurnBegunEvent,
    TurnEndedEvent,
    TurnSteeredEvent,
)
from gateway.agent.messages import Result
from gateway.agent.ports import ChatMessage
from gateway.agent.rollout import Rollout
from gateway.agent.trajectory import TokenIds, Trajectory, TrajectoryResult, TrajectoryRole


class TrajectoryRecorder:
    """The ReplyObserver port, and a listener for events. One conversation."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._waiting: list[tuple[TrajectoryRole, str, TrajectoryResult | None]] = []
        self._system: str | None = None
        self._called: dict[str, str] = {}
        self._is_said = False
        """Whether what the assistant says next is what the model wrote last."""

    @property
    def trajectory(self) -> Trajectory:
        """What was recorded so far; whole after the end of a turn."""
        return self._rollout.trajectory

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """A reply as it came, whatever it is worth."""
        first, last = prompt[0], prompt[-1]
        if first["role"] == TrajectoryRole.SYSTEM and first["content"] != self._system:
            self._system = first["content"]
            self._rollout.told(TrajectoryRole.SYSTEM, first["content"])
        if not self._waiting:
            self._waiting.append((TrajectoryRole(last["role"]), last["content"], None))
        self._tell()
        self._rollout.generated(text, tokens)
        self._is_said = True

    def faulted(self, reason: str) -> None:
        """The reply before cannot be used, and the model is asked again."""
        self._rollout.faulted(reason)
        self._is_said = False

    def hear(self, event: AgentEvent) -> None:
        """What goes on."""
        match event:
            case TurnBegunEvent(text=text) | TurnSteeredEvent(text):
                self._waiting.append((TrajectoryRole.USER, text, None))
            case CallProposedEvent(call=call):
                self._tell()
                self._called[call["id"]] = call["name"]
                self._rollout.called(call["name"], as_json(call["arguments"]))
            case CallClosedEvent(call_id=call_id, result=result):
                name = self._called.pop(call_id, "")
                self._waiting.append((TrajectoryRole.TOOL, result["content"], _result(name, result)))
                self._is_said = False
            case AssistantSaidEvent(content=content) if not self._is_said:
                # The loop's own words, which no model wrote: a report that needs none, or that it gives up.
                self._tell()
                self._rollout.said(content)
            case TurnEndedEvent():
                self._tell()
                self._is_said = False
            case _:
                pass

    def _tell(self) -> None:
        for role, content, result in self._waiting:
            if result is None:
                self._rollout.told(role, content)
            else:
                self._rollout.finished(result, content)
        self._waiting.clear()


def _result(name: str, result: Result) -> TrajectoryResult:
    """A program's run as it says itself; of anything else the content, with exit code 0 for one that went well."""
    match result.get("structured"):
        case {"stdout": str(out), "stderr": str(err), "exit_code": int(code), "duration_sec": float(took) | int(took)}:
            return TrajectoryResult(name, out, err, code, took)
        case _:
            return TrajectoryResult(name, result["content"], _failure(result), _exit_code(result), _seconds(result))


def _failure(result: Mapping[str, Any]) -> str:
    if result["outcome"] == "ok":
        return ""
    words = (result["outcome"], result.get("reason"), result.get("error"))
    return ": ".join(str(each) for each in words if each)


def _exit_code(result: Result) -> int | None:
    return 0 if result["outcome"] == "ok" else None


def _seconds(result: Result) -> float:
    milliseconds: int = result.get("durationMs", 0)
    return milliseconds / 1000
