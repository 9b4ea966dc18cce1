"""A table of what was seen once, for millions of keys: some twenty bytes for each, where a dictionary takes a hundred.

A key is kept as 128 bits of its hash. Nobody can find two that share them, also not who chooses the ids of calls, so that no key
is ever taken for another.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from hashlib import sha256
from struct import Struct
from typing import Final

from gateway.core.canonical import Json

_PARTS: Final = 4_096
"""Stretches of the table. Each stays so short that a new key moves a few kilobytes."""

_read_halves: Final = Struct(">QQ").unpack_from


class DigestTable:
    """A number for each key, which is one or more texts or other plain values."""

    def __init__(self, width: str = "B") -> None:
        """`width` is the type code of the numbers, as `array` has them."""
        self._parts: list[tuple[array[int], array[int], array[int]] | None] = [None] * _PARTS
        """By the last bits of a key: the first half of each, in order, with its other half and its number."""
        self._width = width

    def get(self, *key: Json) -> int | None:
        """The number of a key; None where it has none."""
        first, second = _halves(key)
        part = self._parts[second % _PARTS]
        if part is None:
            return None
        firsts, seconds, numbers = part
        place = bisect_left(firsts, first)
        while place < len(firsts) and firsts[place] == first:
            if seconds[place] == second:
                return numbers[place]
            place += 1
        return None

    def put(self, number: int, *key: Json) -> int | None:
        """Give a key that number. What it had before, None where it is new."""
        first, second = _halves(key)
        part = self._parts[second % _PARTS]
        if part is None:
            part = self._parts[second % _PARTS] = array("Q"), array("Q"), array(self._width)
        firsts, seconds, numbers = part
        place = bisect_left(firsts, first)
        while place < len(firsts) and firsts[place] == first:
            if seconds[place] == second:
                before, numbers[place] = numbers[place], number
                return before
            place += 1
        firsts.insert(place, first)
        seconds.insert(place, second)
        numbers.insert(place, number)
        return None


def short_digest(*values: Json) -> int:
    """64 bits of the hash of some values."""
    return _halves(values)[0]


def _halves(values: tuple[Json, ...]) -> tuple[int, int]:
    # As Python writes them, in ASCII: what differs is written differently, and ("ab", "c") is not ("a", "bc").
    first, second = _read_halves(sha256(ascii(values).encode()).digest())
    return first, second
