"""What the loop needs around it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from gateway.agent.copy import Copy
from gateway.agent.events import AgentEvent
from gateway.agent.ports import Chat, GatewayLink, Stop, Witness
from gateway.agent.prompts import Words


@dataclass(frozen=True, slots=True)
class World:
    """`chat_with` gives a chat that speaks with an `InferenceToken`, `today` the day where the person is."""

    gateway: GatewayLink
    chat_with: Callable[[Mapping[str, Any]], Chat]
    new_call_id: Callable[[], str]
    wait: Callable[[float, Stop], Awaitable[None]]
    emit: Callable[[AgentEvent], None]
    witness: Witness
    words: Words
    copy: Copy
    today: Callable[[], date]
