"""The lane of models that do tool calls: messages and declared tools in, text and tool calls out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from gateway.agent.browser import SPACE, as_json, trim
from gateway.agent.budget import estimate_tokens, fit_messages, length_of
from gateway.agent.condensing import condense
from gateway.agent.lane import Calls, Heard, LaneInput, Proposal, Reply, Step, StuckStep, collect, complete
from gateway.agent.messages import AssistantMessage, Message, Tool, ToolMessage, UserMessage
from gateway.agent.nudges import MAX_NUDGES, looks_like_planning, nudge
from gateway.agent.parse import MAX_NAME, Fault, find_object, read_object
from gateway.agent.ports import ChatMessage, ChatRequest
from gateway.agent.provenance import frame_result, neutralise
from gateway.agent.repair import MAX_REPAIRS, quote
from gateway.agent.respond import inject_respond, is_respond, message_of
from gateway.agent.standing import Stuck, is_looping, standing_of

MAX_ANSWER_TOKENS: Final = 1024
"""A reply longer than this is no longer read by anyone."""

PROMPT_MARGIN: Final = 256

_BLANK = f"[{SPACE}]*"
_MAY_BE_CALL = re.compile(rf"{_BLANK}(?:\Z|\{{|`{{1,2}}\Z|```\w*{_BLANK}(?:\Z|\{{)|<(?:\Z|/?to))", re.ASCII)
_AROUND_CALL = re.compile(r"```\w*|</?tools?(?:_call)?>", re.ASCII)


async def native_lane(lane: LaneInput) -> Step:
    """The next step of a turn. What a remote model writes is taken at its word, and its calls may repeat; a local one that only
    announces a call, writes it as prose or goes in a circle is told so, or stopped."""
    standing = standing_of(lane.messages, lane.turn_id)
    if not lane.may_call:
        return StuckStep(Stuck.CAPPED)
    if lane.model["local"] and is_looping(standing.closed):
        return StuckStep(Stuck.LOOPING)
    max_tokens = min(lane.step_tokens or MAX_ANSWER_TOKENS, lane.model["outputTokens"] or MAX_ANSWER_TOKENS)
    tools = inject_respond(declare(lane.tools))[0] or ()
    room = lane.model["contextTokens"] - max_tokens - PROMPT_MARGIN - estimate_tokens(as_json(tools))
    limit = max(room, PROMPT_MARGIN)
    condensed = await condense(lane, lane.shown, limit)
    if condensed is not None:
        return condensed
    fitted = fit_messages(lane.shown, limit)
    if fitted.dropped or fitted.shortened:
        lane.listener.trimmed(fitted.dropped)
    system = {"role": "system", "content": "\n".join(lane.words["native"]["system"])}
    prompt: list[ChatMessage] = [system, *map(_as_chat, fitted.messages)]
    repairs = nudges = 0
    while True:
        heard = await _converse(lane, prompt, tools, max_tokens)
        read = _interpret(heard, lane)
        if isinstance(read, Fault):
            lane.witness.faulted(read.reason)
            lane.listener.discarded()
            if repairs == MAX_REPAIRS:
                return StuckStep(Stuck.UNREADABLE)
            repairs += 1
            prompt += quote(heard.text), {"role": "user", "content": read.reason}
        elif isinstance(read, Calls):
            return _complete(read, standing.message, lane) if lane.model["local"] else read
        elif lane.model["local"] and tools and looks_like_planning(read.text, lane.words):
            lane.witness.faulted("it only announces a step")
            lane.listener.discarded()
            if nudges == MAX_NUDGES:
                return StuckStep(Stuck.PLANNING)
            nudges += 1
            prompt += quote(heard.text), nudge(nudges, lane.words)
        else:
            return read


def _complete(calls: Calls, message: str, lane: LaneInput) -> Calls:
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


async def _converse(lane: LaneInput, prompt: Sequence[ChatMessage], tools: Sequence[Tool], max_tokens: int) -> Heard:
    shown = 0

    def show(text: str) -> None:
        nonlocal shown
        if len(text) > shown:
            lane.listener.streamed(text[shown:])
        shown = len(text)

    def hear(text: str) -> bool:
        if not _MAY_BE_CALL.match(text):
            show(text)
        return False

    heard = await collect(lane, ChatRequest(tuple(prompt), max_tokens, lane.stop, tools=tools), hear)
    if not heard.calls and not _is_call_in_prose(heard.text, lane):
        show(heard.text)
    return heard


def _interpret(heard: Heard, lane: LaneInput) -> Calls | Reply | Fault:
    """The step, or what to tell the model of its mistake."""
    mistakes = lane.words["native"]["mistakes"]
    if heard.calls:
        proposals: list[Proposal] = []
        for name, arguments in heard.calls:
            read = _read_call(name, arguments)
            if isinstance(read, Fault):
                return Fault(mistakes["invalid"].replace("{reason}", read.reason))
            proposals.append(read)
        return _step_of(heard.text, proposals, lane.tools)
    if _is_call_in_prose(heard.text, lane):
        return Fault(mistakes["inProse"])
    return Reply(heard.text) if trim(heard.text) else Fault(mistakes["empty"])


def _step_of(text: str, proposals: Sequence[Proposal], tools: Sequence[Tool]) -> Calls | Reply:
    real = [each for each in proposals if not is_respond(each.name, tools)]
    said = [message_of(each.arguments) for each in proposals if is_respond(each.name, tools)]
    words = "\n\n".join(each for each in (text, *said) if each)
    return Calls(real, words) if real else Reply(words)


def _read_call(name: str, arguments: str) -> Proposal | Fault:
    if not 0 < length_of(name) <= MAX_NAME:
        return Fault("it names no tool")
    if not trim(arguments):
        return Proposal(name, {})
    read = read_object(arguments)
    if not isinstance(read, Fault):
        return Proposal(name, read)
    is_other = read.reason == "it is not a JSON object"
    return Fault("its arguments are not a JSON object" if is_other else "its arguments are not valid JSON")


def _is_call_in_prose(text: str, lane: LaneInput) -> bool:
    """Whether a reply is nothing but a tool call that a local model wrote as text: fences, tags and all. Such text is never
    run."""
    if not lane.model["local"]:
        return False
    bare = trim(_AROUND_CALL.sub("", text))
    if find_object(bare) != bare:
        return False
    value = read_object(bare)
    if isinstance(value, Fault):
        return False
    named: Any = next((value[key] for key in ("name", "tool", "function") if value.get(key) is not None), None)
    return any(tool["name"] == named for tool in lane.tools)


def _as_chat(message: Message) -> ChatMessage:
    match message:
        case UserMessage(content=content):
            return {"role": "user", "content": neutralise(content)}
        case AssistantMessage(content=content, tool_calls=calls):
            said: dict[str, Any] = {"role": "assistant", "content": neutralise(content)}
            return {**said, "tool_calls": list(map(_declared_call, calls))} if calls else said
        case ToolMessage(call=call, result=result):
            return {"role": "tool", "tool_call_id": call["id"], "content": frame_result(call["name"], result)}


def _declared_call(call: Any) -> Any:
    function = {"name": call["name"], "arguments": as_json(call["arguments"])}
    return {"id": call["id"], "type": "function", "function": function}
