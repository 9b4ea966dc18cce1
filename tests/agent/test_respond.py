"""The pseudo-tool that says text."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gateway.agent import respond
from gateway.agent.respond import RESPOND_TOOL, inject_respond, is_respond, message_of
from gateway.core.local_tools import RESPOND
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("respond")


@pytest.mark.requirement("003-03", "respond joins a list that has tools and no tool of its name, and the list stays as it was")
@pytest.mark.requirement("003-10", "entries that are no tools are passed over")
@pytest.mark.requirement("003-11", "injection, empty list, none and collision")
@pytest.mark.parametrize("case", VECTORS["inject"], ids=name_of)
def test_it_joins_the_tools_unless_there_are_none_or_one_has_its_name(case: dict[str, Any]) -> None:
    given = case["tools"]
    before = copy.deepcopy(given)
    tools, injected = inject_respond(given)
    assert (tools, injected) == ([*given, VECTORS["tool"]] if case["added"] else given, case["injected"])
    assert given == before
    assert (tools is given) is not case["added"]


def test_a_second_injection_adds_nothing() -> None:
    tools, _ = inject_respond([{"name": "read_file"}])
    assert inject_respond(tools) == (tools, True)


@pytest.mark.requirement("003-11", "which calls are respond")
@pytest.mark.parametrize("case", VECTORS["isRespond"], ids=name_of)
def test_a_call_is_it_by_its_name_unless_a_real_tool_has_that_name(case: dict[str, Any]) -> None:
    assert is_respond(case["call"], case.get("tools", ())) is case["is"]


@pytest.mark.requirement("003-06", "a malformed, missing or other value is an empty message")
@pytest.mark.requirement("003-11", "extraction from JSON, object, malformed text, other key and other type")
@pytest.mark.parametrize("case", VECTORS["messages"], ids=name_of)
def test_its_message_is_read_from_json_or_an_object_and_is_text_or_nothing(case: dict[str, Any]) -> None:
    assert message_of(case["arguments"]) == case["message"]


def test_half_a_character_in_an_object_is_nothing_either() -> None:
    assert message_of({"message": "a\ud83d"}) == ""


@pytest.mark.requirement("003-12", "the tool names its origin")
def test_it_is_declared_with_the_published_schema_and_says_where_it_comes_from() -> None:
    assert VECTORS["tool"] == RESPOND_TOOL
    assert RESPOND_TOOL["function"]["parameters"] is RESPOND.param_schema
    assert "antoinezambelli/forge (MIT), its ADR-013" in (respond.__doc__ or "")
