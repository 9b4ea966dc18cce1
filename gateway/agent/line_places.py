"""Lines of a file that a wish tells by their place: "the first three lines of a.log", "the last line of it", "line 4 of a.txt".

They are counted off by code. A small model that is shown the file gives some other line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import bare_thing, is_thing
from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.excerpts import cited, excerpt_of
from gateway.agent.figures import ResultSource
from gateway.agent.passages import lines_of
from gateway.agent.reading import is_file
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS


@dataclass(frozen=True, slots=True)
class LinesAsked:
    """Which lines of which file: the `first` and the `last` of them, counted from 1, or from the end where they are negative."""

    file: str
    first: int
    last: int


_PLACES: Final = VOCABULARY.line_places
_NUMBERS: Final = VOCABULARY.number_words
_LINES: Final = any_of(VOCABULARY.counted_nouns["line"])
_LEAD: Final = rf"(?:(?:{any_of({*VOCABULARY.fillers, *WISH_WORDS.fillers, *WISH_WORDS.openers})})[ ,]+)*"
_SHOWS: Final = any_of((*VOCABULARY.opening_verbs, *VOCABULARY.viewing_verbs, *VOCABULARY.line_leads))
_TAIL: Final = rf"(?: (?:{any_of(VOCABULARY.content_verbs)}))?[.!?]*(?:,? (?:{any_of(WISH_WORDS.tails)}))*[.!?]*"
_ASKED: Final = re.compile(
    rf"{_LEAD}(?:(?:{_SHOWS}) (?:(?:{any_of(WISH_WORDS.sharing)}) )?)*(?:(?:{any_of(VOCABULARY.kept_leads)}) )?"
    rf"(?:({any_of(_PLACES)})(?: ([1-9][0-9]{{0,2}}|{any_of(_NUMBERS)}))? (?:{_LINES})"
    rf"|(?:{_LINES}) ([1-9][0-9]{{0,6}})(?: ?(?:{any_of(VOCABULARY.line_joints)}) ?([1-9][0-9]{{0,6}}))?"
    r"|([1-9][0-9]{0,6})(?:st|nd|rd|th) line)"
    rf" (?:{any_of(VOCABULARY.folder_links)}|of) (?:(?:{any_of(VOCABULARY.kept_leads)}) )?(?:file )?([^ \n]+){_TAIL}",
    re.IGNORECASE | re.ASCII,
)


def lines_asked(wish: str) -> LinesAsked | None:
    """The lines that a wish asks to see by their place in one file; None for any other wish."""
    found = _ASKED.fullmatch(trim(wish))
    file = bare_thing(found[6].rstrip("?!,;:")) if found else ""
    if found is None or not is_thing(file) or not is_file(file):
        return None
    if found[1] is None:
        numbers = sorted(int(each) for each in found.group(3, 4, 5) if each)
        return LinesAsked(file, numbers[0], numbers[-1])
    place, count = _PLACES[found[1].lower()], _count_in(found[2])
    if place < 0:
        return LinesAsked(file, -count, -1)
    # "The second two lines" could be two places.
    return LinesAsked(file, place, place + count - 1) if place == 1 or count == 1 else None


def answer_lines(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """The lines that a wish tells by their place, with that place; None where it tells none, or where the text ends too early."""
    asked = lines_asked(wish)
    if asked is None or not source.has_lines:
        return None
    lines = lines_of(source.text)
    is_ahead = asked.first > 0 and asked.last < len(lines)
    if not source.whole and not is_ahead:
        return None
    count = len(lines)
    first, last = (each if each > 0 else max(1, count + 1 + each) for each in (asked.first, asked.last))
    places = range(first, min(last, count) + 1)
    if not places:
        return f"{_counted(count, copy)} {cited(source.name)}"
    excerpt = excerpt_of("\n".join(lines[place - 1] for place in places))
    rest = f"\n{copy.say('leftOut', rest=str(excerpt.left_out))}" if excerpt.left_out else ""
    return f"{_counted(len(places), copy)} {cited(source.name, places)}:\n\n{excerpt.text}{rest}"


def _counted(count: int, copy: Copy) -> str:
    return copy.say("counted", count=str(count), noun=copy.say("lineOne" if count == 1 else "lineMany"))


def _count_in(word: str | None) -> int:
    return 1 if word is None else _NUMBERS.get(word.lower()) or int(word)
