"""One paper that is told by its day, or by its name and its folder: "the minutes of 11 february", "the rules draft in old".

Names of files have days in figures and people say them in words, so what is looked for are the figures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from gateway.agent.days import find_days, plain
from gateway.agent.entries import telling
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import words_of

_PAPERS: Final = any_of((*VOCABULARY.document_nouns, *VOCABULARY.named_papers, *VOCABULARY.dated_papers))
_BEFORE: Final = re.compile(rf"\b(?:\w+ )?(?:{_PAPERS})(?: (?:{any_of(VOCABULARY.dated_by)}))?(?: the)? $", re.ASCII)
_AFTER: Final = re.compile(rf"^ (?:\w+ )?(?:{_PAPERS})\b", re.ASCII)
_NEAR: Final = any_of(VOCABULARY.near_days)
_TOLD_BY_DAY: Final = any_of(
    {*VOCABULARY.document_nouns, *VOCABULARY.named_papers, *VOCABULARY.dated_papers} - {*VOCABULARY.counted_nouns["file"], "list"}
    | {"note", "notes"}
)
_OF_DAY: Final = re.compile(rf"\b(?:(?:the|my|our) )?({_NEAR})['’]s ((?:\w+ )?(?:{_TOLD_BY_DAY}))\b", re.IGNORECASE | re.ASCII)
_FROM_DAY: Final = re.compile(rf"\b({_TOLD_BY_DAY}) (?:{any_of(VOCABULARY.dated_by)}) ({_NEAR})\b", re.IGNORECASE | re.ASCII)
"""A paper that is told by how far its day is away: "yesterday's log", "the minutes from today"."""

_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}")
_SOME_DAY: Final = date(2024, 12, 31)
"""Only the day and the month are taken of a day without a year."""

_PLACED: Final = re.compile(
    rf"^((?:{any_of(VOCABULARY.described_leads)}) .+?) (?:{any_of(VOCABULARY.inside_words)}) "
    r"(?:(?:the|my|our) )?([A-Za-z][^ ,;?!.]*)(?: (?:folder|directory))?$",
    re.IGNORECASE | re.ASCII,
)
_DAYS: Final = frozenset((*VOCABULARY.weekdays, *(name for names in VOCABULARY.months for name in names)))
_PARTS: Final = frozenset(VOCABULARY.question_openers) - {"what"}
_PICKS: Final = frozenset(word for words in VOCABULARY.picks.values() for word in words)
_MOST_WORDS: Final = 5
_CERTAIN: Final = 10
"""From this day of a month on it stands in no other one: "5 february" is a part of "25 february"."""
_CONTENT: Final = frozenset((*VOCABULARY.content_verbs, *VOCABULARY.viewing_verbs))


@dataclass(frozen=True, slots=True)
class DatedPaper:
    """A paper of a day: what is looked for, which is patterns of names first and then its words, and whether a wish only asks to
    see it."""

    queries: Sequence[str]
    is_shown: bool


def dated_paper(wish: str) -> DatedPaper | None:
    """The paper that a wish tells by its day; None for any other wish."""
    text = plain(wish)
    for found in find_days(text, _SOME_DAY, ahead=False):
        said, day = text[found.start : found.end], found.day
        around = [_BEFORE.search(text[: found.start]), _AFTER.search(text[found.end :])]
        if day is None or not any(around) or not any(map(str.isdecimal, said)):
            continue
        before, after = (each[0] if each else "" for each in around)
        month_day = f"{day.month:02}-{day.day:02}"
        queries = list(dict.fromkeys((f"*{month_day}*", f"*{day.day:02}-{day.month:02}*")))
        if _YEAR.search(said):
            queries.insert(0, f"*{day.year}-{month_day}*")
        rest = f"{text[: found.start - len(before)]} {text[found.end + len(after) :]}"
        told = [word.bare for word in words_of(rest) if word.bare not in _CONTENT and telling(word.bare)]
        asks_part = not _PARTS.isdisjoint(word.bare for word in words_of(rest))
        if day.day >= _CERTAIN:
            queries.append(f"{day.day} {VOCABULARY.months[day.month - 1][0]}")
        return DatedPaper(queries, not told and not asks_part)
    return None


def with_day(wish: str, today: date) -> str:
    """A wish with the day of a paper in figures that it tells by how far away that is; as it is where it tells none."""

    def figures(said: str) -> str:
        return (today + timedelta(days=VOCABULARY.near_days[said.lower()])).isoformat()

    told = _OF_DAY.sub(lambda found: f"the {found[2]} of {figures(found[1])}", wish)
    return _FROM_DAY.sub(lambda found: f"{found[1]} of {figures(found[2])}", told)


def placed_paper(thing: str) -> tuple[str, str] | None:
    """What a thing is called and the folder it is in: "the rules draft in old"; None where it is told otherwise."""
    found = _PLACED.match(thing)
    words = [word.bare for word in words_of(found[1])] if found else []
    if found is None or found[2].lower() in _DAYS or len(words) > _MOST_WORDS or not _PICKS.isdisjoint(words):
        return None
    return found[1], found[2].rstrip("/")
