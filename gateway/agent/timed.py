"""Rows that are asked for by when they are: "when is the next meeting?", "which upcoming events are there?".

A small model takes the first line that fits. Which one is next depends on the day where the person is, and code knows that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from gateway.agent.acts import is_thing
from gateway.agent.days import find_days, plain
from gateway.agent.entries import around_entries, entries_of, filled_lines, telling, terms_of
from gateway.agent.tables import Table, TableRow
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of


class When(StrEnum):
    """Which of several days is meant."""

    NEXT = "next"
    """The first that is not behind today."""

    UPCOMING = "upcoming"
    """All that are not behind today."""

    LAST = "last"
    """The newest that is not before us."""


_WHEN_OF: Final = {word: When(when) for when, words in VOCABULARY.time_picks.items() for word in words}
_UNPICKED: Final = frozenset(
    (*VOCABULARY.unpicked_nouns, *VOCABULARY.weekdays, *(name for names in VOCABULARY.months for name in names))
)
"""Words after "next" and "last" with which they mean a time, or a place in a text."""

_GENERAL: Final = terms_of(VOCABULARY.event_nouns)
_TIME: Final = re.compile(r"\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)")
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class TimedRows:
    """The rows that are meant, and when; none where no day is so."""

    when: When
    rows: Sequence[TableRow]


def when_in(wish: str) -> When | None:
    """Which of several days a wish means; None where it means none."""
    bare = [word.bare for word in words_of(wish)]
    picked = [at for at, word in enumerate(bare) if word in _WHEN_OF]
    told = [at for at in picked if not any(word in _UNPICKED or word.isdecimal() for word in bare[at + 1 : at + 2])]
    return _WHEN_OF[bare[told[0]]] if told and len(told) == len(picked) else None


def timed_rows(wish: str, text: str, name: str, today: date) -> TimedRows | None:
    """The rows of a file that a wish means by their day; None where it means none, or where that is in doubt."""
    when = when_in(wish)
    table = entries_of(text, name) or Table((), filled_lines(text))
    dated = [(day, row) for row in table.rows if (day := _day_of(row, today, ahead=when is not When.LAST)) is not None]
    if when is None or len(dated) < _LEAST or len(dated) * 2 < len(table.rows):
        return None
    words = words_of(wish)
    said = [word.bare for word in words if word.bare not in _WHEN_OF and not is_thing(wish[word.start : word.end])]
    asked = {term for word in said for term in telling(word)}
    held = terms_of(cell for _, row in dated for cell in row.cells)
    if not asked <= held | _GENERAL | around_entries(text, name, table):
        return None
    fitting = [(day, row) for day, row in dated if asked & held <= terms_of(row.cells)]
    days = [day for day, _ in fitting if (day <= today if when is When.LAST else day >= today)]
    if when is When.UPCOMING:
        return TimedRows(when, [row for day, row in fitting if day >= today])
    best = max(days, default=None) if when is When.LAST else min(days, default=None)
    meant = [row for day, row in fitting if day == best]
    return TimedRows(when, _newest(meant) if when is When.LAST else meant)


def _newest(rows: Sequence[TableRow]) -> Sequence[TableRow]:
    """Of rows of one day those with the latest time, where each begins with the day and a time, as the lines of a log do."""
    times = [found[1] if (found := _TIME.match(row.cells[0])) else "" for row in rows]
    return [row for row, time in zip(rows, times, strict=True) if time == max(times)] if all(times) else rows


def _day_of(row: TableRow, today: date, *, ahead: bool) -> date | None:
    """The first day that a row names in digits."""
    text = plain(" ".join(row.cells))
    named = [each for each in find_days(text, today, ahead=ahead) if any(map(str.isdecimal, text[each.start : each.end]))]
    return named[0].day if named else None
