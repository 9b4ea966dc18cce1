"""What was said and done in a conversation, as the loop holds it.

Calls and results are the JSON objects `ToolCall` and `ToolResult` of docs/PROTOCOL.md: they came over the wire and go into
prompts and events as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Call: TypeAlias = Mapping[str, Any]
"""A `ToolCall`: `id`, `name`, `arguments`."""

Result: TypeAlias = Mapping[str, Any]
"""A `ToolResult`, or as much of one as the loop needs: `outcome`, `content`, `trust`, and `reason` and `error` if any."""

Tool: TypeAlias = Mapping[str, Any]
"""A `ToolDescriptor`."""

CANCELLED: Final[Result] = {"outcome": "cancelled", "content": "", "trust": "trusted", "truncated": False}
"""Of a call that the gateway has cancelled together with its turn, or never heard of."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person said."""

    turn_id: str
    content: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said, and the calls that it proposed."""

    turn_id: str
    content: str
    tool_calls: Sequence[Call] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """What came of a call. Always after the message that proposed it."""

    turn_id: str
    call: Call
    result: Result


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


_IMPORTED: Final = "imported_conversation"
"""The call whose result stands for what was imported. It is on no record, and no tool has its name."""


def recall(stored: Sequence[Mapping[str, Any]], calls: Sequence[Mapping[str, Any]], imported: str) -> list[Message]:
    """A stored conversation (`StoredMessage`s, `CallView`s) as the loop sees it: results joined with their calls, calls without
    a result left out.

    What was imported is no word of this person or of this model, whatever it says: it is told as the result of a call, a turn of
    it at a time, and so is as untrusted as anything that a tool brings in. `imported` is what such a turn begins with.
    """
    proposed: dict[str, Call] = {}
    recorded = {view["call"]["id"]: view for view in calls}
    messages: list[Message] = []
    for each in stored:
        turn_id, content = each["turnId"], each["content"]
        if each.get("provenance") == "imported":
            _take_imported(messages, turn_id, f"{each['role']}: {content}", imported)
            continue
        match each["role"]:
            case "user":
                messages.append(UserMessage(turn_id, content))
            case "assistant":
                asked = each.get("toolCalls") or ()
                proposed |= {call["id"]: call for call in asked}
                messages.append(AssistantMessage(turn_id, content, asked))
            case _:
                view: Mapping[str, Any] = recorded.get(each.get("toolCallId", ""), {})
                call = view.get("call") or proposed.get(each.get("toolCallId", ""))
                if call is not None:
                    # A branch keeps the words of a result but not its record.
                    words = {"outcome": "ok", "content": content, "trust": "untrusted", "truncated": False}
                    messages.append(ToolMessage(turn_id, call, view.get("result") or words))
    return messages


def _take_imported(messages: list[Message], turn_id: str, line: str, words: str) -> None:
    call: dict[str, Any] = {"id": f"imp_{turn_id}", "name": _IMPORTED, "arguments": {}}
    last = messages[-1] if messages else None
    if isinstance(last, ToolMessage) and last.call["id"] == call["id"]:
        told = {**last.result, "content": f"{last.result['content']}\n\n{line}"}
        messages[-1] = ToolMessage(turn_id, call, told)
        return
    result = {"outcome": "ok", "content": line, "trust": "untrusted", "truncated": False}
    messages += [UserMessage(turn_id, words), AssistantMessage(turn_id, "", [call]), ToolMessage(turn_id, call, result)]


def unanswered(messages: Sequence[Message], turn_id: str) -> list[Call]:
    """The calls that were proposed in a turn and have no result yet, in the order of proposal."""
    answered = {message.call["id"] for message in messages if isinstance(message, ToolMessage)}
    return [
        call
        for message in messages
        if isinstance(message, AssistantMessage) and message.turn_id == turn_id
        for call in message.tool_calls
        if call["id"] not in answered
    ]


def count_rounds(messages: Sequence[Message], turn_id: str) -> int:
    """How often the model has proposed calls in a turn."""
    return sum(isinstance(each, AssistantMessage) and each.turn_id == turn_id and bool(each.tool_calls) for each in messages)
