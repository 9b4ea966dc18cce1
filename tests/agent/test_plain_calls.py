"""Wishes whose call stands in them, against the vectors that the browser's tests read too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.tools.builtin.files import Workspace
from gateway.adapters.tools.builtin.workspace import file_tools
from gateway.adapters.tools.functions import read_function, tool_threads
from gateway.agent.lane import ProposedCall
from gateway.agent.plain_calls import plain_call, said_tools
from tests.agent.scripted import WORDS
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("plain")


@pytest.mark.parametrize("case", VECTORS["calls"], ids=name_of)
def test_the_call_of_a_plain_wish_is_read_out_of_its_words(case: dict[str, Any]) -> None:
    expected = None if case["call"] is None else ProposedCall(*case["call"])
    assert plain_call(case["wish"], VECTORS["tools"], WORDS) == expected
    bare = [{**tool, "paramSchema": {"type": "object"}} for tool in VECTORS["tools"]]
    assert plain_call(case["wish"], bare, WORDS) is None


@pytest.mark.parametrize("case", VECTORS["said"], ids=name_of)
def test_a_tool_is_shown_where_the_wish_has_a_word_for_it(case: dict[str, Any]) -> None:
    shown = said_tools(case["wish"], VECTORS["tools"], WORDS)
    assert [tool["name"] for tool in shown] == case["tools"]
    properties = ["path", "first_line", "last_line"] if case.get("lines") else ["path"]
    assert list(shown[-1]["paramSchema"]["properties"]) == properties


def test_without_a_word_for_them_a_small_model_is_shown_nothing_of_what_few_wishes_need() -> None:
    tools = [read_function(tool, "builtin", tool_threads()).spec.described() for tool in file_tools(Workspace(Path.cwd()))]
    shown = {tool["name"]: list(tool["paramSchema"]["properties"]) for tool in said_tools("show me a.txt", tools, WORDS)}
    assert shown == {
        "list_directory": ["path"],
        "read_file": ["path"],
        "search_files": ["query", "path"],
        "write_file": ["path", "content"],
        "append_file": ["path", "content"],
        "delete_file": ["path"],
    }
