"""What may follow a result.

A model that is shown a file may do what the file says, and a small one goes on with whatever there is to do. So after the first
call, one that does more than read has to be asked for by the message: by its verb, for the thing that stands after the verb, and
no more often than that.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.agent.acts import ACTS, READING, AskedAct, asked_acts, does, is_about
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Call, Tool, ToolMessage
from gateway.agent.names import parts_of
from gateway.agent.words import words_of


def may_follow(message: str, closed: Sequence[ToolMessage], tool: Tool) -> bool:
    """Whether the model may be offered this tool after these calls."""
    return _is_free(closed, tool) or _is_asked_for(message, {"name": tool["name"], "arguments": {}}, closed, tool)


def call_may_follow(message: str, closed: Sequence[ToolMessage], call: ProposedCall, tools: Sequence[Tool]) -> bool:
    """Whether this call may be sent after these. One of an unknown tool may: the gateway refuses it."""
    tool = next((each for each in tools if each["name"] == call.name), None)
    made = {"name": call.name, "arguments": call.arguments}
    return tool is None or _is_free(closed, tool) or _is_asked_for(message, made, closed, tool)


def _is_free(closed: Sequence[ToolMessage], tool: Tool) -> bool:
    return tool["category"] == "read" or not closed


def _is_asked_for(message: str, call: Call, closed: Sequence[ToolMessage], tool: Tool) -> bool:
    asked = [each for each in asked_acts(message) if _can_do(each.act, call, tool)]
    is_open = not call["arguments"]
    if asked:
        return any(not _is_used_up(each, asked, closed) and (is_open or _names_thing(each, call)) for each in asked)
    # A tool of one's own is often called like what people say: `set_budget`.
    parts = parts_of(tool["name"])
    is_made = any(each.call["name"] == tool["name"] for each in closed)
    return not is_made and bool(parts) and parts[0] in {word.bare for word in words_of(message)}


def _is_used_up(each: AskedAct, asked: Sequence[AskedAct], closed: Sequence[ToolMessage]) -> bool:
    """Whether as many calls were made for an act as the message asks for. A call is one act, though its tool may serve several:
    the one whose thing it names, else the first that is left."""
    left = [max(1, len(one.things)) for one in asked]
    for made in closed:
        parts = set(parts_of(made.call["name"]))
        possible = [at for at, one in enumerate(asked) if left[at] and not parts.isdisjoint(ACTS[one.act]["calls"])]
        named = [at for at in possible if any(is_about(made.call, thing) for thing in asked[at].things)]
        for at in (named or possible)[:1]:
            left[at] -= 1
    return left[asked.index(each)] == 0


def _names_thing(asked: AskedAct, call: Call) -> bool:
    """Whether a call is about a thing that stands after the verb. A verb without one leaves it open."""
    return not asked.things or any(is_about(call, thing) for thing in asked.things)


def _can_do(act: str, call: Call, tool: Tool) -> bool:
    """Reading is no reason for what can do anything, such as a shell."""
    if act == READING:
        return tool["category"] == "network" and not set(parts_of(tool["name"])).isdisjoint(ACTS[READING]["calls"])
    return does(act, call, [tool])
