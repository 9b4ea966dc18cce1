"""An answer that was cut off at the most tokens of a step, and goes on in the next one.

The model begins again with the word in which it was cut off, for it is told to go on after a whole one: half a word as the end of
what it said would be taken for a whole one as often as not.
"""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.browser import SPACE
from gateway.agent.budget import length_of
from gateway.agent.limits import LIMITS

_LAST_WORD: Final = re.compile(rf"(?<=[{SPACE}])[^{SPACE}]+\Z")
_SIGN: Final = re.compile(r"\w")


def unfinished_word(text: str) -> str:
    """The word that a text ends in; none where it ends behind one, or in writing without spaces."""
    found = _LAST_WORD.search(text)
    return found[0] if found is not None and length_of(found[0]) <= LIMITS.held_word_characters else ""


def continued(before: str, more: str) -> str:
    """A text and how it goes on, as one; what was said before stays. While `more` may still be the unfinished word again, it is
    nothing new."""
    word = unfinished_word(before)
    if word.startswith(more):
        return before
    if more.startswith(word):
        return before + more[len(word) :]
    is_apart = _SIGN.match(before[-1]) is not None and _SIGN.match(more) is not None
    return f"{before}{' ' if is_apart else ''}{more}"
