"""The words of a text: what both languages take for one, and what is quoted and so no word of the person's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from gateway.agent.typing_slips import meant_by
from gateway.agent.vocabulary import VOCABULARY, any_of

QUOTED: Final = re.compile(r"""\"[^"\n]*\"|`[^`\n]*`|“[^”\n]*”|(?<![A-Za-z0-9])'[^'\n]*'(?![A-Za-z0-9])""")
_SPACED: Final = re.compile(r"[^ \n](?:[^\n]*[^ ./\n])?(?:/|\.[A-Za-z][A-Za-z0-9]{0,9})")
"""How the name of a file or a folder looks: with its ending, or with a slash at the end."""

_WORDED: Final = re.compile(r"[!?;:] |@|://|[ (.][A-Za-z]\.[A-Za-z]$|^(?:[^ ]* ){6}")
"""What shows that it is none: a stop inside, an address, "9 p.m", more than six words."""

_KEEPS: Final = any_of(verb for verb in VOCABULARY.keeping_verbs if verb != "copy")
_MEMBER: Final = f"(?:{QUOTED.pattern})"
_INTO: Final = (
    r"""(?:["`“'][^"`“”'\n]*\.[A-Za-z][A-Za-z0-9]*["`”']|[^ \n"`“”']*[^/ \n"`“”']\.[A-Za-z][A-Za-z0-9]*(?![A-Za-z0-9/]))"""
)
_JOIN: Final = "(?:,|,? and)"
_PUT: Final = f"({_MEMBER}(?:{_JOIN} {_MEMBER})*) (?:to|into|in) (?:(?:the|my) )?(?:file )?{_INTO}"
_FLAGS: Final = re.IGNORECASE | re.ASCII
_GIVEN: Final = re.compile(_PUT, _FLAGS)
_GIVING: Final = re.compile(rf"\b(?:{_KEEPS}) {_PUT}(?:{_JOIN} {_PUT})*", _FLAGS)
"""Texts in quotes that are to be kept in a file: "add "call about x.pdf" to todo.txt". They name nothing, however they look."""

_WORD: Final = re.compile("[^ \t\r\n\f\v\u00a0\u2028\u2029\u3000;]+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: where it stands with whatever clings to it, and what it is without that, in lower case."""

    start: int
    end: int
    bare: str


def words_of(text: str) -> list[Word]:
    """The words of a text that hold a letter or a digit, in order. A file's name in quotes is one word, for all its spaces."""
    return list(_each_word(text))


def has_more_words(text: str, most: int) -> bool:
    """Whether a text has more words than that. It reads no further, for this is asked at each piece of a long answer."""
    return next(islice(_each_word(text), most, None), None) is not None


def _each_word(text: str) -> Iterator[Word]:
    joined = QUOTED.sub(lambda quoted: quoted[0].replace(" ", "_") if is_spaced_name(quoted[0][1:-1]) else quoted[0], text)
    for match in _WORD.finditer(joined):
        start, end = match.span()
        if bare := bare_word(text[start:end]):
            yield Word(start, end, bare)


def is_spaced_name(text: str) -> bool:
    """Whether a text that stands in quotes is the name of a file or a folder with spaces in it, and not words of another kind."""
    return " " in text and _SPACED.fullmatch(text) is not None and not _WORDED.search(text)


def given_in(text: str) -> list[tuple[int, int]]:
    """Where the texts stand that are to be kept in a file which is named."""
    return [given.span(1) for found in _GIVING.finditer(text) for given in _GIVEN.finditer(text, *found.span())]


def without_given(text: str) -> str:
    """The same with spaces in their place."""
    for start, end in given_in(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def bare_word(word: str) -> str:
    """A word without the marks around it, in lower case; "whats" as "what's"."""
    # Most words have no marks, and this is asked of every word of every message and result.
    if word.isalnum():
        return meant_by(word.lower())
    letters = [at for at, character in enumerate(word) if character.isalnum()]
    bare = word[letters[0] : letters[-1] + 1].lower() if letters else ""
    return meant_by(bare)
