"""How long things last, and how many sockets a session has. The rooms of the runtime read it at every use, so that what an
operator changes holds at once for whatever begins from then on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Final

from gateway.runtime.retention import Retention

APPROVAL_SECONDS: Final = 120.0
"""How long a question waits where the policy says nothing: long enough to read, short enough that the person is still there."""

SNAPSHOT_SECONDS: Final = 900.0
"""A turn of eight rounds with a person's two-minute approval in several of them fits; a forgotten tab does not."""

GRACE_SECONDS: Final = 30.0
"""docs/PROTOCOL.md section 7: how long a lost connection's turn waits to be re-bound."""

ENROLMENT_SECONDS: Final = 900.0

DRAIN_SECONDS: Final = 10.0

SOCKETS_PER_SESSION: Final = 64
"""Open at once. Each is told what its session is told, so that many of them would make one notice as many messages."""

FULL_SESSIONS: Final = 4
"""Sessions of one person that may have as many sockets as that at once, at each origin. Each sign-in begins another session."""


@dataclass(slots=True)
class Timing:
    """The values in force. All times are seconds."""

    snapshot: float = SNAPSHOT_SECONDS
    grace: float = GRACE_SECONDS
    approval: float = APPROVAL_SECONDS
    enrolment: float = ENROLMENT_SECONDS
    """How long an enrolment link works."""
    drain: float = DRAIN_SECONDS
    """How long running calls may go on after the signal to stop."""
    sockets: int = SOCKETS_PER_SESSION
    """How many a session may have open at once."""
    retention: Retention = field(default_factory=Retention)
    """How long the content of calls is kept."""
    zone: tzinfo = UTC
    """The operator's time zone, in which the policy reads the clock. It does not change while the gateway runs."""
