"""What a person attaches, as it is shown and told: it stands in the result of the call, and the bytes among its arguments say
nothing to anybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, assert_never

from gateway.agent.messages import AssistantMessage, Call, Message, ToolMessage, UserMessage
from gateway.core.local_tools import ATTACHMENT

_BYTES: Final = "data"


def without_bytes(call: Call) -> Call:
    """The call without the bytes of what was attached."""
    if call["name"] != ATTACHMENT:
        return call
    return {**call, "arguments": {name: value for name, value in call["arguments"].items() if name != _BYTES}}


def without_attached_bytes(messages: Sequence[Message]) -> list[Message]:
    """The messages as a model is told them."""
    return [_without_bytes_of(message) for message in messages]


def _without_bytes_of(message: Message) -> Message:
    match message:
        case UserMessage():
            return message
        case AssistantMessage():
            return replace(message, tool_calls=[without_bytes(call) for call in message.tool_calls])
        case ToolMessage():
            return replace(message, call=without_bytes(message.call))
        case _:
            assert_never(message)
