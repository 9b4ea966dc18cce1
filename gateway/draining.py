"""The way from a signal to the end: nothing new begins, what waits is withdrawn, what runs may finish, everybody is told.

Kubernetes calls it graceful termination, Teleport a drain. What is still running when the time is over is cancelled, and its
outcome is unknown, as after a crash.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, Protocol

from gateway.runtime.gateway import Gateway

CLOSING_SECONDS: Final = 2.0
"""How long a peer may take to read its last answers and the close frame; the same as for one that reads too slowly."""

_log = logging.getLogger(__name__)


class Drainable(Protocol):
    """What has connections to close."""

    async def drain(self) -> None:
        """Close each as soon as its requests are answered, and return when all are closed."""
        ...


async def drain(gateway: Gateway, sockets: Sequence[Drainable], seconds: float) -> None:
    """Return when every call has ended and every socket is closed, at the latest `seconds` and a little from now."""
    gateway.admission.close()
    closing: list[asyncio.Task[None]] = []
    try:
        try:
            async with asyncio.timeout(seconds):
                # Before any socket closes, so that whoever was asked hears that they need not answer.
                await gateway.withdraw_waiting_calls()
                closing += [asyncio.get_running_loop().create_task(socket.drain()) for socket in sockets]
                await gateway.finish_running_calls()
        except TimeoutError:
            _log.warning("calls still run %g seconds after the signal to stop; what becomes of them is unknown", seconds)
        if closing:
            await asyncio.wait(closing, timeout=CLOSING_SECONDS)
    finally:
        for task in closing:
            task.cancel()
        gateway.revoke_leases()
