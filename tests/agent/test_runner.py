"""The loop and what a model writes: replies of every kind, limits, counts."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from itertools import count

import pytest

from gateway.agent.chained_prompt import chained_prefix
from gateway.agent.events import (
    TokensCountedEvent,
    TurnOutcome,
)
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import AssistantMessage, UserMessage
from gateway.agent.parse import MAX_REPLY
from gateway.agent.ports import (
    CallDelta,
    ChatDelta,
    ChatRequest,
    TextDelta,
    Usage,
)
from gateway.agent.prompts import action_prefix
from gateway.agent.reply import MAX_CALLS
from gateway.agent.retries import TurnLimits
from gateway.agent.runner import TurnRunner
from gateway.agent.tiers import prefix_for
from gateway.agent.trajectory import TokenIds
from gateway.core.errors import NotFound
from gateway.core.vocabulary import Tier
from tests.agent.scripted import COPY, WORDS, Stage
from tests.agent.scripted_turns import DONE, LIST, NATIVE, SMALL, notices, raising, said, stage


async def test_a_model_that_talks_on_after_its_action_is_stopped() -> None:
    scene = stage('{"answer":"Rome."} And furthermore, ' + "on and on " * 50)
    assert await scene.runner().run("capital of Italy?", SMALL) is TurnOutcome.ANSWERED
    assert said(scene.events) == ["Rome."]
    assert len(scene.notes.written[0]) < 40
    assert scene.chat.closed == 1


@pytest.mark.parametrize(
    ("endless", "ending"),
    [
        (TextDelta("blah " * 1000), TurnOutcome.ANSWERED),
        (CallDelta(0, "list_directory", "x" * 1000), TurnOutcome.CAPPED),
        (CallDelta(0, "x" * 1000, ""), TurnOutcome.CAPPED),
        (TextDelta("x" * 300_000), TurnOutcome.CAPPED),
    ],
)
async def test_a_model_that_comes_to_no_end_is_stopped(endless: ChatDelta, ending: TurnOutcome) -> None:
    async def forever(_request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        while True:
            yield endless

    scene = stage(forever, forever, forever, "Done.")
    assert await scene.runner().run("hello", NATIVE) is ending
    assert scene.chat.closed == len(scene.chat.requests)
    assert all(len(text) < MAX_REPLY for text in scene.notes.written)


async def test_of_calls_without_end_no_more_are_read_than_a_message_can_hold() -> None:
    async def forever(_request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        for number in count():
            yield CallDelta(number, "list_directory", '{"path":"notes"}')

    scene = stage(forever, "Done.", results=(DONE,) * MAX_CALLS)
    await scene.runner().run("list notes", NATIVE)
    assert scene.gateway.invoked == MAX_CALLS
    assert notices(scene.events) == [COPY.say("callsLeftOut")]


@pytest.mark.parametrize("index", [-1, MAX_CALLS, 2**31 - 2, 2**62])
async def test_a_call_at_no_place_that_a_reply_has_is_none(index: int) -> None:
    scene = stage([TextDelta("Done."), CallDelta(index, "list_directory", "{}")])
    assert await scene.runner().run("hello", NATIVE) is TurnOutcome.ANSWERED
    assert (said(scene.events), scene.gateway.invoked) == (["Done."], 0)


async def test_a_name_that_is_too_long_for_any_tool_names_none() -> None:
    scene = stage({"calls": [{"name": "x" * 129, "arguments": "{}"}]}, "Done.")
    assert await scene.runner().run("hello", NATIVE) is TurnOutcome.ANSWERED
    assert (scene.notes.faults != [], scene.gateway.invoked) == (True, 0)


async def test_a_tool_that_is_not_there_goes_to_the_gate_as_it_is() -> None:
    unknown = {"outcome": "unknownTool", "reason": "notAdvertised", "content": "", "trust": "trusted", "truncated": False}
    scene = stage('{"tool":"launch","arguments":{}}', '{"answer":"I cannot."}', results=(unknown,))
    assert await scene.runner().run("launch it", SMALL) is TurnOutcome.ANSWERED
    assert [params["call"]["name"] for params in scene.gateway.params_of("tools/invoke")] == ["launch"]


async def test_braces_that_are_no_call_are_words() -> None:
    scene = stage('{"a": b}')
    assert await scene.runner().run("say braces", NATIVE) is TurnOutcome.ANSWERED
    assert said(scene.events) == ['{"a": b}']


@pytest.mark.requirement("000-07", "rounds and tokens a step are what they were set to")
async def test_rounds_and_tokens_can_be_set() -> None:
    scene = stage(LIST, "x", limits=TurnLimits(1, 30))
    assert await scene.runner().run("what is in notes?", SMALL) is TurnOutcome.ANSWERED
    assert [request.max_tokens for request in scene.chat.requests] == [30, 30]


async def test_token_ids_and_counts_reach_whoever_keeps_them() -> None:
    ids = TokenIds((1, 2), (3,))
    scene = stage([TextDelta('{"answer":"Rome."}'), ids, Usage(12, 3)])
    assert await scene.runner().run("capital of Italy?", SMALL) is TurnOutcome.ANSWERED
    assert scene.notes.tokens == [ids]
    assert scene.gateway.params_of("turns/end")[0]["usage"] == {"promptTokens": 12, "completionTokens": 3}


async def test_a_result_without_words_is_said_to_be_there() -> None:
    scene = stage(LIST, "  ")
    assert await scene.runner().run("what is in notes?", SMALL) is TurnOutcome.ANSWERED
    assert said(scene.events) == [COPY.say("worded")]


def test_a_runner_needs_no_history() -> None:
    assert isinstance(stage().runner(), TurnRunner)


@pytest.mark.requirement("002-51", "another model in a conversation gets a token and a lane of its own")
async def test_a_model_chosen_within_a_conversation_gets_a_token_and_a_lane_of_its_own() -> None:
    scene = stage("Hello.", '{"answer":"Hello again."}')
    runner = scene.runner()
    await runner.run("hello", NATIVE)
    await runner.run("hello", SMALL)
    assert [params["modelId"] for method, params in scene.gateway.seen if method == "inference/token"] == [
        NATIVE["id"],
        SMALL["id"],
    ]
    assert [request.schema is None for request in scene.chat.requests] == [True, False]


@pytest.mark.requirement("003-09", "a turn that respond ended reports its usage")
async def test_a_turn_that_respond_ended_reports_what_it_took() -> None:
    respond: list[ChatDelta] = [CallDelta(0, "respond", '{"message":"Hello!"}'), Usage(900, 9)]
    scene = stage(respond)
    assert await scene.runner().run("hello", NATIVE) is TurnOutcome.ANSWERED
    assert scene.gateway.params_of("turns/end")[-1]["usage"] == {"promptTokens": 900, "completionTokens": 9}
    assert TokensCountedEvent(909, NATIVE["contextTokens"], exact=True) in scene.events


async def test_a_person_may_call_a_tool_without_any_model() -> None:
    scene = stage()
    runner = scene.runner()
    assert await runner.call("/call list_directory", ProposedCall("list_directory", {"path": "notes"})) is TurnOutcome.ANSWERED
    assert (scene.chat.requests, said(scene.events)) == ([], [])
    (begun,), (sent,) = scene.gateway.params_of("turns/begin"), scene.gateway.params_of("tools/invoke")
    assert begun["message"]["content"] == "/call list_directory"
    assert not {"modelId", "model"} & {*begun, *sent}
    assert (sent["call"]["name"], sent["call"]["arguments"]) == ("list_directory", {"path": "notes"})
    assert len(scene.gateway.params_of("turns/end")) == 1


async def test_a_call_of_a_person_that_cannot_begin_is_said() -> None:
    scene = stage()
    scene.gateway.handlers["turns/begin"] = raising(NotFound("there is no such conversation"))
    assert await scene.runner().call("/call x", ProposedCall("x", {})) is None
    assert notices(scene.events) == [COPY.say("notThere")]


CHAINED = {**SMALL, "tier": "chained"}


def listing(folder: str) -> str:
    return json.dumps({"tool": "list_directory", "arguments": {"path": folder}})


async def test_a_chained_model_that_goes_in_a_circle_is_stopped() -> None:
    scene = stage(*(listing(folder) for folder in ("a", "b", "a", "b")), results=(DONE,) * 4)
    assert await scene.runner().run("look into a and b", CHAINED) is TurnOutcome.CAPPED
    assert said(scene.events) == [COPY.say("looped")]
    assert len(scene.gateway.params_of("tools/invoke")) == 4


async def test_a_chained_model_is_shown_a_summary_of_what_is_too_long() -> None:
    history = [
        each
        for number in range(12)
        for each in (UserMessage(f"old_{number}", f"hello {number} {'x' * 900}"), AssistantMessage(f"old_{number}", "Hi."))
    ]
    scene = stage("They said hello.", '{"answer":"You are welcome!"}')
    runner = Stage(scene.gateway, scene.chat, messages=history).runner()
    assert await runner.run("thanks", CHAINED) is TurnOutcome.ANSWERED
    assert "They said hello." in json.dumps(scene.chat.requests[-1].messages)


async def test_an_action_is_not_begun_once_the_steps_of_the_turn_are_used_up() -> None:
    scene = stage(listing("photos/"), "It holds a.", listing("videos/"), limits=TurnLimits(1, 30))
    assert await scene.runner().run("list photos/ and videos/", SMALL) is TurnOutcome.CAPPED
    assert len(scene.gateway.params_of("tools/invoke")) == 1
    assert COPY.say("capped") in said(scene.events)[-1]


async def test_a_model_that_has_no_words_after_its_call_leaves_the_result_to_speak() -> None:
    scene = stage(listing("notes"), '{"answer":""}')
    assert await scene.runner().run("list notes", CHAINED) is TurnOutcome.ANSWERED
    assert said(scene.events) == []


@pytest.mark.parametrize("tier", [None, Tier.NATIVE, Tier.SINGLE])
def test_only_a_chained_model_begins_with_examples_that_go_on(tier: Tier | None) -> None:
    assert prefix_for(tier, [], WORDS) == action_prefix([], WORDS)
    assert prefix_for(Tier.CHAINED, [], WORDS) == chained_prefix([], WORDS)
