"""What is not as it should be."""

from __future__ import annotations


class Difference(Exception):
    """The gateway did something else than it should; the message says what."""
