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
    `condition` is the value that has to stand there, empty for any. `switches`: the value is "on" or "off", in the words that the
    file has for it."""

    key: str
    value: str
    file: str
    is_literal: bool
    condition: str = ""
    switches: bool = False


@dataclass(frozen=True, slots=True)
class LineChange:
    """A text of a file and what takes its place."""

    old: str
    new: str


_FLAGS: Final = re.IGNORECASE | re.ASCII
LEAD: Final = rf"^(?:(?:{any_of({*VOCABULARY.fillers, *VOCABULARY.cues, *WISH_WORDS.fillers})})[, ]+)*"
_SETS: Final = rf"(?:{any_of(VOCABULARY.setting_verbs)}) (?:(?:the|my|our) )?"
_KEY: Final = r"([A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+){0,3}?)"
FILE: Final = r"(?:(?:the|my|our) )?(?:file )?[\"'`]?([^\s\"'`,;:?!()]*[^\s\"'`,;:?!()./]\.[A-Za-z][A-Za-z0-9]*)[\"'`]?"
VALUE: Final = r"(\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|[^\s\"'`\n](?:[^\"'`\n]{0,80}?[^\s\"'`\n])??)"
_JOINT: Final = r"(?: (to|as) | ?(=|:=|:) ?)"
TAIL: Final = rf"(?:,? (?:{any_of((*WISH_WORDS.tails, 'instead'))}))*[.!?]*$"
_PLACE: Final = rf"(?:{any_of(VOCABULARY.setting_places)})"
_FORMS: Final = (
    (re.compile(rf"{LEAD}{_SETS}{_KEY}{_JOINT}{VALUE} {_PLACE} {FILE}{TAIL}", _FLAGS), (1, 2, 4, 5)),
    (re.compile(rf"{LEAD}{_SETS}{_KEY} {_PLACE} {FILE}{_JOINT}{VALUE}{TAIL}", _FLAGS), (1, 3, 5, 2)),
    (re.compile(rf"{LEAD}in {FILE},? {_SETS}{_KEY}{_JOINT}{VALUE}{TAIL}", _FLAGS), (2, 3, 5, 1)),
)
"""How it is said, and the groups of the key, of "to", of the value and of the file."""

_STATE: Final = r"(\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`|[^\s\"'`,;]*[^\s\"'`,;.!?])"
_IF: Final = rf"if (?:(?:the|my|our) )?{_KEY} is (?:(?:set to|still|currently) )?{_STATE}"
_THEN: Final = (
    rf",? (?:(?:then|please) )*(?:{any_of((*VOCABULARY.setting_verbs, 'make'))}) (?:it|that)"
    rf"(?: (?:back )?(?:to|as))? {_STATE}{TAIL}"
)
_LOOKS: Final = any_of((*ACTS[READING]["verbs"], *VOCABULARY.looking_verbs, "look in", "look at", "look into", "in"))
_CONDITIONAL: Final = (
    (re.compile(rf"{LEAD}(?:{_LOOKS}) {FILE}[,;.]? (?:(?:and|then) )*{_IF}{_THEN}", _FLAGS), (2, 3, 4, 1)),
    (re.compile(rf"{LEAD}{_IF} {_PLACE} {FILE}{_THEN}", _FLAGS), (1, 2, 4, 3)),
)
"""A value that is set only where another one stands there, and the groups of the key, of that one, of the new one and of the
file."""

_OFF_OF: Final = VOCABULARY.switch_words
_ON_OF: Final = {off: on for on, off in _OFF_OF.items()}

_ITS: Final = r"(?:(?:the|my|our) )?"
_ABLE: Final = any_of((*VOCABULARY.enabling_verbs, *VOCABULARY.disabling_verbs))
_SWITCHES: Final = (
    (re.compile(rf"{LEAD}(?:turn|switch) (on|off) {_ITS}{_KEY} {_PLACE} {FILE}{TAIL}", _FLAGS), (1, 2, 3)),
    (re.compile(rf"{LEAD}(?:turn|switch|set) {_ITS}{_KEY}(?<! to) (on|off) {_PLACE} {FILE}{TAIL}", _FLAGS), (2, 1, 3)),
    (re.compile(rf"{LEAD}({_ABLE}) {_ITS}{_KEY} {_PLACE} {FILE}{TAIL}", _FLAGS), (1, 2, 3)),
    (re.compile(rf"{LEAD}in {FILE},? (?:turn|switch) (on|off) {_ITS}{_KEY}{TAIL}", _FLAGS), (2, 3, 1)),
    (re.compile(rf"{LEAD}in {FILE},? (?:turn|switch|set) {_ITS}{_KEY}(?<! to) (on|off){TAIL}", _FLAGS), (3, 2, 1)),
    (re.compile(rf"{LEAD}in {FILE},? ({_ABLE}) {_ITS}{_KEY}{TAIL}", _FLAGS), (2, 3, 1)),
)
"""How it is said that something is turned on or off, and the groups of that, of the key and of the file."""

_ON: Final = frozenset(("on", *VOCABULARY.enabling_verbs))
_SWITCH_NOUN: Final = re.compile(rf" (?:{any_of(VOCABULARY.switch_nouns)})$", _FLAGS)
_HEADER: Final = re.compile(r"\[([^\[\]]+)\] *")

_LINE: Final = re.compile(
    r"([ \t]*(?:[-*+] )?[\"']?)([A-Za-z_][A-Za-z0-9_. -]*?)([\"']?[ \t]*(?:=|:)[ \t]*)"
    r"(\"[^\"]*\"|'[^']*'|[^ \t].*?)([ \t]*[,;]?(?:[ \t]+(?:#|//).*)?)",
    re.ASCII,
)
"""A line that sets something: what stands before the name, the name, what parts them, the value, and a comma or a remark."""

_PAIR: Final = re.compile(
    r"(\")([A-Za-z_][A-Za-z0-9_. -]*)(\"[ \t]*:[ \t]*)(\"(?:[^\"\\]|\\.)*\"|[^ \t\",:{}\[\]]+)()(?=[ \t]*(?:[,}]|\Z))", re.ASCII
)
"""The same of a member of a JSON document, of which a line may have several."""

_LONGEST: Final = 400
"""Characters of a line that sets something. A longer one is data."""

_NAMELESS: Final = frozenset((*VOCABULARY.whole_nouns, *WISH_WORDS.pronouns, "this", "that", "text", "line"))
_PARTS: Final = re.compile(r"[ _-]+")
_QUOTES: Final = ("\"'`", "\"'")


def assignment_in(wish: str) -> Assignment | None:
    """What a wish sets in a file that it names; None for any other wish."""
    text = trim(wish)
    for form, (way, key, file) in _SWITCHES:
        if (found := form.search(text)) is not None and not _names_none(found[key]):
            value = "on" if found[way].lower() in _ON else "off"
            return Assignment(found[key], value, found[file], is_literal=False, switches=True)
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
    written = _written(assignment, value)
    if written is None:
        return None
    return once(found[0][0], f"{before}{key}{joint}{written}{after}", text)


def once(old: str, new: str, text: str) -> LineChange | None:
    """A change of a text that stands there once, if need be with the line before it; None where even that stands there twice."""
    if text.count(old) > 1:
        # With the line before it, it is another text: "port" is a part of "report".
        lines = lines_of(text)
        at = lines.index(old.strip("\n")) - 1
        old, new = (f"{lines[at]}\n{old}", f"{lines[at]}\n{new}") if at >= 0 else (old, new)
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
    named: list[re.Match[str]] = []
    inside: list[re.Match[str]] = []
    section, key = "", assignment.key
    keys = (key, _SWITCH_NOUN.sub("", key)) if assignment.switches else (key,)
    for line in (line for line in lines if len(line) <= _LONGEST):
        section = header[1] if (header := _HEADER.fullmatch(line)) else section
        match = _LINE.fullmatch(line)
        members = [each for each in _PAIR.finditer(line) if any(_same(each[2], key) for key in keys)] if "{" in line else []
        if match and any(_same(match[2], each) for each in keys):
            named.append(match)
        elif members:
            named += members
        elif match and assignment.switches and _same(section, keys[-1]) and match[2].lower() in VOCABULARY.switch_keys:
            inside.append(match)
    return named or inside


def _names_none(key: str) -> bool:
    """Whether what should be a name only says which part of a file is meant, or goes back to something."""
    return not _NAMELESS.isdisjoint(key.lower().split(" "))


def _same(one: str, other: str) -> bool:
    return _PARTS.sub("", one).lower() == _PARTS.sub("", other).lower()


def _written(assignment: Assignment, value: str) -> str | None:
    """The new value as the old one is written: with its quotes, where that has some; None where that is not on or off."""
    given = assignment.value
    bare = _bare(given)
    is_quoted = bare != given
    switched = _switched(bare.lower(), _bare(value))
    if switched is None and assignment.switches:
        return None
    bare = switched or bare
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
