"""The operating system's random source."""

from __future__ import annotations

import os
import secrets
import time
from base64 import urlsafe_b64encode
from typing import Final

TIME_OCTETS: Final = 6
"""Milliseconds, until the year 10889."""

RANDOM_OCTETS: Final = 10
"""80 bits, as a ULID has beside its time, and more than a version 7 UUID."""

_NANOSECONDS_PER_MILLISECOND: Final = 1_000_000

_IN_ORDER: Final = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
)
"""The characters of base64url, given to its digits in the order of their codes: so texts have the order of the numbers."""

SECRET_OCTETS = 32
"""256 bits: a bearer secret may be guessed at without a rate limit, offline included."""

OCTETS_AT_ONCE: Final = 4_096
"""What is fetched for identifiers and salts at once. Each fetch lets the other threads run and waits until they let it back, and
every call needs three."""


class SystemEntropy:
    """The Entropy port over the operating system. For the event loop's thread."""

    def __init__(self) -> None:
        self._fetched = b""
        self._used = 0

    def identifier(self, prefix: str) -> str:
        """`prefix` and 22 URL-safe characters."""
        return prefix + ordered_name(time.time_ns() // _NANOSECONDS_PER_MILLISECOND, self.octets(RANDOM_OCTETS))

    def secret(self) -> str:
        """43 URL-safe characters, which nothing keeps beside whoever asked."""
        return secrets.token_urlsafe(SECRET_OCTETS)

    def octets(self, count: int) -> bytes:
        """Random bytes, none of them given twice."""
        end = self._used + count
        if end > len(self._fetched):
            self._fetched, self._used, end = os.urandom(max(count, OCTETS_AT_ONCE)), 0, count
        taken = self._fetched[self._used : end]
        self._used = end
        return taken


def ordered_name(at: int, random: bytes) -> str:
    """22 URL-safe characters for that time in epoch milliseconds and those `RANDOM_OCTETS`. Later ones are greater as texts."""
    octets = at.to_bytes(TIME_OCTETS, "big") + random
    return urlsafe_b64encode(octets).rstrip(b"=").translate(_IN_ORDER).decode()
