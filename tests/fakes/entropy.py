"""Randomness that a test can foresee."""

from __future__ import annotations

import hashlib


class FakeEntropy:
    """The Entropy port, counting. Values never repeat, look like the real ones and are the same in every run."""

    def __init__(self, seed: str = "countersign") -> None:
        self._seed = seed
        self._drawn = 0

    def identifier(self, prefix: str) -> str:
        """`prefix` and a running number."""
        self._drawn += 1
        return f"{prefix}{self._drawn:022d}"

    def secret(self) -> str:
        """43 URL-safe characters."""
        return hashlib.sha256(self.octets(32)).hexdigest()[:43]

    def octets(self, count: int) -> bytes:
        """Bytes of a hash chain over the seed."""
        self._drawn += 1
        return hashlib.shake_256(f"{self._seed}:{self._drawn}".encode()).digest(count)
