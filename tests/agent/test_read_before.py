"""Which question is about the file that was read before it, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Message, ToolMessage, UserMessage
from gateway.agent.read_before import read_again
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("read-before")
PATH = {"path": "trip.txt"}


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_a_question_about_the_file_that_was_read_before_reads_it_again(case: dict[str, Any]) -> None:
    result = {"outcome": case.get("outcome", "ok"), "content": VECTORS["content"], "trust": "untrusted", "truncated": False}
    call = {"id": "c", "name": case.get("call", "read_file"), "arguments": PATH}
    messages: list[Message] = [] if case.get("none") else [ToolMessage(case.get("turn", "t0"), call, result)]
    messages.append(UserMessage("t1", case["wish"]))
    expected = ProposedCall("read_file", PATH) if case["reads"] else None
    assert read_again(case["wish"], messages, "t1", VECTORS["tools"]) == expected
    assert read_again(case["wish"], messages, "t1", VECTORS["tools"][1:]) is None
