"""Whether a function would get what a person was shown.

Types read more than one form: a `datetime` takes `1767225600` for a day in 2026, a `Decimal` takes `1_000`, `bool | int` takes
1.0 for true. People approve the JSON, so what was read is written back as JSON, and where that says something else the call is
refused. That holds for every type, also for one whose author's own validator changes the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeAlias, cast

from gateway.core.canonical import Json, canonical_bytes
from gateway.core.effects import show
from gateway.core.errors import MalformedJson, Misconfigured

Place: TypeAlias = tuple[str | int, ...]

PLAIN_DECIMAL: Final = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
"""Digits that everybody reads alike: ASCII, no exponent, no separators, no leading zeros."""

_DECIMAL: Final = re.compile(PLAIN_DECIMAL.replace("$", r"\Z"))

_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})?"
_MOMENT: Final = re.compile(rf"(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T)?{_TIME}")
"""RFC 3339, the profile of ISO 8601 that says where a time is complete; an offset may be left out, and is none then."""

_UNFAITHFUL: Final = {
    "json": "JSON in a string",
    "complex": "a complex number",
    "generator": "an iterator; take a list",
    "callable": "a function",
}
"""Kinds of pydantic's schemas whose values have no JSON form that is read back as the same value."""


def refuse_unfaithful(schema: object) -> None:
    """Raises Misconfigured for a pydantic core schema with a type that no argument can be given for, wherever it nests."""
    match schema:
        case dict():
            members = cast("dict[str, Any]", schema)
            kind = members.get("type")
            if isinstance(kind, str) and kind in _UNFAITHFUL:
                raise Misconfigured(f"a parameter may not be {_UNFAITHFUL[kind]}")
            if getattr(members.get("function"), "__name__", None) == "import_string":
                raise Misconfigured("a parameter may not name code to be imported")
            for name, value in members.items():
                if name not in ("metadata", "serialization"):
                    refuse_unfaithful(value)
        case list() | tuple():
            for value in cast("Sequence[object]", schema):
                refuse_unfaithful(value)
        case _:
            pass


def find_misread(given: Json, read: Json, place: Place = ()) -> Iterator[tuple[Place, Json]]:
    """Where `read`, the JSON of what was read, says something else than `given` does; with what it says there.

    Members that only `read` has are defaults, which the schema publishes.
    """
    match given, read:
        case dict(), dict():
            members = cast("Mapping[str, Json]", read)
            for name, value in cast("Mapping[str, Json]", given).items():
                if name in members:
                    yield from find_misread(value, members[name], (*place, name))
                else:
                    yield (*place, name), None
        case list(), list():
            yield from _find_misread_items(cast("list[Json]", given), cast("list[Json]", read), place)
        case _:
            if not _is_same(given, read):
                yield place, read


def word_misread(read: Json) -> str:
    """What to tell whoever sent it."""
    try:
        return f"would be read as {show(read)}: write it so"
    except MalformedJson:
        return "would be read as something else"


def _find_misread_items(given: list[Json], read: list[Json], place: Place) -> Iterator[tuple[Place, Json]]:
    if len(given) != len(read):
        yield place, read
        return
    misread = [each for at, pair in enumerate(zip(given, read, strict=True)) for each in find_misread(*pair, (*place, at))]
    # A set has no order of its own, and JSON writes it in any.
    if misread and _sorted(given) != _sorted(read):
        yield from misread


def _sorted(items: list[Json]) -> list[bytes] | None:
    try:
        return sorted(map(canonical_bytes, items))
    except MalformedJson:
        return None


def _is_same(given: Json, read: Json) -> bool:
    if isinstance(given, bool) or isinstance(read, bool):
        return given is read
    match given, read:
        case str(), str():
            return given == read or _is_same_decimal(given, read) or _is_same_moment(given, read)
        case ((int() | float()), str()):
            # A Decimal is written as a string, whatever it was read from.
            return _decimal(canonical_bytes(given).decode()) == _decimal(read)
        case _:
            return type(cast("object", given)) in (int, float, type(None)) and given == read


def _is_same_decimal(given: str, read: str) -> bool:
    return _DECIMAL.match(given) is not None and _decimal(given) == _decimal(read)


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _is_same_moment(given: str, read: str) -> bool:
    if _MOMENT.fullmatch(given) is None or _MOMENT.fullmatch(read) is None:
        return False
    kind = datetime if "T" in given else time
    try:
        one, other = kind.fromisoformat(given), kind.fromisoformat(read)
    except ValueError:
        return False
    return one == other and one.utcoffset() == other.utcoffset()
