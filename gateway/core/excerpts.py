"""A piece of a text around what was looked for in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

EXCERPT_LENGTH: Final = 160
"""Characters of the text, without the marks for what is left out."""

_LEAD: Final = 40
"""Characters shown before the first of the words."""


def excerpt_of(text: str, words: Sequence[str], length: int = EXCERPT_LENGTH) -> str:
    """At most `length` characters of a text on one line, around the first place of any of the words."""
    line = " ".join(text.split())
    lowered = line.lower()
    places = [place for word in words if (place := lowered.find(word.lower())) >= 0]
    start = max(0, min(places, default=0) - _LEAD) if len(line) > length else 0
    start = min(start, max(0, len(line) - length))
    end = start + length
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
