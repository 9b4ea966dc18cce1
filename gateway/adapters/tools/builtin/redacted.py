"""Texts of files without what redaction takes out of them, remembered by their content.

A search may look into nothing else. Were it to look into the whole text first, and redact only where it found something, the time
that it takes would tell a right guess at a credential from a wrong one.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Collection
from typing import Final

from gateway.core.redaction import redact_lines

MAX_KNOWN: Final = 8_192
"""Files that are remembered: more than one search reads."""

MAX_KEPT: Final = 16 * 1024 * 1024
"""Characters of those that something was taken out of; of the others nothing is kept but that there was nothing."""


class RedactedTexts:
    """For several threads at once."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[bytes, frozenset[str]], str | None] = OrderedDict()
        self._kept = 0
        self._lock = threading.Lock()

    def look(self, data: bytes, text: str, classes: Collection[str], left: int) -> tuple[list[str] | None, int]:
        """The lines of a file's text without members of `classes`, and how many characters had to be looked at for it; no lines
        where that would be more than are `left`. `data` is what the text was decoded from."""
        if not classes:
            return text.splitlines(), 0
        key = (hashlib.blake2b(data, digest_size=32).digest(), frozenset(classes))
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                kept = self._known[key]
                return (text if kept is None else kept).splitlines(), 0
        if left <= 0:
            return None, 0
        lines, whole = redact_lines(text, classes), text.splitlines()
        with self._lock:
            self._remember(key, None if lines == whole else "\n".join(lines))
        return lines, len(text)

    def _remember(self, key: tuple[bytes, frozenset[str]], kept: str | None) -> None:
        if key in self._known:
            return
        self._known[key] = kept
        self._kept += len(kept or "")
        while len(self._known) > MAX_KNOWN or self._kept > MAX_KEPT:
            _, forgotten = self._known.popitem(last=False)
            self._kept -= len(forgotten or "")
