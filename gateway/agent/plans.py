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
    permissions = {tool["name"]: tool["permission"] for tool in tools}
    length = 0
    while length < min(len(waiting), LIMITS.plan_steps) and permissions.get(waiting[length]["name"]) in _ASKED:
        length += 1
    return waiting[: max(length, 1)]
