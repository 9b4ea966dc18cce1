"""Sending push messages (RFC 8030). What a browser said about itself is checked here; what its address may be, by the guard."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from gateway.adapters.push.encryption import encrypt, read_keys
from gateway.adapters.push.vapid import VapidKey
from gateway.core.errors import Refused, ToolFailed
from gateway.runtime.ports import PushMessage, PushOutcome, PushSubscription

GONE: Final = frozenset({404, 410})
"""RFC 8030 section 7.3: the subscription has ended."""

_log = logging.getLogger(__name__)


class GuardedPost(Protocol):
    """One POST to an address that somebody else chose."""

    def check(self, url: str) -> str:
        """The host, for a URL that may be asked. Asks nobody. Raises ToolFailed."""
        ...

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """The status of the answer. Follows nothing, and takes a bounded time. Raises ToolFailed."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class WebPush:
    """Encrypts, signs and posts."""

    def __init__(self, key: VapidKey, out: GuardedPost, now: Callable[[], int]) -> None:
        """`now` gives epoch milliseconds."""
        self._key = key
        self._out = out
        self._now = now

    @property
    def key(self) -> bytes:
        """The public key that browsers subscribe with."""
        return self._key.public

    def check(self, subscription: PushSubscription) -> str:
        """The host of its service. Raises Refused `pushAddress`."""
        try:
            read_keys(subscription.p256dh, subscription.auth)
            return self._out.check(subscription.endpoint)
        except ValueError:
            raise Refused("pushAddress", "these are no keys of a push subscription", 400) from None
        except ToolFailed:
            # Which check refused it is nothing that the person could do something about.
            raise Refused("pushAddress", "this browser's push service is at an address that may not be asked", 400) from None

    async def send(self, subscription: PushSubscription, message: PushMessage) -> PushOutcome:
        """Send one."""
        try:
            body = encrypt(message.text, *read_keys(subscription.p256dh, subscription.auth))
            headers = {
                "Authorization": self._key.authorization(subscription.endpoint, self._now() // 1000),
                "Content-Encoding": "aes128gcm",
                "Content-Type": "application/octet-stream",
                "TTL": str(message.seconds),
                # 32 characters of base64url at most, and nothing that says which question it is.
                "Topic": hashlib.sha256(message.topic.encode()).hexdigest()[:32],
                "Urgency": "high",
            }
            status = await self._out.post(subscription.endpoint, headers, body)
        except (ToolFailed, ValueError):
            return PushOutcome.FAILED
        if status in GONE:
            return PushOutcome.GONE
        if not 200 <= status < 300:
            _log.info("a push service answered with %d", status)
            return PushOutcome.FAILED
        return PushOutcome.TAKEN

    def close(self) -> None:
        """Let go of what requests are made with."""
        self._out.close()
