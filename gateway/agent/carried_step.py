"""What a lane does by itself for a wish that stands on an outcome, in which the model chooses its calls: the half that the words
ask for and that no model has to choose, because code can tell all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.agent.answers import own_answer, show_closest, source_of
from gateway.agent.carrying import (
    Carrying,
    carrying_in,
    is_carried,
    lines_about,
    must_be_worked_out,
    next_look,
    own_value,
    read_for,
    shown_value,
)
from gateway.agent.choosing import offered
from gateway.agent.directed import directed_in, next_directed
from gateway.agent.keeping import kept_call, without_look
from gateway.agent.lane import AnswerStep, CallsStep, LaneInput, LaneStep, ProposedCall
from gateway.agent.messages import ToolMessage
from gateway.agent.taking import changes_among
from gateway.agent.turn_progress import TurnProgress, is_repeat


def carry_on(lane: LaneInput, state: TurnProgress) -> LaneStep | None:
    """What is found goes into the call that the wish asks for, where code can tell all of it: a path that only a search gave is
    no choice of a model. Where words have to be found, or something failed, the model goes on."""
    tools, calls = offered(lane.tools), state.closed
    carrying = carrying_in(state.message, tools)
    if carrying is None:
        return None
    if not _is_open(carrying, calls):
        done = [each for each in calls if each.call["name"] in carrying.doers]
        return _told(lane, state, done, shown_value(carrying, calls)) if done else None
    return _step_of(lane, state, carrying, calls)


def direct_on(lane: LaneInput, state: TurnProgress) -> LaneStep | None:
    """A change for which code has to look first, because the words tell all but one thing of its call. Where something
    failed the model goes on."""
    tools, calls = offered(lane.tools), state.closed
    before = [each for each in lane.messages if each not in calls]
    directed = directed_in(state.message, before, tools, lane.words, lane.copy)
    if directed is None or any(each.result["outcome"] != "ok" for each in calls):
        return None
    step = next_directed(directed, calls, lane.messages, tools, lane.copy) if calls else directed.first
    if isinstance(step, str):
        return AnswerStep(step)
    return _told(lane, state, changes_among(calls, tools), "") if step is None else CallsStep([step])


def _told(lane: LaneInput, state: TurnProgress, done: Sequence[ToolMessage], shown: str) -> LaneStep | None:
    """The end of such a wish in our own words: asked for its own, a small model tells of more than was done. None where they do
    not know the tool, or a call failed."""
    if any(each.result["outcome"] != "ok" for each in state.closed):
        return None
    said = [own_answer(each, state.message, lane.tools, lane.words, lane.copy, lane.today) or "" for each in done]
    return AnswerStep("\n\n".join(filter(None, (*said, shown)))) if all(said) else None


def carry_dropped(lane: LaneInput, state: TurnProgress) -> LaneStep | None:
    """The same for a model that chose all calls of the turn itself and then answered without the half that the words ask for: its
    own look is taken where it is the one that the words ask for, else that is made now. What needs words is taken from the lines
    that come closest."""
    tools, calls = offered(lane.tools), state.closed
    carrying = carrying_in(state.message, tools)
    if carrying is None or not calls or not _is_open(carrying, calls):
        return None
    first = next(
        (at for at, each in enumerate(calls) if ProposedCall(each.call["name"], each.call["arguments"]) == carrying.first), None
    )
    if first is None:
        return CallsStep([carrying.first])
    # Of a file that is named, its own read; of others what followed the look.
    is_named = carrying.finding is None and not carrying.pick and not carrying.named
    made = calls[first : first + 1] if is_named else calls[first:]
    step = _step_of(lane, state, carrying, made)
    if step is not None:
        return step
    answering = read_for(carrying, made, tools)
    about = lines_about(carrying.question, source_of(answering)) if source_of(answering).has_lines else ""
    return CallsStep([kept_call(carrying, about, state.message, calls, tools)]) if about else None


def _is_open(carrying: Carrying, calls: Sequence[ToolMessage]) -> bool:
    return not is_carried(carrying, calls) and all(each.result["outcome"] == "ok" for each in calls)


def _step_of(lane: LaneInput, state: TurnProgress, carrying: Carrying, made: Sequence[ToolMessage]) -> LaneStep | None:
    tools = offered(lane.tools)
    calls = without_look(carrying, made, tools)
    look = next_look(carrying, calls, tools, lane.copy) if calls else carrying.first
    if isinstance(look, str):
        return AnswerStep(look)
    if look is None:
        answering = read_for(carrying, calls, tools)
        value = own_value(carrying, answering)
        if value is None and must_be_worked_out(carrying):
            return AnswerStep(show_closest(lane.copy.say("notComputed"), carrying.question, source_of(answering)))
        look = None if value is None else kept_call(carrying, value, state.message, state.closed, tools)
    if look is None or is_repeat(look.name, look.arguments, made, lane.tools):
        return None
    return CallsStep([look])
