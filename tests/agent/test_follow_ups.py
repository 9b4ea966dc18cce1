"""A wish that leans on the one before it, as a whole one, by the vectors that the browser's tests read too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.agent.follow_ups import with_whole_action, with_whole_wishes
from gateway.agent.messages import AssistantMessage, Message, ToolMessage, UserMessage
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("follow-ups")


def made(turn_id: str, name: str) -> list[Message]:
    """What a call of the vectors leaves in a conversation."""
    told = VECTORS["calls"][name]
    call: Any = {"id": f"{turn_id}-{name}", "name": told["tool"], "arguments": told["arguments"]}
    result = {"outcome": told.get("outcome", "ok"), "content": told["content"], "trust": "untrusted", "truncated": False}
    return [AssistantMessage(turn_id, "", [call]), ToolMessage(turn_id, call, result)]


def said(before: Sequence[Sequence[str | None]], say: str) -> list[Message]:
    messages: list[Message] = []
    for number, (wish, *calls) in enumerate(before):
        turn_id = f"trn_{number}"
        messages.append(UserMessage(turn_id, str(wish)))
        messages += [each for call in calls if call is not None for each in made(turn_id, call)]
        messages.append(AssistantMessage(turn_id, "Here it is."))
    return [*messages, UserMessage("trn_now", say), UserMessage("trn_now", "and also this")]


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_what_a_wish_leaves_out_is_put_in(case: dict[str, Any]) -> None:
    messages = said(case["before"], case["say"])
    *_, last, steered = with_whole_wishes(messages, VECTORS["tools"])
    assert last == UserMessage("trn_now", case["whole"])
    assert steered == UserMessage("trn_now", "and also this"), "what is said meanwhile stays as it was said"


@pytest.mark.parametrize("case", VECTORS["actions"], ids=name_of)
def test_a_wish_of_several_names_the_file_of_the_one_before_it(case: dict[str, Any]) -> None:
    messages: list[Message] = [UserMessage("t", "show the tools and add nails")]
    for call in case["calls"]:
        messages += made("t", call)
    messages += [AssistantMessage("t", "Here it is.")] * case["told"]
    assert with_whole_action(case["actions"], messages, "t", VECTORS["tools"]) == case["whole"]
