"""Members of a record that somebody else may have written: of the type that a gateway writes, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def text_of(body: Mapping[str, Any], name: str) -> str:
    """A text. Raises KeyError and TypeError."""
    value = body[name]
    if not isinstance(value, str):
        raise TypeError(f"`{name}` is no text")
    return value


def flag_of(body: Mapping[str, Any], name: str) -> bool:
    """True or false. Raises KeyError and TypeError."""
    value = body[name]
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` is neither true nor false")
    return value
