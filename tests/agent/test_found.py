"""Which names a reading tool may be given because a listing or a search showed them."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.action_schema import action_schema
from gateway.agent.copied import copyable_strings
from gateway.agent.found import found_names, with_found
from gateway.agent.messages import ToolMessage, UserMessage
from tests.agent.scripted import WORDS
from tests.agent.vectors import name_of, read_vectors

VECTOR = read_vectors("found")


def closed(case: dict[str, Any]) -> list[ToolMessage]:
    return [
        ToolMessage("t", {"id": "c", "name": each["tool"], "arguments": each["arguments"]}, {"trust": "untrusted", **each})
        for each in case["calls"]
    ]


@pytest.mark.parametrize("case", VECTOR["cases"], ids=name_of)
def test_names_are_those_that_a_listing_or_a_search_begins_its_lines_with(case: dict[str, Any]) -> None:
    assert found_names(closed(case), VECTOR["tools"]) == case["names"]


def test_a_found_name_may_be_read_and_neither_written_nor_deleted() -> None:
    own = copyable_strings([UserMessage("t", "find a.txt")])
    path = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = [
        {"name": "read_file", "category": "read", "paramSchema": path},
        {"name": "delete_file", "category": "destructive", "paramSchema": path},
    ]
    options: Any = action_schema(tools, own, WORDS, with_found(own, ["found.txt"]))["oneOf"]
    paths = [each["properties"]["arguments"]["properties"]["path"]["enum"] for each in options[:2]]
    assert paths == [["a.txt", "found.txt"], ["a.txt"]]


def test_no_more_names_than_a_grammar_can_hold() -> None:
    content = "\n".join(f"f{number}.txt" for number in range(500))
    message = closed({"calls": [{"tool": "search_files", "arguments": {}, "outcome": "ok", "content": content}]})
    assert len(found_names(message, VECTOR["tools"])) == 100
