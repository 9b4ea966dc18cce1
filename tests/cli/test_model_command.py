"""`/model`: which models there are, and another one from the next message on."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gateway.agent.ports import StopSignal
from gateway.agent.runner import TurnRunner
from gateway.cli.terminal.commands import ConversationCommands, describe_model
from gateway.cli.terminal.model_names import find_models
from gateway.cli.terminal.results import RecentResults
from gateway.cli.terminal.screen import Screen
from gateway.cli.terminal.slash import Command, TypedMessage, read_typed
from gateway.core.errors import ModelUnavailable

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


async def test_a_chosen_model_is_tried_and_described_again_and_a_missing_one_named_with_the_reason() -> None:
    chosen: list[str] = []
    tried = {**LARGE, "tier": "chained"}

    class Tried(TwoModels):
        async def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Mapping[str, Any]:
            return {"models": [SMALL, tried if chosen else LARGE]}

    class Backend:
        async def choose(self, model_id: str) -> None:
            if chosen:
                raise ModelUnavailable("its server is away", "crashed")
            chosen.append(model_id)

        async def missing(self) -> Sequence[tuple[str, str]]:
            return (("ollama/nope", "Ollama has no model `nope`"),)

    paper, runner = io.StringIO(), TurnRunner.__new__(TurnRunner)
    screen = Screen(paper, paper)
    commands = ConversationCommands(Tried(), "c", runner, SMALL, screen, RecentResults(), is_named=True, models=Backend())
    await commands.run(command("/model large"), "/model large")
    assert (chosen, commands.model) == (["local:large"], tried)
    await commands.run(command("/model small"), "/model small")
    assert commands.model is SMALL
    assert "! its server is away" in paper.getvalue()
    assert "not available  ollama/nope: Ollama has no model `nope`\n" in paper.getvalue()
    await commands.run(command("/model ollama/nope"), "/model ollama/nope")
    assert paper.getvalue().endswith("`ollama/nope` is not available: Ollama has no model `nope`\n")
    assert commands.model is SMALL


async def test_a_model_whose_server_is_away_is_listed_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    async def call(
        _self: TwoModels, _method: str, _params: Mapping[str, Any], _stop: StopSignal | None = None
    ) -> Mapping[str, Any]:
        return {"models": [SMALL, {**LARGE, "trouble": "localhost:11434: Ollama does not answer"}]}

    monkeypatch.setattr(TwoModels, "call", call)
    _, shown = await run("/model")
    assert shown.count("would not answer now") == 1
    assert shown.endswith("         would not answer now: localhost:11434: Ollama does not answer\n")


async def test_a_model_that_is_not_there_changes_nothing() -> None:
    model, shown = await run("/model huge")
    assert (model, shown) == (SMALL, "There is no model `huge` here. `/model` shows which there are.\n")


STUB, SERVED, OTHER = (
    {"id": name, "displayName": title, "local": False, "contextTokens": 4096, "supportsTools": False}
    for name, title in (
        ("stub:1", "Stub (rules, no language model)"),
        ("remote:127.0.0.1:11434:qwen3:4b", "qwen3:4b"),
        ("remote:127.0.0.1:1234:qwen3:4b", "qwen3:4b"),
    )
)
SHIPPED = {
    "id": "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32:qwen2",
    "displayName": "Qwen2.5-Coder 0.5B Instruct",
}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("stub", [STUB]),
        ("STUB", [STUB]),
        ("ollama/qwen3:4b", [SERVED]),
        ("lmstudio/qwen3:4b", [OTHER]),
        ("vllm/qwen3:4b", []),
        ("default", [SHIPPED]),
        ("qwen2.5-coder-0.5b", [SHIPPED]),
        ("qwen", [SERVED, OTHER, SHIPPED]),
        ("qwen3:4b", [SERVED]),
        ("/nowhere/x.gguf", []),
    ],
)
def test_a_model_is_found_by_the_name_with_which_it_was_configured(wanted: str, found: list[Mapping[str, Any]]) -> None:
    assert find_models([STUB, SERVED, OTHER, SHIPPED], wanted) == found


async def test_a_name_that_fits_several_models_changes_nothing_and_names_them() -> None:
    model, shown = await run("/model L")
    assert model is SMALL
    assert shown == "Which one is meant with `L`: `small`, `large`? Its id tells it from all others.\n"


def test_a_model_behind_a_url_is_said_to_be_served_where_it_is() -> None:
    assert describe_model(SERVED) == "qwen3:4b, served by 127.0.0.1:11434, 4,096 tokens of context"


async def test_the_tab_key_is_told_the_names_of_the_models() -> None:
    paper = io.StringIO()
    runner = TurnRunner.__new__(TurnRunner)
    commands = ConversationCommands(TwoModels(), "cnv", runner, SMALL, Screen(paper, paper), RecentResults(), is_named=True)
    assert await commands.model_names() == ["small", "large"]
