"""The months of days that stand in figures, so that "in April" finds the rows of 2026-04-02."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from gateway.agent.ranking import stem
from gateway.agent.vocabulary import VOCABULARY

_DAY: Final = re.compile(r" *(?:([0-9]{4})-([0-9]{2})(?:-[0-9]{2})?|[0-9]{1,2}\.([0-9]{1,2})\.([0-9]{4}))(?:[T ].*)?", re.ASCII)
_NAMES: Final = [frozenset(map(stem, names)) for names in VOCABULARY.months]


def month_terms(cell: str) -> frozenset[str]:
    """The names of the month of a day; none where a cell is no day."""
    found = _DAY.fullmatch(cell)
    number = int(found[2] or found[3]) if found else 0
    return _NAMES[number - 1] if 1 <= number <= len(_NAMES) else frozenset()


def is_of_several_years(terms: Collection[str], cells: Sequence[str]) -> bool:
    """Whether a month is asked for without its year, and cells have days of that month in more than one."""
    years = {found[1] or found[4] for cell in cells if (found := _DAY.fullmatch(cell))}
    return len(years) > 1 and any(not names.isdisjoint(terms) for names in _NAMES) and years.isdisjoint(terms)


def is_month(word: str) -> bool:
    """Whether a word is the name of a month."""
    return any(stem(word.lower()) in names for names in _NAMES)
