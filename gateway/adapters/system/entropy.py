"""The operating system's random source."""

from __future__ import annotations

import secrets

IDENTIFIER_OCTETS = 16
"""128 bits, what a version 4 UUID would have had without its fixed bits: 22 characters."""

SECRET_OCTETS = 32
"""256 bits: a bearer secret may be guessed at without a rate limit, offline included."""


class SystemEntropy:
    """The Entropy port over `secrets`."""

    def identifier(self, prefix: str) -> str:
        """`prefix` and 22 URL-safe characters."""
        return prefix + secrets.token_urlsafe(IDENTIFIER_OCTETS)

    def secret(self) -> str:
        """43 URL-safe characters."""
        return secrets.token_urlsafe(SECRET_OCTETS)

    def octets(self, count: int) -> bytes:
        """Random bytes."""
        return secrets.token_bytes(count)
