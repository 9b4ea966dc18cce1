"""A setting that is to be changed though nobody says in which file it stands: "find the dark mode setting and turn it on".

It is looked for by its name, as it is said and in the spellings that programs have, and the one file with a line that sets it is
read. Where none has one, or several, nothing is changed, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import is_thing
from gateway.agent.assigned import LEAD, TAIL, VALUE, Assignment, setting_lines
from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.finding import SoughtText
from gateway.agent.further import searches, text_search
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.passages import lines_of
from gateway.agent.reading import reader_among
from gateway.agent.tables import match_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import words_of


@dataclass(frozen=True, slots=True)
class SoughtSetting:
    """What is to be set, in a file that is still to be found, and what is looked for, one after the other."""

    assignment: Assignment
    queries: Sequence[str]


_FLAGS: Final = re.IGNORECASE | re.ASCII
_KEY: Final = r"([A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+){0,2}?)"
_MODE: Final = "mode"
"""A word for settings that their names have as well: "darkMode"."""

_NOUN: Final = rf"(?: (?:{any_of(noun for noun in VOCABULARY.switch_nouns if noun != _MODE)})|(?<= {_MODE}))"
_FINDS: Final = rf"{LEAD}(?:{any_of(VOCABULARY.search_phrases)}) (?:(?:the|my|our) )?{_KEY}{_NOUN}?(?:,? and|,)(?: then)? "
_SETS: Final = rf"(?:{any_of(VOCABULARY.setting_verbs)})"
_ABLE: Final = rf"({any_of((*VOCABULARY.enabling_verbs, *VOCABULARY.disabling_verbs))})"
_IT: Final = r"(?:it|that)"
_SWITCHES: Final = tuple(
    (re.compile(form, _FLAGS), groups)
    for form, groups in (
        (rf"{_FINDS}(?:turn|switch|set) {_IT}(?: to)? (on|off){TAIL}", (1, 2)),
        (rf"{_FINDS}(?:turn|switch) (on|off) {_IT}{TAIL}", (1, 2)),
        (rf"{_FINDS}{_ABLE} {_IT}{TAIL}", (1, 2)),
        (rf"{LEAD}(?:turn|switch|set) (?:(?:the|my|our) )?{_KEY}{_NOUN}(?: to)? (on|off){TAIL}", (1, 2)),
        (rf"{LEAD}(?:turn|switch) (on|off) (?:(?:the|my|our) )?{_KEY}{_NOUN}{TAIL}", (2, 1)),
        (rf"{LEAD}{_ABLE} (?:(?:the|my|our) )?{_KEY}{_NOUN}{TAIL}", (2, 1)),
        # Without a word for what it is, it has no article: "the lights" are in no file.
        (rf"{LEAD}(?:turn|switch) {_KEY} (on|off){TAIL}", (1, 2)),
        (rf"{LEAD}(?:turn|switch) (on|off) {_KEY}{TAIL}", (2, 1)),
        (rf"{LEAD}{_ABLE} {_KEY}{TAIL}", (2, 1)),
    )
)
"""How it is said that something is turned on or off, and the groups of its name and of that."""

_VALUES: Final = tuple(
    re.compile(form, _FLAGS)
    for form in (
        rf"{_FINDS}{_SETS} {_IT} to {VALUE}{TAIL}",
        rf"{LEAD}{_SETS} (?:(?:the|my|our) )?{_KEY}{_NOUN} to {VALUE}{TAIL}",
        rf"{LEAD}{_SETS} ([A-Za-z]+(?:[_.-][A-Za-z0-9]+)+) (?:to|=) {VALUE}{TAIL}",
    )
)
"""How a value is set, of what only a setting is called: by its name in a program, or by a word for settings."""

_ON: Final = frozenset(("on", *VOCABULARY.enabling_verbs))
_NO_NAMES: Final = frozenset(
    (
        *(*VOCABULARY.link_words, *VOCABULARY.articles, *VOCABULARY.whole_nouns, *VOCABULARY.document_nouns),
        *(*VOCABULARY.file_references, *VOCABULARY.phrase_ends, "and", "all", "everything"),
    )
)
"""Words that no name of a setting has."""


def sought_setting(wish: str) -> SoughtSetting | None:
    """What a wish sets without saying where; None for any other wish."""
    assignment = _assignment_in(trim(wish))
    if assignment is None or not _is_name(assignment.key):
        return None
    words = assignment.key.split(" ")
    named = " ".join(words[:-1]) if words[1:] and words[-1] == _MODE else assignment.key
    spellings = (*(joint.join(words) for joint in (" ", "", "_", "-")), named)
    return SoughtSetting(assignment, list(dict.fromkeys(spellings)))


def seeking_call(sought: SoughtSetting, tried: int, tools: Sequence[Tool]) -> ProposedCall | None:
    """The search for its next spelling, after so many; None where all were tried, or where no tool searches."""
    query = next(iter(sought.queries[tried:]), None)
    return None if query is None else text_search(query, SoughtText(query, "", query), tools)


def next_sought(sought: SoughtSetting, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy) -> ProposedCall | str:
    """What follows the searches: a further one, the read of the file that sets it, or the words where there is none."""
    reader, files = reader_among(tools), _files_in(sought.assignment, calls[-1])
    assert reader is not None
    if len(files) == 1:
        return ProposedCall(reader[0], {reader[1]: files[0]})
    key = sought.assignment.key
    if files:
        return copy.say("settingFiles", key=key, names=", ".join(f"`{file}`" for file in files))
    return seeking_call(sought, len(list(filter(searches, calls))), tools) or copy.say("settingNowhere", key=key)


def _files_in(assignment: Assignment, search: ToolMessage) -> list[str]:
    """The files of which a line that was found sets it."""
    matches = [found for line in lines_of(search.result["content"]) if (found := match_of(line)) is not None]
    return list(dict.fromkeys(path for path, text in matches if setting_lines(assignment, text)))


def _assignment_in(text: str) -> Assignment | None:
    for form, (key, way) in _SWITCHES:
        if (found := form.search(text)) is not None:
            value = "on" if found[way].lower() in _ON else "off"
            return Assignment(found[key], value, "", is_literal=False, switches=True)
    found = next((found for form in _VALUES if (found := form.search(text)) is not None), None)
    return None if found is None else Assignment(found[1], found[2], "", is_literal=False)


def _is_name(key: str) -> bool:
    words = words_of(key)
    return not any(word.bare in _NO_NAMES or is_thing(key[word.start : word.end]) for word in words)
