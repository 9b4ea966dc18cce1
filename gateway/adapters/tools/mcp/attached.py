"""Bytes that come with a result, from the server's worker to the gateway, in parts."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gateway.adapters.tools.mcp.wire import BYTES_AT_ONCE, BYTES_PER_SECOND
from gateway.core.attachments import MAX_ATTACHED, MAX_ATTACHMENTS
from gateway.core.errors import ToolFailed

_SHARE: Final = 4
"""Attachments get a quarter of what the gateway takes from a worker: many images at once must not cost it its connection."""


class AttachedAllowance:
    """In the worker: how many bytes of attachments may be sent now. What is over is not sent; the result's text speaks of it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._left = BYTES_AT_ONCE / _SHARE
        self._at = now()

    def allow(self, attached: Sequence[bytes]) -> Sequence[bytes]:
        """Those of them that may be sent."""
        now = self._now()
        self._left = min(BYTES_AT_ONCE / _SHARE, self._left + (now - self._at) * BYTES_PER_SECOND / _SHARE)
        self._at = now
        allowed: list[bytes] = []
        for data in attached:
            # As base64, and the line around each part.
            size = len(data) * 4 / 3 + 1_024
            if size <= self._left:
                self._left -= size
                allowed.append(data)
        return allowed


class AttachedBytes:
    """In the gateway: the parts of one call put together. The worker is not believed."""

    def __init__(self) -> None:
        self._parts: list[bytearray] = []
        self._size = 0

    def take(self, line: Mapping[str, Any]) -> None:
        """One "attached" line. Raises ToolFailed for one that no honest worker writes."""
        try:
            data = base64.b64decode(line["data"], validate=True)
        except (binascii.Error, ValueError, TypeError, KeyError):
            raise ToolFailed("the server's worker wrote bytes that cannot be read") from None
        if line.get("begins") is True or not self._parts:
            self._parts.append(bytearray())
        self._size += len(data)
        if self._size > MAX_ATTACHED or len(self._parts) > MAX_ATTACHMENTS:
            raise ToolFailed("the server's worker wrote more bytes than a result may have")
        self._parts[-1] += data

    def whole(self) -> tuple[bytes, ...]:
        """What was taken, in order."""
        return tuple(map(bytes, self._parts))
