"""What a time stamp of RFC 3161 says: of which digest it is, and when it was made. Whether its authority signed it is another
question, which needs the authority's certificate.

A reader of DER for the few places on the way to these two; another verifier reads the same places, and refuses what this refuses.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

_SEQUENCE, _INTEGER, _OCTETS, _OBJECT, _TIME, _FIRST = 0x30, 0x02, 0x04, 0x06, 0x18, 0xA0
_SIGNED_DATA: Final = bytes.fromhex("2a864886f70d010702")
_STAMP_INFO: Final = bytes.fromhex("2a864886f70d0109100104")
_HASHES: Final = {
    bytes.fromhex("608648016503040201"): "sha256",
    bytes.fromhex("608648016503040202"): "sha384",
    bytes.fromhex("608648016503040203"): "sha512",
}
_MOMENT: Final = re.compile(rb"([0-9]{14})(?:\.[0-9]{1,9})?Z")

_Value = tuple[int, bytes]
"""A tag and what it holds."""


class MalformedStamp(Exception):
    """An answer that is no time stamp."""


@dataclass(frozen=True, slots=True)
class TimeStamp:
    """The digest that was stamped, by the name of its function, and when, in seconds since 1970."""

    hash_name: str
    imprint: bytes
    at: int

    def is_of(self, message: bytes) -> bool:
        """Whether it is the stamp of these bytes."""
        return hashlib.new(self.hash_name, message).digest() == self.imprint


def read_time_stamp(answer: bytes) -> TimeStamp:
    """What an authority's answer says. Raises MalformedStamp."""
    response = _list(_only(answer), _SEQUENCE)
    status = _list(_at(response, 0), _SEQUENCE)
    if _held(_at(status, 0), _INTEGER) != b"\x00":
        raise MalformedStamp
    token = _list(_at(response, 1), _SEQUENCE)
    _require(_held(_at(token, 0), _OBJECT) == _SIGNED_DATA)
    signed = _list(_only(_held(_at(token, 1), _FIRST)), _SEQUENCE)
    content = _list(_at(signed, 2), _SEQUENCE)
    _require(_held(_at(content, 0), _OBJECT) == _STAMP_INFO)
    info = _list(_only(_held(_only(_held(_at(content, 1), _FIRST)), _OCTETS)), _SEQUENCE)
    imprint = _list(_at(info, 2), _SEQUENCE)
    hash_name = _HASHES.get(_held(_at(_list(_at(imprint, 0), _SEQUENCE), 0), _OBJECT))
    if hash_name is None:
        raise MalformedStamp
    return TimeStamp(hash_name, _held(_at(imprint, 1), _OCTETS), _read_moment(_held(_at(info, 4), _TIME)))


def _read_moment(raw: bytes) -> int:
    read = _MOMENT.fullmatch(raw)
    if read is None:
        raise MalformedStamp
    try:
        return int(datetime.strptime(read[1].decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise MalformedStamp from None


def _list(value: _Value, tag: int) -> list[_Value]:
    """All values in one of that tag."""
    raw = _held(value, tag)
    found: list[_Value] = []
    while raw:
        each, raw = _split(raw)
        found.append(each)
    return found


def _only(raw: bytes) -> _Value:
    value, rest = _split(raw)
    _require(not rest)
    return value


def _at(values: list[_Value], place: int) -> _Value:
    _require(place < len(values))
    return values[place]


def _held(value: _Value, tag: int) -> bytes:
    _require(value[0] == tag)
    return value[1]


def _split(raw: bytes) -> tuple[_Value, bytes]:
    """The first value, and what follows it. A length has one spelling, of at most four bytes."""
    _require(len(raw) >= 2)
    length, start = raw[1], 2
    if length > 0x7F:
        start += length - 0x80
        spelled = raw[2:start]
        _require(0 < len(spelled) <= 3 and len(spelled) == length - 0x80 and spelled[0] != 0)
        length = int.from_bytes(spelled)
        _require(length > 0x7F)
    _require(start + length <= len(raw))
    return (raw[0], raw[start : start + length]), raw[start + length :]


def _require(holds: bool) -> None:
    if not holds:
        raise MalformedStamp
