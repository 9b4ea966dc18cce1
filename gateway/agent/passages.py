"""The parts of a long text that a question is answered from, and where in a text an answer stands.

A place is found by code and never asked of a model: the lines that hold the answer's own words. What is not found there is
given no place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.budget import cut, length_of
from gateway.agent.limits import LIMITS
from gateway.agent.ranking import score, stem, terms_in
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_WINDOW: Final = LIMITS.passage_lines
"""Lines of a passage. Passages overlap by half, so that none cuts what belongs together."""

_MOST_PLACE: Final = LIMITS.place_lines
"""Lines that a place may span. What stands further apart stands nowhere in particular."""

_LIGHT: Final = frozenset(map(stem, VOCABULARY.light_words))
"""Words of an answer that say nothing of where it comes from."""

_ASKING: Final = frozenset(VOCABULARY.question_openers)
_CHOOSING: Final = frozenset(VOCABULARY.choosing_words)
_AMOUNTS: Final = frozenset({"much", "many"})
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_DIGITS: Final = re.compile(r"[0-9]+")
_LETTERS: Final = re.compile(r"[a-z]+")
_ZEROS: Final = re.compile(r"[.,]0+\Z")
_NUMBER_WORDS: Final = {word: str(number) for word, number in VOCABULARY.number_words.items()}


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a text, counted from 1, both included."""

    first: int
    last: int


def lines_of(text: str) -> list[str]:
    """The lines of a text, without an empty one after the last."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def fitting_passages(text: str, question: str, room: int) -> str:
    """The whole text where it fits into `room` characters, else the passages that answer the question best, in their order, with
    what is left out between them; the beginning, where no passage has anything of the question."""
    if length_of(text) <= room:
        return text
    lines = lines_of(text)
    starts = range(0, len(lines), max(1, _WINDOW // 2))
    scores = score(_asked_in(question), [Counter(terms_in("\n".join(lines[at : at + _WINDOW]))) for at in starts])
    ranked = sorted((at for at in range(len(scores)) if scores[at] > 0), key=lambda at: -scores[at])
    kept: set[int] = set()
    for at in ranked:
        wider = kept.union(range(starts[at], min(starts[at] + _WINDOW, len(lines))))
        if length_of(_told(lines, wider)) <= room:
            kept = wider
    return _told(lines, kept) if kept else cut(text, room)


def place_of(answer: str, question: str, text: str, name: str = "") -> Place | None:
    """The fewest lines that hold what an answer says, or None where no few lines hold half of it and every number of it.

    Where an answer says more than the question did, only that counts; the question's own words decide between lines that are as
    good. The file's `name` counts for nothing.
    """
    asked = set(terms_in(question))
    terms = {term for term in terms_in(answer) if term not in _LIGHT}.difference(terms_in(name))
    own = (terms - asked) or terms
    numbers = {term for term in terms if _DIGITS.fullmatch(term)}
    lines = [(terms | asked).intersection(terms_in(line)) for line in lines_of(text)]
    best, found, most = Place(0, 0), 0, 0
    for size in range(1, min(_MOST_PLACE, len(lines)) + 1):
        for at in range(len(lines) - size + 1):
            held = set[str]().union(*lines[at : at + size])
            said = len(held & own)
            is_closer = said == found > 0 and best.last - best.first + 1 == size and len(held) > most
            if numbers <= held and (said > found or is_closer):
                best, found, most = Place(at + 1, at + size), said, len(held)
    return best if found and found * 2 >= len(own) else None


def missed_line(answer: str, question: str, text: str, name: str = "", query: str = "") -> int | None:
    """The line that a question plainly points at and of which an answer says nothing, or has other numbers; None where it says
    something, or where no line stands out. Plainly is two words or more of the question, and more than in any other line, or all
    of the `query` by which the file was found, in this line alone. The file's `name` counts for nothing."""
    asked, sought = set(_asked_in(question)).difference(terms_in(name)), set(terms_in(query))
    lines = [set(terms_in(line)) for line in lines_of(text)]
    held = [len(asked & line) + (len(asked) + 2 if sought and sought <= line else 0) for line in lines]
    most = max(held, default=0)
    if most < 2 or held.count(most) > 1:
        return None
    if not _AMOUNTS.isdisjoint(terms_in(question)) and not _DIGITS.search(lines_of(text)[held.index(most)]):
        # "How much is the water bill" is answered by a line with a number, not by the title.
        return None
    own, said = lines[held.index(most)] - asked - sought - _LIGHT, set(terms_in(answer))
    numbers = [{term for term in terms if _DIGITS.fullmatch(term)} for terms in (own, said)]
    is_of_another = all(numbers) and numbers[0].isdisjoint(numbers[1])
    return held.index(most) + 1 if own and (is_of_another or own.isdisjoint(said)) else None


def repeats_question(answer: str, question: str) -> bool:
    """Whether an answer has no word but those of its question, such as "The hotel is in Lisbon" to "what is our hotel in Lisbon
    called?". A question for a yes or a choice can be answered in its own words."""
    words = [word.bare.removesuffix("'s") for word in words_of(question)]
    is_open = not _ASKING.isdisjoint(words) and _CHOOSING.isdisjoint(words) and words[0] not in VOCABULARY.yes_no_words
    said = {term for term in terms_in(answer) if term not in _LIGHT}
    return is_open and bool(said) and said.issubset(terms_in(question))


def closest_lines(text: str, question: str, most: int) -> list[int]:
    """Numbers of the lines that hold most of a question's terms, in their order; the first ones where none does."""
    lines = lines_of(text)
    scores = score(_asked_in(question), [Counter(terms_in(line)) for line in lines])
    ranked = sorted((at for at in range(len(lines)) if scores[at] > 0), key=lambda at: -scores[at])
    return sorted(at + 1 for at in ranked[:most]) or list(range(1, min(most, len(lines)) + 1))


def invents_number(answer: str, sources: Sequence[str]) -> bool:
    """Whether an answer holds a number that none of its sources does: one that was computed, made up, or taken from elsewhere."""
    told = {number for source in sources for number in _numbers_in(source)}
    told |= {_NUMBER_WORDS[term] for source in sources for term in _LETTERS.findall(source.lower()) if term in _NUMBER_WORDS}
    return not told.issuperset(_numbers_in(answer))


def _numbers_in(text: str) -> list[str]:
    """Its numbers without separators, and without decimals that say nothing."""
    return [re.sub("[.,]", "", _ZEROS.sub("", found)).lstrip("0") or "0" for found in _NUMBER.findall(text)]


def _asked_in(question: str) -> list[str]:
    return [term for term in terms_in(question) if term not in _LIGHT]


def _told(lines: Sequence[str], kept: set[int]) -> str:
    """These lines, with what is left out before, between and after them."""
    told: list[str] = []
    left_out = 0
    for at, line in enumerate(lines):
        if at not in kept:
            left_out += 1
            continue
        told += [_gap(left_out)] if left_out else []
        told.append(line)
        left_out = 0
    return "\n".join([*told, *([_gap(left_out)] if left_out else [])])


def _gap(lines: int) -> str:
    return f"…[left out {lines} {'line' if lines == 1 else 'lines'}]"
