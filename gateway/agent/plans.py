"""Which calls of one reply are asked about together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.agent.limits import LIMITS
from gateway.agent.messages import Call, Tool

_ASKED: Final = frozenset({"consent", "stepUp"})


def plan_at_front(waiting: Sequence[Call], tools: Sequence[Tool]) -> Sequence[Call]:
    """The calls that are sent at once, of those that have no result yet: a run of calls that a person is asked about, or the
    first call alone. The model wrote all of them before it saw a result, so that none can need what another one finds."""
    asked = {tool["name"] for tool in tools if is_asked_about(tool)}
    length = 0
    while length < min(len(waiting), LIMITS.plan_steps) and waiting[length]["name"] in asked:
        length += 1
    return waiting[: max(length, 1)]


def is_asked_about(tool: Tool) -> bool:
    """Whether a person is asked before a call of this tool runs."""
    return tool["permission"] in _ASKED
