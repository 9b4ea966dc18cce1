"""Wishes that stand on what another one comes to, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.answers import source_of
from gateway.agent.carrying import (
    Carrying,
    carried,
    carrying_in,
    is_carried,
    lines_about,
    must_be_worked_out,
    next_look,
    own_value,
    read_for,
    shown_value,
)
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import ToolMessage
from gateway.agent.outcomes import outcome_in
from tests.agent.scripted import COPY
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("outcomes")
TOOLS = VECTORS["tools"]


@pytest.mark.parametrize("case", VECTORS["wishes"], ids=lambda case: case["say"])
def test_the_words_show_what_is_found_out_and_where_it_goes(case: dict[str, Any]) -> None:
    wish = outcome_in(case["say"])
    assert (wish and [wish.carry.value, wish.source, wish.kept, wish.target]) == case["outcome"]


@pytest.mark.parametrize("case", VECTORS["steps"], ids=name_of)
def test_what_was_found_goes_into_the_call_that_was_asked_for(case: dict[str, Any]) -> None:
    assert told(case["say"], [closed(each) for each in case["calls"]]) == {
        key: case[key] for key in ("next", "says", "shown", "question", "about") if key in case
    }


@pytest.mark.parametrize("case", VECTORS["missing"], ids=name_of)
def test_nothing_is_carried_on_without_a_tool_for_each_half(case: dict[str, Any]) -> None:
    carrying = carrying_in(case["say"], [tool for tool in TOOLS if tool["name"] not in case["without"]])
    assert (carrying and call_of(carrying.first)) == case["next"]


def told(say: str, calls: list[ToolMessage]) -> dict[str, Any]:
    carrying = carrying_in(say, TOOLS)
    if carrying is None or not calls:
        return {"next": carrying and call_of(carrying.first)}
    if is_carried(carrying, calls):
        return {"shown": shown_value(carrying, calls)}
    look = next_look(carrying, calls, TOOLS, COPY)
    if isinstance(look, str):
        return {"says": look}
    return {"next": call_of(look)} if look is not None else value_of(carrying, calls)


def value_of(carrying: Carrying, calls: list[ToolMessage]) -> dict[str, Any]:
    answering = read_for(carrying, calls, TOOLS)
    value = own_value(carrying, answering)
    if value is not None:
        return {"next": call_of(carried(carrying, value))}
    about = None if must_be_worked_out(carrying) else lines_about(carrying.question, source_of(answering))
    return {"question": carrying.question, "about": about}


def closed(written: list[Any]) -> ToolMessage:
    name, arguments, content = written
    result = {"outcome": "ok", "content": content, "trust": "untrusted", "truncated": False}
    return ToolMessage("t", {"id": "c", "name": name, "arguments": arguments}, result)


def call_of(call: ProposedCall) -> list[Any]:
    return [call.name, call.arguments]
