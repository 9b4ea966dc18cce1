"""Devices that a person has told of their questions: added by a console page in that browser, removed by the person.

A device gets no authority. Whoever has one learns that a question waits, and answers it on the console, signed in, as ever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from gateway.core.errors import NotFound, Refused
from gateway.core.ledger import PushDevice, PushDeviceAdded, PushDeviceRemoved
from gateway.core.model import Principal
from gateway.core.vocabulary import PushDeviceEnd
from gateway.runtime.asking import ChangeLock
from gateway.runtime.ports import Clock, ConsoleSession, Entropy, Ledger, PushRecords, PushSender, PushSubscription, SecretSealer

DEVICES_PER_PERSON: Final = 10

NAME_LIMIT: Final = 60
"""Characters of a device's name."""


class PushDevices:
    """Everybody's devices, over the ledger."""

    def __init__(
        self,
        *,
        sender: PushSender,
        ledger: Ledger,
        records: PushRecords,
        sealer: SecretSealer,
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        self.sender = sender
        self._ledger = ledger
        self._records = records
        self._sealer = sealer
        self._clock = clock
        self._entropy = entropy
        # "At most ten" holds only if one change is looked at after the other.
        self._changing = ChangeLock()

    async def list(self, person: Principal) -> Sequence[PushDevice]:
        """A person's own, oldest first."""
        return await self._records.push_devices(person.id)

    async def add(self, console: ConsoleSession, subscription: PushSubscription, name: str) -> PushDevice:
        """Have this device told. The same browser again takes the place of what it was, also where it was somebody else's: who
        has its keys is in that browser. Raises Refused `pushAddress`, `tooManyDevices` or `name`."""
        if not 0 < len(name) <= NAME_LIMIT or not name.isprintable():
            raise Refused("name", f"a device's name is 1 to {NAME_LIMIT} printable characters", 400)
        service, written = self.sender.check(subscription), _write(subscription)
        digest = hashlib.sha256(written.encode()).hexdigest()
        async with self._changing:
            before = await self._records.push_device_of(digest)
            own = await self._records.push_devices(console.principal.id)
            if len([each for each in own if each.digest != digest]) >= DEVICES_PER_PERSON:
                raise Refused("tooManyDevices", f"there are {DEVICES_PER_PERSON} devices already; remove one of them first", 409)
            now, id_ = self._clock.now(), self._entropy.identifier("dev_")
            sealed = self._sealer.seal(_seal_name(id_), written)
            device = PushDevice(id_, console.principal.id, name, service, digest, sealed, now)
            added = PushDeviceAdded(now, console.id, device)
            replaced = () if before is None else (_removal(now, before, PushDeviceEnd.ADDED_AGAIN),)
            await self._ledger.append(*replaced, added)
        return device

    async def remove(self, person: Principal, device_id: str) -> None:
        """Tell this device nothing any more. Raises NotFound."""
        async with self._changing:
            device = next((each for each in await self._records.push_devices(person.id) if each.id == device_id), None)
            if device is None:
                raise NotFound("you have no such device")
            await self._ledger.append(_removal(self._clock.now(), device, PushDeviceEnd.PERSON))

    async def forget(self, device: PushDevice) -> None:
        """Remove one that its service knows no longer."""
        async with self._changing:
            if device in await self._records.push_devices(device.principal_id):
                await self._ledger.append(_removal(self._clock.now(), device, PushDeviceEnd.GONE))

    def subscription_of(self, device: PushDevice) -> PushSubscription:
        """Its address and keys. Raises Misconfigured where they cannot be unsealed."""
        return _read(self._sealer.unseal(_seal_name(device.id), device.sealed))


def _removal(at: int, device: PushDevice, end: PushDeviceEnd) -> PushDeviceRemoved:
    return PushDeviceRemoved(at, device.principal_id, device.id, end)


def _seal_name(device_id: str) -> str:
    return f"push-device/{device_id}"


def _write(subscription: PushSubscription) -> str:
    """Its page writes the same, so that it finds itself in the list by the hash of it."""
    return f"{subscription.endpoint}\n{subscription.p256dh}\n{subscription.auth}"


def _read(written: str) -> PushSubscription:
    endpoint, p256dh, auth = written.split("\n")
    return PushSubscription(endpoint, p256dh, auth)
