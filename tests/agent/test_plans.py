"""Calls of one reply that a person is asked about together."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.plans import plan_at_front
from gateway.agent.ports import CallDelta
from tests.agent.scripted import ScriptedChat, ScriptedGateway, Stage
from tests.agent.scripted_turns import DONE, NATIVE, TOOLS
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("plans")
ASKING = [{**tool, "permission": "consent"} for tool in TOOLS]
REFUSED = {"outcome": "deniedByUser", "reason": "denied", "content": "", "trust": "trusted", "truncated": False}


@pytest.mark.parametrize("case", VECTORS["plans"], ids=name_of)
def test_what_goes_together_is_a_run_of_calls_that_ask(case: dict[str, Any]) -> None:
    waiting: list[Any] = [{"id": str(place), "name": name, "arguments": {}} for place, name in enumerate(case["waiting"])]
    assert plan_at_front(waiting, VECTORS["tools"]) == waiting[: case["together"]]


async def test_calls_of_one_reply_are_sent_at_once_each_after_the_one_before_it() -> None:
    calls = [CallDelta(place, "list_directory", f'{{"path":"{place}"}}') for place in range(3)]
    scene = Stage(ScriptedGateway(ASKING, (DONE, REFUSED, DONE)), ScriptedChat((calls, "Done.")), None)
    await scene.runner().run("list all of them", NATIVE)
    sent = scene.gateway.params_of("tools/invoke")
    ids = [each["call"]["id"] for each in sent]
    assert [each.get("after") for each in sent] == [None, *ids[:2]]
    methods = [method for method, _ in scene.gateway.seen]
    first = methods.index("tools/invoke")
    assert methods[first : first + 3] == ["tools/invoke"] * 3


async def test_calls_that_ask_nobody_are_sent_one_by_one() -> None:
    calls = [CallDelta(place, "list_directory", f'{{"path":"{place}"}}') for place in range(2)]
    scene = Stage(ScriptedGateway(TOOLS, (DONE, DONE)), ScriptedChat((calls, "Done.")), None)
    await scene.runner().run("list both", NATIVE)
    assert ["after" in each for each in scene.gateway.params_of("tools/invoke")] == [False, False]
