"""Words without which a pattern finds nothing, looked for at a fraction of the pattern's cost.

There are a hundred of them and most texts hold hardly any. So a text is first reduced to its rare part, in microseconds: a word
can only stand in a text if its own rare part stands in the text's, and its rarest character is one of those.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gateway.core.value_types import quick

_FREQUENT: Final = b" \n,etaoinsrhldcum"
"""The most frequent characters of prose. Capitals, digits and signs, of which credentials have more, are not among them."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A word with its rare part and the rarest character of that, which are empty where all its characters are frequent."""

    word: str
    rare: str
    rarest: str


@quick
@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with its rare part, in which markers are looked for."""

    text: str
    rare: str

    def holds_any(self, markers: Iterable[Marker]) -> bool:
        """Whether one of these words stands in the text."""
        for marker in markers:  # noqa: SIM110 - a loop costs half of what `any` does, and every result comes through here
            if marker.rare in self.rare and marker.word in self.text:
                return True
        return False


def mark_text(text: str) -> MarkedText:
    """A text in which markers can be looked for."""
    return MarkedText(text, _rare_part(text))


def mark_words(words: Iterable[str]) -> tuple[Marker, ...]:
    """The markers of these words."""
    return tuple(map(_mark, words))


def _mark(word: str) -> Marker:
    rare = _rare_part(word)
    # Signs are rarer than digits and capitals, and those rarer than letters.
    return Marker(word, rare, min(rare, key=lambda each: (each.islower(), each.isalnum(), each), default=""))


def _rare_part(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").translate(None, _FREQUENT).decode("latin-1")
