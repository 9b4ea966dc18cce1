"""What the tests of the runner share: scripted turns, and what was said in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.agent.events import (
    AgentEvent,
    AssistantSaidEvent,
    NoticeRaisedEvent,
)
from gateway.agent.ports import (
    StopSignal,
)
from gateway.agent.retries import TurnLimits
from tests.agent.scripted import ScriptedChat, ScriptedGateway, Stage, describe_tool
from tests.agent.vectors import read_vectors

VECTORS = read_vectors("scenarios")
SMALL, NATIVE = VECTORS["models"]["small"], VECTORS["models"]["native"]
TOOLS = [describe_tool(each) for each in VECTORS["tools"]["workspace"]]
LIST = '{"tool":"list_directory","arguments":{"path":"notes"}}'
DONE = {"outcome": "ok", "content": "a.txt", "trust": "untrusted", "truncated": False}


def stage(*lines: Any, results: tuple[Mapping[str, Any], ...] = (DONE,), limits: TurnLimits | None = None) -> Stage:
    return Stage(ScriptedGateway(TOOLS, results), ScriptedChat(lines), limits)


def said(events: list[AgentEvent]) -> list[str]:
    return [event.content for event in events if isinstance(event, AssistantSaidEvent)]


def notices(events: list[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, NoticeRaisedEvent)]


def raising(error: Exception) -> Any:
    def refuse(_params: Mapping[str, Any], _stop: StopSignal | None) -> Any:
        raise error

    return refuse
