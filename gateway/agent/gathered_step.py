"""The look at the names of files with which a question may begin, as a step of the loop; the conversation without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.agent.called_names import compares
from gateway.agent.choosing import offered
from gateway.agent.further import calls_under_way, looking_for
from gateway.agent.gathering import after_names, is_names_call, names_call
from gateway.agent.intents import has_cue
from gateway.agent.lane import LaneInput, ProposedCall
from gateway.agent.limits import LIMITS
from gateway.agent.messages import AssistantMessage, Message, ToolMessage
from gateway.agent.turn_progress import TurnProgress


def gathering_step(
    lane: LaneInput, state: TurnProgress, wish: str, begins: Callable[[], ProposedCall | str | None]
) -> Sequence[ProposedCall] | str | None:
    """The calls, or the words, where the wish under way calls what it is about by the name of a file, or may do so; None
    for any other. `begins` gives the call with which it would begin without that look: another one is surer."""
    tools, are_several = offered(lane.tools), len(lane.actions or ()) > 1
    calls = calls_under_way(lane.messages, lane.turn_id) if are_several else state.closed
    if not lane.may_call:
        return None
    if calls:
        # Of calls that are proposed together, each would be taken for a wish of its own.
        most = 1 if are_several else LIMITS.gathered_files
        return after_names(wish, calls, tools, lane.copy, most) if is_names_call(calls[0], tools) else None
    look = names_call(wish, tools)
    if look is None or (lane.actions is None and has_cue(wish) and not compares(wish)):
        return None
    first = begins()
    return [look] if first is None or first == looking_for(wish, tools) else None


def without_names(lane: LaneInput) -> LaneInput:
    """The same as if nobody had looked at the names."""
    tools = offered(lane.tools)
    looks = {each.call["id"] for each in lane.messages if isinstance(each, ToolMessage) and is_names_call(each, tools)}

    def is_look(message: Message) -> bool:
        if isinstance(message, ToolMessage):
            return message.call["id"] in looks
        calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
        return bool(calls) and all(call["id"] in looks for call in calls)

    return replace(lane, messages=[each for each in lane.messages if not is_look(each)])
