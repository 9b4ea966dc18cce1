"""What is looked for and read so that a question is answered out of a file, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.finding import finding_in
from gateway.agent.further import (
    answering_call,
    asked_of_file,
    further_call,
    left_open,
    looking_for,
    picked_shown,
    pointed_reading,
    resolved,
)
from gateway.agent.lane import ProposedCall
from gateway.agent.mentioned import mentioned_query
from gateway.agent.messages import ToolMessage
from gateway.agent.papers import with_day
from gateway.agent.picking import pick_of
from tests.agent.scripted import COPY, TODAY
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("further")
TOOLS = VECTORS["tools"]
WORLDS: dict[str, list[Any]] = {
    "": TOOLS,
    "auto": [{**tool, "permission": "auto"} for tool in TOOLS],
    "other": [*TOOLS, VECTORS["otherTool"]],
    "meaning": [*TOOLS, VECTORS["meaningTool"]],
    "only meaning": [*(tool for tool in TOOLS if tool["name"] != "search_files"), VECTORS["meaningTool"]],
}


def closed(written: list[Any]) -> ToolMessage:
    name, arguments, content, *outcome = written
    result = {"outcome": outcome[0] if outcome else "ok", "content": content, "trust": "untrusted", "truncated": False}
    return ToolMessage("t", {"id": "c", "name": name, "arguments": arguments}, result)


def told(call: ProposedCall | None) -> Any:
    return call and [call.name, call.arguments]


@pytest.mark.parametrize("case", VECTORS["findings"], ids=lambda case: case["wish"])
def test_a_wish_to_find_and_be_told_shows_both_halves(case: dict[str, Any]) -> None:
    finding = finding_in(case["wish"])
    assert (finding and [finding.query, finding.folder, finding.asked]) == case["finding"]


@pytest.mark.parametrize("case", VECTORS["mentioned"], ids=lambda case: case["wish"])
def test_a_wish_for_the_files_that_mention_something_tells_what(case: dict[str, Any]) -> None:
    assert mentioned_query(case["wish"]) == case["query"]


@pytest.mark.parametrize("case", VECTORS["steps"], ids=name_of)
def test_a_search_and_a_listing_lead_to_the_file_that_answers(case: dict[str, Any]) -> None:
    calls, tools = [closed(each) for each in case["calls"]], WORLDS[case.get("with", "")]
    if not calls:
        assert told(looking_for(case["wish"], tools)) == case["next"]
        return
    assert told(further_call(case["wish"], calls, tools)) == case["next"]
    if case["next"] is None:
        assert left_open(case["wish"], calls, COPY) == case["leftOpen"]
        assert calls.index(answering_call(case["wish"], calls, tools)) == case["answering"]
        assert asked_of_file(case["wish"], calls[-1], tools) == case["asked"]


@pytest.mark.parametrize("case", VECTORS["steps"], ids=name_of)
def test_nothing_but_looking_and_reading_ever_follows(case: dict[str, Any]) -> None:
    tools = WORLDS[case.get("with", "")]
    changing = [{**tool, "category": "write"} for tool in tools]
    assert looking_for(case["wish"], changing) is None
    assert further_call(case["wish"], [closed(each) for each in case["calls"]], changing) is None
    reading = [tool if tool["name"] == "read_file" else {**tool, "category": "write"} for tool in tools]
    assert looking_for(case["wish"], reading) is None


@pytest.mark.parametrize("case", VECTORS["pointed"], ids=name_of)
def test_it_can_be_the_one_file_that_was_found(case: dict[str, Any]) -> None:
    assert told(pointed_reading(case["wish"], [closed(each) for each in case["calls"]], TOOLS)) == case["call"]


@pytest.mark.parametrize("case", VECTORS["resolved"], ids=name_of)
def test_a_bare_name_is_read_where_the_listing_shows_it(case: dict[str, Any]) -> None:
    name, arguments = case["call"]
    found = resolved(ProposedCall(name, arguments), [closed(each) for each in case["calls"]], TOOLS)
    assert told(found) == case["resolved"]


@pytest.mark.parametrize("case", VECTORS["shown"], ids=name_of)
def test_a_file_can_be_meant_by_its_place_in_a_list_that_was_shown(case: dict[str, Any]) -> None:
    calls = [closed(each) for each in case["calls"]]
    assert told(picked_shown(case["wish"], calls, TOOLS)) == case["call"]
    assert picked_shown(case["wish"], calls, [tool for tool in TOOLS if tool["name"] != "read_file"]) is None


def test_a_folder_without_a_file_of_known_size_has_no_largest_one() -> None:
    listing = closed(["list_directory", {"path": "notes"}, "notes holds 2 entries:\n- old/\n- there (a link)"])
    assert pick_of("what does the largest file in notes/ say?", listing) is None


def test_nothing_is_searched_where_no_tool_searches() -> None:
    wish = "find the note that mentions Ana and tell me what she wants"
    assert looking_for(wish, TOOLS) is not None
    assert looking_for(wish, [tool for tool in TOOLS if tool["name"] == "read_file"]) is None


@pytest.mark.parametrize("case", VECTORS["days"], ids=lambda case: case["wish"])
def test_a_paper_may_be_told_by_how_far_its_day_is_away(case: dict[str, Any]) -> None:
    assert with_day(case["wish"], TODAY) == case["told"]
