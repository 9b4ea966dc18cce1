"""Results of which only a page was given, against the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.budget import fit_messages
from gateway.agent.kept import READER, KeptPage, page_of, useful_tools
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Message, Tool, ToolMessage, UserMessage
from gateway.agent.paging import asks_for_more, next_page
from gateway.core import pages
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("kept")
TOOLS: list[Tool] = [{"name": "read_file"}, {"name": READER}]


def messages_with(content: str) -> list[Message]:
    call = {"id": "c1", "name": "read_file", "arguments": {"path": "a"}}
    result = {"outcome": "ok", "content": content, "trust": "untrusted", "truncated": True}
    return [UserMessage("t1", "show me a"), ToolMessage("t1", call, result), UserMessage("t2", "more")]


@pytest.mark.parametrize("case", VECTORS["pages"], ids=name_of)
def test_the_line_at_the_end_is_no_line_of_the_result(case: dict[str, Any]) -> None:
    assert page_of(case["content"]) == KeptPage(case["text"], case["note"], case["next"])
    is_read_on = READER in [tool["name"] for tool in useful_tools(TOOLS, messages_with(case["content"]), lambda _: False)]
    assert is_read_on == bool(case["note"])


def test_a_result_that_the_model_may_get_a_part_of_is_read_on_in_as_well() -> None:
    assert useful_tools(TOOLS, messages_with("a"), lambda content: content == "a") == TOOLS
    assert useful_tools(TOOLS, [UserMessage("t1", "a")], lambda _: True) == TOOLS[:1]


@pytest.mark.parametrize("case", VECTORS["wishes"], ids=name_of)
def test_a_wish_for_more_is_known_by_its_words(case: dict[str, Any]) -> None:
    assert asks_for_more(case["wish"]) == case["more"]
    named = next_page(case["wish"], messages_with(VECTORS["pages"][2]["content"]), TOOLS)
    assert (named is not None) == case["more"]


@pytest.mark.parametrize("case", VECTORS["calls"], ids=name_of)
def test_the_loop_reads_on_where_the_last_result_says_how(case: dict[str, Any]) -> None:
    expected = None if case["call"] is None else ProposedCall(READER, case["call"])
    assert next_page("more", messages_with(case["content"]), TOOLS) == expected
    assert next_page("more", messages_with(case["content"]), TOOLS[:1]) is None


def test_before_the_first_result_there_is_no_more() -> None:
    assert next_page("more", [UserMessage("t1", "more")], TOOLS) is None


def test_the_line_is_the_one_that_the_gateway_writes() -> None:
    assert pages.READER == READER
    first = pages.first_page_note(4, 20480, "res_1", 3)
    later = pages.next_page_note(2, 3, {"result_id": "res_1", "search": 'a "b" {c}'})
    for note in (first, later, pages.next_page_note(3, 3, {})):
        assert page_of(f"a\n{note}").note == note


def test_a_result_that_is_cut_for_the_model_still_says_how_to_read_on() -> None:
    note = VECTORS["pages"][2]["note"]
    fitted = fit_messages(messages_with("x" * 4000 + "\n" + note)[:2], 200)
    content = fitted.messages[1].result["content"] if isinstance(fitted.messages[1], ToolMessage) else ""
    assert content.endswith(f" characters]\n{note}")
    assert len(content) < 800
