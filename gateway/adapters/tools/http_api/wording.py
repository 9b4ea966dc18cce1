"""Words of an API's document as they may be shown: one line, nothing invisible, no longer than it helps."""

from __future__ import annotations

from typing import Final

from gateway.core.effects import escape

_CUT: Final = "…"


def tell(words: str, most: int) -> str:
    """The words on one line of at most `most` characters, with what is invisible spelt out."""
    shown = escape(" ".join(words[: 4 * most].split()))
    return shown if len(shown) <= most else shown[: most - 1].rstrip() + _CUT


def literal(text: str) -> str:
    """Text as part of a template: what deceives the eye spelt out, braces kept from being places."""
    return escape(text).replace("{", "{{").replace("}", "}}")
