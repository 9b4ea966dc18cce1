"""What follows a look at what is not there, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.messages import ToolMessage
from gateway.agent.misplaced import look_again, name_places, without_miss
from tests.agent.scripted import COPY
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("misplaced")


def closed(written: list[Any]) -> ToolMessage:
    name, arguments, content, *outcome = written
    result = {"outcome": outcome[0] if outcome else "ok", "content": content, "trust": "untrusted", "truncated": False}
    return ToolMessage("t", {"id": "c", "name": name, "arguments": arguments}, result)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_what_is_not_there_is_looked_for_by_its_name(case: dict[str, Any]) -> None:
    calls, tools = [closed(each) for each in case["calls"]], VECTORS["tools"][case["tools"]]
    following = look_again(calls, tools)
    assert (following and [following.name, following.arguments]) == case["next"]
    assert [calls.index(each) for each in without_miss(calls)] == case["kept"]
    assert name_places(calls, tools, COPY) == case["said"]


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_nothing_but_looking_follows(case: dict[str, Any]) -> None:
    changing = [{**tool, "category": "write"} for tool in VECTORS["tools"][case["tools"]]]
    assert look_again([closed(each) for each in case["calls"]], changing) is None
