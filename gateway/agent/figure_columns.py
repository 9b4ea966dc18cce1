"""Which column of a table a question for a number means."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from gateway.agent.ranking import stem, terms_in
from gateway.agent.tables import Table
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_IDENTIFIERS: Final = frozenset(VOCABULARY.identifiers)
_ALIKE: Final = [frozenset(map(stem, group)) for group in VOCABULARY.same_columns]
"""Words of a question, and what a column with the answer may be called."""


def is_identifier(table: Table, column: int) -> bool:
    """Whether the numbers of a column only tell its rows apart."""
    return bool(table.columns) and not _IDENTIFIERS.isdisjoint(word.bare for word in words_of(table.columns[column]))


def chosen_among(wish: str) -> frozenset[str]:
    """The thing that "which" or "what" at the beginning asks for."""
    said = [word.bare for word in words_of(wish)]
    return frozenset(terms_in(said[1])) if said[0] in ("which", "what") and len(said) > 1 else frozenset()


def alike_terms(said: AbstractSet[str]) -> frozenset[str]:
    """What a column may be called that a question calls by another word: the price of what "costs"."""
    return frozenset(term for group in _ALIKE if not group.isdisjoint(said) for term in group)


def counts_amounts(noun: str, table: Table, numeric: Sequence[int], name: str) -> bool:
    """Whether how many there are of something is the sum of a column: of beds that have "seeds", how many seeds. The first column
    says what a row is."""
    term = stem(noun)
    named = any(at > 0 and term in terms_in(table.columns[at]) for at in numeric) if table.columns else False
    return named and term not in terms_in(name)
