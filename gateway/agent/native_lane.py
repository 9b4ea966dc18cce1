"""The lane of models that do tool calls: messages and declared tools in, text and tool calls out."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from gateway.agent.browser import SPACE, as_json, trim
from gateway.agent.budget import estimate_tokens, fit_messages, length_of, tokens_of
from gateway.agent.carried_step import carry_dropped
from gateway.agent.condensing import condense
from gateway.agent.continuing import continued, unfinished_word
from gateway.agent.images import images_of, shown_images
from gateway.agent.lane import AnswerStep, CallsStep, LaneInput, LaneStep, ModelReply, ProposedCall, StuckStep, collect, complete
from gateway.agent.limits import LIMITS
from gateway.agent.messages import AssistantMessage, Message, Tool, ToolMessage, UserMessage
from gateway.agent.mistakes import MISTAKES
from gateway.agent.nudges import looks_like_planning
from gateway.agent.parse import MAX_NAME, ParseFailure, find_object, read_object
from gateway.agent.ports import ChatMessage, ChatRequest, CutReason
from gateway.agent.provenance import frame_result, neutralise
from gateway.agent.render import fill
from gateway.agent.repair import RepairDialogue
from gateway.agent.respond import inject_respond, is_respond, message_of
from gateway.agent.shares import share_room
from gateway.agent.turn_progress import StuckReason, is_looping, progress_of

MAX_ANSWER_TOKENS: Final = LIMITS.native_lane_tokens
"""Requirement 000-07: tokens of one step, unless told otherwise."""

PROMPT_MARGIN: Final = LIMITS.native_lane_margin

_BLANK = f"[{SPACE}]*"
_MAY_BE_CALL = re.compile(rf"{_BLANK}(?:\Z|\{{|`{{1,2}}\Z|```\w*{_BLANK}(?:\Z|\{{)|<(?:\Z|/?to))", re.ASCII)
_AROUND_CALL = re.compile(r"```\w*|</?tools?(?:_call)?>", re.ASCII)


async def native_lane(lane: LaneInput) -> LaneStep:
    """The next step of a turn. What a remote model writes is taken at its word, and its calls may repeat; a local one that only
    announces a call, writes it as prose or goes in a circle is told so, or stopped."""
    state = progress_of(lane.messages, lane.turn_id)
    if not lane.may_call:
        return StuckStep(StuckReason.CAPPED)
    if lane.model["local"] and is_looping(state.closed):
        return StuckStep(StuckReason.LOOPING)
    max_tokens = min(lane.step_tokens or MAX_ANSWER_TOKENS, lane.model["outputTokens"] or MAX_ANSWER_TOKENS)
    tools = inject_respond(declare(lane.tools))[0] or ()
    room = lane.model["contextTokens"] - max_tokens - PROMPT_MARGIN - estimate_tokens(as_json(tools))
    shown = shown_images(lane.shown) if lane.model.get("seesImages") else frozenset[str]()
    limit = max(room - len(shown) * LIMITS.image_tokens, PROMPT_MARGIN)
    condensed = await condense(lane, lane.shown, limit)
    if condensed is not None:
        return condensed
    shared = share_room(lane.shown, limit, lane.tools)
    fitted = fit_messages(shared.messages, limit)
    if fitted.dropped or fitted.shortened or shared.is_new:
        lane.listener.trimmed(fitted.dropped)
    system = {"role": "system", "content": "\n".join(lane.words["native"]["system"])}
    prompt: list[ChatMessage] = [system, *(each for message in fitted.messages for each in _told(message, shown, lane))]
    free = room - len(shown) * LIMITS.image_tokens - tokens_of(fitted.messages)
    most = max_tokens if lane.step_tokens else min(max_tokens + max(free, 0), lane.model["outputTokens"] or max_tokens)
    dialogue = RepairDialogue()
    while True:
        heard = await _hear(lane, [*prompt, *dialogue.turns], tools, _Room(max_tokens, most))
        read = _interpret(heard, lane)
        if heard.cut is not None:
            if isinstance(read, ParseFailure) and heard.cut is not CutReason.CALLS:
                # It would be cut off again at the same place, and each time may cost money.
                lane.observer.faulted(read.reason)
                lane.listener.discarded()
                return StuckStep(StuckReason.CUT if heard.cut is CutReason.LENGTH else StuckReason.FILTERED)
            lane.listener.cut(heard.cut)
        if isinstance(read, ParseFailure):
            lane.observer.faulted(read.reason)
            lane.listener.discarded()
            if not dialogue.repair(heard.text, read.reason):
                return StuckStep(StuckReason.UNREADABLE)
        elif isinstance(read, CallsStep):
            return _complete(read, state.message, lane) if lane.model["local"] else read
        elif lane.model["local"] and tools and looks_like_planning(read.text, lane.words):
            lane.observer.faulted("it only announces a step")
            lane.listener.discarded()
            if not dialogue.nudge(heard.text, lane.words):
                return StuckStep(StuckReason.PLANNING)
        else:
            return (None if trim(read.text).endswith("?") else carry_dropped(lane, state)) or read


def _complete(calls: CallsStep, message: str, lane: LaneInput) -> CallsStep:
    return replace(calls, proposals=[complete(each, message, lane) for each in calls.proposals])


def declare(tools: Sequence[Tool]) -> list[Tool]:
    """The tools as the gateway wants to see them again: schemas untouched, forbidden ones left out."""
    return [
        {
            "type": "function",
            "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["paramSchema"]},
        }
        for tool in tools
        if tool["permission"] != "forbidden"
    ]


@dataclass(frozen=True, slots=True)
class _Room:
    """Tokens of one step, and the most that a reply may take where that is too few."""

    step: int
    most: int


async def _hear(lane: LaneInput, prompt: Sequence[ChatMessage], tools: Sequence[Tool], room: _Room) -> ModelReply:
    """A reply. An answer that is cut off goes on in further steps; a call that is, or a reply that came to nothing but thinking,
    is asked for again with more room. Either takes no more than the model may write at once."""
    step = taken = room.step
    heard = await _converse(lane, prompt, tools, step)
    while heard.cut is CutReason.LENGTH and taken < room.most:
        if isinstance(_interpret(heard, lane), ParseFailure):
            step = taken = min(step * LIMITS.native_lane_growth, room.most)
            lane.listener.discarded()
            heard = await _converse(lane, prompt, tools, step)
        elif heard.calls:
            break
        else:
            taken += step
            whole = heard.text.removesuffix(unfinished_word(heard.text))
            said = {"role": "assistant", "content": neutralise(whole)}
            go_on = {"role": "user", "content": lane.words["native"]["continue"]}
            heard = await _converse(lane, [*prompt, said, go_on], tools, step, heard.text)
    return heard


async def _converse(
    lane: LaneInput, prompt: Sequence[ChatMessage], tools: Sequence[Tool], max_tokens: int, before: str = ""
) -> ModelReply:
    """One request. What it says comes after `before`, which was shown already."""
    shown = len(before)

    def show(text: str) -> None:
        nonlocal shown
        if len(text) > shown:
            lane.listener.streamed(text[shown:])
        shown = len(text)

    def hear(text: str) -> None:
        if before or not _MAY_BE_CALL.match(text):
            show(continued(before, text))

    heard = await collect(lane, ChatRequest(tuple(prompt), max_tokens, lane.stop, tools=tools), hear=hear)
    heard = replace(heard, text=continued(before, heard.text))
    if not heard.calls and not _is_call_in_prose(heard.text, lane):
        show(heard.text)
    return heard


def _interpret(heard: ModelReply, lane: LaneInput) -> CallsStep | AnswerStep | ParseFailure:
    """The step, or what to tell the model of its mistake."""
    if heard.calls:
        if heard.cut is CutReason.LENGTH and not trim(heard.calls[-1][1]):
            # Its arguments were still to come; without them it would be another call.
            return ParseFailure(MISTAKES.call_without_json)
        proposals: list[ProposedCall] = []
        for name, arguments in heard.calls:
            read = _read_call(name, arguments)
            if isinstance(read, ParseFailure):
                return ParseFailure(fill(MISTAKES.wrong_call, {"reason": read.reason}.get))
            proposals.append(read)
        return _step_of(heard.text, proposals, lane.tools)
    if _is_call_in_prose(heard.text, lane):
        return ParseFailure(MISTAKES.call_in_prose)
    return AnswerStep(heard.text) if trim(heard.text) else ParseFailure(MISTAKES.empty_reply)


def _step_of(text: str, proposals: Sequence[ProposedCall], tools: Sequence[Tool]) -> CallsStep | AnswerStep:
    real = [each for each in proposals if not is_respond(each.name, tools)]
    said = [message_of(each.arguments) for each in proposals if is_respond(each.name, tools)]
    words = "\n\n".join(each for each in (text, *said) if each)
    return CallsStep(real, words) if real else AnswerStep(words)


def _read_call(name: str, arguments: str) -> ProposedCall | ParseFailure:
    if not 0 < length_of(name) <= MAX_NAME:
        return ParseFailure(MISTAKES.no_tool)
    if not trim(arguments):
        return ProposedCall(name, {})
    read = read_object(arguments)
    if not isinstance(read, ParseFailure):
        return ProposedCall(name, read)
    is_other = read.reason == MISTAKES.other_json
    return ParseFailure(MISTAKES.call_with_other_json if is_other else MISTAKES.call_without_json)


def _is_call_in_prose(text: str, lane: LaneInput) -> bool:
    """Whether a reply is nothing but a tool call that a local model wrote as text: fences, tags and all. Such text is never
    run."""
    if not lane.model["local"]:
        return False
    bare = trim(_AROUND_CALL.sub("", text))
    if find_object(bare) != bare:
        return False
    value = read_object(bare)
    if isinstance(value, ParseFailure):
        return False
    named: Any = next((value[key] for key in ("name", "tool", "function") if value.get(key) is not None), None)
    return any(tool["name"] == named for tool in lane.tools)


def _told(message: Message, shown: Collection[str], lane: LaneInput) -> list[ChatMessage]:
    """A message, and behind the result of an attachment its images: no result has room for one."""
    seen = (each for each in images_of(message) if each in shown)
    return [_as_chat(message), *({"role": "user", "content": lane.words["native"]["image"], "image": each} for each in seen)]


def _as_chat(message: Message) -> ChatMessage:
    match message:
        case UserMessage(content=content):
            return {"role": "user", "content": neutralise(content)}
        case AssistantMessage(content=content, tool_calls=calls):
            said: dict[str, Any] = {"role": "assistant", "content": neutralise(content)}
            return {**said, "tool_calls": list(map(_declared_call, calls))} if calls else said
        case ToolMessage(call=call, result=result):
            return {"role": "tool", "tool_call_id": call["id"], "content": frame_result(call["name"], result)}
        case _:
            assert_never(message)


def _declared_call(call: Any) -> Any:
    function = {"name": call["name"], "arguments": as_json(call["arguments"])}
    return {"id": call["id"], "type": "function", "function": function}
