"""Changes that the words of a wish speak against, and files that are added to, by vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.carrying import carrying_in
from gateway.agent.keeping import as_addition, kept_call, without_look
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import ToolMessage
from gateway.agent.withheld import means_whole, withheld
from tests.agent.vectors import name_of, read_vectors

WITHHELD = read_vectors("withheld")
KEEPING = read_vectors("keeping")
TOOLS = {tool["name"]: tool for tool in WITHHELD["tools"]}


@pytest.mark.parametrize("case", WITHHELD["cases"], ids=name_of)
def test_a_change_is_not_made_against_the_words_of_a_wish(case: dict[str, Any]) -> None:
    assert withheld(case["arguments"], TOOLS[case["tool"]], case["wish"]) == case["why"]


@pytest.mark.parametrize("case", WITHHELD["whole"], ids=lambda case: case["wish"])
def test_a_whole_file_is_told_by_its_name_or_by_such_words_as_the_file(case: dict[str, Any]) -> None:
    assert means_whole(case["path"], case["wish"]) is case["whole"]


@pytest.mark.parametrize("case", KEEPING["additions"], ids=name_of)
def test_what_is_put_into_a_file_is_added_at_its_end(case: dict[str, Any]) -> None:
    call = ProposedCall(*case["call"])
    assert as_addition(call, case["wish"], KEEPING["tools"]) == ProposedCall(*case["made"])
    assert as_addition(call, case["wish"], []) == call


@pytest.mark.parametrize("case", KEEPING["kept"], ids=name_of)
def test_what_was_found_is_added_to_a_file_that_is_there(case: dict[str, Any]) -> None:
    carrying = carrying_in(case["wish"], KEEPING["tools"])
    assert carrying is not None
    look = {"id": "look", "name": "search_files", "arguments": {"query": "*raj.txt*"}}
    result = {"outcome": "ok", "content": case["found"], "trust": "trusted", "truncated": False}
    calls = [] if case["found"] is None else [ToolMessage("turn", look, result)]
    assert kept_call(carrying, case["value"], case["wish"], calls, KEEPING["tools"]) == ProposedCall(*case["made"])
    assert without_look(carrying, calls, KEEPING["tools"]) == []


def test_where_a_search_would_be_asked_about_nothing_is_looked_for() -> None:
    tools = [{**tool, "permission": "consent"} for tool in KEEPING["tools"]]
    wish = KEEPING["kept"][0]["wish"]
    carrying = carrying_in(wish, tools)
    assert carrying is not None
    written = ProposedCall("write_file", {"path": "lists/raj.txt", "content": "75\n"})
    assert kept_call(carrying, "75", wish, [], tools) == written
    search = ToolMessage(
        "turn",
        {"id": "look", "name": "search_files", "arguments": {"query": "*raj.txt*"}},
        {"outcome": "ok", "content": "lists/raj.txt", "trust": "trusted", "truncated": False},
    )
    assert without_look(carrying, [search], tools) == [search]
    assert kept_call(carrying, "75", f"{wish} and overwrite it", [], KEEPING["tools"]) == written
