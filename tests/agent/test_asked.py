"""Whether a call has a reason in what a person said, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.asked import is_asked_for
from gateway.agent.candidates import examples_in
from gateway.agent.passed_over import is_passed_over
from gateway.shipped import read_loop_file
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("asked")
TOOLS = {tool["name"]: tool for tool in VECTORS["tools"]}
EXAMPLES = examples_in(read_loop_file("prompts"))


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_a_call_runs_only_for_a_reason(case: dict[str, Any]) -> None:
    examples = EXAMPLES.get(case["tool"], ())
    asked = is_asked_for(
        case["arguments"],
        TOOLS[case["tool"]],
        case["message"],
        wish=case.get("wish", ""),
        examples=examples,
        has_called=case["hasCalled"],
    )
    assert asked is case["asked"]


def test_the_requests_that_no_tool_can_serve_are_more_than_a_handful() -> None:
    assert len([case for case in VECTORS["cases"] if not case["asked"]]) >= 60


@pytest.mark.parametrize("case", VECTORS["passedOver"], ids=name_of)
def test_what_a_wish_names_for_something_else_is_not_deleted(case: dict[str, Any]) -> None:
    assert is_passed_over(case["path"], case["wish"]) is case["is"]
