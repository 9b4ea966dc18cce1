"""How bad a line of a log says that something is: "WARN" and "warnings" are one word for it.

People ask for errors and warnings; a log has them in its own short words. Code tells the lines apart, so that none means none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import bare_thing
from gateway.agent.assigned import LEAD
from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.excerpts import cited, excerpt_of
from gateway.agent.figures import ResultSource
from gateway.agent.levels import is_log, leveled
from gateway.agent.passages import lines_of
from gateway.agent.ranking import terms_in
from gateway.agent.vocabulary import VOCABULARY, any_of


@dataclass(frozen=True, slots=True)
class LevelAsked:
    """The word for how bad they are, the file, and 0 or -1 where only the first or the last is asked for."""

    level: str
    file: str
    place: int | None


_LEVELS: Final = any_of(word for words in VOCABULARY.log_levels.values() for word in words)
_VERBS: Final = any_of((*VOCABULARY.opening_verbs, *VOCABULARY.viewing_verbs, *VOCABULARY.search_phrases, "list", "get"))
_ASKS: Final = any_of((*VOCABULARY.line_leads, *VOCABULARY.level_asks))
_PLACES: Final = any_of(VOCABULARY.line_places)
_HEAD: Final = (
    rf"{LEAD}(?:(?:{_VERBS})(?: (?:me|us))?|{_ASKS})(?: (?:{any_of(VOCABULARY.level_leads)}))* (?:({_PLACES}) )?({_LEVELS})"
    rf"(?: (?:{any_of(VOCABULARY.level_nouns)}))?(?: (?:{any_of(VOCABULARY.level_links)}))*"
)
_IN: Final = rf" (?:{any_of(VOCABULARY.level_places)})(?: the)?(?: file)?"
_ASKED: Final = re.compile(rf"{_HEAD}{_IN} ([^ ,;]+\.[A-Za-z]+)[.?! ]*$", re.IGNORECASE | re.ASCII)
_SHOWN: Final = any_of((*VOCABULARY.file_references, *VOCABULARY.places))
_POINTED: Final = re.compile(
    rf"{_HEAD}(?:(?:{_IN})? (?:{_SHOWN})|{_IN}(?: [a-z-]+){{1,2}}(?= logs?\b))?"
    rf"(?: logs?)?()[.?! ]*$",
    re.IGNORECASE | re.ASCII,
)
"""The same of a log that is shown already: "are there any errors in this?"."""


def lines_of_level(wish: str) -> LevelAsked | None:
    """The lines that a wish asks to see of a file; None for any other wish."""
    return _level_in(_ASKED.search(trim(wish)))


def _level_in(found: re.Match[str] | None) -> LevelAsked | None:
    if found is None:
        return None
    place = VOCABULARY.line_places[found[1].lower()] if found[1] else 0
    at = {1: 0, -1: -1}.get(place)
    return None if found[1] and at is None else LevelAsked(found[2].lower(), bare_thing(found[3]), at)


def answer_level(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """These lines, with how many there are and where; None where that is not what a wish asks for."""
    asked = lines_of_level(wish)
    if asked is None and is_log(source.name, source.text):
        asked = _level_in(_POINTED.search(trim(wish)))
    if asked is None or not source.has_lines or not source.whole:
        return None
    level, lines = leveled(terms_in(asked.level)), lines_of(source.text)
    places = [at for at, line in enumerate(lines, 1) if level <= leveled(terms_in(line))]
    shown = places if asked.place is None else places[asked.place :][:1]
    noun = copy.say("lineOne" if len(shown) == 1 else "lineMany")
    said = f"{copy.say('counted', count=str(len(shown)), noun=noun)} {cited(source.name, shown)}"
    if not shown:
        return said
    excerpt = excerpt_of("\n".join(lines[place - 1] for place in shown))
    rest = f"\n{copy.say('leftOut', rest=str(excerpt.left_out))}" if excerpt.left_out else ""
    return f"{said}:\n\n{excerpt.text}{rest}"
