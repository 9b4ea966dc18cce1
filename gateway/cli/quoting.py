"""Words of the command line, as a refusal says them again."""

from __future__ import annotations

from typing import Final

from gateway.core.effects import escape

LONGEST_QUOTED: Final = 200
"""Characters. Nothing on record has so long a name, and a line of a terminal is to be read."""


def quote(word: str) -> str:
    """The word in `backquotes`, without what a terminal would obey, and no more than its beginning where it is long."""
    if len(word) <= LONGEST_QUOTED:
        return f"`{escape(word)}`"
    return f"`{escape(word[:LONGEST_QUOTED])}…` ({len(word):,} characters)"
