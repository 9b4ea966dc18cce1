"""Questions about a program: where a name is defined or used, and what a function returns or does.

They are answered by the program's own lines. A small model tells of them what such a name mostly stands for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.agent.affairs import question_in
from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.excerpts import cited, fenced
from gateway.agent.fields import is_code
from gateway.agent.figures import ResultSource
from gateway.agent.limits import LIMITS
from gateway.agent.passages import lines_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS


class CodeQuestion(StrEnum):
    """What is asked of a name."""

    PLACE = "place"
    """Where it is defined."""

    USES = "uses"
    """Where it is used."""

    BODY = "body"
    """What it returns, or does."""


@dataclass(frozen=True, slots=True)
class CodeAsked:
    """The name in a program, and what is asked of it. `bare`: only the verb tells that it is one, "what does f return?"."""

    name: str
    question: CodeQuestion
    bare: bool = False


_FLAGS: Final = re.IGNORECASE | re.ASCII
_KIND: Final = rf"(?:{any_of(WISH_WORDS.code_kinds)})"
_NAME: Final = r"[`\"']?([A-Za-z_][A-Za-z0-9_]*)[`\"']?(?:\(\))?"
_ITS: Final = r"(?:the )?"
_SPOKEN: Final = rf"{_ITS}(?:{_KIND} {_NAME}|{_NAME} {_KIND})"
_ANY: Final = rf"{_ITS}(?:{_KIND} {_NAME}|{_NAME} {_KIND}|{_NAME})"
_DEFINED: Final = rf"(?:{any_of(WISH_WORDS.defined_words)})"
_PAPERS: Final = any_of((*VOCABULARY.same_things[0], *WISH_WORDS.code_files))
_FILES: Final = rf"(?:in )?(?:which|what) (?:{_PAPERS})"
_BEINGS: Final = rf"(?:{any_of(VOCABULARY.classifying_words)})"
_DOES: Final = any_of(WISH_WORDS.body_verbs)
_GIVES: Final = any_of((*WISH_WORDS.returning_verbs, *WISH_WORDS.yielding_verbs))
_CALLED: Final = r"(?:`([A-Za-z_][A-Za-z0-9_]*)(?:\(\))?`|([A-Za-z_][A-Za-z0-9_]*)\(\))"
"""A name that is written as one of a program."""

_END: Final = r"(?: in [^ ?]+)?[?.! ]*"
_FORMS: Final = (
    (CodeQuestion.PLACE, rf"(?:where(?:['’]?s| {_BEINGS})|{_FILES} {_BEINGS}) {_ANY} {_DEFINED}{_END}"),
    (CodeQuestion.PLACE, rf"(?:where(?:['’]?s| {_BEINGS})|{_FILES} {_BEINGS}) {_SPOKEN}{_END}"),
    (CodeQuestion.PLACE, rf"{_FILES} (?:{any_of(WISH_WORDS.defining_verbs)}) {_ANY}{_END}"),
    (CodeQuestion.PLACE, rf"{_FILES} (?:{any_of(VOCABULARY.holding_verbs)}) {_SPOKEN}{_END}"),
    (CodeQuestion.USES, rf"(?:where(?:['’]?s| {_BEINGS})|{_FILES} {_BEINGS}) {_ANY} (?:{any_of(WISH_WORDS.used_words)}){_END}"),
    (CodeQuestion.USES, rf"(?:which|what) (?:{_KIND}|{_PAPERS})s? (?:{any_of(WISH_WORDS.using_verbs)}) {_ANY}{_END}"),
    (CodeQuestion.BODY, rf"what does {_SPOKEN} (?:{_DOES})\b.*"),
    (CodeQuestion.BODY, rf"(?:show|print)(?: me)? {_SPOKEN}{_END}"),
    (CodeQuestion.BODY, rf"how does {_SPOKEN} work{_END}"),
    (CodeQuestion.BODY, rf"what does {_NAME} (?:{_DOES})\b.*"),
)
_WHAT: Final = "what (?:does|will|would)"
_RETURNED: Final = re.compile(
    rf"{_WHAT} (?:{_CALLED} (?:{_GIVES})|{_NAME} (?:{any_of(WISH_WORDS.returning_verbs)})){_END}", _FLAGS
)
"""What hardly anything but a program does. Corn yields something as well, and a friend gives it back."""

_NAMED: Final = re.compile("[A-Z][a-z]+")

_ASKED: Final = [(question, re.compile(form, _FLAGS)) for question, form in _FORMS]
_CODED: Final = re.compile(r"[A-Za-z0-9]*_|[A-Za-z0-9]*[a-z0-9][A-Z]|[A-Z][A-Z0-9]+\Z")
"""A name as only programs have them: "load_config", "emptyCart", "MAX"."""

_LEADS: Final = rf"(?:(?:{any_of(WISH_WORDS.defining_leads)}) )*"
_PLACED: Final = re.compile(r"([^:]*[^: ]):([0-9]+)(?:-[0-9]+)?: ?(.*)")
"""A line that a search found: its file, its number and its text."""

_INDENT: Final = re.compile(r"[ \t]*")
_CLOSING: Final = (")", "]", "}", "end")
_RETURNS: Final = re.compile(rf"\b(?:{any_of(WISH_WORDS.ending_words)})\b|=>")
_SPELLINGS: Final = (0, re.IGNORECASE)
_WHOLE: Final = LIMITS.excerpt_lines
_NO_NAMES: Final = frozenset((*VOCABULARY.file_references, *VOCABULARY.tellers, *VOCABULARY.told_of))
"""Words that stand for something else: "what does she return?"."""


def code_asked(wish: str) -> CodeAsked | None:
    """What a question asks of a name in a program; None for any other."""
    text = question_in(wish)
    for question, form in _ASKED:
        found = form.fullmatch(text)
        name = next((each for each in found.groups() if each), "") if found else ""
        # "What does photosynthesis do?" has no name of a program.
        is_named = found is not None and (len(found.groups()) > 1 or _CODED.match(name) is not None)
        if name and is_named and name.lower() not in VOCABULARY.file_references:
            return CodeAsked(name, question)
    returned = _RETURNED.fullmatch(text)
    called, plain = (returned[1] or returned[2] or "", returned[3] or "") if returned else ("", "")
    # A name as persons and shops have it is none of a program: "what does Amazon return?".
    name = called or (plain if _NAMED.fullmatch(plain) is None else "")
    is_name = name != "" and name.lower() not in _NO_NAMES
    return CodeAsked(name, CodeQuestion.BODY, bare=True) if is_name else None


def defines(name: str, line: str, flags: int = 0) -> bool:
    """Whether a line of a program defines the name."""
    leads, word = rf"[ \t]*{_LEADS}", re.escape(name)
    by_word = rf"{leads}(?:(?:{any_of(WISH_WORDS.defining_words)})\*? +)+{word}\b"
    by_value = rf"{leads}{word}[ \t]*(?::[^=]*)?=(?![=>])"
    by_body = rf"{leads}(?:[A-Za-z_][A-Za-z0-9_<>\[\]]* )*{word} ?\([^;]*\)[^;=]*\{{"
    return any(re.match(form, line, flags) for form in (by_word, by_value, by_body))


def defining_files(name: str, found: str) -> list[str]:
    """Of the lines that a search found the files in which the name is defined."""
    return list(dict.fromkeys(each[1] for each in _lines_told(CodeAsked(name, CodeQuestion.PLACE), found)))


def tells_places(wish: str, found: str) -> bool:
    """Whether the lines that a search found answer by themselves what a question asks of a name."""
    asked = code_asked(wish)
    return asked is not None and asked.question is not CodeQuestion.BODY and bool(_lines_told(asked, found))


def told_places(wish: str, found: str, copy: Copy) -> str | None:
    """Where a name is defined, or used, by the lines that a search found; None where that is not asked, or not told."""
    asked = code_asked(wish) if tells_places(wish, found) else None
    if asked is None:
        return None
    lines = _lines_told(asked, found)[: LIMITS.closest_lines]
    told = [f"{cited(each[1], [int(each[2])])}:\n\n{fenced(trim(each[3]))}" for each in lines]
    sentence = copy.say("definedHere" if asked.question is CodeQuestion.PLACE else "usedHere")
    return "\n\n".join((f"{sentence} {told[0]}", *told[1:]))


def answer_code(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """What a program's own lines say of a name: its definition, or all of what it is; None for any other question."""
    asked = code_asked(wish) if source.has_lines and is_code(source.name) else None
    lines = lines_of(source.text)
    ways = [(flags, at) for flags in _SPELLINGS for at, line in enumerate(lines) if asked and defines(asked.name, line, flags)]
    at = ways[0][1] if ways else None
    if asked is None or at is None or asked.question is CodeQuestion.USES:
        return None
    end = at + 1 if asked.question is CodeQuestion.PLACE else _end_of(lines, at)
    places = range(at + 1, end + 1)
    if len(places) > _WHOLE:
        places = [place for place in places if place == at + 1 or _RETURNS.search(lines[place - 1])][:_WHOLE]
    shown = fenced("\n".join(lines[place - 1] for place in places))
    return f"{copy.say('definedHere')} {cited(source.name, places)}:\n\n{shown}"


def _lines_told(asked: CodeAsked, found: str) -> list[re.Match[str]]:
    """The lines of programs that define the name, or have it without that; with other letters, where none is spelt so."""
    lines = [each for each in map(_PLACED.fullmatch, lines_of(found)) if each and is_code(each[1])]
    is_place = asked.question is not CodeQuestion.USES
    for flags in _SPELLINGS:
        having = [each for each in lines if re.search(rf"\b{re.escape(asked.name)}\b", each[3], flags)]
        if told := [each for each in having if defines(asked.name, each[3], flags) == is_place]:
            return told
    return []


def _end_of(lines: Sequence[str], at: int) -> int:
    """Behind the last line of what a line begins: those that stand further in, and what closes them."""
    depth, end = _depth_of(lines[at]), at + 1
    for place in range(at + 1, len(lines)):
        line = trim(lines[place])
        if line and _depth_of(lines[place]) <= depth and not line.startswith(_CLOSING):
            break
        end = place + 1 if line else end
    return end


def _depth_of(line: str) -> int:
    found = _INDENT.match(line)
    return found.end() if found else 0
