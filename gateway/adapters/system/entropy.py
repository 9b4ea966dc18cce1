"""The operating system's random source."""

from __future__ import annotations

import os
import secrets
from base64 import urlsafe_b64encode
from typing import Final

IDENTIFIER_OCTETS = 16
"""128 bits, what a version 4 UUID would have had without its fixed bits: 22 characters."""

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
        return prefix + urlsafe_b64encode(self.octets(IDENTIFIER_OCTETS)).rstrip(b"=").decode()

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
