"""Files that a wish compares: "which of a.txt and b.txt is cheaper?", "compare a.txt and b.txt".

All of them are read. Which one is cheaper, longer or newer is told by code, and only where each has exactly one amount, all of
its text, or one day; otherwise what they say is shown, and no model makes an answer of a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.agent.acts import READING, asked_acts, bare_thing, is_thing
from gateway.agent.answers import source_of
from gateway.agent.budget import length_of
from gateway.agent.copy import Copy
from gateway.agent.excerpts import cited, excerpt_of
from gateway.agent.figures import ResultSource
from gateway.agent.kept import page_of
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.passages import lines_of
from gateway.agent.picking import by_age
from gateway.agent.quantities import numbers_in, read_quantities, scaled
from gateway.agent.reading import is_file, reader_among
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import words_of


class Measure(StrEnum):
    """By what files are compared, and which of them is asked for."""

    LESS = "Less"
    MORE = "More"
    LONGER = "Longer"
    SHORTER = "Shorter"
    NEWER = "Newer"
    OLDER = "Older"
    NONE = "Shown"
    """Nothing is asked for but to see them."""


@dataclass(frozen=True, slots=True)
class FileComparison:
    """The files that are compared, in the order of the wish, and by what."""

    files: Sequence[str]
    measure: Measure


@dataclass(frozen=True, slots=True)
class _Value:
    """What a file is compared by, as a number that is larger where there is more of it, and how that is shown."""

    rank: int
    shown: str


_MEASURE_OF: Final = {word: Measure(measure) for measure, words in VOCABULARY.compared_by.items() for word in words}
_MEASURED: Final = re.compile(rf"\b({any_of(_MEASURE_OF)})(?: (\w+))?", re.ASCII)
_AMOUNTS: Final = frozenset({Measure.LESS, Measure.MORE})
_LENGTHS: Final = frozenset({Measure.LONGER, Measure.SHORTER})
_UPWARD: Final = frozenset({Measure.MORE, Measure.LONGER, Measure.NEWER})
_OF_FILES: Final = frozenset((*VOCABULARY.link_words, *VOCABULARY.phrase_ends, *VOCABULARY.document_nouns, "one"))
_FIGURES: Final = frozenset(VOCABULARY.figure_nouns)
_ASKING: Final = frozenset((*VOCABULARY.question_words, "whether", "if"))
_COMPARING: Final = frozenset(VOCABULARY.comparing_verbs)
_DAY: Final = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_PRODUCTS: Final = (".js", *(f".{ending}" for ending in VOCABULARY.site_endings))
"""Endings of names that the world knows: the difference between node.js and vue.js stands in no file."""

_FEWEST: Final = 2
_MOST: Final = 3
"""Files that are read for one comparison."""


def comparison_in(wish: str, tools: Sequence[Tool]) -> FileComparison | None:
    """The files that a wish compares; None for any other wish, and where no tool reads."""
    words = words_of(wish)
    things = [word for word in words if is_thing(wish[word.start : word.end])]
    files = list(dict.fromkeys(bare_thing(wish[word.start : word.end]) for word in things))
    said = [word.bare for word in words if word not in things]
    measures = measures_in(said)
    compares = not _COMPARING.isdisjoint(said)
    is_asked = compares or (bool(measures) and not _ASKING.isdisjoint(said))
    are_files = _FEWEST <= len(files) <= _MOST and all(is_file(each) and not each.endswith(_PRODUCTS) for each in files)
    if not are_files or len(measures) > 1 or not is_asked:
        return None
    if reader_among(tools) is None or any(each.act != READING for each in asked_acts(wish)):
        return None
    return FileComparison(files, next(iter(measures), Measure.NONE))


def next_compared(
    comparison: FileComparison, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy
) -> ProposedCall | str:
    """The read that follows these calls; once all files are read, what they come to."""
    reader = reader_among(tools)
    assert reader is not None
    read = [each for each in calls if each.call["name"] == reader[0]]
    if len(read) < len(comparison.files):
        return ProposedCall(reader[0], {reader[1]: comparison.files[len(read)]})
    return told_of(comparison.measure, read, copy)


def measures_in(said: Sequence[str]) -> set[Measure]:
    """By what these words compare files."""
    found: list[tuple[str, str]] = _MEASURED.findall(" ".join(said))
    return {_MEASURE_OF[word] for word, after in found if _is_of_files(_MEASURE_OF[word], after)}


def _is_of_files(measure: Measure, after: str) -> bool:
    """Whether it is the files that are compared, and not something in them: "the longest word"."""
    return not after or after in _OF_FILES or (measure in _AMOUNTS and after in _FIGURES)


def told_of(measure: Measure, read: Sequence[ToolMessage], copy: Copy) -> str:
    """Which file it is, and by what; where code cannot tell that, what the files say."""
    sources = [source_of(each) for each in read]
    are_whole = all(each.whole for each in sources) and not any(page_of(each.result["content"]).note for each in read)
    values = _values_of(measure, sources) if are_whole else ()
    if not values:
        said = copy.say("comparedShown" if measure is Measure.NONE else "comparedOpen")
        return "\n\n".join((said, *(f"{cited(each.name)}\n\n{excerpt_of(each.text).text}" for each in sources)))
    ranks = [each.rank for each in values]
    best = max(ranks) if measure in _UPWARD else min(ranks)
    shown = "\n".join(f"- {each.shown}" for each in values)
    if ranks.count(best) > 1:
        return f"{copy.say('comparedSame')}\n\n{shown}"
    return f"{copy.say(f'compared{measure}', file=sources[ranks.index(best)].name)}\n\n{shown}"


def _values_of(measure: Measure, sources: Sequence[ResultSource]) -> Sequence[_Value]:
    """What each of the files is compared by; none where one has no such value, or more of them."""
    if measure in _AMOUNTS:
        return _amounts_of(sources)
    if measure in _LENGTHS:
        lengths = [length_of(each.text) for each in sources]
        return [_Value(length, f"{length} {cited(each.name)}") for each, length in zip(sources, lengths, strict=True)]
    return [] if measure is Measure.NONE else _days_of(sources)


def _amounts_of(sources: Sequence[ResultSource]) -> Sequence[_Value]:
    found = [
        [(number, place) for place, line in enumerate(lines_of(each.text), 1) for number in numbers_in(line)] for each in sources
    ]
    paid = [[pair for pair in pairs if pair[0].unit.isupper()] or pairs for pairs in found]
    numbers = [pair[0] for pairs in paid for pair in pairs]
    read = read_quantities(numbers)
    if read is None or any(len(pairs) != 1 for pairs in paid):
        return []
    scale = max(each.scale for each in read[0])
    return [
        _Value(scaled(amount, scale), f"{number.text} {cited(source.name, [place])}")
        for amount, [(number, place)], source in zip(read[0], paid, sources, strict=True)
    ]


def _days_of(sources: Sequence[ResultSource]) -> Sequence[_Value]:
    names = [each.name for each in sources]
    if ranked := by_age("oldest", names):
        return [_Value(ranked.index(name), f"`{name}`") for name in names]
    days = [
        {found: place for place, line in reversed(list(enumerate(lines_of(each.text), 1))) for found in _DAY.findall(line)}
        for each in sources
    ]
    if any(len(each) != 1 for each in days):
        return []
    told = [next(iter(each.items())) for each in days]
    return [
        _Value(int(day.replace("-", "")), f"{day} {cited(name, [place])}") for (day, place), name in zip(told, names, strict=True)
    ]
