"""Why the gateway closes a socket: one row per cause, with its code and a reason that is safe to send.

Codes below 3000 are RFC 6455 section 7.4.1 and the IANA registry's; 4401 and 4403 are ours, after the HTTP statuses.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Goodbye(NamedTuple):
    """What a close frame says. RFC 6455 leaves 123 bytes for the reason."""

    code: int
    reason: str


class Closing(Enum):
    """Every cause that is ours; the server itself adds 1002 and 1007 for broken frames, 1011 for missed pings, 1012 on a stop."""

    BINARY_FRAME = Goodbye(1003, "text frames only")
    MALFORMED_FRAMES = Goodbye(1008, "too many malformed messages")
    OVERSIZED_MESSAGE = Goodbye(1009, "message is larger than 256 KiB")
    SLOW_READER = Goodbye(1013, "peer does not read")
    SESSION_EXPIRED = Goodbye(4401, "expired")
    SESSION_ENDED = Goodbye(4403, "ended")

    @property
    def code(self) -> int:
        """The close code."""
        return self.value.code

    @property
    def reason(self) -> str:
        """The close reason."""
        return self.value.reason


MALFORMED_FRAMES_ALLOWED = 5
"""protocol.md section 2: with the fifth malformed frame the connection closes."""
