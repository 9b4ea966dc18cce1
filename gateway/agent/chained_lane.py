"""The lane of models that read what they find: one JSON action, its result shown back, then the next action or the answer.

What it is shown of a result is data from outside: framed with where it comes from, with chat markers broken, and cut to the room
that there is. A call that the model makes again, or that only a result asks for, is not sent: it is asked to answer. An
answer that says what no result does is asked for once more, and a passage of a result takes its place after that. Several wishes
of which none stands on another are taken one by one, as the lane of small models takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.agent.action_schema import action_schema
from gateway.agent.asked import is_asked_for
from gateway.agent.budget import fit_messages, tokens_of, tokens_of_prompt
from gateway.agent.candidates import examples_in, select
from gateway.agent.carried_step import carry_on, direct_on
from gateway.agent.chained_prompt import as_dialogue, chained_prefix
from gateway.agent.choosing import choose, offered, tokens_for
from gateway.agent.condensing import condense
from gateway.agent.copied import copyable_strings
from gateway.agent.following import call_may_follow, may_follow
from gateway.agent.found import found_names, with_found
from gateway.agent.json_lane import json_lane
from gateway.agent.keeping import as_addition
from gateway.agent.known_steps import known_step
from gateway.agent.lane import AnswerStep, CallsStep, LaneInput, LaneStep, ProposedCall, SplitStep, StuckStep, complete
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.plain_calls import said_tools
from gateway.agent.ports import ChatMessage
from gateway.agent.reading import reading_of_found
from gateway.agent.reckoning import reckoned_in
from gateway.agent.render import required_of
from gateway.agent.repair import MAX_REPAIRS
from gateway.agent.routing import past_of
from gateway.agent.separate import separate_wishes
from gateway.agent.shares import share_room
from gateway.agent.supporting import AnswerFault, correction_of, fault_of, passage_of
from gateway.agent.turn_progress import StuckReason, TurnProgress, is_looping, is_mistake, is_repeat, progress_of

PROMPT_MARGIN: Final = LIMITS.json_lane_margin

_SHOWN: Final = frozenset({"ok", "executionError", "invalidArguments", "unknownTool"})
"""Outcomes that the model goes on from. A person's no, a refusal and a timeout end the turn in our words: a small model invents
reasons for them, and asks again."""


async def chained_lane(lane: LaneInput) -> LaneStep:
    """The next step of a turn."""
    state = progress_of(lane.messages, lane.turn_id)
    if lane.actions is not None:
        return await json_lane(lane)
    if wishes := separate_wishes(state.message, offered(lane.tools)):
        return SplitStep(wishes)
    ended = [each for each in state.results if each.result["outcome"] not in _SHOWN or _is_last_mistake(each, state)]
    if ended:
        return AnswerStep("\n\n".join(dict.fromkeys(lane.copy.explain_outcome(each.call["name"], each.result) for each in ended)))
    if (reckoned := reckoned_in(state.message, lane.copy)) is not None:
        return AnswerStep(reckoned)
    if not lane.may_call:
        return StuckStep(StuckReason.CAPPED)
    if is_looping(state.closed):
        return StuckStep(StuckReason.LOOPING)
    if (step := carry_on(lane, state) or direct_on(lane, state) or known_step(lane, state)) is not None:
        return step
    reading = reading_of_found(state.message, state.closed, offered(lane.tools))
    if reading is not None:
        return CallsStep([reading])
    able = said_tools(state.message, offered(lane.tools), lane.words)
    tools = select(state.message, able, examples_in(lane.words))
    chosen = await _ask(lane, state, tools, can_call=bool(tools))
    if isinstance(chosen, AnswerStep) and (fault := _fault(lane, state, chosen.text)) is not None:
        lane.observer.faulted("it says what no result does")
        lane.listener.discarded()
        told = correction_of(chosen.text, fault, lane.words)
        chosen = await _ask(lane, state, tools, can_call=bool(tools), closing=told)
    if isinstance(chosen, ProposedCall):
        # A model that has read the file in this turn may well write all of it, with the addition.
        asked = chosen if state.closed else as_addition(chosen, state.message, offered(lane.tools))
        proposal = complete(asked, state.message, lane)
        is_done = is_repeat(proposal.name, proposal.arguments, state.closed, lane.tools)
        if not is_done and call_may_follow(state.message, state.closed, proposal, lane.tools):
            return CallsStep([proposal])
        lane.observer.faulted("it asks for what is done, or for what nobody asked")
        chosen = await _ask(lane, state, tools, can_call=False)
    if isinstance(chosen, AnswerStep) and _fault(lane, state, chosen.text) is not None:
        lane.observer.faulted("it says again what no result does")
        lane.listener.discarded()
        return AnswerStep(passage_of(state.message, state.closed, lane.copy))
    return StuckStep(StuckReason.REPEATED) if isinstance(chosen, ProposedCall) else chosen


def _fault(lane: LaneInput, state: TurnProgress, text: str) -> AnswerFault | None:
    return fault_of(text, state.message, lane.messages, state.closed, lane.tools)


def _is_last_mistake(message: ToolMessage, state: TurnProgress) -> bool:
    return is_mistake(message) and state.mistakes > MAX_REPAIRS


async def _ask(
    lane: LaneInput, state: TurnProgress, tools: Sequence[Tool], *, can_call: bool, closing: Sequence[ChatMessage] = ()
) -> ProposedCall | LaneStep:
    """The next action of the model, out of all that the turn has come to, and `closing` after it. Without `can_call` it can only
    answer."""
    prefix = chained_prefix(tools, lane.words)
    past = past_of(lane.shown, lane.turn_id)
    present = [each for each in lane.messages if each.turn_id == lane.turn_id]
    bare = [_bare(each) for each in present]
    around = tokens_of_prompt([*as_dialogue(bare, lane.words), *closing]) - tokens_of(bare)
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
    callable_now = [each for each in tools if can_call and _has_reason(lane, wish, each) and may_follow(wish, state.closed, each)]
    schema = action_schema(callable_now, own, lane.words, readable, wish)
    return await choose(lane, [*prefix, *as_dialogue(spoken, lane.words), *closing], schema, can_call=can_call)


def _has_reason(lane: LaneInput, wish: str, tool: Tool) -> bool:
    """Whether a tool takes an argument, or the wish has a word for it: one that can always be called is what a small model calls
    where it knows nothing else."""
    takes_any = bool(required_of(tool["paramSchema"])) or tool["name"] not in lane.words["action"]["descriptions"]
    return takes_any or is_asked_for({}, tool, wish, examples=examples_in(lane.words).get(tool["name"], ()))


def _bare(message: Message) -> Message:
    """A message without what may be cut of it."""
    return replace(message, result={**message.result, "content": ""}) if isinstance(message, ToolMessage) else message
