"""The sentences of a text, each with the white space behind it."""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.browser import SPACE
from gateway.agent.claim_words import CLAIMS
from gateway.agent.words import words_of

_SENTENCE: Final = re.compile(rf"[^\n]+?(?:[.!?]+(?=[{SPACE}]|\Z)|(?=\n)|\Z)[{SPACE}]*|[{SPACE}]+")
_OPENERS: Final = frozenset(CLAIMS.openers)
_NUMBER: Final = re.compile("[0-9]+")


def sentences_of(text: str) -> list[str]:
    """All of a text, cut behind each sentence and each line."""
    return [match[0] for match in _SENTENCE.finditer(text)]


def only_openers(sentence: str) -> bool:
    """Whether it only leads to what follows: "Sure!", "1."."""
    words = [word.bare for word in words_of(sentence)]
    return bool(words) and all(word in _OPENERS or _NUMBER.fullmatch(word) for word in words)
