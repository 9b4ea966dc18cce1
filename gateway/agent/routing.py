"""A conversation as the model that picks an action sees it: in the shape of the examples, what was asked and the action that was
chosen. Measured so: with results or reports in between, a small model goes on reporting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, assert_never

from gateway.agent.browser import as_json
from gateway.agent.compaction import is_refusal
from gateway.agent.messages import AssistantMessage, Message, ToolMessage, UserMessage
from gateway.agent.ports import ChatMessage
from gateway.agent.provenance import neutralise

Spoken: TypeAlias = UserMessage | AssistantMessage


def past_of(messages: Sequence[Message], turn_id: str) -> list[Message]:
    """Turns that are over. Refusals are among them, not to be shown, but so that no summary takes their place."""
    acted = {each.turn_id for each in messages if isinstance(each, ToolMessage)}

    def belongs(message: Message) -> bool:
        match message:
            case UserMessage():
                return True
            case AssistantMessage():
                return bool(message.tool_calls) or message.turn_id not in acted
            case ToolMessage():
                return is_refusal(message)
            case _:
                assert_never(message)

    return [each for each in messages if each.turn_id != turn_id and belongs(each)]


def present_of(messages: Sequence[Message], turn_id: str, actions: Sequence[str]) -> list[Spoken]:
    """The turn under way: each action that was asked for, with what was chosen for it, and last the one to choose for now."""
    waiting = iter(actions)
    spoken: list[Spoken] = [UserMessage(turn_id, next(waiting, ""))]
    for each in messages:
        if each.turn_id != turn_id or not isinstance(each, AssistantMessage):
            continue
        is_report = not each.tool_calls and isinstance(spoken[-1], AssistantMessage)
        if not is_report:
            spoken.append(each)
        if not each.tool_calls:
            spoken.append(UserMessage(turn_id, next(waiting, "")))
    return spoken


def as_chat(message: Spoken) -> ChatMessage:
    """A message as the examples write it."""
    if isinstance(message, UserMessage):
        return {"role": "user", "content": neutralise(message.content)}
    if message.tool_calls:
        call = message.tool_calls[-1]
        action = {"tool": call["name"], "arguments": call["arguments"]}
    else:
        action = {"answer": message.content}
    return {"role": "assistant", "content": neutralise(as_json(action))}
