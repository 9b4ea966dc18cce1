"""The words of a text: what both languages take for one, and what is quoted and so no word of the person's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

QUOTED: Final = re.compile(r"""\"[^"\n]*\"|`[^`\n]*`|“[^”\n]*”|(?<![A-Za-z0-9])'[^'\n]*'(?![A-Za-z0-9])""")
_WORD: Final = re.compile("[^ \t\r\n\f\v\u00a0\u2028\u2029\u3000;]+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: where it stands with whatever clings to it, and what it is without that, in lower case."""

    start: int
    end: int
    bare: str


def words_of(text: str) -> list[Word]:
    """The words of a text that hold a letter or a digit, in order."""
    words = (Word(match.start(), match.end(), bare_word(match[0])) for match in _WORD.finditer(text))
    return [word for word in words if word.bare]


def bare_word(word: str) -> str:
    """A word without the marks around it, in lower case."""
    letters = [at for at, character in enumerate(word) if character.isalnum()]
    return word[letters[0] : letters[-1] + 1].lower() if letters else ""
