"""Changes for which code looks first, by vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.directed import directed_in, next_directed
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import ToolMessage
from tests.agent.scripted import COPY, WORDS
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("directed")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_a_change_is_made_of_what_a_look_shows(case: dict[str, Any]) -> None:
    tools = [tool for tool in VECTORS["tools"] if tool["name"] not in case.get("without", ())]
    before = [made("before", case["shown"])] if "shown" in case else []
    calls = [made("turn", written) for written in case["calls"]]
    directed = directed_in(case["wish"], before, tools, WORDS, COPY)
    if directed is None:
        assert case["next"] == "none"
        return
    step = next_directed(directed, calls, [*before, *calls], tools, COPY) if calls else directed.first
    assert ([step.name, step.arguments] if isinstance(step, ProposedCall) else step) == case["next"]


def made(turn: str, written: list[Any]) -> ToolMessage:
    name, arguments, content = written
    result = {"outcome": "ok", "content": content, "trust": "trusted", "truncated": False}
    return ToolMessage(turn, {"id": "call", "name": name, "arguments": arguments}, result)
