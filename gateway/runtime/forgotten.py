"""Which call ids a conversation may have forgotten: a Bloom filter, so that a new id need not be asked of the database.

It never says no of an id that was added. Of others it says yes now and then, and the database is asked in vain: with 10,000 ids
1 time in 120, with 50,000 1 time in 3. Its size stays the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_PLACE_BITS: Final = 17
"""16 KiB for each conversation that has forgotten a call, and nothing for the others."""

_MASK: Final = (1 << _PLACE_BITS) - 1


class ForgottenCalls:
    """The ids of closed calls that are known to the database alone."""

    __slots__ = ("_bits", "count")

    def __init__(self, call_ids: Iterable[str] = ()) -> None:
        self._bits = bytearray()
        self.count = 0
        """How many were added."""
        for call_id in call_ids:
            self.add(call_id)

    def add(self, call_id: str) -> None:
        """Another one."""
        if not self._bits:
            self._bits = bytearray(1 << (_PLACE_BITS - 3))
        for place in _places(call_id):
            self._bits[place >> 3] |= 1 << (place & 7)
        self.count += 1

    def may_hold(self, call_id: str) -> bool:
        """Whether this one may have been added."""
        bits = self._bits
        return bool(bits) and all(bits[place >> 3] & (1 << (place & 7)) for place in _places(call_id))


def _places(call_id: str) -> tuple[int, int, int]:
    # Keyed anew in each process (SipHash), so that nobody can choose ids that look alike.
    value = hash(call_id)
    return value & _MASK, value >> _PLACE_BITS & _MASK, value >> 2 * _PLACE_BITS & _MASK
