"""Quotas: how many calls a turn, a session and a person's day may hold (docs/PROTOCOL.md section 7, row 10)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Quota(StrEnum):
    """The quotas. Values are words of the sentence that a person reads."""

    TURN = "turn"
    SESSION = "session"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of calls: those made so far, without the one that is checked, or those that are allowed."""

    turn: int
    session: int
    day: int


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The quota that one more call would exceed, and its limit."""

    quota: Quota
    allowed: int

    @property
    def message(self) -> str:
        """One sentence for the model and the person."""
        return f"this {self.quota} has used up its {self.allowed} tool calls"


def find_exhausted(used: Tally, allowed: Tally) -> Exhausted | None:
    """The narrowest quota that the next call would exceed, None if it exceeds none."""
    if used.turn >= allowed.turn:
        return Exhausted(Quota.TURN, allowed.turn)
    if used.session >= allowed.session:
        return Exhausted(Quota.SESSION, allowed.session)
    if used.day >= allowed.day:
        return Exhausted(Quota.DAY, allowed.day)
    return None
