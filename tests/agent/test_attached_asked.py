"""Which question is about what was attached with it, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.attached_asked import attached_for
from gateway.agent.messages import Message, ToolMessage, UserMessage
from tests.agent.scripted_turns import SMALL, said, stage
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("attached-asked")


def attached(each: dict[str, Any]) -> ToolMessage:
    call = {"id": "c", "name": each.get("call", "read_attachment"), "arguments": {"name": each["name"]}}
    result = {"outcome": each.get("outcome", "ok"), "content": each["content"], "trust": "untrusted", "truncated": False}
    return ToolMessage(each.get("turn", "t0"), call, result)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_a_question_may_be_about_what_was_attached_with_it(case: dict[str, Any]) -> None:
    messages: list[Message] = [*map(attached, case["attached"]), UserMessage("t1", case["wish"])]
    found = attached_for(case["wish"], messages, "t1", VECTORS["tools"])
    assert (None if found is None else found.call["arguments"]) == (case["asks"] and {"path": case["asks"]})
    assert found is None or found.call["name"] == "read_file"
    assert found is None or "bytes:" not in found.result["content"]
    assert attached_for(case["wish"], messages, "t1", VECTORS["tools"][1:]) is None


async def test_it_is_answered_from_what_was_attached_and_nothing_is_called() -> None:
    case = VECTORS["cases"][0]
    staged = stage()
    staged.messages = [*map(attached, case["attached"])]
    await staged.runner().run(case["wish"], SMALL)
    assert said(staged.events) == ["january: 900 (`a.csv`, line 2, column `rent`)"]
    assert staged.gateway.params_of("tools/invoke") == []
