"""How a tool's own failure closes its call (docs/PROTOCOL.md section 7 row 15)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import pytest

from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.results import BoundedOutput, RedactedOutput, redact_output
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.ports import ToolContext
from tests.fakes.redactor import RedactionAtOnce
from tests.fakes.toolbox import CountingToolbox
from tests.runtime.conftest import PATIENCE, Stage


@pytest.mark.parametrize(
    ("reason", "outcome", "told"),
    [
        (Reason.TOOL_TIMEOUT, Outcome.TIMED_OUT, Reason.TOOL_TIMEOUT),
        (Reason.TOOL_ERROR, Outcome.EXECUTION_ERROR, Reason.TOOL_ERROR),
        (Reason.SANDBOX_UNAVAILABLE, Outcome.EXECUTION_ERROR, Reason.SANDBOX_UNAVAILABLE),
        ("a word of its own", Outcome.EXECUTION_ERROR, Reason.TOOL_ERROR),
    ],
)
async def test_a_tool_that_says_how_it_failed_is_taken_at_its_word(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, reason: str, outcome: Outcome, told: Reason
) -> None:
    async def fail(self: CountingToolbox, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        raise ToolFailed("it did not work", reason)

    monkeypatch.setattr(CountingToolbox, "execute", fail)
    await stage.begin()
    result = (await stage.invoke(stage.propose("look"))).result
    assert (result.outcome, result.reason, result.error) == (outcome, told, "it did not work")


@pytest.mark.parametrize("end", ["the call is cancelled", "the gateway stops"])
async def test_a_tool_that_nobody_waits_for_any_more_is_told_and_stopped(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    contexts: list[ToolContext] = []
    stopped = asyncio.Event()

    async def linger(self: CountingToolbox, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        contexts.append(context)
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return ToolOutput("never", None)

    monkeypatch.setattr(CountingToolbox, "execute", linger)
    await stage.begin()
    call = stage.start(stage.propose("wait", "c1"))
    async with asyncio.timeout(PATIENCE):
        await stage.toolbox.started.wait()
        if end == "the call is cancelled":
            await stage.gateway.dispatcher.cancel(stage.session, stage.conversation_id, "c1")
        else:
            await stage.gateway.stop()
        await asyncio.wait({call})
        await stopped.wait()
    assert [context.cancelled.is_set() for context in contexts] == [True]


@pytest.mark.parametrize(
    ("output", "aside"),
    [
        (ToolOutput("short", {"a": "b"}), False),
        (ToolOutput("long " * 20_000, None), True),
        (ToolOutput("short", {f"name {number}": "x" for number in range(1_000)}), True),
    ],
    ids=["little", "a long text", "much data beside a short text"],
)
async def test_case_270_nobody_else_waits_while_much_is_redacted(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, output: ToolOutput, aside: bool
) -> None:
    asked: list[str] = []

    async def give(self: CountingToolbox, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        return output

    async def redact(self: RedactionAtOnce, output: ToolOutput, classes: Collection[str], owner: str) -> RedactedOutput:
        asked.append(owner)
        return redact_output(BoundedOutput(output), classes)

    monkeypatch.setattr(CountingToolbox, "execute", give)
    monkeypatch.setattr(RedactionAtOnce, "redact", redact)
    await stage.begin()
    assert (await stage.invoke(stage.propose("look"))).result.outcome is Outcome.OK
    assert asked == ([stage.ada.id] if aside else [])


async def test_case_311_a_result_that_cannot_be_looked_through_is_a_failure_that_says_that_it_ran(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def give(self: CountingToolbox, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        return ToolOutput("secret " * 20_000, None)

    async def redact(self: RedactionAtOnce, output: ToolOutput, classes: Collection[str], owner: str) -> RedactedOutput:
        raise ToolFailed("the tool ran, but nothing is shown")

    monkeypatch.setattr(CountingToolbox, "execute", give)
    monkeypatch.setattr(RedactionAtOnce, "redact", redact)
    await stage.begin()
    result = (await stage.invoke(stage.propose("look"))).result
    assert (result.outcome, result.reason) == (Outcome.EXECUTION_ERROR, Reason.TOOL_ERROR)
    assert result.content == "the tool ran, but nothing is shown"
