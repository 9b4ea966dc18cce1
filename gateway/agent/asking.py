"""Ask the model for the next step, again after whatever a little patience can mend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.agent.events import (
    ContextFilled,
    ContextTrimmed,
    ModelAsked,
    ModelWaitedFor,
    TextDiscarded,
    TextStreamed,
    TokensCounted,
)
from gateway.agent.json_lane import json_lane
from gateway.agent.lane import LaneInput, Step
from gateway.agent.messages import count_rounds
from gateway.agent.native_lane import native_lane
from gateway.agent.ports import Chat, ChatFailure, ChatFault
from gateway.agent.turn import Turn
from gateway.agent.world import World

MAX_ROUNDS: Final = 8
"""Requirement 000-07: tool rounds of one turn, unless told otherwise."""

_MODEL_RETRIES: Final = 45
"""How long the loop waits for a model that is starting or was restarted: 45 times 2 s covers loading from a cold disk."""

_MODEL_RETRY_SECONDS: Final = 2.0

_BREAK_RETRIES: Final = 2
"""What broke off is asked again that often. Each time may cost money where somebody else runs the model."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Tool rounds of one turn, and tokens of one step, None for what suits the model's lane."""

    rounds: int = MAX_ROUNDS
    step_tokens: int | None = None


async def ask_for_step(world: World, turn: Turn, model: Mapping[str, Any], limits: Limits) -> Step:
    """The next step. Raises ChatFailure where patience does not help, the gateway's errors, or the halt."""
    lane = native_lane if model["supportsTools"] else json_lane
    attempt = 1
    while True:
        try:
            await refresh(world, turn)
            world.emit(ModelAsked())
            chat = world.chat_with(await _token_for(world, turn, model))
            return await lane(_lane_input(world, turn, model, limits, chat))
        except ChatFailure as failure:
            turn.stop.check()
            if not await _mend(world, turn, model, failure, attempt):
                raise
            _discard(world, turn)
        attempt += 1


async def refresh(world: World, turn: Turn) -> None:
    """Get a fresh snapshot where the one in hand is void."""
    if turn.stale:
        turn.snapshot = (await world.gateway.call("turns/refresh", turn.reference, turn.stop))["snapshot"]
        turn.stale = False


def _lane_input(world: World, turn: Turn, model: Mapping[str, Any], limits: Limits, chat: Chat) -> LaneInput:
    return LaneInput(
        messages=turn.messages,
        shown=turn.shown,
        turn_id=turn.id,
        tools=turn.snapshot["tools"],
        model=model,
        chat=chat,
        stop=turn.stop,
        listener=_Listener(world, turn, model["contextTokens"]),
        witness=world.witness,
        words=world.words,
        copy=world.copy,
        today=world.today(),
        actions=turn.actions,
        more=turn.more,
        may_call=count_rounds(turn.messages, turn.id) < limits.rounds,
        may_summarise=turn.may_summarise,
        step_tokens=limits.step_tokens,
    )


class _Listener:
    """What a lane tells, as it concerns a turn and its person."""

    def __init__(self, world: World, turn: Turn, limit: int) -> None:
        self._world = world
        self._turn = turn
        self._limit = limit

    def streamed(self, delta: str) -> None:
        self._turn.streamed += delta
        self._world.emit(TextStreamed(delta))

    def discarded(self) -> None:
        _discard(self._world, self._turn)

    def counted(self, prompt_tokens: int, completion_tokens: int, *, exact: bool) -> None:
        self._turn.prompt_tokens += prompt_tokens
        self._turn.completion_tokens += completion_tokens
        self._world.emit(TokensCounted(prompt_tokens + completion_tokens, self._limit, exact))

    def filled(self, used: int, limit: int) -> None:
        self._world.emit(ContextFilled(used, limit))

    def trimmed(self, dropped_turns: int) -> None:
        self._world.emit(ContextTrimmed(dropped_turns))


async def _mend(world: World, turn: Turn, model: Mapping[str, Any], failure: ChatFailure, attempt: int) -> bool:
    """Whether it is worth asking again after this failure; waits as long as that takes."""
    match failure.fault:
        case ChatFault.REFUSED:
            return False
        case ChatFault.UNAUTHORISED:
            turn.token = None
            return attempt <= _BREAK_RETRIES
        case ChatFault.MODEL_UNAVAILABLE:
            is_coming = failure.state == "starting" or model["local"]
            if failure.state == "absent" or attempt > (_MODEL_RETRIES if is_coming else _BREAK_RETRIES):
                return False
            world.emit(ModelWaitedFor(failure.state))
            await world.wait(_MODEL_RETRY_SECONDS, turn.stop)
            return True
        case ChatFault.UNREACHABLE:
            return attempt <= _BREAK_RETRIES


async def _token_for(world: World, turn: Turn, model: Mapping[str, Any]) -> Mapping[str, Any]:
    if turn.token is None:
        turn.token = await world.gateway.call("inference/token", {**turn.reference, "modelId": model["id"]}, turn.stop)
    return turn.token


def _discard(world: World, turn: Turn) -> None:
    turn.streamed = ""
    world.emit(TextDiscarded())
