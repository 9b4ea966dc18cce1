"""Quotas: what a turn, a session, a person, their minute and their day may use up (docs/PROTOCOL.md section 7, row 10).

Windows of time are counted from the epoch in UTC, so that nobody's zone moves them: a minute from its full minute, a day from
midnight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from gateway.core.value_types import quick

MINUTE_MS: Final = 60 * 1000
DAY_MS: Final = 24 * 60 * MINUTE_MS


class Quota(StrEnum):
    """For how long or for whom a quota counts. Values are words of the sentence that a person reads."""

    MINUTE = "minute"
    TURN = "turn"
    SESSION = "session"
    PERSON = "person"
    DAY = "day"

    def period(self, now: int) -> int:
        """The number of the minute or day; 0 for what does not begin anew with time. `now` in epoch milliseconds."""
        match self:
            case Quota.MINUTE:
                return now // MINUTE_MS
            case Quota.DAY:
                return now // DAY_MS
            case Quota.TURN | Quota.SESSION | Quota.PERSON:
                return 0

    def frees(self, now: int) -> str:
        """When there is more, as a sentence says it."""
        match self:
            case Quota.MINUTE:
                return f"there is more in {_seconds_left(now, MINUTE_MS)} seconds"
            case Quota.DAY:
                hours, minutes = divmod(-(-_seconds_left(now, DAY_MS) // 60), 60)
                return f"there is more at midnight UTC, in {hours} h {minutes} min"
            case Quota.TURN:
                return "there is more in the next turn"
            case Quota.SESSION:
                return "there is more in another session: open the shell from the console again"
            case Quota.PERSON:
                return "there is more when an operator raises it"


class QuotaMeter(StrEnum):
    """What is counted. Values are the words of `profiles.toml`."""

    CALLS = "calls"
    TOKENS = "tokens"
    SECONDS = "seconds"
    RELEASED_BYTES = "released_bytes"

    @property
    def noun(self) -> str:
        """What a person reads."""
        return _NOUNS[self]

    @property
    def unit(self) -> int:
        """How many of what is counted make one: time is counted in milliseconds."""
        return 1000 if self is QuotaMeter.SECONDS else 1


_NOUNS: Final[Mapping[QuotaMeter, str]] = {
    QuotaMeter.CALLS: "tool calls",
    QuotaMeter.TOKENS: "model tokens",
    QuotaMeter.SECONDS: "seconds of running tools",
    QuotaMeter.RELEASED_BYTES: "bytes of results",
}


@dataclass(frozen=True, slots=True)
class Allowance:
    """So much of one meter in each of one window."""

    meter: QuotaMeter
    window: Quota
    most: int


class QuotaUse(NamedTuple):
    """A change of one count: reserved where `amount` is positive, given back where it is negative. `holder` is the id of whom
    the window belongs to; `amount` is in units of the meter."""

    window: Quota
    holder: str
    meter: QuotaMeter
    period: int
    amount: int


@quick
@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of calls: those made so far, without the one that is checked, or those that are allowed."""

    turn: int
    session: int
    day: int


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The quota that one more would exceed, and its limit."""

    quota: Quota
    allowed: int
    meter: QuotaMeter = QuotaMeter.CALLS

    @property
    def message(self) -> str:
        """One sentence for the model and the person."""
        return f"this {self.quota} has used up its {self.allowed} {self.meter.noun}"

    def tell(self, now: int) -> str:
        """The sentence, with when there is more."""
        return f"{self.message}; {self.quota.frees(now)}"


def find_exhausted(used: Tally, allowed: Tally) -> Exhausted | None:
    """The narrowest quota that the next call would exceed, None if it exceeds none."""
    if used.turn >= allowed.turn:
        return Exhausted(Quota.TURN, allowed.turn)
    if used.session >= allowed.session:
        return Exhausted(Quota.SESSION, allowed.session)
    if used.day >= allowed.day:
        return Exhausted(Quota.DAY, allowed.day)
    return None


def _seconds_left(now: int, length: int) -> int:
    return -(-(length - now % length) // 1000)
