"""A value that is to be set in a file, "set port = 9000 in app.toml", and the one line of the file that holds it.

Of such a wish a small model replaces the name by the value, or writes the whole file anew; which text has to change only the file
can tell. Whatever is in doubt changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import ACTS, READING
from gateway.agent.browser import trim
from gateway.agent.passages import lines_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be set to which value, and where. `is_literal`: the value is written as a program's text, with its quotes.
    `condition` is the value that has to stand there, empty for any."""

    key: str
    value: str
    file: str
    is_literal: bool
    condition: str = ""


@dataclass(frozen=True, slots=True)
class LineChange:
    """A text of a file and what takes its place."""

    old: str
    new: str


_FLAGS: Final = re.IGNORECASE | re.ASCII
_LEAD: Final = rf"^(?:(?:{any_of({*VOCABULARY.fillers, *VOCABULARY.cues, *WISH_WORDS.fillers})})[, ]+)*"
_SETS: Final = rf"(?:{any_of(VOCABULARY.setting_verbs)}) (?:(?:the|my|our) )?"
_KEY: Final = r"([A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+){0,3}?)"
_FILE: Final = r"(?:(?:the|my|our) )?(?:file )?[\"'`]?([^\s\"'`,;:?!()]*[^\s\"'`,;:?!()./]\.[A-Za-z][A-Za-z0-9]*)[\"'`]?"
_VALUE: Final = r"(\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|[^\s\"'`\n](?:[^\"'`\n]{0,80}?[^\s\"'`\n])??)"
_JOINT: Final = r"(?: (to|as) | ?(=|:=|:) ?)"
_TAIL: Final = rf"(?:,? (?:{any_of((*WISH_WORDS.tails, 'instead'))}))*[.!?]*$"
_PLACE: Final = rf"(?:{any_of(VOCABULARY.setting_places)})"
_FORMS: Final = (
    (re.compile(rf"{_LEAD}{_SETS}{_KEY}{_JOINT}{_VALUE} {_PLACE} {_FILE}{_TAIL}", _FLAGS), (1, 2, 4, 5)),
    (re.compile(rf"{_LEAD}{_SETS}{_KEY} {_PLACE} {_FILE}{_JOINT}{_VALUE}{_TAIL}", _FLAGS), (1, 3, 5, 2)),
    (re.compile(rf"{_LEAD}in {_FILE},? {_SETS}{_KEY}{_JOINT}{_VALUE}{_TAIL}", _FLAGS), (2, 3, 5, 1)),
)
"""How it is said, and the groups of the key, of "to", of the value and of the file."""

_STATE: Final = r"(\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`|[^\s\"'`,;]*[^\s\"'`,;.!?])"
_IF: Final = rf"if (?:(?:the|my|our) )?{_KEY} is (?:(?:set to|still|currently) )?{_STATE}"
_THEN: Final = (
    rf",? (?:(?:then|please) )*(?:{any_of((*VOCABULARY.setting_verbs, 'make'))}) (?:it|that)"
    rf"(?: (?:back )?(?:to|as))? {_STATE}{_TAIL}"
)
_LOOKS: Final = any_of((*ACTS[READING]["verbs"], *VOCABULARY.looking_verbs, "look in", "look at", "look into", "in"))
_CONDITIONAL: Final = (
    (re.compile(rf"{_LEAD}(?:{_LOOKS}) {_FILE}[,;.]? (?:(?:and|then) )*{_IF}{_THEN}", _FLAGS), (2, 3, 4, 1)),
    (re.compile(rf"{_LEAD}{_IF} {_PLACE} {_FILE}{_THEN}", _FLAGS), (1, 2, 4, 3)),
)
"""A value that is set only where another one stands there, and the groups of the key, of that one, of the new one and of the
file."""

_OFF_OF: Final = VOCABULARY.switch_words
_ON_OF: Final = {off: on for on, off in _OFF_OF.items()}

_LINE: Final = re.compile(
    r"([ \t]*(?:[-*+] )?[\"']?)([A-Za-z_][A-Za-z0-9_. -]*?)([\"']?[ \t]*(?:=|:)[ \t]*)"
    r"(\"[^\"]*\"|'[^']*'|[^ \t].*?)([ \t]*[,;]?(?:[ \t]+(?:#|//).*)?)",
    re.ASCII,
)
"""A line that sets something: what stands before the name, the name, what parts them, the value, and a comma or a remark."""

_LONGEST: Final = 400
"""Characters of a line that sets something. A longer one is data."""

_NAMELESS: Final = frozenset((*VOCABULARY.whole_nouns, *WISH_WORDS.pronouns, "this", "that", "text", "line"))
_PARTS: Final = re.compile(r"[ _-]+")
_QUOTES: Final = ("\"'`", "\"'")


def assignment_in(wish: str) -> Assignment | None:
    """What a wish sets in a file that it names; None for any other wish."""
    text = trim(wish)
    for form, (key, to, value, file) in _FORMS:
        if (found := form.search(text)) is not None and not _names_none(found[key]):
            return Assignment(found[key], found[value], found[file], is_literal=found[to] is None)
    for form, (key, old, new, file) in _CONDITIONAL:
        if (found := form.search(text)) is not None and not _names_none(found[key]):
            return Assignment(found[key], found[new], found[file], is_literal=False, condition=_bare(found[old]))
    return None


def change_for(assignment: Assignment, text: str) -> LineChange | None:
    """The change of the one line of a text that sets this; None where none does, several do, or the line stands there twice."""
    lines = lines_of(text)
    found = _matches(assignment, lines)
    if len(found) != 1:
        return None
    before, key, joint, value, after = found[0].groups()
    old, new = found[0][0], f"{before}{key}{joint}{_written(assignment, value)}{after}"
    if text.count(old) > 1:
        # With the line before it, it is another text: "port" is a part of "report".
        above = lines.index(old)
        old, new = (f"{lines[above - 1]}\n{old}", f"{lines[above - 1]}\n{new}") if above else (old, new)
    return LineChange(old, new) if text.count(old) == 1 else None


def setting_lines(assignment: Assignment, text: str) -> Sequence[str]:
    """The lines of a text that set this."""
    return [match[0] for match in _matches(assignment, lines_of(text))]


def is_met(assignment: Assignment, text: str) -> bool:
    """Whether the one line of a text that sets this has the value that the wish speaks of: "on" is what is true."""
    wanted = assignment.condition.lower()
    found = [_bare(match[4]).lower() for match in _matches(assignment, lines_of(text))]
    nothing: Mapping[str, str] = {}
    switch = next((words for words in (_OFF_OF, _ON_OF) if wanted in words), nothing)
    return not wanted or any(value == wanted or value in switch for value in found)


def _matches(assignment: Assignment, lines: Sequence[str]) -> list[re.Match[str]]:
    short = (line for line in lines if len(line) <= _LONGEST)
    return [match for line in short if (match := _LINE.fullmatch(line)) and _same(match[2], assignment.key)]


def _names_none(key: str) -> bool:
    """Whether what should be a name only says which part of a file is meant, or goes back to something."""
    return not _NAMELESS.isdisjoint(key.lower().split(" "))


def _same(one: str, other: str) -> bool:
    return _PARTS.sub("", one).lower() == _PARTS.sub("", other).lower()


def _written(assignment: Assignment, value: str) -> str:
    """The new value as the old one is written: with its quotes, where that has some."""
    given = assignment.value
    bare = _bare(given)
    is_quoted = bare != given
    if (switched := _switched(bare.lower(), _bare(value))) is not None:
        bare = switched
    if value[0] in _QUOTES[1] and value[0] == value[-1]:
        return f"{value[0]}{bare}{value[0]}"
    return given if assignment.is_literal and is_quoted and given[0] != "`" else bare


def _bare(value: str) -> str:
    """A value without the quotes around it."""
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES[0]
    return value[1:-1] if is_quoted else value


def _switched(given: str, value: str) -> str | None:
    """What "on" or "off" is beside a value that says one of them in other words: "true"; None for anything else."""
    now = value.lower()
    if not any(given in words for words in (_OFF_OF, _ON_OF)) or not any(now in words for words in (_OFF_OF, _ON_OF)):
        return None
    is_same = (given in _OFF_OF) == (now in _OFF_OF)
    word = now if is_same else _OFF_OF.get(now) or _ON_OF[now]
    return word.capitalize() if value[:1].isupper() else word
