"""Whether an answer can be one to its question: where the file has little of what the question speaks of, where other lines have
it, or where a number is asked for and none is told, there is none, though a small model always gives one.

"What is the wifi password?" was answered with the first line of a note that has no password.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from gateway.agent.acts import ACTS
from gateway.agent.figures import ResultSource
from gateway.agent.passages import lines_of
from gateway.agent.questions import asks_for_summary
from gateway.agent.ranking import stands_in, stem, terms_in
from gateway.agent.tables import table_of
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_WORDING: Final = frozenset(VOCABULARY.explaining_verbs)
_LIGHT: Final = frozenset(map(stem, VOCABULARY.light_words))
_UNTOLD: Final = _LIGHT.union(
    map(stem, (*VOCABULARY.asking_words, *VOCABULARY.common_terms, *VOCABULARY.content_verbs, *VOCABULARY.phrase_ends)),
    map(stem, (*VOCABULARY.link_words, *VOCABULARY.figure_nouns, *VOCABULARY.weak_words, *VOCABULARY.vague_words)),
    (stem(word) for words in VOCABULARY.picks.values() for word in words),
    (stem(word) for act in ACTS.values() for word in (*act["verbs"], *act["claims"])),
)
"""Terms of a question that a file need not have to answer it."""

_ALIKE: Final = [frozenset(map(stem, group)) for group in VOCABULARY.same_columns]
_NUMBERS: Final = frozenset((*VOCABULARY.number_words, *VOCABULARY.negations))
_MEASURES: Final = frozenset({"much", "many", "old"})
_NUMBERED: Final = frozenset({"number", "phone", "telephone"})
_LABELLED: Final = frozenset(map(stem, VOCABULARY.labelled_attributes))
_OTHER_LABELS: Final = frozenset(map(stem, VOCABULARY.other_labels))
_LABEL: Final = re.compile(r"([^:]*):")
_ENTRY: Final = re.compile(r"[ \t]*(?:[-*+•]|[0-9]{1,3}[.)]) ")
_JOINED: Final = frozenset({"and", "or", "than"})
_HEADING: Final = re.compile(r"#|subject:", re.IGNORECASE | re.ASCII)
_DIGITS: Final = re.compile("[0-9]+")
_NEAR: Final = 2
"""Lines between what a question speaks of and what answers it."""


def is_beside_question(answer: str, question: str, source: ResultSource) -> bool:
    """Whether an answer out of a file is none to its question. What is explained or told in short is of all lines."""
    is_worded = not _WORDING.isdisjoint(word.bare for word in words_of(question)) or asks_for_summary(question)
    if not source.has_lines or is_worded:
        return False
    asked = _spoken_of(question, source.name)
    lines = [set(terms_in(line)) for line in lines_of(source.text)]
    held = {term for term in asked if any(stands_in(term, line) for line in lines)}
    known = {term for term in asked if any(term in group for group in _ALIKE)}
    if 2 * len(held | known) < len(asked) or _lacks_number(answer, question):
        return True
    if _is_labelled_otherwise(answer, question, lines_of(source.text)):
        return True
    return _mixes_rows(held, question, source) or _stands_apart(answer, question, held, lines, source)


def _spoken_of(question: str, name: str) -> set[str]:
    """The terms of a question that tell something, beside those that call the file."""
    called = set(terms_in(name))
    told = {term for term in terms_in(question) if term not in _UNTOLD and not _DIGITS.fullmatch(term)}
    return {term for term in told if not stands_in(term, called)}


def _lacks_number(answer: str, question: str) -> bool:
    """Whether a number is asked for, and the answer has none and denies none."""
    words = [word.bare.removesuffix("'s") for word in words_of(question)]
    is_measured = any(one == "how" and two in _MEASURES for one, two in pairwise(words))
    is_asked = is_measured or (words[:1] == ["what"] and not _NUMBERED.isdisjoint(words))
    said = [word.bare for word in words_of(answer)]
    is_denied = any(word in _NUMBERS or word.endswith(("n't", "n’t")) for word in said)
    return is_asked and not is_denied and _DIGITS.search(answer) is None


def is_other_label(asked: Iterable[str], label: str) -> bool:
    """Whether a label says that its value is none of those that a question asks for: the date of a bill is not its deadline, and
    the number of an invoice nobody's phone number."""
    wanted, terms = _LABELLED.intersection(asked), set(terms_in(label))
    return bool(wanted) and wanted.isdisjoint(terms) and not _OTHER_LABELS.isdisjoint(terms)


def _is_labelled_otherwise(answer: str, question: str, lines: Sequence[str]) -> bool:
    """Whether the numbers of an answer stand only behind labels of other things than what is asked for."""
    told = {term for term in terms_in(answer) if _DIGITS.search(term)} - set(terms_in(question))
    labels = [_LABEL.match(line) for line in lines if told and told.issubset(terms_in(line))]
    asked = terms_in(question)
    return bool(labels) and all(label is not None and is_other_label(asked, label[1]) for label in labels)


def _mixes_rows(held: set[str], question: str, source: ResultSource) -> bool:
    """Whether a question puts together what stands in different rows of a table: what the price of somebody's is that is another
    one's."""
    table = table_of(source.text, source.name)
    is_several = not _JOINED.isdisjoint(word.bare for word in words_of(question))
    if table is None or not table.columns or table.listing or is_several:
        return False
    columns = {term for name in table.columns for term in terms_in(name)}
    rows = [set(terms_in(" ".join(row.cells))) for row in table.rows]
    told = {term for term in held if not stands_in(term, columns) and any(term in row for row in rows)}
    return bool(told) and not any(told <= row for row in rows)


def _stands_apart(answer: str, question: str, held: set[str], lines: Sequence[set[str]], source: ResultSource) -> bool:
    """Whether what an answer adds stands in other lines than what is asked about, and not beside them. Of a list, each entry is
    by itself."""
    written = lines_of(source.text)
    headed = [at == 0 or _HEADING.match(line) is not None for at, line in enumerate(written)]
    about = [at for at, line in enumerate(lines) if not headed[at] and any(stands_in(term, line) for term in held)]
    added = {term for term in terms_in(answer) if term not in _LIGHT} - set(terms_in(question))
    said = [at for at, line in enumerate(lines) if not added.isdisjoint(line)]
    entries = {at for at, line in enumerate(written) if _ENTRY.match(line) is not None}
    is_apart = all(abs(one - two) > (0 if one in entries and two in entries else _NEAR) for one in about for two in said)
    return bool(about) and bool(said) and is_apart
