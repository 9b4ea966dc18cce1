"""A text that says the same over and over, as a small model's may that has lost its way; it is noticed while it is written."""

from __future__ import annotations

from typing import Final

from gateway.agent.browser import trim
from gateway.agent.words import words_of

_TIMES: Final = 3
"""Times in a row that are no accident."""

_LEAST: Final = 90
"""Characters of all of them together. A refrain is shorter."""

_MOST: Final = 900
"""Characters at the end of a text that are looked at."""

_FEWEST_WORDS: Final = 3
"""Words of what is said again. Fewer are a rule or a laugh."""

_ENDS: Final = ".!?:\n"
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
    end = max(told.rfind(each) for each in _ENDS)
    return trim(told[: end + 1]) if end > 0 else f"{told.rstrip(_PAUSES)}{_CUT}"


def _circle_in(text: str) -> tuple[int, int] | None:
    """Where the end of a text begins to repeat itself, and how long what it repeats is; None where it does not."""
    turned = text[-_MOST:][::-1]
    # For each beginning of the turned text, how much of it is an end of it as well: the rest is what is repeated.
    shared = [0] * len(turned)
    found: tuple[int, int] | None = None
    for at in range(1, len(turned)):
        held = shared[at - 1]
        while held and turned[at] != turned[held]:
            held = shared[held - 1]
        shared[at] = held + (turned[at] == turned[held])
        length = at + 1 - shared[at]
        if at + 1 >= max(_LEAST, _TIMES * length):
            found = (len(text) - at - 1, length)
    if found is None or len(words_of(text[found[0] : found[0] + found[1]])) < _FEWEST_WORDS:
        return None
    return found
