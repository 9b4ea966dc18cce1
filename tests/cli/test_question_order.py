"""Calls of one plan are asked about in the order in which they run, however their questions arrive."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from gateway.cli.terminal.approval_prompts import ApprovalPrompts
from gateway.cli.terminal.screen import Screen


@dataclass
class Question:
    """As much of an approval as its place in the line needs."""

    step: int

    @property
    def id(self) -> str:
        return f"apr_{self.step}"

    @property
    def call_id(self) -> str:
        return f"call_{self.step}"

    @property
    def plan(self) -> dict[str, Any] | None:
        return None if self.step == 1 else {"first": "call_1", "after": f"call_{self.step - 1}", "step": self.step}


@dataclass
class NothingOpen:
    """Approvals that were all answered elsewhere by the time they are looked at; `seen` in that order."""

    seen: list[str] = field(default_factory=list[str])
    last: asyncio.Event = field(default_factory=asyncio.Event)

    async def get(self, _console: object, approval_id: str) -> tuple[None, None, None]:
        self.seen.append(approval_id)
        if len(self.seen) == 3:
            self.last.set()
        return None, None, None


@pytest.mark.parametrize("arriving", [(1, 2, 3), (3, 2, 1), (2, 3, 1), (3, 1, 2)])
async def test_questions_of_a_plan_are_put_in_its_order(arriving: tuple[int, ...]) -> None:
    approvals, paper = NothingOpen(), io.StringIO()
    anything = cast("Any", None)
    prompts = ApprovalPrompts(
        cast("Any", approvals), anything, anything, Screen(paper, paper), None, anything, anything, console_origin=""
    )
    for step in arriving:
        prompts.requested(cast("Any", Question(step)))
    async with asyncio.timeout(20):
        await approvals.last.wait()
    assert approvals.seen == ["apr_1", "apr_2", "apr_3"]
    await prompts.close()


async def test_a_question_does_not_wait_for_a_call_that_asks_nobody() -> None:
    approvals, paper = NothingOpen(["", ""]), io.StringIO()
    anything = cast("Any", None)
    prompts = ApprovalPrompts(
        cast("Any", approvals), anything, anything, Screen(paper, paper), None, anything, anything, console_origin=""
    )
    prompts.requested(cast("Any", Question(2)))
    async with asyncio.timeout(20):
        await approvals.last.wait()
    assert approvals.seen[2:] == ["apr_2"]
    await prompts.close()
