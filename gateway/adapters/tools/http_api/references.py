"""`$ref` inside one document. Nothing is ever fetched, and no reference is followed for ever."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import unquote

from gateway.core.canonical import Json
from gateway.core.effects import show

_CHAIN: Final = 16
"""References that lead to references."""


class NotOffered(Exception):
    """Why one operation is left out, in words for the operator. `lasting` is False where it depends on how it was reached."""

    def __init__(self, message: str, *, lasting: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.lasting = lasting


def find_part(root: Mapping[str, Json], reference: Json) -> Json:
    """The part of the document that a `$ref` names. Raises NotOffered."""
    if not isinstance(reference, str):
        raise NotOffered("a `$ref` is not a text")
    if not reference.startswith("#/"):
        raise NotOffered(f"it refers to {show(reference)}, outside of the document; nothing is fetched")
    found: Json = root
    for step in reference[2:].split("/"):
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = cast("Mapping[str, Json]", found)[key]
        elif isinstance(found, list) and key.isdecimal() and key.isascii() and int(key[:9]) < len(cast("list[Json]", found)):
            found = cast("list[Json]", found)[int(key[:9])]
        else:
            raise NotOffered(f"it refers to {show(reference)}, which the document does not hold")
    return found


def follow(root: Mapping[str, Json], part: Json, what: str) -> Mapping[str, Json]:
    """An object of the document, or what it refers to. Raises NotOffered."""
    for _ in range(_CHAIN):
        if not isinstance(part, dict):
            raise NotOffered(f"{what} is not an object")
        members = cast("Mapping[str, Json]", part)
        if "$ref" not in members:
            return members
        part = find_part(root, members["$ref"])
    raise NotOffered(f"{what} refers to itself")
