"""How a tool's own failure closes its call (protocol.md section 7 row 15)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.ports import ToolContext
from tests.fakes.toolbox import CountingToolbox
from tests.runtime.conftest import Stage


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
