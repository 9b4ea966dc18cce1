"""Quotas: how many calls a turn, a session and a person's day may hold (protocol.md section 7, row 10)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Quota(StrEnum):
    """What runs out. Values are words for the sentence a person reads."""

    TURN = "turn"
    SESSION = "session"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class Tally:
    """Calls: either those made so far, not counting the one that is asked about, or those that are allowed."""

    turn: int
    session: int
    day: int


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The quota that has no room for one more call, and how large it is."""

    quota: Quota
    allowed: int

    @property
    def message(self) -> str:
        """One sentence for the model and the person."""
        return f"this {self.quota} has used up its {self.allowed} tool calls"


def find_exhausted(used: Tally, allowed: Tally) -> Exhausted | None:
    """The narrowest quota that the next call would exceed, None if there is room in all three."""
    if used.turn >= allowed.turn:
        return Exhausted(Quota.TURN, allowed.turn)
    if used.session >= allowed.session:
        return Exhausted(Quota.SESSION, allowed.session)
    if used.day >= allowed.day:
        return Exhausted(Quota.DAY, allowed.day)
    return None
