"""Choosing calls ahead of their turn: what of it is told."""

from __future__ import annotations

from datetime import date
from typing import Any, cast

from gateway.agent.foreseen import with_foreseen
from gateway.agent.lane import CallsStep, LaneInput, ProposedCall
from gateway.agent.ports import CutReason
from tests.agent.scripted_turns import TOOLS

ASKING = [{**tool, "permission": "consent", "category": "write"} for tool in TOOLS]


class Heard:
    """A listener that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def streamed(self, delta: str) -> None:
        self.told.append(f"streamed {delta}")

    def discarded(self) -> None:
        self.told.append("discarded")

    def counted(self, prompt_tokens: int, completion_tokens: int, *, exact: bool) -> None:
        self.told.append(f"counted {prompt_tokens} {completion_tokens} {exact}")

    def filled(self, used: int, limit: int) -> None:
        self.told.append(f"filled {used} {limit}")

    def trimmed(self, dropped_turns: int) -> None:
        self.told.append(f"trimmed {dropped_turns}")

    def cut(self, why: CutReason) -> None:
        self.told.append(f"cut {why.value}")


async def test_words_of_a_step_that_is_chosen_ahead_are_not_told_and_its_cost_is() -> None:
    name = ASKING[0]["name"]

    async def choose(lane: LaneInput) -> CallsStep:
        lane.listener.streamed("Deleting")
        lane.listener.discarded()
        lane.listener.counted(7, 2, exact=True)
        lane.listener.filled(90, 80)
        lane.listener.trimmed(1)
        lane.listener.cut(CutReason.LENGTH)
        return CallsStep([ProposedCall(name, {"path": "b.txt"})])

    unused = cast("Any", None)
    heard = Heard()
    lane = LaneInput((), (), "t1", ASKING, {}, unused, unused, heard, unused, unused, unused, date(2026, 11, 26))
    step = await with_foreseen(lane, ProposedCall(name, {"path": "a.txt"}), ["remove b.txt"], choose)
    assert [each.arguments["path"] for each in step.proposals] == ["a.txt", "b.txt"]
    assert heard.told == ["counted 7 2 True", "filled 90 80", "trimmed 1", f"cut {CutReason.LENGTH.value}"]
