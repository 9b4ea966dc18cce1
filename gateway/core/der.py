"""Reads DER, as far as time stamps and certificates need it: values one after another, of one byte's tag, and what they hold.

Another verifier reads the same way, and refuses what this refuses: a length has one spelling, of at most four bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

SEQUENCE: Final = 0x30
SET: Final = 0x31
INTEGER: Final = 0x02
OCTETS: Final = 0x04
OBJECT: Final = 0x06
TIME: Final = 0x18
FIRST: Final = 0xA0
SECOND: Final = 0xA1


class MalformedDer(Exception):
    """Bytes that are not what was to be read."""


class Value(NamedTuple):
    """A tag, what it holds, and all its bytes."""

    tag: int
    held: bytes
    raw: bytes


def values_in(value: Value, tag: int) -> Sequence[Value]:
    """All values in one of that tag."""
    return read_values(held_by(value, tag))


def read_values(raw: bytes) -> Sequence[Value]:
    """All values in a row."""
    found: list[Value] = []
    while raw:
        each, raw = _split(raw)
        found.append(each)
    return found


def only(raw: bytes) -> Value:
    """The one value that these bytes are."""
    value, rest = _split(raw)
    require(not rest)
    return value


def value_at(values: Sequence[Value], place: int) -> Value:
    """The value at a place that has to be there."""
    require(place < len(values))
    return values[place]


def held_by(value: Value, tag: int) -> bytes:
    """What a value of that tag holds."""
    require(value.tag == tag)
    return value.held


def require(holds: bool) -> None:
    """Raises MalformedDer where it does not hold."""
    if not holds:
        raise MalformedDer


def _split(raw: bytes) -> tuple[Value, bytes]:
    require(len(raw) >= 2)
    length, start = raw[1], 2
    if length > 0x7F:
        start += length - 0x80
        spelled = raw[2:start]
        require(0 < len(spelled) <= 3 and len(spelled) == length - 0x80 and spelled[0] != 0)
        length = int.from_bytes(spelled)
        require(length > 0x7F)
    end = start + length
    require(end <= len(raw))
    return Value(raw[0], raw[start:end], raw[:end]), raw[end:]
