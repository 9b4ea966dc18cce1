"""The value that a question asks of a table or of a list of fields: "who is on call on Thursday?", "what does the lamp cost?".

Row and column, or the name of a field, are told by the question's own words, so code finds the value where a small model takes
that of another row. What the words leave open is left to others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.affairs import question_in
from gateway.agent.browser import trim
from gateway.agent.entries import entries_of, telling
from gateway.agent.excerpts import cited, excerpt_of
from gateway.agent.exclusions import exclusion_in
from gateway.agent.fields import Field, fields_in, spelt
from gateway.agent.figures import ResultSource, asks_for_figure
from gateway.agent.passages import lines_of
from gateway.agent.pertinent import is_other_label
from gateway.agent.ranking import stem, terms_in
from gateway.agent.tables import Table
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_OPENERS: Final = frozenset((*VOCABULARY.question_openers, *VOCABULARY.leading_prepositions)) - {"why"}
_ALIKE: Final = [frozenset(map(stem, group)) for group in VOCABULARY.same_columns]
"""Words of a question, and what a column with the answer may be called."""

_HOLDING: Final = frozenset(("has", "have", *VOCABULARY.helpers))
_LEAST: Final = 5
"""Letters by which two words are one where the other goes on: "receptionist" and "reception"."""

_SENTENCE: Final = 6
"""Words of a line that is a sentence, and no heading."""

_CONTRACTED: Final = re.compile(r"['’]s\Z")
_DIGIT: Final = re.compile("[0-9]")
_HEADING: Final = re.compile(r"(#+) +(.+)")
_VERSION: Final = re.compile(r"v?[0-9]+(?:\.[0-9]+)+")


def answer_value(wish: str, source: ResultSource) -> str | None:
    """The value that a question asks for, with its place; None where its words do not tell one."""
    words = [_CONTRACTED.sub("", word.bare) for word in words_of(question_in(wish))]
    if not words or words[0] not in _OPENERS or not source.whole or not source.has_lines:
        return None
    if asks_for_figure(wish) or exclusion_in(wish) is not None:
        return None
    asked = list(dict.fromkeys(term for word in words for term in telling(word)))
    table = entries_of(source.text, source.name)
    if table is not None and table.columns:
        if words[0] == "which" and _HOLDING.isdisjoint(words[2:3]):
            # It asks for rows, of which there may be several.
            return None
        return _cell_asked(words, asked, table, source)
    return _section_asked(words, source) or _field_asked(words, asked, source)


def _section_asked(words: Sequence[str], source: ResultSource) -> str | None:
    """What stands below the heading that a question how something is done names, or one what is new in a version."""
    if not (words[0] == "how" and words[1:2] and words[1] not in VOCABULARY.measures) and not any(map(_VERSION.fullmatch, words)):
        return None
    lines = lines_of(source.text)
    heads = {at: found for at, line in enumerate(lines) if (found := _HEADING.fullmatch(line)) is not None}
    asked = [term for word in words for term in ([word] if _VERSION.fullmatch(word) else terms_in(word))]
    held = {
        at: [term for term in asked if term in found[2].split() or any(_is_one(term, each) for each in terms_in(found[2]))]
        for at, found in heads.items()
    }
    best = max(heads, key=lambda at: (len(held[at]), asked.index(held[at][-1]) if held[at] else -1), default=None)
    if best is None or not held[best]:
        return None
    ends = (at for at, found in heads.items() if at > best and len(found[1]) <= len(heads[best][1]))
    end = next(ends, len(lines))
    while not trim(lines[end - 1]):
        end -= 1
    shown = "\n".join(lines[best:end])
    return f"{cited(source.name, range(best + 1, end + 1))}\n\n{excerpt_of(shown).text}"


def _cell_asked(words: Sequence[str], asked: Sequence[str], table: Table, source: ResultSource) -> str | None:
    """The cell of the one row and the one column that the words speak of."""
    held = [_hits(asked, " ".join(row.cells)) for row in table.rows]
    most = max(map(len, held), default=0)
    if most == 0 or [len(each) for each in held].count(most) > 1:
        return None
    at = [len(each) for each in held].index(most)
    row = table.rows[at]
    wanted = [term for term in asked if term not in held[at]]
    named = [len(each) for each in _named(wanted, words, table.columns, source.name)]
    column = named.index(max(named)) if max(named) and named.count(max(named)) == 1 else None
    if column is None or not row.cells[column] or not _fits(words, row.cells[column]):
        return None
    label = next(cell for cell in row.cells if _hits(held[at], cell))
    value = row.cells[column]
    lines = [] if row.line is None else [row.line]
    return None if label == value else f"{label}: {value} {cited(source.name, lines, table.columns[column])}"


def _field_asked(words: Sequence[str], asked: Sequence[str], source: ResultSource) -> str | None:
    """The field that most of the words name, where one has more of them than the others."""
    fields = fields_in(source.text, source.name)
    named = _named(asked, words, [spelt(each.name) for each in fields], f"{source.name} {_known_of(source, fields)}")
    around = [_hits(asked, " ".join((*each.within, *each.beside))) for each in fields]
    ranks = [
        (len(names), len({*names, *others})) if names and _fits(words, each.value) else (0, 0)
        for each, names, others in zip(fields, named, around, strict=True)
    ]
    best = max(ranks, default=(0, 0))
    places = [at for at, rank in enumerate(ranks) if rank == best]
    if best[0] == 0 or len(places) > 1 or best[1] * 2 < len([term for term in asked if term not in terms_in(source.name)]):
        return None
    field = fields[places[0]]
    if is_other_label(asked, field.name):
        return None
    return f"{': '.join((*_label_of(field, asked), field.name, field.value))} {cited(source.name, [field.line])}"


def _known_of(source: ResultSource, fields: Sequence[Field]) -> str:
    """What a text says beside its sentences: those of a mail tell of other days than its date."""
    told = {each.line for each in fields}
    lines = enumerate(lines_of(source.text), 1)
    return "\n".join(line for at, line in lines if at in told or len(words_of(line)) < _SENTENCE)


def _label_of(field: Field, asked: Sequence[str]) -> list[str]:
    """What else a field is told by: the name of its record, or of what it belongs to."""
    return [each for each in (*field.within, *field.beside) if _hits(asked, each)][:1]


def _fits(words: Sequence[str], value: str) -> bool:
    """Whether a value can be what is asked for: a number or a day, or what is neither."""
    is_figure = "when" in words[:2] or (words[0] == "how" and words[1:2] != ["is"])
    if is_figure:
        return _DIGIT.search(value) is not None
    return words[0] not in VOCABULARY.naming_questions or any(map(str.isalpha, value))


def _named(asked: Sequence[str], words: Sequence[str], names: Sequence[str], known: str) -> list[list[str]]:
    """What each name has of a question; where none has any, of what the answer may be called by. Then nothing of the question may
    be left that neither that nor what is `known` has."""
    own = [_hits(asked, name) for name in names]
    if any(own):
        return own
    said = set(map(stem, words))
    alike = [term for group in _ALIKE if group & said for term in sorted(group)]
    is_left = not {*alike, *_hits(asked, known)}.issuperset(asked)
    return [[] if is_left else _hits(alike, name) for name in names]


def _hits(asked: Sequence[str], text: str) -> list[str]:
    """The terms that a text has, or of which it has the beginning or more."""
    terms = terms_in(text)
    return [term for term in asked if any(_is_one(term, each) for each in terms)]


def _is_one(one: str, two: str) -> bool:
    shorter, longer = sorted((one, two), key=len)
    return one == two or (len(shorter) >= _LEAST and longer.startswith(shorter))
