"""Images that a person attached, and the models that are shown them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from gateway.agent.events import TurnOutcome
from gateway.agent.limits import LIMITS
from gateway.agent.messages import AssistantMessage, Message, ToolMessage, UserMessage
from tests.agent.scripted import WORDS
from tests.agent.scripted_turns import NATIVE, SMALL, stage


def attached(number: int, name: str = "read_attachment", media_type: str = "image/jpeg") -> list[Message]:
    call = {"id": f"call_{number}", "name": name, "arguments": {"name": "photo.jpg"}}
    bytes_of_it = {"id": f"res_{number}", "mediaType": media_type, "bytes": 3, "digest": "0" * 64}
    result = {"outcome": "ok", "content": "an image", "trust": "untrusted", "truncated": False, "attachments": [bytes_of_it]}
    turn = f"t{number}"
    return [UserMessage(turn, "Attached photo.jpg"), AssistantMessage(turn, "", [call]), ToolMessage(turn, call, result)]


@pytest.mark.parametrize(
    ("model", "seen"),
    [
        ({**NATIVE, "contextTokens": 32_768, "seesImages": True}, True),
        ({**NATIVE, "contextTokens": 32_768}, False),
        (SMALL, False),
    ],
    ids=["sees", "does not", "is led"],
)
async def test_the_newest_images_stand_behind_their_results_for_models_that_see(model: Mapping[str, Any], *, seen: bool) -> None:
    scene = stage('{"answer":"A bean."}' if model is SMALL else "A bean.")
    scene.messages = [
        *(message for number in range(LIMITS.shown_images + 1) for message in attached(number)),
        *attached(8, media_type="image/gif"),
        *attached(9, name="screenshot"),
    ]
    assert await scene.runner().run("what is it?", model) is TurnOutcome.ANSWERED
    told = scene.chat.requests[-1].messages
    shown = [message["image"] for message in told if "image" in message]
    assert shown == ([f"res_{number}" for number in range(1, LIMITS.shown_images + 1)] if seen else [])
    for before, message in pairwise(told):
        if "image" in message:
            assert (before["role"], message["role"], message["content"]) == ("tool", "user", WORDS["native"]["image"])


async def test_the_bytes_of_what_was_attached_are_no_words_of_a_call() -> None:
    scene = stage("A bean.")
    scene.messages = attached(1)
    for message in scene.messages:
        if isinstance(message, AssistantMessage | ToolMessage):
            for call in message.tool_calls if isinstance(message, AssistantMessage) else [message.call]:
                call["arguments"]["data"] = "aGVsbG8="  # pyright: ignore[reportIndexIssue]
    await scene.runner().run("what is it?", {**NATIVE, "contextTokens": 32_768, "seesImages": True})
    assert "aGVsbG8=" not in str(scene.chat.requests[-1].messages)
    assert "photo.jpg" in str(scene.chat.requests[-1].messages)
