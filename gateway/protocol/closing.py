"""Why the gateway closes a socket: one row per cause, with its code and a reason that is safe to send.

Codes below 3000 are from RFC 6455 section 7.4.1 and the IANA registry; 4401 and 4403 are private, after the HTTP statuses.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class CloseFrame(NamedTuple):
    """The content of a close frame. RFC 6455 allows 123 bytes for the reason."""

    code: int
    reason: str


class CloseCause(Enum):
    """Every cause of the gateway. uvicorn adds 1002 and 1007 for broken frames, 1011 for missed pings."""

    BINARY_FRAME = CloseFrame(1003, "text frames only")
    MALFORMED_FRAMES = CloseFrame(1008, "too many malformed messages")
    OVERSIZED_MESSAGE = CloseFrame(1009, "message is larger than 256 KiB")
    STOPPING = CloseFrame(1012, "the gateway stops")
    SLOW_READER = CloseFrame(1013, "peer does not read")
    SESSION_EXPIRED = CloseFrame(4401, "expired")
    SESSION_ENDED = CloseFrame(4403, "ended")

    @property
    def code(self) -> int:
        """The close code."""
        return self.value.code

    @property
    def reason(self) -> str:
        """The close reason."""
        return self.value.reason


MALFORMED_FRAMES_ALLOWED = 5
"""docs/PROTOCOL.md section 2: with the fifth malformed frame the connection closes."""
