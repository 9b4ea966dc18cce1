"""The loop when it is stopped: by the person, or by the end of the session."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest

from gateway.agent.events import (
    AssistantSaidEvent,
    CallClosedEvent,
    TurnEndedEvent,
    TurnOutcome,
)
from gateway.agent.ports import (
    CallDelta,
    ChatDelta,
    ChatRequest,
    StopReason,
    StopSignal,
    TextDelta,
    TurnStopped,
)
from gateway.core.errors import LedgerUnavailable
from tests.agent.scripted import COPY
from tests.agent.scripted_turns import LIST, NATIVE, SMALL, notices, raising, stage


@pytest.mark.requirement("002-19", "a stop aborts the model and cancels the turn")
async def test_a_stop_keeps_what_was_streamed_and_cancels_the_turn() -> None:
    scene = stage()
    runner = scene.runner()

    async def endless(request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        yield TextDelta("Once upon a time")
        await runner.stop()
        request.stop.check()

    scene.chat.lines = [endless]
    assert await runner.run("tell me", NATIVE) is TurnOutcome.STOPPED
    assert scene.events[-2:] == [
        AssistantSaidEvent("Once upon a time", stopped=True),
        TurnEndedEvent(TurnOutcome.STOPPED, "words"),
    ]
    assert scene.chat.closed == 1
    assert [method for method, _ in scene.gateway.seen][-2:] == ["turns/cancel", "messages/append"]
    assert notices(scene.events) == []


@pytest.mark.requirement("002-09", "a stop while a tool runs asks nothing more")
async def test_a_stop_while_a_tool_runs_ends_there() -> None:
    scene = stage(LIST)
    runner = scene.runner()

    async def linger(_params: Mapping[str, Any], stop: StopSignal | None) -> Mapping[str, Any]:
        assert stop is not None
        await runner.stop()
        await runner.stop()
        stop.check()
        return {}

    scene.gateway.handlers["tools/invoke"] = linger
    assert await runner.run("what is in notes?", SMALL) is TurnOutcome.STOPPED
    assert len(scene.gateway.params_of("turns/cancel")) == 2
    assert len(scene.chat.requests) == 1


async def test_calls_that_a_stop_called_off_are_closed_and_answered_for_the_next_turn() -> None:
    """Servers refuse a conversation in which a call stands without its result."""
    both = [CallDelta(0, "delete_file", '{"path":"a"}'), CallDelta(1, "delete_file", '{"path":"b"}')]
    scene = stage(both, [TextDelta("As you like.")])
    runner = scene.runner()

    async def linger(_params: Mapping[str, Any], stop: StopSignal | None) -> Mapping[str, Any]:
        assert stop is not None
        await runner.stop()
        stop.check()
        return {}

    scene.gateway.handlers["tools/invoke"] = linger
    assert await runner.run("delete both", NATIVE) is TurnOutcome.STOPPED
    closed = [event for event in scene.events if isinstance(event, CallClosedEvent)]
    assert [event.result["outcome"] for event in closed] == ["cancelled", "cancelled"]
    # The first was on its way, and the gateway may have run it; the second was never sent.
    assert [event.result.get("error") for event in closed] == [COPY.say("unheard"), None]
    assert len(scene.gateway.params_of("tools/invoke")) == 1
    assert await runner.run("leave them", NATIVE) is TurnOutcome.ANSWERED
    asked = scene.chat.requests[-1].messages
    assert [message["role"] for message in asked] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [message["tool_call_id"] for message in asked[3:5]] == [each["id"] for each in asked[2]["tool_calls"]]


async def test_a_stop_before_the_turn_is_open_leaves_nothing_said() -> None:
    scene = stage()
    runner = scene.runner()

    async def begin(_params: Mapping[str, Any], stop: StopSignal | None) -> Mapping[str, Any]:
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

    async def linger(_params: Mapping[str, Any], stop: StopSignal | None) -> Mapping[str, Any]:
        await runner.stop()
        assert stop is not None
        stop.check()
        return {}

    scene.gateway.handlers |= {"tools/invoke": linger, "turns/cancel": raising(LedgerUnavailable("the disk is full"))}
    assert await runner.run("what is in notes?", SMALL) is TurnOutcome.STOPPED
    assert notices(scene.events) == ["The gateway could not do that. Please try again. (the disk is full)"]


async def test_the_end_of_the_session_ends_the_turn_and_says_so() -> None:
    scene = stage(LIST)
    runner = scene.runner()

    def end(_params: Mapping[str, Any], stop: StopSignal | None) -> Mapping[str, Any]:
        runner.over()
        assert stop is not None
        stop.check()
        return {}

    scene.gateway.handlers["tools/invoke"] = end
    assert await runner.run("what is in notes?", SMALL) is TurnOutcome.FAILED
    assert notices(scene.events) == [COPY.say("turnOver")]


def test_a_stop_is_for_good_and_tells_everybody_who_listens() -> None:
    stop = StopSignal()
    heard: list[str] = []
    forget = stop.listen(lambda: heard.append("one"))
    stop.listen(lambda: heard.append("two"))
    forget()
    stop.check()
    stop.set(StopReason.STOPPED)
    stop.set(StopReason.OVER)
    assert heard == ["two"]
    with pytest.raises(TurnStopped) as halted:
        stop.check()
    assert halted.value is stop.halt
    assert halted.value.why is StopReason.STOPPED
