"""`/model`: which models there are, and another one from the next message on."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from gateway.agent.ports import StopSignal
from gateway.agent.runner import TurnRunner
from gateway.cli.terminal.commands import ConversationCommands
from gateway.cli.terminal.results import RecentResults
from gateway.cli.terminal.screen import Screen
from gateway.cli.terminal.slash import Command, TypedMessage, read_typed

SMALL, LARGE = (
    {"id": f"local:{name}", "displayName": name, "local": True, "contextTokens": 4096, "supportsTools": False}
    for name in ("small", "large")
)


class TwoModels:
    """The GatewayLink port of a gateway with two models."""

    async def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Mapping[str, Any]:
        """Describe the session."""
        assert (method, params) == ("session/describe", {})
        return {"models": [SMALL, LARGE]}


def command(line: str) -> Command:
    typed = read_typed(line)
    assert not isinstance(typed, TypedMessage)
    return typed


async def run(*lines: str) -> tuple[Mapping[str, Any], str]:
    """The model that answers after these lines, and what was shown."""
    paper = io.StringIO()
    runner = TurnRunner.__new__(TurnRunner)
    commands = ConversationCommands(TwoModels(), "cnv", runner, SMALL, Screen(paper, paper), RecentResults(), is_named=True)
    for line in lines:
        await commands.run(command(line), line)
    return commands.model, paper.getvalue()


async def test_the_models_are_listed_with_the_one_that_answers() -> None:
    model, shown = await run("/model")
    assert model is SMALL
    assert "answers  small, on this machine, 4,096 tokens" in shown
    assert "         large, on this machine, 4,096 tokens" in shown


async def test_another_model_answers_by_its_name_or_id() -> None:
    assert (await run("/model large"))[0] is LARGE
    assert (await run("/model local:large"))[0] is LARGE
    model, shown = await run("/model large", "/model small")
    assert model is SMALL
    assert shown.rstrip().endswith("local:large")


async def test_a_model_that_is_not_there_changes_nothing() -> None:
    model, shown = await run("/model huge")
    assert (model, shown) == (SMALL, "There is no model `huge` here. `/model` shows which there are.\n")
