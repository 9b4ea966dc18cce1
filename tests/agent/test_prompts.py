"""The shared beginning, against the vector that the browser's tests read too."""

from __future__ import annotations

import pytest

from gateway.agent.chained_prompt import as_dialogue, chained_prefix
from gateway.agent.messages import AssistantMessage, ToolMessage
from gateway.agent.prompts import action_prefix
from tests.agent.scripted import WORDS
from tests.agent.vectors import read_vectors

VECTOR = read_vectors("action-prefix")


@pytest.mark.requirement("000-03", "the system prompt shows the tools and the two shapes, one action at a time")
@pytest.mark.requirement("000-19", "each tool's description stands beside its name and arguments")
def test_both_languages_begin_a_conversation_with_the_same_bytes() -> None:
    assert action_prefix(VECTOR["tools"], WORDS) == VECTOR["messages"]
    assert chained_prefix(VECTOR["tools"], WORDS) == VECTOR["chained"]


def test_no_example_shows_a_tool_that_is_not_there() -> None:
    shown = [message["content"] for message in action_prefix([], WORDS)]
    assert not any('"tool"' in content for content in shown)


@pytest.mark.requirement("000-22", "a tool is shown with types, optional arguments too, and the same bytes in both languages")
def test_a_tool_is_shown_with_its_optional_arguments_and_their_types() -> None:
    system = action_prefix(VECTOR["tools"], WORDS)[0]["content"]
    assert "\nsearch_files(query: string, path?: string) - " in system


def test_calls_that_were_proposed_together_stand_one_by_one() -> None:
    calls = [{"id": each, "name": "delete_file", "arguments": {"path": f"{each}.txt"}} for each in ("a", "b")]
    result = {"outcome": "ok", "content": "gone", "trust": "untrusted", "truncated": False}
    told = as_dialogue([AssistantMessage("t", "", calls), *(ToolMessage("t", each, result) for each in calls)], WORDS)
    assert [each["content"].split("\n")[0] for each in told[-4::2]] == [
        '{"tool":"delete_file","arguments":{"path":"a.txt"}}',
        '{"tool":"delete_file","arguments":{"path":"b.txt"}}',
    ]
