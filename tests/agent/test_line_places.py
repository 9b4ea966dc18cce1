"""Lines by their place, what is asked of a file that is read first, and long files read to their end, by the vectors that the
browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.figures import ResultSource
from gateway.agent.file_asked import call_for_file, file_asked
from gateway.agent.lane import ProposedCall
from gateway.agent.line_places import answer_lines, lines_asked
from gateway.agent.messages import ToolMessage
from gateway.agent.whole_files import rest_call, with_rest
from tests.agent.scripted import COPY
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("line-places")
TOOLS = VECTORS["tools"]


def closed(case: dict[str, Any]) -> list[ToolMessage]:
    outcome = case.get("outcome", "ok")
    return [
        ToolMessage(
            "t",
            {"id": f"c{at}", "name": name, "arguments": arguments},
            {"outcome": outcome, "content": content, "truncated": True},
        )
        for at, (name, arguments, content) in enumerate(case["calls"])
    ]


@pytest.mark.parametrize("case", VECTORS["lines"], ids=name_of)
def test_lines_are_told_by_their_place(case: dict[str, Any]) -> None:
    asked = lines_asked(case["wish"])
    assert (asked and [asked.file, asked.first, asked.last]) == case["asked"]


@pytest.mark.parametrize("case", VECTORS["answers"], ids=name_of)
def test_lines_are_counted_off_by_code(case: dict[str, Any]) -> None:
    source = ResultSource("a.txt", case["text"], whole=case["whole"], has_lines=case["hasLines"])
    assert answer_lines(case["wish"], source, COPY) == case["answer"]


@pytest.mark.parametrize("case", VECTORS["asked"], ids=name_of)
def test_a_file_that_is_read_and_what_is_asked_of_it_are_one_wish(case: dict[str, Any]) -> None:
    asked = file_asked(case["message"])
    assert (asked and [asked.file, asked.asked]) == case["asked"]
    expected = None if asked is None else ProposedCall("read_file", {"path": asked.file})
    assert call_for_file(case["message"], TOOLS) == expected
    assert call_for_file(case["message"], []) is None


@pytest.mark.parametrize("case", VECTORS["rests"], ids=name_of)
def test_a_long_file_is_read_to_its_end_where_only_the_whole_answers(case: dict[str, Any]) -> None:
    calls = closed(case)
    following = rest_call(case["wish"], calls, TOOLS)
    assert (following and following.arguments) == case["next"]
    assert rest_call(case["wish"], calls, TOOLS[:1]) is None
    result = with_rest(calls[-1], calls, TOOLS).result
    assert [result["content"], result["truncated"]] == [case["text"], case["truncated"]]


def test_a_result_of_another_action_stays_as_it_is() -> None:
    calls = closed(VECTORS["rests"][2])
    other = ToolMessage(
        "t", {"id": "x", "name": "search", "arguments": {}}, {"outcome": "ok", "content": "a", "truncated": False}
    )
    assert with_rest(other, calls, TOOLS) is other
    assert rest_call("how many lines has a.log?", [], TOOLS) is None
