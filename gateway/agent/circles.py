"""A text that says the same over and over, as a small model's may that has lost its way; it is noticed while it is written."""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.browser import trim
from gateway.agent.words import words_of

_SENTENCES: Final = (3, 90)
"""Times in a row that are no accident, and characters of all of them together. A refrain is shorter."""

_LINES: Final = (6, 400)
"""The same for whole lines, which a list, a table or a copied log may well have several times."""

_PARAGRAPHS: Final = (3, 400)
"""The same for what is longer than one line of a list, which is not there by chance so often."""

_LONGEST_LINE: Final = 120
"""Characters of what is said again that may be a line of a list."""

_MOST: Final = 1800
"""Characters at the end of a text that are looked at."""

_FEWEST_WORDS: Final = 3
"""Words of what is said again. Fewer are a rule, a laugh or a row of numbers."""

_FENCE: Final = re.compile("^ *(?:```|~~~)", re.MULTILINE)
_LETTER: Final = re.compile(r"[^\W\d_]")
_END: Final = re.compile(r"[.!?:](?=\s|\Z)|\n")
_PAUSES: Final = " ,;"
_CUT: Final = "…"


def goes_round(text: str) -> bool:
    """Whether the end of a text says the same for the third time."""
    return _circle_in(text) is not None


def without_circles(text: str) -> str:
    """The text up to where it begins to go round, to the end of a sentence where there is one; itself where it does not."""
    found = _circle_in(text)
    if found is None:
        return text
    start, length = found
    told = text[: start + length]
    ends = [each.end() for each in _END.finditer(text) if 1 < each.end() <= len(told)]
    return trim(told[: ends[-1]]) if ends else f"{told.rstrip(_PAUSES)}{_CUT}"


def _circle_in(text: str) -> tuple[int, int] | None:
    """Where the end of a text begins to repeat itself, and how long what it repeats is; None where it does not."""
    turned = text[-_MOST:][::-1]
    # For each beginning of the turned text, how much of it is an end of it as well: the rest is what is repeated.
    shared = [0] * len(turned)
    line = turned.find("\n")
    found: tuple[int, int] | None = None
    for at in range(1, len(turned)):
        held = shared[at - 1]
        while held and turned[at] != turned[held]:
            held = shared[held - 1]
        shared[at] = held + (turned[at] == turned[held])
        length = at + 1 - shared[at]
        is_line = 0 <= line < length
        several = _PARAGRAPHS if length > _LONGEST_LINE else _LINES
        times, least = several if is_line else _SENTENCES
        if at + 1 >= max(least, times * length):
            found = (len(text) - at - 1, length)
    if found is None or any(len(_FENCE.findall(each)) % 2 for each in (text, text[: sum(found)])):
        return None
    words = [word for word in words_of(text[found[0] : sum(found)]) if _LETTER.search(word.bare)]
    return None if len(words) < _FEWEST_WORDS else found
