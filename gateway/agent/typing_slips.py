"""The words that people type most, by what comes out where two letters change places or one is left out: "shwo", "remve"."""

from __future__ import annotations

from typing import Final

from gateway.agent.vocabulary import VOCABULARY

_LONG: Final = 6
"""Letters of a word that is still told where one of them is missing. Of a shorter one that is often another word: "red"."""


def meant_by(word: str) -> str:
    """The word that was meant, as it is written without a slip; any other as it is."""
    return _MEANT.get(word, word)


def _slips_of(word: str) -> list[str]:
    swapped = [f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in range(len(word) - 1)]
    shortened = [f"{word[:at]}{word[at + 1 :]}" for at in range(1, len(word) - 1)] if len(word) >= _LONG else []
    return [*swapped, *shortened]


def _all_slips() -> dict[str, str]:
    """A slip that two words share is that of the first one, and no slip is a word of its own."""
    own = {*VOCABULARY.often_typed, *VOCABULARY.no_slips}
    slips = {slip: word for word in reversed(VOCABULARY.often_typed) for slip in _slips_of(word) if slip not in own}
    return slips | dict(VOCABULARY.unmarked)


_MEANT: Final = _all_slips()
