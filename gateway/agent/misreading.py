"""An answer out of another row than the question speaks of: "who has the key to the greenhouse?" answered with the one who has
that of the shed. A small model mixes rows up; where each line stands for itself, code can tell.
"""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.figures import ResultSource
from gateway.agent.passages import lines_of
from gateway.agent.ranking import terms_in
from gateway.agent.vocabulary import VOCABULARY

_RECORD: Final = re.compile(r"([^:]{1,40}): +[^ ].*")
"""A line that stands for itself: a label, and what belongs to it."""

_TABLE: Final = re.compile(r"\.(?:csv|tsv)\Z", re.IGNORECASE | re.ASCII)
_LEAST: Final = 2
"""Rows without which there is nothing to mix up."""

_LIGHT: Final = frozenset(
    term for word in (*VOCABULARY.light_words, *VOCABULARY.asking_words, *VOCABULARY.common_terms) for term in terms_in(word)
)


def misreads_row(answer: str, question: str, source: ResultSource) -> bool:
    """Whether all that an answer adds to a question stands in other rows than the one that the question speaks of."""
    labels, rows = _rows_of(source)
    wanted = set(terms_in(question)) - _LIGHT
    held = [len(wanted.intersection(terms_in(label))) for label in labels]
    most = max(held, default=0)
    if len(rows) < _LEAST or most == 0 or held.count(most) > 1:
        return False
    meant = rows[held.index(most)]
    added = set(terms_in(answer)) - set(terms_in(question)) - _LIGHT
    return added.isdisjoint(terms_in(meant)) and not added.isdisjoint(terms_in(" ".join(rows)))


def _rows_of(source: ResultSource) -> tuple[list[str], list[str]]:
    """By what each row of a file is known, and the rows, where each line stands for itself; none of any other."""
    if not source.has_lines:
        return [], []
    lines = [line for line in lines_of(source.text) if line.strip()]
    if _TABLE.search(source.name):
        return lines[1:], lines[1:]
    records = [_RECORD.fullmatch(line) for line in lines]
    return ([found[1] for found in records if found], lines) if all(records) else ([], [])
