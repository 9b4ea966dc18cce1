"""How long the content of a call is kept: what the policy obliges to, and what the operator's settings say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.core.call_history import DAY_MS


@dataclass(frozen=True, slots=True)
class Retention:
    """Days after which the content of calls is erased: of some tools, and of all others. None: it is kept. 0: as soon as the call
    has closed, so that little more than the leaves is ever kept."""

    days: int | None = None
    tools: Mapping[str, int] = field(default_factory=dict[str, int])

    def erase_at(self, tool: str, closed_at: int, obliged: int | None) -> int | None:
        """When the content of a call of that tool goes. `obliged` is what the policy says; the less of both counts."""
        days = min((each for each in (self.tools.get(tool, self.days), obliged) if each is not None), default=None)
        return None if days is None else closed_at + days * DAY_MS
