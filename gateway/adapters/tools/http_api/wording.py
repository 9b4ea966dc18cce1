"""Words of an API's document as they may be shown: one line, nothing invisible, no longer than it helps."""

from __future__ import annotations

from typing import Final

from gateway.core.canonical import Json
from gateway.core.effects import escape, show
from gateway.core.errors import MalformedJson

_CUT: Final = "…"


def tell(words: str, most: int) -> str:
    """The words on one line of at most `most` characters, with what is invisible spelt out."""
    shown = escape(" ".join(words[: 4 * most].split()))
    return shown if len(shown) <= most else shown[: most - 1].rstrip() + _CUT


def literal(text: str) -> str:
    """Text as part of a template: what deceives the eye spelt out, braces kept from being places."""
    return escape(text).replace("{", "{{").replace("}", "}}")


def show_any(value: Json) -> str:
    """A value of a document, which need not be one that JSON of this gateway can hold."""
    try:
        return show(value)
    except MalformedJson:
        return "a value that not every reader of JSON can hold"
