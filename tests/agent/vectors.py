"""Golden vectors, as the browser's tests read them too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from gateway.agent.messages import AssistantMessage, Message, ToolMessage, UserMessage

ROOT = Path(__file__).parents[2]


def read_vectors(subject: str) -> dict[str, Any]:
    """The cases of one subject."""
    return orjson.loads((ROOT / "tests" / "vectors" / "agent" / f"{subject}.json").read_bytes())


def name_of(case: dict[str, Any]) -> str:
    """What a case is called in a test's id."""
    return str(case["name"])


def messages_from(written: Sequence[dict[str, Any]]) -> list[Message]:
    """A conversation as a vector writes it: the browser's own shape."""
    return [_message_from(each) for each in written]


def written_as(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """A conversation in the browser's own shape."""
    return [_written(message) for message in messages]


def _message_from(written: dict[str, Any]) -> Message:
    match written["role"]:
        case "user":
            return UserMessage(written["turnId"], written["content"])
        case "assistant":
            return AssistantMessage(written["turnId"], written["content"], written["toolCalls"])
        case "tool":
            return ToolMessage(written["turnId"], written["call"], written["result"])
        case role:
            raise ValueError(f"no message has the role {role}")


def _written(message: Message) -> dict[str, Any]:
    match message:
        case UserMessage(turn_id, content):
            return {"role": "user", "turnId": turn_id, "content": content}
        case AssistantMessage(turn_id, content, calls):
            return {"role": "assistant", "turnId": turn_id, "content": content, "toolCalls": list(calls)}
        case ToolMessage(turn_id, call, result):
            return {"role": "tool", "turnId": turn_id, "call": call, "result": result}
