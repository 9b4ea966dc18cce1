"""Files by their ending, and answers that mix up rows, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.endings import answer_ending, ending_in
from gateway.agent.figures import ResultSource
from gateway.agent.further import names_for
from gateway.agent.messages import ToolMessage
from gateway.agent.misreading import misreads_row
from tests.agent.scripted import COPY
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("endings")


@pytest.mark.parametrize("case", VECTORS["wishes"], ids=lambda case: case["wish"])
def test_a_wish_for_files_of_an_ending_is_a_search_for_names(case: dict[str, Any]) -> None:
    found = ending_in(case["wish"])
    assert (found and [found.ending, found.folder]) == case["ending"]
    call = names_for(case["wish"], VECTORS["tools"])
    assert (call and call.arguments) == case["call"]


def test_without_a_tool_that_takes_a_pattern_of_names_none_is_made() -> None:
    plain = [{**tool, "description": "Find files by their text."} for tool in VECTORS["tools"]]
    assert names_for("how many pdf files are there", plain) is None
    assert names_for("how many pdf files are there", []) is None


@pytest.mark.parametrize("case", VECTORS["answers"], ids=name_of)
def test_how_many_files_have_an_ending_is_counted_by_code(case: dict[str, Any]) -> None:
    result = {"outcome": "ok", "content": case["content"], "trust": "untrusted", "truncated": False}
    message = ToolMessage("t", {"id": "c", "name": "search_files", "arguments": case["call"]}, result)
    assert answer_ending(case["wish"], message, COPY) == case["says"]


@pytest.mark.parametrize("case", VECTORS["rows"], ids=name_of)
def test_an_answer_out_of_another_row_than_the_one_asked_for_is_seen(case: dict[str, Any]) -> None:
    source = ResultSource(case["file"], case["text"], whole=True, has_lines=case["file"] != "")
    assert misreads_row(case["answer"], case["question"], source) == case["misreads"]
