"""The lane of models that read what they find: one JSON action, its result shown back, then the next action or the answer.

What it is shown of a result is data from outside: framed with where it comes from, with chat markers broken, and cut to the room
that there is. A call that the model makes again, or that only a result asks for, is not sent: it is asked to answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.agent.action_schema import action_schema
from gateway.agent.answers import show_closest, source_of
from gateway.agent.budget import fit_messages, tokens_of, tokens_of_prompt
from gateway.agent.candidates import examples_in, select
from gateway.agent.carrying import carried, carrying_in, is_carried, must_be_worked_out, next_look, own_value, read_for
from gateway.agent.chained_prompt import as_dialogue, chained_prefix
from gateway.agent.choosing import choose, offered, tokens_for
from gateway.agent.condensing import condense
from gateway.agent.copied import copyable_strings
from gateway.agent.following import call_may_follow, may_follow
from gateway.agent.found import found_names, with_found
from gateway.agent.lane import AnswerStep, CallsStep, LaneInput, LaneStep, ProposedCall, StuckStep, complete
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.plain_calls import said_tools
from gateway.agent.reading import reading_of_found
from gateway.agent.repair import MAX_REPAIRS
from gateway.agent.routing import past_of
from gateway.agent.shares import share_room
from gateway.agent.turn_progress import StuckReason, TurnProgress, is_looping, is_mistake, is_repeat, progress_of

PROMPT_MARGIN: Final = LIMITS.json_lane_margin

_SHOWN: Final = frozenset({"ok", "executionError", "invalidArguments", "unknownTool"})
"""Outcomes that the model goes on from. A person's no, a refusal and a timeout end the turn in our words: a small model invents
reasons for them, and asks again."""


async def chained_lane(lane: LaneInput) -> LaneStep:
    """The next step of a turn."""
    state = progress_of(lane.messages, lane.turn_id)
    last = state.result
    if last is not None and (last.result["outcome"] not in _SHOWN or (is_mistake(last) and state.mistakes > MAX_REPAIRS)):
        return AnswerStep(lane.copy.explain_outcome(last.call["name"], last.result))
    if not lane.may_call:
        return StuckStep(StuckReason.CAPPED)
    if is_looping(state.closed):
        return StuckStep(StuckReason.LOOPING)
    if (step := _carry(lane, state)) is not None:
        return step
    reading = reading_of_found(state.message, state.closed, offered(lane.tools))
    if reading is not None:
        return CallsStep([reading])
    able = said_tools(state.message, offered(lane.tools), lane.words)
    tools = select(state.message, able, examples_in(lane.words))
    chosen = await _ask(lane, state, tools, can_call=bool(tools))
    if isinstance(chosen, ProposedCall):
        proposal = complete(chosen, state.message, lane)
        is_done = is_repeat(proposal.name, proposal.arguments, state.closed, lane.tools)
        if not is_done and call_may_follow(state.message, state.closed, proposal, lane.tools):
            return CallsStep([proposal])
        lane.observer.faulted("it asks for what is done, or for what nobody asked")
        chosen = await _ask(lane, state, tools, can_call=False)
    return StuckStep(StuckReason.REPEATED) if isinstance(chosen, ProposedCall) else chosen


def _carry(lane: LaneInput, state: TurnProgress) -> LaneStep | None:
    """What is found goes into the call that the wish asks for, where code can tell all of it: a path that only a search gave is
    no choice of a model. Where words have to be found, or something failed, the model goes on."""
    tools, calls = offered(lane.tools), state.closed
    carrying = carrying_in(state.message, tools)
    if carrying is None or is_carried(carrying, calls) or any(each.result["outcome"] != "ok" for each in calls):
        return None
    look = next_look(carrying, calls, tools, lane.copy) if calls else carrying.first
    if isinstance(look, str):
        return AnswerStep(look)
    if look is None:
        answering = read_for(carrying, calls, tools)
        value = own_value(carrying, answering)
        if value is None and must_be_worked_out(carrying):
            return AnswerStep(show_closest(lane.copy.say("notComputed"), carrying.question, source_of(answering)))
        look = None if value is None else carried(carrying, value)
    if look is None or is_repeat(look.name, look.arguments, calls, lane.tools):
        return None
    return CallsStep([look])


async def _ask(lane: LaneInput, state: TurnProgress, tools: Sequence[Tool], *, can_call: bool) -> ProposedCall | LaneStep:
    """The next action of the model, out of all that the turn has come to. Without `can_call` it can only answer."""
    prefix = chained_prefix(tools, lane.words)
    past = past_of(lane.shown, lane.turn_id)
    present = [each for each in lane.messages if each.turn_id == lane.turn_id]
    bare = [_bare(each) for each in present]
    around = tokens_of_prompt(as_dialogue(bare, lane.words)) - tokens_of(bare)
    limit = max(lane.model["contextTokens"] - tokens_for(lane) - PROMPT_MARGIN - tokens_of_prompt(prefix) - around, PROMPT_MARGIN)
    condensed = await condense(lane, [*past, *present[:1]], limit - tokens_of(bare[1:]))
    if condensed is not None:
        return condensed
    # It writes no id that stands in no result, so it is not told how to read on.
    shared = share_room([*past, *present], limit, ())
    fitted = fit_messages(shared.messages, limit)
    if fitted.dropped or fitted.shortened or shared.is_new:
        lane.listener.trimmed(fitted.dropped)
    spoken = [each for each in fitted.messages if each.turn_id == lane.turn_id or not isinstance(each, ToolMessage)]
    wish = state.message
    own = copyable_strings(lane.messages, wish)
    readable = with_found(own, found_names(lane.messages, lane.tools))
    # Only the schema changes from step to step: the beginning of the prompt stays the same, and with it the server's cache.
    callable_now = [each for each in tools if can_call and may_follow(wish, state.closed, each)]
    schema = action_schema(callable_now, own, lane.words, readable, wish)
    return await choose(lane, [*prefix, *as_dialogue(spoken, lane.words)], schema, can_call=can_call)


def _bare(message: Message) -> Message:
    """A message without what may be cut of it."""
    return replace(message, result={**message.result, "content": ""}) if isinstance(message, ToolMessage) else message
