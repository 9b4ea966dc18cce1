"""Days as people name them, as ISO days in the calendar of whoever speaks.

A day has no time zone: the caller says which day it is where the person is, and everything here counts from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from gateway.agent.vocabulary import VOCABULARY, any_of

_MONTHS: Final = {name: number for number, names in enumerate(VOCABULARY.months, 1) for name in names}
_LEAP_CYCLE: Final = 8
"""Years within which every day of the year comes round, 29 February at the turn of a century included."""

_COUNT: Final = rf"(\d{{1,4}}|{any_of(VOCABULARY.number_words)}) (day|week)s?"
_MONTH: Final = rf"({any_of(_MONTHS)})\.?"
_MONEY: Final = rf"(?! ?(?:{any_of(VOCABULARY.currency_signs)}|{any_of(VOCABULARY.currency_stems)}))"
_YEAR: Final = rf"(?:,? ((?:19|20)\d\d)\b{_MONEY})?"


def iso_day(day: date) -> str:
    """`2026-03-09`."""
    return day.isoformat()


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A place in a text that names a day. `day` is None where the words leave open which one."""

    start: int
    end: int
    day: date | None


def plain(text: str) -> str:
    """A text as the readers of days and amounts want it: lower case, one space at a time. Other readers' offsets fit it."""
    return re.sub(r"[ \t\r\n\u00a0]+", " ", text).lower()


def find_days(text: str, today: date, *, ahead: bool) -> list[NamedDay]:
    """Every day that a `plain` text names, in order.

    A weekday or a day without a year is the nearest one behind `today`, or with `ahead` the nearest one before us.
    """
    found: list[NamedDay] = []
    taken = bytearray(len(text))
    for pattern, read in _FORMS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                found.append(NamedDay(start, end, read(match, today, ahead)))
    return sorted(found, key=lambda each: each.start)


def _near(match: re.Match[str], today: date, _ahead: bool) -> date | None:
    return _shifted(today, VOCABULARY.near_days[match[1]])


def _ago(match: re.Match[str], today: date, _ahead: bool) -> date | None:
    return _shifted(today, -_days_in(match))


def _in(match: re.Match[str], today: date, _ahead: bool) -> date | None:
    return _shifted(today, _days_in(match))


def _days_in(match: re.Match[str]) -> int:
    count = int(match[1]) if match[1].isdigit() else VOCABULARY.number_words[match[1]]
    return count * (7 if match[2] == "week" else 1)


def _shifted(day: date, days: int) -> date:
    return day + timedelta(days=days)


def _weekday(match: re.Match[str], today: date, ahead: bool) -> date | None:
    away = VOCABULARY.weekdays.index(match[2]) - today.weekday()
    match match[1]:
        case "last":
            return _shifted(today, away if away < 0 else away - 7)
        case "next":
            return _shifted(today, away if away > 0 else away + 7)
        case "this":
            return _shifted(today, away)
        case _:
            # On a Friday, "Friday" may be today or a week away.
            if away == 0:
                return None
            return _shifted(today, away % 7 if ahead else away % 7 - 7)


def _day_month(match: re.Match[str], today: date, ahead: bool) -> date | None:
    return _in_year(match[3], match[2], match[1], today, ahead)


def _month_day(match: re.Match[str], today: date, ahead: bool) -> date | None:
    return _in_year(match[3], match[1], match[2], today, ahead)


def _in_year(year: str | None, month: str, day: str, today: date, ahead: bool) -> date | None:
    number = _MONTHS[month]
    if year is not None:
        return _valid(int(year), number, int(day))
    for away in range(_LEAP_CYCLE + 1):
        met = _valid(today.year + (away if ahead else -away), number, int(day))
        if met is not None and (met >= today if ahead else met <= today):
            return met
    return None


def _iso(match: re.Match[str], _today: date, _ahead: bool) -> date | None:
    return _valid(int(match[1]), int(match[2]), int(match[3]))


def _dotted(match: re.Match[str], _today: date, _ahead: bool) -> date | None:
    return _valid(int(match[3]), int(match[2]), int(match[1]))


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


_Read = Callable[[re.Match[str], date, bool], date | None]


def _forms() -> Iterator[tuple[re.Pattern[str], _Read]]:
    """Longer forms first: what one has read, the next does not read again. Names of files and addresses name no day."""
    forms: tuple[tuple[str, _Read], ...] = (
        (r"([12]\d{3})-(\d\d)-(\d\d)", _iso),
        (r"(\d\d?)\.(\d\d?)\.((?:19|20)\d\d)", _dotted),
        (rf"(?:the )?(\d\d?)(?:st|nd|rd|th)? (?:of )?{_MONTH}{_YEAR}", _day_month),
        (rf"{_MONTH} (\d\d?)(?:st|nd|rd|th)?{_MONEY}{_YEAR}", _month_day),
        (rf"{_COUNT} ago", _ago),
        (rf"{_COUNT} from (?:now|today)", _in),
        (rf"in {_COUNT}", _in),
        (rf"({any_of(VOCABULARY.near_days)})", _near),
        (rf"(?:(last|next|this|on) )?({any_of(VOCABULARY.weekdays)})", _weekday),
    )
    for form, read in forms:
        yield re.compile(rf"(?<![\w./:@-]){form}(?![\w/@-]|\.\w)", re.ASCII), read


_FORMS: Final = tuple(_forms())
