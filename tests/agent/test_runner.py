"""The loop where the world around it does not play along: stops, failures, refusals (000-10, 000-15, 002-09, 002-19,
002-21, 002-51, 004-20)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from itertools import count, pairwise
from typing import Any

import pytest

from gateway.agent.asking import Limits
from gateway.agent.events import (
    AgentEvent,
    AssistantSaid,
    CallClosed,
    ContextCondensed,
    ContextFilled,
    ContextTrimmed,
    Ending,
    ModelWaitedFor,
    NoticeRaised,
    TextDiscarded,
    Tone,
    TurnEnded,
)
from gateway.agent.lane import MAX_CALLS
from gateway.agent.messages import AssistantMessage, Message, UserMessage
from gateway.agent.parse import MAX_REPLY
from gateway.agent.ports import CallDelta, ChatDelta, ChatFailure, ChatFault, ChatRequest, Halt, Stop, TextDelta, Usage, Why
from gateway.agent.prompts import action_prefix
from gateway.agent.runner import Runner
from gateway.agent.trajectory import Tokens
from gateway.core.errors import GatewayError, InvalidParams, LedgerUnavailable, NotFound, NotSignedIn
from tests.agent.scripted import COPY, WORDS, ScriptedChat, ScriptedGateway, Stage, snapshot_of
from tests.agent.vectors import read_vectors

VECTORS = read_vectors("runner")
SMALL, NATIVE = VECTORS["models"]["small"], VECTORS["models"]["native"]
TOOLS = VECTORS["tools"]["workspace"]
LIST = '{"tool":"list_directory","arguments":{"path":"notes"}}'
DONE = {"outcome": "ok", "content": "a.txt", "trust": "untrusted", "truncated": False}


def stage(*lines: Any, results: tuple[Mapping[str, Any], ...] = (DONE,), limits: Limits | None = None) -> Stage:
    return Stage(ScriptedGateway(TOOLS, results), ScriptedChat(lines), limits)


def said(events: list[AgentEvent]) -> list[str]:
    return [event.content for event in events if isinstance(event, AssistantSaid)]


def notices(events: list[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, NoticeRaised)]


# ── stopping ──


async def test_a_stop_keeps_what_was_streamed_and_cancels_the_turn() -> None:
    scene = stage()
    runner = scene.runner()

    async def endless(request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        yield TextDelta("Once upon a time")
        await runner.stop()
        request.stop.check()

    scene.chat.lines = [endless]
    assert await runner.run("tell me", NATIVE) is Ending.STOPPED
    assert scene.events[-2:] == [AssistantSaid("Once upon a time", stopped=True), TurnEnded(Ending.STOPPED, "words")]
    assert scene.chat.closed == 1
    assert [method for method, _ in scene.gateway.seen][-2:] == ["turns/cancel", "messages/append"]
    assert notices(scene.events) == []


async def test_a_stop_while_a_tool_runs_ends_there() -> None:
    scene = stage(LIST)
    runner = scene.runner()

    async def linger(_params: Mapping[str, Any], stop: Stop | None) -> Mapping[str, Any]:
        assert stop is not None
        await runner.stop()
        await runner.stop()
        stop.check()
        return {}

    scene.gateway.handlers["tools/invoke"] = linger
    assert await runner.run("what is in notes?", SMALL) is Ending.STOPPED
    assert len(scene.gateway.params_of("turns/cancel")) == 2
    assert len(scene.chat.requests) == 1


async def test_calls_that_a_stop_called_off_are_closed_and_answered_for_the_next_turn() -> None:
    """Servers refuse a conversation in which a call stands without its result."""
    both = [CallDelta(0, "delete_file", '{"path":"a"}'), CallDelta(1, "delete_file", '{"path":"b"}')]
    scene = stage(both, [TextDelta("As you like.")])
    runner = scene.runner()

    async def linger(_params: Mapping[str, Any], stop: Stop | None) -> Mapping[str, Any]:
        assert stop is not None
        await runner.stop()
        stop.check()
        return {}

    scene.gateway.handlers["tools/invoke"] = linger
    assert await runner.run("delete both", NATIVE) is Ending.STOPPED
    closed = [event for event in scene.events if isinstance(event, CallClosed)]
    assert [event.result["outcome"] for event in closed] == ["cancelled", "cancelled"]
    assert len(scene.gateway.params_of("tools/invoke")) == 1
    assert await runner.run("leave them", NATIVE) is Ending.ANSWERED
    asked = scene.chat.requests[-1].messages
    assert [message["role"] for message in asked] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [message["tool_call_id"] for message in asked[3:5]] == [each["id"] for each in asked[2]["tool_calls"]]


async def test_a_stop_before_the_turn_is_open_leaves_nothing_said() -> None:
    scene = stage()
    runner = scene.runner()

    async def begin(_params: Mapping[str, Any], stop: Stop | None) -> Mapping[str, Any]:
        assert stop is not None
        await runner.stop()
        stop.check()
        return {}

    scene.gateway.handlers["turns/begin"] = begin
    assert await runner.run("hello", SMALL) is None
    assert scene.events == []


async def test_a_stop_with_nothing_under_way_does_nothing() -> None:
    scene = stage()
    await scene.runner().stop()
    scene.runner().over()
    scene.runner().revoked("snp_1")
    assert scene.gateway.seen == []


async def test_a_stop_that_the_gateway_cannot_take_is_told() -> None:
    scene = stage(LIST)
    runner = scene.runner()

    async def linger(_params: Mapping[str, Any], stop: Stop | None) -> Mapping[str, Any]:
        await runner.stop()
        assert stop is not None
        stop.check()
        return {}

    scene.gateway.handlers |= {"tools/invoke": linger, "turns/cancel": raising(LedgerUnavailable("the disk is full"))}
    assert await runner.run("what is in notes?", SMALL) is Ending.STOPPED
    assert notices(scene.events) == ["The gateway could not do that. Please try again. (the disk is full)"]


async def test_the_end_of_the_session_ends_the_turn_and_says_so() -> None:
    scene = stage(LIST)
    runner = scene.runner()

    def end(_params: Mapping[str, Any], stop: Stop | None) -> Mapping[str, Any]:
        runner.over()
        assert stop is not None
        stop.check()
        return {}

    scene.gateway.handlers["tools/invoke"] = end
    assert await runner.run("what is in notes?", SMALL) is Ending.FAILED
    assert notices(scene.events) == [COPY.say("turnOver")]


def test_a_stop_is_for_good_and_tells_everybody_who_listens() -> None:
    stop = Stop()
    heard: list[str] = []
    forget = stop.listen(lambda: heard.append("one"))
    stop.listen(lambda: heard.append("two"))
    forget()
    stop.check()
    stop.set(Why.STOPPED)
    stop.set(Why.OVER)
    assert heard == ["two"]
    with pytest.raises(Halt) as halted:
        stop.check()
    assert halted.value is stop.halt
    assert halted.value.why is Why.STOPPED


# ── failures ──


def raising(error: Exception) -> Any:
    def refuse(_params: Mapping[str, Any], _stop: Stop | None) -> Any:
        raise error

    return refuse


async def test_a_turn_that_cannot_begin_is_said_and_can_be_said_again() -> None:
    scene = stage()
    scene.gateway.handlers["turns/begin"] = raising(NotSignedIn("the session has ended"))
    runner = scene.runner()
    assert await runner.run("hello", SMALL) is None
    assert scene.events == [NoticeRaised(Tone.DANGER, COPY.say("sessionOver"))]


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (ChatFailure(ChatFault.REFUSED, "too long"), "The model did not accept the request. (too long)"),
        (ChatFailure(ChatFault.MODEL_UNAVAILABLE, "none", "absent"), COPY.say("noModel")),
        (RuntimeError("a bug"), COPY.say("gatewayFailed")),
    ],
    ids=["refused", "absent", "bug"],
)
async def test_what_patience_does_not_mend_ends_the_turn_calmly(failure: Exception, words: str) -> None:
    scene = stage(failure)
    assert await scene.runner().run("hello", SMALL) is Ending.FAILED
    assert notices(scene.events) == [words]
    assert len(scene.gateway.params_of("turns/end")) == 1


async def test_a_void_token_is_replaced_and_given_up_on_in_the_end() -> None:
    void = ChatFailure(ChatFault.UNAUTHORISED, "void")
    scene = stage(void, '{"answer":"Rome."}')
    assert await scene.runner().run("capital of Italy?", SMALL) is Ending.ANSWERED
    assert len(scene.gateway.params_of("inference/token")) == 2
    scene = stage(void, void, void)
    assert await scene.runner().run("capital of Italy?", SMALL) is Ending.FAILED
    assert notices(scene.events) == [COPY.say("modelSilent")]


async def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    async def breaks(_request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        yield TextDelta('{"answer":"Ro')
        raise ChatFailure(ChatFault.UNREACHABLE, "the reply broke off")

    scene = stage(breaks, '{"answer":"Rome."}')
    assert await scene.runner().run("capital of Italy?", SMALL) is Ending.ANSWERED
    assert TextDiscarded() in scene.events
    assert said(scene.events) == ["Rome."]
    assert scene.notes.written == ['{"answer":"Ro', '{"answer":"Rome."}']


async def test_a_model_that_never_starts_is_waited_for_and_then_not() -> None:
    starting = ChatFailure(ChatFault.MODEL_UNAVAILABLE, "starting", "starting")
    scene = stage(*[starting] * 46)
    assert await scene.runner().run("hello", SMALL) is Ending.FAILED
    assert scene.waited == [2.0] * 45
    assert scene.events.count(ModelWaitedFor("starting")) == 45
    assert notices(scene.events) == [COPY.say("noModel")]


async def test_somebody_elses_server_that_breaks_off_is_asked_twice_more_and_no_oftener() -> None:
    crashed = ChatFailure(ChatFault.MODEL_UNAVAILABLE, "broke off", "crashed")
    scene = stage(*[crashed] * 4)
    assert await scene.runner().run("hello", VECTORS["models"]["remote"]) is Ending.FAILED
    assert len(scene.chat.requests) == 3
    scene = stage(*[crashed] * 4, "Hello.")
    assert await scene.runner().run("hello", NATIVE) is Ending.ANSWERED


async def test_a_stop_while_the_model_is_waited_for_is_a_stop() -> None:
    scene = stage()
    runner = scene.runner()

    async def starting(_request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        await runner.stop()
        raise ChatFailure(ChatFault.MODEL_UNAVAILABLE, "starting", "starting")
        yield TextDelta("")

    scene.chat.lines = [starting]
    assert await runner.run("hello", SMALL) is Ending.STOPPED
    assert scene.waited == []


async def test_a_turn_that_something_else_ended_says_so_and_is_not_ended_again() -> None:
    scene = stage(LIST)
    scene.gateway.handlers["tools/invoke"] = raising(NotFound("that turn is not open"))
    assert await scene.runner().run("what is in notes?", SMALL) is Ending.FAILED
    assert notices(scene.events) == [COPY.say("superseded")]
    assert scene.gateway.params_of("turns/end") == []


async def test_a_call_that_is_no_well_formed_one_is_the_models_mistake() -> None:
    scene = stage(LIST, LIST, '{"answer":"I cannot."}')
    scene.gateway.handlers["tools/invoke"] = raising(InvalidParams("`call.name` must have at most 128 characters"))
    assert await scene.runner().run("what is in notes?", SMALL) is Ending.ANSWERED
    closed = [event.result for event in scene.events if isinstance(event, CallClosed)]
    assert [result["outcome"] for result in closed] == ["invalidArguments", "invalidArguments"]
    assert "at most 128 characters" in scene.chat.requests[1].messages[-1]["content"]


async def test_what_cannot_be_recorded_is_told_and_the_turn_goes_on() -> None:
    scene = stage('{"answer":"Rome."}')
    failing = raising(LedgerUnavailable("the disk is full"))
    scene.gateway.handlers |= {"messages/append": failing, "turns/end": failing}
    assert await scene.runner().run("capital of Italy?", SMALL) is Ending.ANSWERED
    assert said(scene.events) == ["Rome."]
    assert len(notices(scene.events)) == 1


def test_every_failure_has_its_calm_words() -> None:
    assert COPY.explain_failure(NotFound("unknown")) == COPY.say("notThere")
    assert COPY.explain_failure(ChatFailure(ChatFault.UNREACHABLE, "x")) == COPY.say("modelSilent")
    assert COPY.explain_failure(GatewayError("why")) == "The gateway could not do that. Please try again. (why)"


# ── snapshots ──


async def test_a_snapshot_that_was_voided_is_replaced_before_the_next_call() -> None:
    scene = stage(LIST, "It holds a.txt.")
    runner = scene.runner()

    def begun(_params: Mapping[str, Any], _stop: Stop | None) -> Mapping[str, Any]:
        return {"snapshot": snapshot_of(TOOLS)}

    def voided(_params: Mapping[str, Any], _stop: Stop | None) -> Mapping[str, Any]:
        runner.revoked("snp_0")
        runner.revoked("snp_1")
        return {"token": "t", "modelId": "m"}

    scene.gateway.handlers |= {"turns/begin": begun, "inference/token": voided}
    assert await runner.run("what is in notes?", SMALL) is Ending.ANSWERED
    assert [params["snapshotId"] for params in scene.gateway.params_of("tools/invoke")] == ["snp_2"]


async def test_a_call_refused_for_its_snapshot_makes_the_next_one_use_a_fresh_one() -> None:
    stale = {"outcome": "refusedByPolicy", "reason": "staleSnapshot", "content": "", "trust": "trusted", "truncated": False}
    calls = {"calls": [{"name": "list_directory", "arguments": '{"path":"a"}'}]}
    scene = stage(calls, calls, "Done.", results=(stale, DONE))
    assert await scene.runner().run("list a", NATIVE) is Ending.ANSWERED
    assert [params["snapshotId"] for params in scene.gateway.params_of("tools/invoke")] == ["snp_1", "snp_2"]


# ── replies of every kind ──


async def test_a_model_that_talks_on_after_its_action_is_stopped() -> None:
    scene = stage('{"answer":"Rome."} And furthermore, ' + "on and on " * 50)
    assert await scene.runner().run("capital of Italy?", SMALL) is Ending.ANSWERED
    assert said(scene.events) == ["Rome."]
    assert len(scene.notes.written[0]) < 40
    assert scene.chat.closed == 1


@pytest.mark.parametrize(
    "endless",
    [
        TextDelta("blah " * 1000),
        CallDelta(0, "list_directory", "x" * 1000),
        CallDelta(0, "x" * 1000, ""),
        TextDelta("x" * 300_000),
    ],
)
async def test_a_model_that_comes_to_no_end_is_stopped(endless: ChatDelta) -> None:
    async def forever(_request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        while True:
            yield endless

    scene = stage(forever, forever, forever, "Done.")
    assert await scene.runner().run("hello", NATIVE) is Ending.ANSWERED
    assert scene.chat.closed == len(scene.chat.requests)
    assert all(len(text) < MAX_REPLY for text in scene.notes.written)


async def test_of_calls_without_end_no_more_are_read_than_a_message_can_hold() -> None:
    async def forever(_request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        for number in count():
            yield CallDelta(number, "list_directory", '{"path":"notes"}')

    scene = stage(forever, "Done.", results=(DONE,) * MAX_CALLS)
    await scene.runner().run("list notes", NATIVE)
    assert scene.gateway.invoked == MAX_CALLS


@pytest.mark.parametrize("index", [-1, MAX_CALLS, 2**31 - 2, 2**62])
async def test_a_call_at_no_place_that_a_reply_has_is_none(index: int) -> None:
    scene = stage([TextDelta("Done."), CallDelta(index, "list_directory", "{}")])
    assert await scene.runner().run("hello", NATIVE) is Ending.ANSWERED
    assert (said(scene.events), scene.gateway.invoked) == (["Done."], 0)


async def test_a_name_that_is_too_long_for_any_tool_names_none() -> None:
    scene = stage({"calls": [{"name": "x" * 129, "arguments": "{}"}]}, "Done.")
    assert await scene.runner().run("hello", NATIVE) is Ending.ANSWERED
    assert (scene.notes.faults != [], scene.gateway.invoked) == (True, 0)


async def test_a_tool_that_is_not_there_goes_to_the_gate_as_it_is() -> None:
    unknown = {"outcome": "unknownTool", "reason": "notAdvertised", "content": "", "trust": "trusted", "truncated": False}
    scene = stage('{"tool":"launch","arguments":{}}', '{"answer":"I cannot."}', results=(unknown,))
    assert await scene.runner().run("launch it", SMALL) is Ending.ANSWERED
    assert [params["call"]["name"] for params in scene.gateway.params_of("tools/invoke")] == ["launch"]


async def test_braces_that_are_no_call_are_words() -> None:
    scene = stage('{"a": b}')
    assert await scene.runner().run("say braces", NATIVE) is Ending.ANSWERED
    assert said(scene.events) == ['{"a": b}']


# ── how much ──


async def test_rounds_and_tokens_can_be_set() -> None:
    scene = stage(LIST, "x", limits=Limits(1, 30))
    assert await scene.runner().run("what is in notes?", SMALL) is Ending.ANSWERED
    assert [request.max_tokens for request in scene.chat.requests] == [30, 30]


async def test_token_ids_and_counts_reach_whoever_keeps_them() -> None:
    ids = Tokens((1, 2), (3,))
    scene = stage([TextDelta('{"answer":"Rome."}'), ids, Usage(12, 3)])
    assert await scene.runner().run("capital of Italy?", SMALL) is Ending.ANSWERED
    assert scene.notes.tokens == [ids]
    assert scene.gateway.params_of("turns/end")[0]["usage"] == {"promptTokens": 12, "completionTokens": 3}


# ── long conversations ──


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


@pytest.mark.parametrize("model", [SMALL, NATIVE], ids=["small", "native"])
async def test_a_long_conversation_is_summarised_and_the_person_told(model: Mapping[str, Any]) -> None:
    scene = stage(*[summing_up] * 6)
    scene.messages = long_conversation(12, 180)
    assert await scene.runner().run("what now?", model) is Ending.ANSWERED
    assert ContextCondensed() in scene.events
    shown = scene.chat.requests[-1].messages
    assert any("They spoke of words." in message["content"] for message in shown)
    assert sum(message["content"].count("word word") for message in shown) < 12 * 180


async def test_where_no_summary_comes_the_oldest_are_left_out_and_the_person_told() -> None:
    scene = stage(" ", '{"answer":"Yes."}')
    scene.messages = long_conversation(12, 180)
    assert await scene.runner().run("what now?", SMALL) is Ending.ANSWERED, notices(scene.events)
    assert ContextCondensed() not in scene.events
    assert any(isinstance(event, ContextTrimmed) and event.dropped_turns for event in scene.events)


async def test_what_has_to_stay_and_does_not_fit_is_warned_of() -> None:
    scene = stage('{"answer":"Yes."}')
    assert await scene.runner().run("word " * 4000, SMALL) is Ending.ANSWERED
    assert any(isinstance(event, ContextFilled) for event in scene.events)


async def test_a_result_that_is_too_long_is_cut_for_the_model_and_the_person_told() -> None:
    for model, lines in ((SMALL, (LIST, "Long.")), (NATIVE, ({"calls": [{"name": "list_directory", "arguments": ""}]}, "Long."))):
        scene = stage(*lines, results=({**DONE, "content": "x" * 60_000},))
        assert await scene.runner().run("what is in notes?", model) is Ending.ANSWERED
        assert ContextTrimmed(0) in scene.events


async def test_a_result_without_words_is_said_to_be_there() -> None:
    scene = stage(LIST, "  ")
    assert await scene.runner().run("what is in notes?", SMALL) is Ending.ANSWERED
    assert said(scene.events) == [COPY.say("worded")]


def test_a_runner_needs_no_history() -> None:
    assert isinstance(stage().runner(), Runner)


CALL = {"calls": [{"name": "list_directory", "arguments": '{"path":"notes"}'}]}


async def test_what_a_tool_calling_model_was_sent_only_grows_at_its_end() -> None:
    """So that the model server finds all of the last request in its cache, over steps and over turns."""
    scene = stage(CALL, CALL, "Both.", "Welcome.", results=(DONE, {**DONE, "content": "b.txt"}))
    runner = scene.runner()
    assert await runner.run("what is in notes and in old?", NATIVE) is Ending.ANSWERED
    assert await runner.run("thanks", NATIVE) is Ending.ANSWERED
    sent = [request.messages for request in scene.chat.requests]
    assert len(sent) == 4
    for earlier, later in pairwise(sent):
        assert len(later) > len(earlier)
        assert list(later[: len(earlier)]) == list(earlier)


async def test_every_choice_of_a_small_model_begins_with_the_same_bytes() -> None:
    scene = stage(LIST, "One note.", LIST, "The same one.", results=(DONE, DONE))
    runner = scene.runner()
    for text in ("what is in notes?", "what is in notes now?"):
        assert await runner.run(text, SMALL) is Ending.ANSWERED
    offered = [tool for tool in TOOLS if tool["permission"] != "forbidden" and not tool.get("local")]
    prefix = action_prefix(offered, WORDS)
    choices = [list(request.messages) for request in scene.chat.requests if request.schema is not None]
    assert len(choices) == 2
    assert all(choice[: len(prefix)] == prefix for choice in choices)


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
