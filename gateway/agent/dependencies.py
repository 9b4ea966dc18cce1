"""What the loop needs around it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

from gateway.agent.copy import Copy
from gateway.agent.events import AgentEvent
from gateway.agent.messages import Result
from gateway.agent.ports import Chat, GatewayLink, ReplyObserver, StopSignal
from gateway.agent.prompts import Words

SideBySide: TypeAlias = Callable[[Sequence[Coroutine[Any, Any, Result]]], AsyncGenerator[Result, None]]
"""Begins all of these calls, and gives their results in their order. What is still under way when it is closed is cancelled."""


@dataclass(frozen=True, slots=True)
class LoopDependencies:
    """`chat_with` gives a chat that speaks with an `InferenceToken`, `today` the day where the person is, and `take_steered` what
    the person has said since, to be taken in before the next step; each text is given once."""

    gateway: GatewayLink
    chat_with: Callable[[Mapping[str, Any]], Chat]
    new_call_id: Callable[[], str]
    wait: Callable[[float, StopSignal], Awaitable[None]]
    side_by_side: SideBySide
    emit: Callable[[AgentEvent], None]
    observer: ReplyObserver
    words: Words
    copy: Copy
    today: Callable[[], date]
    take_steered: Callable[[], Sequence[str]] = lambda: ()
