"""A message that a person has sent to a device of their own, to see whether it arrives: that it is a test, and nothing else."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from gateway.core.canonical import own_bytes
from gateway.core.errors import NotFound, Refused
from gateway.core.model import Principal
from gateway.runtime.ports import Clock, PushMessage, PushOutcome
from gateway.runtime.push_devices import PushDevices

TESTS: Final = 3
TESTS_SECONDS: Final = 60.0
"""So many tests of one person in so many seconds: each has the gateway ask an address that a browser named."""

USEFUL_SECONDS: Final = 60
"""Whoever waits for a test does not wait longer."""


class PushTests:
    """Sends them. `host` is the console's, which a message names."""

    def __init__(self, devices: PushDevices, clock: Clock, host: str) -> None:
        self._devices = devices
        self._clock = clock
        self._host = host
        self._sent: dict[str, deque[float]] = {}

    async def send(self, person: Principal, device_id: str) -> None:
        """Returns once the device's service took it. Raises NotFound, and Refused `tooManyTests` or `pushNotTaken`."""
        device = next((each for each in await self._devices.list(person) if each.id == device_id), None)
        if device is None:
            raise NotFound("you have no such device")
        self._count(person.id)
        message = PushMessage(own_bytes({"host": self._host, "test": True}), USEFUL_SECONDS, f"test {device.id}")
        outcome = await self._devices.sender.send(self._devices.subscription_of(device), message)
        if outcome is PushOutcome.GONE:
            await self._devices.forget(device)
        if outcome is not PushOutcome.TAKEN:
            raise Refused("pushNotTaken", f"{device.service} did not take the message; add this device again", 409)

    def _count(self, person_id: str) -> None:
        # The wall clock may be set back, and then nobody could try a device until it comes there again.
        now = self._clock.monotonic()
        sent = self._sent.setdefault(person_id, deque(maxlen=TESTS))
        if len(sent) == TESTS and now - sent[0] < TESTS_SECONDS:
            raise Refused("tooManyTests", "those were enough tests for now; wait a minute", 429)
        sent.append(now)


@dataclass(frozen=True, slots=True)
class OpenPush:
    """Everybody's devices, and how one is tried."""

    devices: PushDevices
    tests: PushTests
