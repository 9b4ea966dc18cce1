"""The loop when the gateway or the model fails, and when its snapshot is void."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import pytest

from gateway.agent.events import (
    AssistantSaidEvent,
    CallClosedEvent,
    ModelWaitedForEvent,
    NoticeRaisedEvent,
    NoticeTone,
    TextDiscardedEvent,
    TurnOutcome,
)
from gateway.agent.ports import (
    ChatDelta,
    ChatFailure,
    ChatFailureKind,
    ChatRequest,
    StopSignal,
    TextDelta,
)
from gateway.core.errors import GatewayError, InvalidParams, LedgerUnavailable, NotFound, NotSignedIn
from tests.agent.scripted import COPY, snapshot_of
from tests.agent.scripted_turns import DONE, LIST, NATIVE, SMALL, TOOLS, VECTORS, notices, raising, said, stage


async def test_a_turn_that_cannot_begin_is_said_and_can_be_said_again() -> None:
    scene = stage()
    scene.gateway.handlers["turns/begin"] = raising(NotSignedIn("the session has ended"))
    runner = scene.runner()
    assert await runner.run("hello", SMALL) is None
    assert scene.events == [NoticeRaisedEvent(NoticeTone.DANGER, COPY.say("sessionOver"))]


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (ChatFailure(ChatFailureKind.MODEL_UNAVAILABLE, "none", "absent"), f"{COPY.say('noModel')} (none)"),
        (ChatFailure(ChatFailureKind.REFUSED, "too long"), "The model did not accept the request. (too long)"),
        (RuntimeError("a bug"), COPY.say("gatewayFailed")),
    ],
    ids=["refused", "absent", "bug"],
)
async def test_what_patience_does_not_mend_ends_the_turn_calmly(failure: Exception, words: str) -> None:
    scene = stage(failure)
    assert await scene.runner().run("hello", SMALL) is TurnOutcome.FAILED
    assert notices(scene.events) == [words]
    assert len(scene.gateway.params_of("turns/end")) == 1


async def test_a_void_token_is_replaced_and_given_up_on_in_the_end() -> None:
    void = ChatFailure(ChatFailureKind.UNAUTHORISED, "void")
    scene = stage(void, '{"answer":"Rome."}')
    assert await scene.runner().run("capital of Italy?", SMALL) is TurnOutcome.ANSWERED
    assert len(scene.gateway.params_of("inference/token")) == 2
    scene = stage(void, void, void)
    assert await scene.runner().run("capital of Italy?", SMALL) is TurnOutcome.FAILED
    assert notices(scene.events) == [COPY.say("modelSilent")]


async def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    async def breaks(_request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        yield TextDelta('{"answer":"Ro')
        raise ChatFailure(ChatFailureKind.UNREACHABLE, "the reply broke off")

    scene = stage(breaks, '{"answer":"Rome."}')
    assert await scene.runner().run("capital of Italy?", SMALL) is TurnOutcome.ANSWERED
    assert TextDiscardedEvent() in scene.events
    assert said(scene.events) == ["Rome."]
    assert scene.notes.written == ['{"answer":"Ro', '{"answer":"Rome."}']


async def test_what_broke_off_also_outlasts_a_reply_that_cannot_be_read() -> None:
    for model, begun, unreadable, read in (
        (SMALL, '{"answer":"Ro', "neither here nor there", '{"answer":"Rome."}'),
        (NATIVE, "Ro", "", "Rome."),
    ):

        async def breaks(_request: ChatRequest, begun: str = begun) -> AsyncGenerator[ChatDelta]:
            yield TextDelta(begun)
            raise ChatFailure(ChatFailureKind.UNREACHABLE, "the reply broke off")

        scene = stage(breaks, unreadable, read)
        assert await scene.runner().run("capital of Italy?", model) is TurnOutcome.ANSWERED
        assert scene.events.count(TextDiscardedEvent()) == 1
        assert said(scene.events) == ["Rome."]


async def test_what_broke_off_stays_to_be_read_where_asking_again_comes_to_nothing() -> None:
    def breaking(text: str) -> Callable[[ChatRequest], AsyncGenerator[ChatDelta]]:
        async def breaks(_request: ChatRequest) -> AsyncGenerator[ChatDelta]:
            if text:
                yield TextDelta(text)
            raise ChatFailure(ChatFailureKind.UNREACHABLE, "the reply broke off")

        return breaks

    scene = stage(breaking("It was a dark night"), breaking(""), breaking(""))
    assert await scene.runner().run("tell me a story", NATIVE) is TurnOutcome.FAILED
    assert TextDiscardedEvent() not in scene.events
    assert AssistantSaidEvent("It was a dark night", stopped=True) in scene.events
    scene = stage(breaking("One"), breaking("Two"), breaking(""))
    assert await scene.runner().run("tell me a story", NATIVE) is TurnOutcome.FAILED
    assert AssistantSaidEvent("Two", stopped=True) in scene.events


@pytest.mark.requirement("004-20", "waiting for a model ends")
async def test_a_model_that_never_starts_is_waited_for_and_then_not() -> None:
    starting = ChatFailure(ChatFailureKind.MODEL_UNAVAILABLE, "starting", "starting")
    scene = stage(*[starting] * 46)
    assert await scene.runner().run("hello", SMALL) is TurnOutcome.FAILED
    assert scene.waited == [2.0] * 45
    assert scene.events.count(ModelWaitedForEvent("starting")) == 45
    assert notices(scene.events) == [f"{COPY.say('noModel')} (starting)"]


async def test_somebody_elses_server_that_breaks_off_is_asked_twice_more_and_no_oftener() -> None:
    crashed = ChatFailure(ChatFailureKind.MODEL_UNAVAILABLE, "broke off", "crashed")
    scene = stage(*[crashed] * 4)
    assert await scene.runner().run("hello", VECTORS["models"]["remote"]) is TurnOutcome.FAILED
    assert len(scene.chat.requests) == 3
    scene = stage(*[crashed] * 4, "Hello.")
    assert await scene.runner().run("hello", NATIVE) is TurnOutcome.ANSWERED


async def test_a_stop_while_the_model_is_waited_for_is_a_stop() -> None:
    scene = stage()
    runner = scene.runner()

    async def starting(_request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        await runner.stop()
        raise ChatFailure(ChatFailureKind.MODEL_UNAVAILABLE, "starting", "starting")
        yield TextDelta("")

    scene.chat.lines = [starting]
    assert await runner.run("hello", SMALL) is TurnOutcome.STOPPED
    assert scene.waited == []


async def test_a_turn_that_something_else_ended_says_so_and_is_not_ended_again() -> None:
    scene = stage(LIST)
    scene.gateway.handlers["tools/invoke"] = raising(NotFound("that turn is not open"))
    assert await scene.runner().run("what is in notes?", SMALL) is TurnOutcome.FAILED
    assert notices(scene.events) == [COPY.say("superseded")]
    assert scene.gateway.params_of("turns/end") == []


async def test_a_call_that_is_no_well_formed_one_is_the_models_mistake() -> None:
    scene = stage(LIST, LIST, '{"answer":"I cannot."}')
    scene.gateway.handlers["tools/invoke"] = raising(InvalidParams("`call.name` must have at most 128 characters"))
    assert await scene.runner().run("what is in notes?", SMALL) is TurnOutcome.ANSWERED
    closed = [event.result for event in scene.events if isinstance(event, CallClosedEvent)]
    assert [result["outcome"] for result in closed] == ["invalidArguments", "invalidArguments"]
    assert "at most 128 characters" in scene.chat.requests[1].messages[-1]["content"]


async def test_what_cannot_be_recorded_is_told_and_the_turn_goes_on() -> None:
    scene = stage('{"answer":"Rome."}')
    failing = raising(LedgerUnavailable("the disk is full"))
    scene.gateway.handlers |= {"messages/append": failing, "turns/end": failing}
    assert await scene.runner().run("capital of Italy?", SMALL) is TurnOutcome.ANSWERED
    assert said(scene.events) == ["Rome."]
    assert len(notices(scene.events)) == 1


def test_every_failure_has_its_calm_words() -> None:
    assert COPY.explain_failure(NotFound("unknown")) == COPY.say("notThere")
    assert COPY.explain_failure(ChatFailure(ChatFailureKind.UNREACHABLE, "x")) == COPY.say("modelSilent")
    assert COPY.explain_failure(ChatFailure(ChatFailureKind.BROKE_OFF, "x")) == COPY.say("modelBrokeOff")
    assert COPY.explain_failure(ChatFailure(ChatFailureKind.FAILED, "x")) == f"{COPY.say('modelFailed')} (x)"
    assert COPY.explain_failure(GatewayError("why")) == "The gateway could not do that. Please try again. (why)"


async def test_a_snapshot_that_was_voided_is_replaced_before_the_next_call() -> None:
    scene = stage(LIST, "It holds a.txt.")
    runner = scene.runner()

    def begun(_params: Mapping[str, Any], _stop: StopSignal | None) -> Mapping[str, Any]:
        return {"snapshot": snapshot_of(TOOLS)}

    def voided(_params: Mapping[str, Any], _stop: StopSignal | None) -> Mapping[str, Any]:
        runner.revoked("snp_0")
        runner.revoked("snp_1")
        return {"token": "t", "modelId": "m"}

    scene.gateway.handlers |= {"turns/begin": begun, "inference/token": voided}
    assert await runner.run("what is in notes?", SMALL) is TurnOutcome.ANSWERED
    assert [params["snapshotId"] for params in scene.gateway.params_of("tools/invoke")] == ["snp_2"]


async def test_a_call_refused_for_its_snapshot_makes_the_next_one_use_a_fresh_one() -> None:
    stale = {"outcome": "refusedByPolicy", "reason": "staleSnapshot", "content": "", "trust": "trusted", "truncated": False}
    calls = {"calls": [{"name": "list_directory", "arguments": '{"path":"a"}'}]}
    scene = stage(calls, calls, "Done.", results=(stale, DONE))
    assert await scene.runner().run("list a", NATIVE) is TurnOutcome.ANSWERED
    assert [params["snapshotId"] for params in scene.gateway.params_of("tools/invoke")] == ["snp_1", "snp_2"]
