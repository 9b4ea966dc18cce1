"""Numbers of an answer that stand in a result, but of something else: in the row of another name, in the paper of another month.

Only where it is plain: a row of a table whose name the answer says has another number, or a question is about one month and
the number stands with other months alone. What can be counted or added up is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.borne_out import cells_in, plain_number, reckoned_of, written_numbers
from gateway.agent.browser import as_json
from gateway.agent.messages import ToolMessage
from gateway.agent.passages import lines_of
from gateway.agent.ranking import terms_in
from gateway.agent.sentences import sentences_of
from gateway.agent.tables import match_of
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_LETTER: Final = re.compile(r"[^\W\d_]")
_DATED: Final = re.compile(r"(?<![0-9])[12][0-9]{3}-([01][0-9])(?![0-9])")
_MONTHS: Final = {name: number for number, names in enumerate(VOCABULARY.months, 1) for name in names}
_BEFORE_MONTH: Final = frozenset(VOCABULARY.leading_prepositions)
_FEWEST_ROWS: Final = 3
_FEWEST_CELLS: Final = 2


@dataclass(frozen=True, slots=True)
class _Place:
    """Where numbers stand: a row of a table, or all of a text. `months` are those that it tells."""

    terms: frozenset[str]
    numbers: frozenset[str]
    months: frozenset[int]


def values_elsewhere(text: str, question: str, closed: Sequence[ToolMessage]) -> list[str]:
    """The numbers of an answer to a question that the results have of something else alone, as they are written."""
    done = [each for each in closed if each.result["outcome"] == "ok"]
    tables = [table for each in done if (table := _table_in(each))]
    texts = [place for each in done if not _table_in(each) for place in _texts_in(each)]
    reckoned = reckoned_of([each.result["content"] for each in done]) | set(map(plain_number, written_numbers(question)))
    months = _months_in(question)
    found: list[str] = []
    for sentence in sentences_of(text):
        for written in written_numbers(sentence):
            number = plain_number(written)
            places = [place for place in (*(row for table in tables for row in table), *texts) if number in place.numbers]
            if number in reckoned or not places:
                continue
            of_others = len(months) == 1 and all(place.months and place.months.isdisjoint(months) for place in places)
            in_text = any(number in place.numbers for place in texts)
            if of_others or (not in_text and any(_is_of_other_row(number, (sentence, question), table) for table in tables)):
                found.append(written)
    return list(dict.fromkeys(found))


def _is_of_other_row(number: str, said: Sequence[str], table: Sequence[_Place]) -> bool:
    """Whether rows of a table are told by what is said, and the number stands in others alone."""
    common = {term for term in table[0].terms if all(term in row.terms for row in table)}
    for text in said:
        terms = {term for term in terms_in(text) if _LETTER.search(term)} - common
        meant = [row for row in table if not row.terms.isdisjoint(terms)]
        if meant:
            return len(meant) < len(table) and not any(number in row.numbers for row in meant)
    return False


def _table_in(message: ToolMessage) -> list[_Place]:
    """The rows of a result that is a table, without their heading; none where it is none."""
    lines = [line for line in lines_of(message.result["content"]) if line.strip(" ")]
    sizes = {len(cells_in(line)) for line in lines}
    if len(sizes) != 1 or len(lines) <= _FEWEST_ROWS or min(sizes) < _FEWEST_CELLS:
        return []
    return [_place_of(line) for line in lines[1:]]


def _texts_in(message: ToolMessage) -> Iterator[_Place]:
    """The texts of a result: each line that a search found, with its file; else all, with what the call was given."""
    lines = lines_of(message.result["content"])
    if any(map(match_of, lines)):
        yield from map(_place_of, lines)
    else:
        given = as_json(message.call["arguments"])
        yield _Place(
            frozenset(terms_in(message.result["content"])),
            frozenset(map(plain_number, written_numbers(message.result["content"]))),
            _months_in(f"{given}\n{message.result['content']}"),
        )


def _place_of(text: str) -> _Place:
    numbers = (part for number in written_numbers(text) for part in (number, *number.split(",")))
    return _Place(frozenset(terms_in(text)), frozenset(map(plain_number, numbers)), _months_in(text))


def _months_in(text: str) -> frozenset[int]:
    """The months that a text tells, by name or in a date. A "may" that only allows something is none."""
    found = {int(month) for month in _DATED.findall(text)}
    before = ""
    for word in words_of(text):
        is_name = text[word.start : word.end].lstrip("\"'(*#-")[:1].isupper() or before in _BEFORE_MONTH or before.isdecimal()
        if word.bare in _MONTHS and is_name:
            found.add(_MONTHS[word.bare])
        before = word.bare
    return frozenset(found)
