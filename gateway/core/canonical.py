"""Canonical JSON: the only bytes that are hashed, signed, compared or shown.

Reading is strict because two readers must never see two different calls in the same bytes: RFC 8259 leaves duplicate
names and number range open, RFC 7493 (I-JSON) closes them, and so does this boundary. Writing is RFC 8785 (JCS).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Never, TypeAlias, cast

import jcs_admit
import orjson

from gateway.core.errors import MalformedJson, UnsupportedValue

Json: TypeAlias = Any
"""A JSON value as Python's: dict with str keys, list, str, int, float, bool or None."""

MAX_INTEGER = 2**53 - 1
"""Largest integer that every JSON reader agrees on (RFC 7493 section 2.2)."""

MAX_DEPTH = 64
"""docs/PROTOCOL.md section 2. For comparison: orjson stops at 1024, jcs-admit at 128."""

_WRITE_ONLY_JSON = (
    orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
)
"""Without these options orjson would write dates and dataclasses. With them it refuses both, since no `default` is given."""

_OWN_JSON = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER

_MAY_HIDE_A_NUMBER = re.compile(rb"null|[0-9]{16}|e\+")
"""orjson writes NaN and infinities as `null`; the float 1e16 becomes an integer that no reader may accept."""

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse(raw: bytes, *, max_depth: int = MAX_DEPTH) -> Json:
    """Read one JSON value. Raises MalformedJson for anything that I-JSON forbids, or nesting beyond `max_depth`; where only
    a number is outside its range, that is an UnsupportedValue."""
    value = _parse_compact(raw, max_depth)
    return _parse(_STRICT, raw, max_depth) if value is _NOT_COMPACT else value


def parse_canonical(raw: bytes) -> Json:
    """What `parse` gives, in a tenth of the time for canonical bytes: for records that a signature vouches for.

    Raises MalformedJson as `parse` does, but for a float beyond 2^53, which takes a look at every value to find.
    """
    try:
        value = orjson.loads(raw)
        # Bytes that are written again as they are have no name twice, no spaces, no integer out of range and no lone surrogate.
        if own_bytes(value) == raw and raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
            return value
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        pass
    return parse(raw)


def parse_only_canonical(raw: bytes) -> Json:
    """What `parse` gives for bytes that are canonical to the last one. Raises MalformedJson for all others."""
    value = parse_canonical(raw)
    if canonical_bytes(value) != raw:
        raise MalformedJson("not in the canonical form")
    return value


def parse_with_any_number(raw: bytes) -> Json:
    """The same with None for each number that `parse` refuses: enough to identify the request. Raises MalformedJson."""
    return _parse(_WITH_ANY_NUMBER, raw, MAX_DEPTH)


class _NotCompact:
    """No JSON value, so that it can stand beside all of them."""


_NOT_COMPACT = _NotCompact()


def _parse_compact(raw: bytes, max_depth: int) -> Json:
    """What the strict reader gives, in a third of the time, for what was written as `JSON.stringify` writes; else `_NOT_COMPACT`.

    Bytes that are written again as they are have no name twice, no spaces, no integer out of range and no lone surrogate.
    """
    try:
        value = orjson.loads(raw)
        compact = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER) == raw
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return _NOT_COMPACT
    # Brackets within strings count too: whether it is too deep is then for the strict reader to say.
    if not compact or raw.count(b"[") + raw.count(b"{") > max_depth or _has_unreadable_number(value):
        return _NOT_COMPACT
    return value


def _parse(decoder: json.JSONDecoder, raw: bytes, max_depth: int) -> Json:
    try:
        value = decoder.decode(raw.decode("utf-8"))
    except MalformedJson:
        raise
    except UnicodeDecodeError:
        raise MalformedJson("not UTF-8") from None
    except RecursionError:
        raise MalformedJson(f"nesting is deeper than {max_depth}") from None
    except ValueError:
        raise MalformedJson("not JSON") from None
    # Counting openers is a C loop; only a document that could be too deep pays for the exact look.
    if raw.count(b"[") + raw.count(b"{") > max_depth and _is_deeper(value, max_depth):
        raise MalformedJson(f"nesting is deeper than {max_depth}")
    if _SURROGATE_ESCAPE.search(raw) and _has_surrogate(value):
        raise MalformedJson("unpaired surrogate in a string")
    return value


def canonical_bytes(value: Json) -> bytes:
    """RFC 8785 bytes of a value, which `parse` reads back as the same value.

    Raises MalformedJson for what has none: NaN, numbers beyond 2^53-1, unpaired surrogates, types that JSON lacks.
    """
    try:
        raw = orjson.dumps(value, option=_WRITE_ONLY_JSON)
        # orjson's sorted output is RFC 8785 already, at a tenth of the cost, but for how it writes floats and how it orders
        # names beyond ASCII (tested against the reference implementation).
        if _is_plain(value):
            return raw
        raw = jcs_admit.admit(raw)
    except (orjson.JSONEncodeError, jcs_admit.JcsError):
        raise MalformedJson("value has no canonical JSON form") from None
    if _MAY_HIDE_A_NUMBER.search(raw) and _has_unreadable_number(value):
        raise MalformedJson("value has no canonical JSON form")
    return raw


def canonical_text(text: str) -> bytes:
    """RFC 8785 bytes of a string: it is as orjson writes it. Raises MalformedJson for unpaired surrogates."""
    try:
        return orjson.dumps(text)
    except orjson.JSONEncodeError:
        raise MalformedJson("unpaired surrogate in a string") from None


def own_bytes(value: Json) -> bytes:
    """Canonical bytes of an object built by the gateway itself: ASCII names, integers within range and no floats.

    Under these restrictions sorted orjson output equals RFC 8785 (tested against the reference implementation), at a
    twentieth of the cost. Never use it for data from outside.
    """
    return orjson.dumps(value, option=_OWN_JSON)


def digest(value: Json) -> str:
    """Lower-case hex SHA-256 of the canonical bytes."""
    return digest_of_bytes(canonical_bytes(value))


def digest_of_bytes(*parts: bytes) -> str:
    """Lower-case hex SHA-256 of bytes that are canonical already, given as the parts that they are put together from."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(part)
    return hashed.hexdigest()


def _unique_names(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedJson("duplicate member name")
    return members


def _integer_or_none(digits: str) -> int | None:
    # 17 characters hold a sign and the 16 digits of 2^53-1; longer text is refused before int() may be slow.
    if len(digits) > 17 or abs(number := int(digits)) > MAX_INTEGER:
        return None
    return number


def _number_or_none(text: str) -> float | None:
    number = float(text)
    # 1e16 is an integer however it is written, and canonical JSON writes it as one.
    return number if _is_readable(number) else None


def _bounded_integer(digits: str) -> int:
    number = _integer_or_none(digits)
    if number is None:
        raise UnsupportedValue("integer beyond 2^53-1")
    return number


def _finite_number(text: str) -> float:
    number = _number_or_none(text)
    if number is None:
        raise UnsupportedValue("number out of range")
    return number


def _is_readable(number: float) -> bool:
    return math.isfinite(number) and abs(number) <= MAX_INTEGER


def _no_constant(name: str) -> Never:
    raise MalformedJson(f"`{name}` is not JSON")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique_names,
    parse_int=_bounded_integer,
    parse_float=_finite_number,
    parse_constant=_no_constant,
)

_WITH_ANY_NUMBER = json.JSONDecoder(
    object_pairs_hook=_unique_names,
    parse_int=_integer_or_none,
    parse_float=_number_or_none,
    parse_constant=_no_constant,
)


def _is_deeper(value: Json, levels: int) -> bool:
    match value:
        case list():
            return levels == 0 or any(_is_deeper(item, levels - 1) for item in cast("list[Json]", value))
        case dict():
            return levels == 0 or any(_is_deeper(item, levels - 1) for item in cast("dict[str, Json]", value).values())
        case _:
            return False


def _has_surrogate(value: Json) -> bool:
    match value:
        case str():
            return any("\ud800" <= char <= "\udfff" for char in value)
        case list():
            return any(_has_surrogate(item) for item in cast("list[Json]", value))
        case dict():
            members = cast("dict[str, Json]", value)
            return any(_has_surrogate(name) or _has_surrogate(item) for name, item in members.items())
        case _:
            return False


def _is_plain(value: Json) -> bool:
    """Whether it holds no float, no name beyond ASCII and no subclass of a JSON type, which might be any of these."""
    kind = type(cast("object", value))
    if kind is str or kind is int or kind is bool or value is None:
        return True
    if kind is dict:
        members = cast("dict[str, Json]", value)
        return "".join(members).isascii() and _are_plain(members.values())
    return (kind is list or kind is tuple) and _are_plain(value)


def _are_plain(items: Iterable[Json]) -> bool:
    for item in items:  # noqa: SIM110 - a loop costs half of what `all` does, and every call comes through here
        if not _is_plain(item):
            return False
    return True


def _has_unreadable_number(value: Json) -> bool:
    if type(cast("object", value)) is dict:
        # The common case written out, for every message comes through here: most members are texts.
        for item in cast("dict[str, Json]", value).values():  # noqa: SIM110 - as in `_are_plain`
            if type(item) is not str and _has_unreadable_number(item):
                return True
        return False
    match value:
        case float():
            return not _is_readable(value)
        case list() | tuple():
            return any(_has_unreadable_number(item) for item in cast("list[Json]", value))
        case dict():
            return any(_has_unreadable_number(item) for item in cast("dict[str, Json]", value).values())
        case _:
            return False


def exceeds(value: Json, limit: int, *, string: int, members: Callable[[Mapping[Json, Json]], int]) -> bool:
    """Whether a JSON value comes to more than `limit`: a string to its characters and `string` more, an object to `members` of
    it, an array to its length. It looks no further than it has to."""
    left, waiting = limit, [value]
    while waiting and left >= 0:
        each = waiting.pop()
        match each:
            case str():
                left -= len(each) + string
            case list() | tuple():
                items = cast("Sequence[Json]", each)
                waiting.extend(items)
                left -= len(items)
            case dict():
                named = cast("Mapping[Json, Json]", each)
                waiting.extend(named.values())
                left -= members(named)
            case _:
                continue
    return left < 0
