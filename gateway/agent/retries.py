"""Ask the model for the next step, and again where the retry policy allows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, assert_never

from gateway.agent.attached import without_attached_bytes
from gateway.agent.claims import record_of
from gateway.agent.dependencies import LoopDependencies
from gateway.agent.events import (
    ContextFilledEvent,
    ContextTrimmedEvent,
    ModelAskedEvent,
    ModelWaitedForEvent,
    NoticeRaisedEvent,
    NoticeTone,
    TextDiscardedEvent,
    TextStreamedEvent,
    TokensCountedEvent,
)
from gateway.agent.follow_ups import with_whole_action, with_whole_wishes
from gateway.agent.german import is_german, with_frames_in_english
from gateway.agent.holding import ShownBeginning
from gateway.agent.kept import useful_tools
from gateway.agent.lane import LaneInput, LaneStep
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, Tool, count_rounds
from gateway.agent.ports import Chat, ChatFailure, ChatFailureKind, CutReason
from gateway.agent.shares import may_be_cut
from gateway.agent.spaced_names import with_names_quoted
from gateway.agent.tiers import lane_for, tier_of
from gateway.agent.turn import LoopTurn
from gateway.agent.turn_progress import progress_of
from gateway.core.vocabulary import Tier

MAX_ROUNDS: Final = LIMITS.rounds
"""Requirement 000-07: tool rounds of one turn, unless told otherwise."""

_MODEL_RETRIES: Final = LIMITS.model_waits
"""How long the loop waits for a model that is starting or was restarted: 45 times 2 s covers loading from a cold disk."""

_MODEL_RETRY_SECONDS: Final = LIMITS.model_wait_seconds

_BREAK_RETRIES: Final = LIMITS.broken_reply_retries
"""What broke off is asked again that often. Each time may cost money where somebody else runs the model."""


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Tool rounds of one turn, and tokens of one step, None for what suits the model's lane."""

    rounds: int = MAX_ROUNDS
    step_tokens: int | None = None


async def ask_for_step(world: LoopDependencies, turn: LoopTurn, model: Mapping[str, Any], limits: TurnLimits) -> LaneStep:
    """The next step. Raises ChatFailure where no retry can help, the gateway's errors, or the halt."""
    lane = lane_for(model)
    attempt = 1
    while True:
        try:
            await refresh(world, turn)
            world.emit(ModelAskedEvent())
            chat = world.chat_with(await _token_for(world, turn, model))
            step = await lane(_lane_input(world, turn, model, limits, chat))
        except ChatFailure as failure:
            turn.stop.check()
            if not await _mend(world, turn, model, failure, attempt):
                raise
            turn.broken = turn.streamed or turn.broken
            turn.streamed = ""
        else:
            _take_back(world, turn)
            return step
        attempt += 1


async def refresh(world: LoopDependencies, turn: LoopTurn) -> None:
    """Get a fresh snapshot where the one in hand is void."""
    if turn.stale:
        turn.snapshot = (await world.gateway.call("turns/refresh", turn.reference, turn.stop))["snapshot"]
        turn.stale = False


def _may_be_cut(content: str, model: Mapping[str, Any]) -> bool:
    """Whether a model may be told how to read on in a result. Smaller ones cannot write down an id, and are told otherwise."""
    return tier_of(model) is Tier.NATIVE and may_be_cut(content, model["contextTokens"])


def _as_read(messages: Sequence[Message], model: Mapping[str, Any], tools: Sequence[Tool]) -> Sequence[Message]:
    """Messages as a lane has them. A model with declared tools reads names by itself."""
    kept, tier = without_attached_bytes(messages), tier_of(model)
    if tier is Tier.NATIVE:
        return kept
    # A larger model understands German, and what a wish leaves out, by itself.
    is_single = tier is Tier.SINGLE
    quoted = with_names_quoted(with_frames_in_english(kept) if is_single else kept)
    return with_whole_wishes(quoted, tools) if is_single else quoted


def _lane_input(world: LoopDependencies, turn: LoopTurn, model: Mapping[str, Any], limits: TurnLimits, chat: Chat) -> LaneInput:
    tools = useful_tools(turn.snapshot["tools"], turn.messages, lambda content: _may_be_cut(content, model))
    messages = _as_read(turn.messages, model, tools)
    return LaneInput(
        messages=messages,
        shown=_as_read(turn.shown, model, tools),
        turn_id=turn.id,
        tools=tools,
        model=model,
        chat=chat,
        stop=turn.stop,
        listener=_Listener(world, turn, model["contextTokens"]),
        observer=world.observer,
        words=world.words,
        copy=world.copy,
        today=world.today(),
        actions=with_whole_action(turn.actions, messages, turn.id, tools),
        may_call=count_rounds(turn.messages, turn.id) < limits.rounds,
        may_summarise=turn.may_summarise,
        step_tokens=limits.step_tokens,
        quotes=is_german(progress_of(turn.messages, turn.id).message),
    )


class _Listener:
    """What a lane tells, as it concerns a turn and its person."""

    def __init__(self, world: LoopDependencies, turn: LoopTurn, limit: int) -> None:
        self._world = world
        self._turn = turn
        self._limit = limit
        self._heard = ""
        self._beginning = _beginning_of(turn)

    def streamed(self, delta: str) -> None:
        self._heard += delta
        shown = self._heard[len(self._turn.streamed) : self._beginning.length(self._heard)]
        if shown:
            _take_back(self._world, self._turn)
            self._turn.streamed += shown
            self._world.emit(TextStreamedEvent(shown))

    def discarded(self) -> None:
        self._heard = ""
        self._beginning = _beginning_of(self._turn)
        if not self._turn.broken:
            _discard(self._world, self._turn)

    def counted(self, prompt_tokens: int, completion_tokens: int, *, exact: bool) -> None:
        self._turn.prompt_tokens += prompt_tokens
        self._turn.completion_tokens += completion_tokens
        self._world.emit(TokensCountedEvent(prompt_tokens + completion_tokens, self._limit, exact))

    def filled(self, used: int, limit: int) -> None:
        self._world.emit(ContextFilledEvent(used, limit))

    def trimmed(self, dropped_turns: int) -> None:
        self._world.emit(ContextTrimmedEvent(dropped_turns))

    def cut(self, why: CutReason) -> None:
        self._world.emit(NoticeRaisedEvent(NoticeTone.INFO, self._world.copy.explain_cut(why)))


def _beginning_of(turn: LoopTurn) -> ShownBeginning:
    return ShownBeginning(record_of(turn.messages, turn.id, turn.snapshot["tools"], turn.actions))


async def _mend(world: LoopDependencies, turn: LoopTurn, model: Mapping[str, Any], failure: ChatFailure, attempt: int) -> bool:
    """Whether it is worth asking again after this failure; waits as long as that takes."""
    match failure.fault:
        case ChatFailureKind.REFUSED:
            return False
        case ChatFailureKind.UNAUTHORISED:
            turn.token = None
            return attempt <= _BREAK_RETRIES
        case ChatFailureKind.MODEL_UNAVAILABLE:
            is_coming = failure.state == "starting" or model["local"]
            if failure.state == "absent" or attempt > (_MODEL_RETRIES if is_coming else _BREAK_RETRIES):
                return False
            world.emit(ModelWaitedForEvent(failure.state))
            await world.wait(_MODEL_RETRY_SECONDS, turn.stop)
            return True
        case ChatFailureKind.UNREACHABLE | ChatFailureKind.BROKE_OFF | ChatFailureKind.FAILED:
            return attempt <= _BREAK_RETRIES
        case _:
            assert_never(failure.fault)


async def _token_for(world: LoopDependencies, turn: LoopTurn, model: Mapping[str, Any]) -> Mapping[str, Any]:
    if turn.token is None:
        turn.token = await world.gateway.call("inference/token", {**turn.reference, "modelId": model["id"]}, turn.stop)
    return turn.token


def _take_back(world: LoopDependencies, turn: LoopTurn) -> None:
    """What broke off is taken back only for something else: the next attempt may come to nothing."""
    if turn.broken:
        turn.broken = ""
        _discard(world, turn)


def _discard(world: LoopDependencies, turn: LoopTurn) -> None:
    turn.streamed = ""
    world.emit(TextDiscardedEvent())
