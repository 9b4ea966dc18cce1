"""Titles of conversations: one line that looks like what it is, on every page, in a terminal and in an export's file name."""

from __future__ import annotations

import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control characters, those that turn others around or are invisible, halves of a pair, and ends of lines."""

_JOINERS: Final = frozenset({"\u200c", "\u200d"})
"""Without these an emoji of several, or a word of Persian, is another one."""


def is_plain(title: str) -> bool:
    """Whether a title has nothing in it that is not seen, and no end of a line."""
    return not any(map(_is_unseen, title))


def tidied(title: str) -> str:
    """The title on one line, without what is not seen."""
    return " ".join("".join(char for char in title if char.isspace() or not _is_unseen(char)).split())


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN and char not in _JOINERS
