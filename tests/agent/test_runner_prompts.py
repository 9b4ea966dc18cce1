"""What the loop sends of a conversation: summaries, cuts, and beginnings that stay the same."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from itertools import pairwise
from typing import Any

import pytest

from gateway.agent.events import (
    CallClosedEvent,
    ContextCondensedEvent,
    ContextFilledEvent,
    ContextTrimmedEvent,
    TurnOutcome,
)
from gateway.agent.kept import READER
from gateway.agent.messages import AssistantMessage, Message, UserMessage
from gateway.agent.ports import (
    ChatDelta,
    ChatRequest,
    TextDelta,
)
from gateway.agent.prompts import action_prefix
from tests.agent.scripted import WORDS, ScriptedChat, ScriptedGateway, Stage
from tests.agent.scripted_turns import DONE, LIST, NATIVE, SMALL, TOOLS, notices, stage

CALLED: Mapping[str, Any] = {"calls": [{"name": "list_directory", "arguments": ""}]}


async def summing_up(request: ChatRequest) -> AsyncGenerator[ChatDelta]:
    """A model that sums up where nothing can be called, and answers elsewhere."""
    is_summary = request.schema is None and not request.tools
    yield TextDelta("They spoke of words." if is_summary else '{"answer":"Yes."}' if request.schema else "Yes.")


def long_conversation(turns: int, words: int) -> list[Message]:
    return [
        message
        for number in range(turns)
        for message in (UserMessage(f"t{number}", "word " * words), AssistantMessage(f"t{number}", "reply " * words))
    ]


@pytest.mark.requirement("002-21", "near the limit a second completion replaces old turns by a summary")
@pytest.mark.parametrize("model", [SMALL, NATIVE], ids=["small", "native"])
async def test_a_long_conversation_is_summarised_and_the_person_told(model: Mapping[str, Any]) -> None:
    scene = stage(*[summing_up] * 6)
    scene.messages = long_conversation(12, 180)
    assert await scene.runner().run("what now?", model) is TurnOutcome.ANSWERED
    assert ContextCondensedEvent() in scene.events
    shown = scene.chat.requests[-1].messages
    assert any("They spoke of words." in message["content"] for message in shown)
    assert sum(message["content"].count("word word") for message in shown) < 12 * 180


@pytest.mark.requirement("000-15", "what is left out is told")
async def test_where_no_summary_comes_the_oldest_are_left_out_and_the_person_told() -> None:
    scene = stage(" ", '{"answer":"Yes."}')
    scene.messages = long_conversation(12, 180)
    assert await scene.runner().run("what now?", SMALL) is TurnOutcome.ANSWERED, notices(scene.events)
    assert ContextCondensedEvent() not in scene.events
    assert any(isinstance(event, ContextTrimmedEvent) and event.dropped_turns for event in scene.events)


@pytest.mark.requirement("000-15", "what does not fit is warned of")
async def test_what_has_to_stay_and_does_not_fit_is_warned_of() -> None:
    scene = stage('{"answer":"Yes."}')
    assert await scene.runner().run("word " * 4000, SMALL) is TurnOutcome.ANSWERED
    assert any(isinstance(event, ContextFilledEvent) for event in scene.events)


@pytest.mark.requirement("004-11", "what a model gets of a result is a share of its context, and the person has all of it")
async def test_a_model_gets_a_share_of_a_result_and_the_means_to_read_on_while_the_person_has_all_of_it() -> None:
    content = "".join(f"line {number} of it\n" for number in range(2_000))
    reader = {**TOOLS[0], "name": READER, "description": "Read another page of a long result."}
    scene = Stage(ScriptedGateway([*TOOLS, reader], ({**DONE, "content": content},)), ScriptedChat((CALLED, "Long.")), None)
    assert await scene.runner().run("what is in notes?", NATIVE) is TurnOutcome.ANSWERED
    first, second = scene.chat.requests
    assert READER not in [each["function"]["name"] for each in first.tools]
    assert READER in [each["function"]["name"] for each in second.tools]
    shown = second.messages[-1]["content"]
    assert len(shown) < len(content) // 2
    assert re.search(
        r'line [0-9]+ of it\n…\[first [0-9]+ of [0-9]+ bytes\. Next: read_result\{"after":[0-9]+,"result_id":"', shown
    )
    (closed,) = [each for each in scene.events if isinstance(each, CallClosedEvent)]
    assert closed.result["content"] == content
    assert scene.events.count(ContextTrimmedEvent(0)) == 1


async def test_a_result_that_is_too_long_is_cut_for_the_model_and_the_person_told() -> None:
    for model, lines in ((SMALL, (LIST, "Long.")), (NATIVE, ({"calls": [{"name": "list_directory", "arguments": ""}]}, "Long."))):
        scene = stage(*lines, results=({**DONE, "content": "x" * 60_000},))
        assert await scene.runner().run("what is in notes?", model) is TurnOutcome.ANSWERED
        assert ContextTrimmedEvent(0) in scene.events


CALL = {"calls": [{"name": "list_directory", "arguments": '{"path":"notes"}'}]}


@pytest.mark.requirement("000-10", "each request begins with all of the one before")
async def test_what_a_tool_calling_model_was_sent_only_grows_at_its_end() -> None:
    """So that the model server finds all of the last request in its cache, over steps and over turns."""
    scene = stage(CALL, CALL, "Both.", "Welcome.", results=(DONE, {**DONE, "content": "b.txt"}))
    runner = scene.runner()
    assert await runner.run("what is in notes and in old?", NATIVE) is TurnOutcome.ANSWERED
    assert await runner.run("thanks", NATIVE) is TurnOutcome.ANSWERED
    sent = [request.messages for request in scene.chat.requests]
    assert len(sent) == 4
    for earlier, later in pairwise(sent):
        assert len(later) > len(earlier)
        assert list(later[: len(earlier)]) == list(earlier)


@pytest.mark.requirement("000-10", "every choice of a small model begins with the same bytes")
async def test_every_choice_of_a_small_model_begins_with_the_same_bytes() -> None:
    scene = stage(LIST, "One note.", LIST, "The same one.", results=(DONE, DONE))
    runner = scene.runner()
    for text in ("what is in notes?", "what is in notes now?"):
        assert await runner.run(text, SMALL) is TurnOutcome.ANSWERED
    offered = [tool for tool in TOOLS if tool["permission"] != "forbidden" and not tool.get("local")]
    prefix = action_prefix(offered, WORDS)
    choices = [list(request.messages) for request in scene.chat.requests if request.schema is not None]
    assert len(choices) == 2
    assert all(choice[: len(prefix)] == prefix for choice in choices)
