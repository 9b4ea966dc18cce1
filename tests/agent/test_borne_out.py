"""What an answer says that nothing shown bears out, and what is shown in its place."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.borne_out import unsupported_in
from gateway.agent.copy import Copy
from gateway.agent.messages import AssistantMessage, ToolMessage, UserMessage
from gateway.agent.supporting import passage_of, sources_of
from gateway.shipped import read_loop_file
from tests.agent.vectors import name_of, read_vectors

COPY = Copy(read_loop_file("copy"))


def closed(name: str, arguments: dict[str, Any], content: str, outcome: str = "ok") -> ToolMessage:
    result = {"outcome": outcome, "content": content, "trust": "untrusted", "truncated": False}
    return ToolMessage("t", {"id": "c", "name": name, "arguments": arguments}, result)


@pytest.mark.parametrize("case", read_vectors("borne-out")["cases"], ids=name_of)
def test_what_stands_in_no_result_is_named(case: dict[str, Any]) -> None:
    assert unsupported_in(case["text"], case["sources"]) == case["missing"]


def test_what_a_model_said_before_bears_nothing_out() -> None:
    call = closed("read_file", {"path": "a.txt", "first_line": 2}, "Ana")
    messages = [UserMessage("t", "read it"), AssistantMessage("t", "It is 7."), call]
    assert sources_of(messages, [{"name": "read_file"}]) == ["read it", "a.txt", "2", "Ana", "read_file"]


def test_the_passage_is_of_what_was_read_and_has_most_of_the_question() -> None:
    calls = [
        closed("search_files", {"query": "cake order number"}, "cake order number"),
        closed("read_file", {"path": "a.txt"}, "the cake\nis at Lindner's, order number 417"),
        closed("read_file", {"path": "b.txt"}, "the cake is late"),
    ]
    said = passage_of("what is the order number of the cake?", calls, COPY)
    assert said.startswith(f"{COPY.say('noAnswer')} (`a.txt`, lines 1–2)")
    assert passage_of("what of the cake?", calls[:1], COPY).endswith("cake order number\n```")
    failed = closed("read_file", {"path": "c.txt"}, "", "executionError")
    assert passage_of("what of the cake?", [failed], COPY) == COPY.explain_outcome("read_file", failed.result)
