"""Questions that names in the workspace answer, by the vectors that the browser's tests read too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway.agent.called_names import meant_in
from gateway.agent.gathered_step import gathering_step
from gateway.agent.gathering import after_names, is_names_call, names_call
from gateway.agent.lane import LaneInput, ProposedCall
from gateway.agent.messages import ToolMessage
from gateway.agent.turn_progress import progress_of
from tests.agent.scripted import COPY
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("gathering")
TOOLS = VECTORS["tools"]
WISH = "which bills are unpaid?"


def closed(tool: str, asked: str, content: str, outcome: str = "ok", truncated: bool = False) -> ToolMessage:
    call = {"id": "c", "name": tool, "arguments": {"path" if tool == "read_file" else "query": asked}}
    return ToolMessage("t", call, {"outcome": outcome, "content": content, "trust": "untrusted", "truncated": truncated})


@pytest.mark.parametrize("case", VECTORS["names"], ids=lambda case: case["wish"])
def test_names_are_looked_at_for_questions_that_they_may_answer(case: dict[str, Any]) -> None:
    call = names_call(case["wish"], TOOLS)
    assert call == (ProposedCall("search_files", {"query": "*"}) if case["looks"] else None)


@pytest.mark.parametrize("case", VECTORS["meant"], ids=lambda case: case["wish"])
def test_a_question_calls_files_and_folders_by_their_names(case: dict[str, Any]) -> None:
    meant = meant_in(case["wish"], case["paths"])
    assert (meant and [meant.folder, list(meant.files)]) == case["meant"]


@pytest.mark.parametrize("case", VECTORS["steps"], ids=name_of)
def test_what_is_called_is_read_and_answers(case: dict[str, Any]) -> None:
    rest = "\n…[there was too much]" if case["cut"] else ""
    names = closed("search_files", "*", "\n".join(case["paths"]) + rest)
    given = after_names(case["wish"], [names, *(closed(*each) for each in case["calls"])], TOOLS, COPY, case["most"])
    told = given if given is None or isinstance(given, str) else [[each.name, each.arguments] for each in given]
    assert told == case["gives"]


def test_nobody_is_asked_for_a_look_at_the_names() -> None:
    asked = [{**TOOLS[0], "permission": "consent"}, *TOOLS[1:]]
    assert names_call(WISH, asked) is None
    assert names_call(WISH, [TOOLS[0], {**TOOLS[1], "permission": "consent"}]) is None
    assert names_call(WISH, TOOLS[:1]) is None
    assert names_call(WISH, TOOLS[1:]) is None


def test_a_look_at_the_names_is_known_by_its_query() -> None:
    assert is_names_call(closed("search_files", "*", ""), TOOLS)
    assert not is_names_call(closed("search_files", "bill", ""), TOOLS)
    assert not is_names_call(closed("read_file", "*", ""), TOOLS)
    assert not is_names_call(closed("search_files", "*", ""), TOOLS[1:])


def test_a_wish_that_begins_with_a_surer_call_or_is_still_to_be_taken_apart_looks_at_no_names() -> None:
    step = ProposedCall("read_file", {"path": "a.txt"})
    lane = cast("LaneInput", SimpleNamespace(messages=(), turn_id="t", tools=TOOLS, actions=None, may_call=True, copy=COPY))
    state = progress_of((), "t")
    assert gathering_step(lane, state, WISH, lambda: None) == [ProposedCall("search_files", {"query": "*"})]
    assert gathering_step(lane, state, WISH, lambda: step) is None
    assert gathering_step(lane, state, "which bills are unpaid, and then which letters are new?", lambda: None) is None
    assert gathering_step(lane, state, "compare the cake, and then the soup", lambda: None) is not None
    spent = cast("LaneInput", SimpleNamespace(messages=(), turn_id="t", tools=TOOLS, actions=None, may_call=False, copy=COPY))
    assert gathering_step(spent, state, WISH, lambda: None) is None
