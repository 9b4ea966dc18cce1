"""The lane of small models: they pick one action as JSON, held to a schema; a second, separate prompt words what came of it.

Measured on the default model: declared tools 0 % right calls, this 95 %; and asked for the next action after a result it
repeats the call, so it is asked to report instead, and each further action that the person named is picked on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from gateway.agent.action_schema import action_schema
from gateway.agent.acts import listed_wishes, plain_wishes
from gateway.agent.browser import trim
from gateway.agent.budget import cut, fit_messages, length_of, tokens_of, tokens_of_prompt
from gateway.agent.candidates import examples_in, select
from gateway.agent.condensing import condense
from gateway.agent.copied import copyable_strings
from gateway.agent.intents import has_cue, probe_prompt, probe_schema, progress, read_actions, summarise
from gateway.agent.lane import (
    AnswerStep,
    CallsStep,
    LaneInput,
    LaneStep,
    ProposedCall,
    ReportStep,
    SplitStep,
    StuckStep,
    collect,
    complete,
)
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.nudges import looks_like_planning
from gateway.agent.parse import AnswerChoice, AnswerReader, ParseFailure, ToolChoice, parse_envelope
from gateway.agent.ports import ChatMessage, ChatRequest
from gateway.agent.prompts import action_prefix, describe_mistake, fixed_report, report_prompt
from gateway.agent.provenance import neutralise
from gateway.agent.reading import reading_for
from gateway.agent.repair import MAX_REPAIRS, RepairDialogue, correction
from gateway.agent.reply import ReplyEnd
from gateway.agent.respond import is_respond, message_of
from gateway.agent.routing import Spoken, as_chat, past_of, present_of, restated
from gateway.agent.turn_progress import StuckReason, TurnProgress, is_mistake, is_repeat, progress_of

MAX_STEP_TOKENS: Final = LIMITS.json_lane_tokens
"""Requirement 000-07: tokens of one step, unless told otherwise."""

PROMPT_MARGIN: Final = LIMITS.json_lane_margin
CHARACTERS_PER_TOKEN: Final = LIMITS.characters_per_dense_token
"""Fewer than the usual four: results are paths, figures and code, which take more tokens than prose."""

MISTAKE_LENGTH: Final = LIMITS.mistake_characters
"""What a model is told of its mistake, in characters: enough for the schema's complaint."""


async def json_lane(lane: LaneInput) -> LaneStep:
    """The next step of a turn."""
    state = progress_of(lane.messages, lane.turn_id)
    result = state.result
    if _may_split(lane):
        if listed := listed_wishes(state.message):
            return SplitStep(listed)
        if has_cue(state.message):
            return await _split(lane, state.message)
    if result is not None and not (is_mistake(result) and state.mistakes <= MAX_REPAIRS):
        return await _conclude(lane, state, result)
    if not lane.may_call:
        return StuckStep(StuckReason.CAPPED)
    if result is None:
        reading = None if _may_add_more(lane) else reading_for(_asked_for(lane, state), _offered(lane.tools))
        return await _pick(lane, state, []) if reading is None else _propose(lane, state, reading, more=False)
    told = correction(neutralise(cut(describe_mistake(result), MISTAKE_LENGTH)))
    return await _pick(lane, state, [{"role": "user", "content": told}])


async def _split(lane: LaneInput, message: str) -> LaneStep:
    """Ask which actions a message asks for. One, in its own words, wherever the reply leaves a doubt."""
    request = ChatRequest(probe_prompt(lane.words, message), _tokens_for(lane), lane.stop, schema=probe_schema())
    heard = await collect(lane, request, ReplyEnd.AFTER_OBJECT)
    actions = read_actions(heard.text, message)
    return SplitStep(actions if len(actions) > 1 else plain_wishes(message) or actions)


def _tokens_for(lane: LaneInput) -> int:
    """How much the model may write at once."""
    return lane.step_tokens or MAX_STEP_TOKENS


def _may_split(lane: LaneInput) -> bool:
    """Whether it is still open, and worth asking, what the message asks for. Without tools there is nothing to take apart."""
    return lane.actions is None and not _may_add_more(lane) and bool(_offered(lane.tools))


def _may_add_more(lane: LaneInput) -> bool:
    """Whether the model can say beside a call that others follow; then nobody has to ask it apart."""
    return lane.model.get("more") is True


def _offered(tools: Sequence[Tool]) -> list[Tool]:
    """The tools that a model may be shown as callable."""
    return [tool for tool in tools if tool["permission"] != "forbidden" and tool.get("local") is not True]


async def _pick(lane: LaneInput, state: TurnProgress, closing: Sequence[ChatMessage]) -> LaneStep:
    wish = _asked_for(lane, state)
    tools = select(wish, _offered(lane.tools), examples_in(lane.words))
    prefix = action_prefix(tools, lane.words, more=_may_add_more(lane))
    past, present = past_of(lane.shown, lane.turn_id), _present_for(lane, state)
    limit = _room_for(lane, prefix, closing)
    condensed = await condense(lane, [*past, *present[:1]], limit - tokens_of(present[1:]))
    if condensed is not None:
        return condensed
    fitted = fit_messages([*past, *present], limit)
    if fitted.dropped:
        lane.listener.trimmed(fitted.dropped)
    spoken = (each for each in fitted.messages if not isinstance(each, ToolMessage))
    prompt: list[ChatMessage] = [*prefix, *map(as_chat, spoken), *closing]
    schema = action_schema(tools, copyable_strings(lane.messages, wish), lane.words, more=_may_add_more(lane))
    dialogue = RepairDialogue()
    while True:
        showing = _Showing(lane)
        request = ChatRequest((*prompt, *dialogue.turns), _tokens_for(lane), lane.stop, schema=schema)
        heard = await collect(lane, request, ReplyEnd.AFTER_OBJECT, showing.hear)
        said = ""
        match step := parse_envelope(heard.text):
            case ToolChoice(tool, arguments, more) if not is_respond(tool, lane.tools):
                return _propose(lane, state, ProposedCall(tool, arguments), more=more)
            case ParseFailure(reason):
                lane.observer.faulted(reason)
                showing.discard()
                if not dialogue.repair(heard.text, correction(reason)):
                    return StuckStep(StuckReason.UNREADABLE)
                continue
            case ToolChoice(_, arguments):
                said = message_of(arguments)
            case AnswerChoice(text):
                said = text
            case _:
                assert_never(step)
        if not (tools and looks_like_planning(said, lane.words)):
            return _answer(lane, state, said)
        lane.observer.faulted("it only announces a step")
        showing.discard()
        if not dialogue.nudge(heard.text, lane.words):
            return StuckStep(StuckReason.PLANNING)


def _room_for(lane: LaneInput, prefix: Sequence[ChatMessage], closing: Sequence[ChatMessage]) -> int:
    """Tokens for the conversation, beside the beginning that never changes, what closes the prompt, and the reply."""
    taken = _tokens_for(lane) + PROMPT_MARGIN + tokens_of_prompt(prefix) + tokens_of_prompt(closing)
    return max(lane.model["contextTokens"] - taken, PROMPT_MARGIN)


def _present_for(lane: LaneInput, state: TurnProgress) -> list[Spoken]:
    """What the message asks for, and what of it was chosen so far."""
    message = state.message
    if not _may_add_more(lane):
        return present_of(lane.messages, lane.turn_id, [message] if lane.actions is None else lane.actions)
    # Done steps are told, never replayed: a result could say anything, and a transcript would fill the context.
    closed = [summarise(each.call, each.result) for each in state.closed] if state.finished else []
    reminder = progress(closed, lane.words)
    return restated(lane.messages, lane.turn_id, f"{message}\n\n{reminder}" if reminder else message)


def _propose(lane: LaneInput, state: TurnProgress, picked: ProposedCall, *, more: bool) -> LaneStep:
    proposal = complete(picked, _asked_for(lane, state), lane)
    if not is_repeat(proposal.name, proposal.arguments, state.closed, lane.tools):
        return CallsStep([proposal], more=more and _may_add_more(lane))
    # One that was told what is done and asks for it again has nothing left to ask for.
    return AnswerStep("") if _may_add_more(lane) else StuckStep(StuckReason.REPEATED)


def _answer(lane: LaneInput, state: TurnProgress, text: str) -> LaneStep:
    count = 1 if lane.actions is None else len(lane.actions)
    said = lane.copy.say("silent") if count > 1 and not trim(text) else text
    return AnswerStep(said) if state.finished + 1 >= count else ReportStep(said)


def _asked_for(lane: LaneInput, state: TurnProgress) -> str:
    """The words of the action under way."""
    rest = (lane.actions or [])[state.finished :]
    return rest[0] if rest else state.message


async def _conclude(lane: LaneInput, state: TurnProgress, last: ToolMessage) -> LaneStep:
    """Say what came of an action, and whether another one follows."""
    outcome = last.result["outcome"]
    # A person's no, a timeout and a refusal are said in our words: a small model invents reasons for them.
    if outcome == "ok":
        wish = _asked_for(lane, state)
        text = fixed_report(last, wish, lane.words) or await _report(lane, wish, last)
    else:
        text = lane.copy.explain_outcome(last.call["name"], last.result)
    rest = (lane.actions or [])[state.finished + 1 :]
    # What the person decided leaves the rest as it was asked; what failed may be what the rest stands on.
    if outcome in ("ok", "deniedByUser") and (rest or lane.more):
        return ReportStep(text)
    return AnswerStep(f"{text}\n\n{lane.copy.name_the_rest(rest)}" if rest else text)


async def _report(lane: LaneInput, question: str, last: ToolMessage) -> str:
    bare = tokens_of_prompt(report_prompt(question, last, "", lane.words))
    room = max(0, lane.model["contextTokens"] - _tokens_for(lane) - PROMPT_MARGIN - bare)
    content: str = last.result["content"]
    if length_of(content) > room * CHARACTERS_PER_TOKEN:
        lane.listener.trimmed(0)
    prompt = report_prompt(question, last, cut(content, room * CHARACTERS_PER_TOKEN), lane.words)
    shown = 0

    def hear(text: str) -> None:
        nonlocal shown
        if len(text) > shown:
            lane.listener.streamed(text[shown:])
        shown = len(text)

    heard = await collect(lane, ChatRequest(prompt, _tokens_for(lane), lane.stop), hear=hear)
    return heard.text if trim(heard.text) else lane.copy.say("worded")


class _Showing:
    """Shows an answer as it is written."""

    def __init__(self, lane: LaneInput) -> None:
        self._listener = lane.listener
        self._answer = AnswerReader()
        self._is_shown = False

    def hear(self, text: str) -> None:
        if said := self._answer.read(text):
            self._listener.streamed(said)
            self._is_shown = True

    def discard(self) -> None:
        if self._is_shown:
            self._listener.discarded()
