"""Push messages: what the runtime asks of whoever speaks with browsers' push services."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Protocol


@dataclass(frozen=True, slots=True)
class PushSubscription:
    """Where a browser is reached, and the keys that only it can read with (RFC 8030 and RFC 8291), in base64url as browsers write
    them. All of it is secret."""

    endpoint: str = field(repr=False)
    p256dh: str = field(repr=False)
    auth: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PushMessage:
    """What is sent, for how many seconds it is of use, and its topic: a later message of the same one takes its place."""

    text: bytes
    seconds: int
    topic: str


class PushOutcome(Enum):
    """What became of one."""

    TAKEN = auto()
    """The service has it."""
    GONE = auto()
    """The service knows that browser no longer."""
    FAILED = auto()
    """It was not reached, or did not take it."""


class PushSender(Protocol):
    """Encrypts and sends. Knows nothing of people."""

    @property
    def key(self) -> bytes:
        """The public key that browsers subscribe with (RFC 8292 section 3.2): an uncompressed point on P-256."""
        ...

    def check(self, subscription: PushSubscription) -> str:
        """The host of its service, for a subscription that a message could be sent to. Asks nobody. Raises Refused."""
        ...

    async def send(self, subscription: PushSubscription, message: PushMessage) -> PushOutcome:
        """Send one. Takes a bounded time, and raises nothing."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...
