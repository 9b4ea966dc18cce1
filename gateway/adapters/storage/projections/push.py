"""Devices that are told of questions, as the tables keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from sqlalchemy import delete, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, insertion
from gateway.core.ledger.push import PushDevice, PushDeviceAdded, PushDeviceRemoved, PushEntry

ADD_DEVICE = insertion(t.push_devices)
REMOVE_DEVICE = Statement(
    delete(t.push_devices).where(t.push_devices.c.id == given("id"), t.push_devices.c.principal_id == given("principal_id")),
    refusal="this person has no such device",
)
REMOVE_DEVICES = Statement(delete(t.push_devices).where(t.push_devices.c.principal_id == given("principal_id")))


def change_push(entry: PushEntry) -> Sequence[Change]:
    """What an entry about a device changes."""
    match entry:
        case PushDeviceAdded(device=device):
            row = {
                "id": device.id,
                "principal_id": device.principal_id,
                "name": device.name,
                "service": device.service,
                "digest": device.digest,
                "sealed": device.sealed,
                "added_at": device.added_at,
            }
            return (Change(ADD_DEVICE, row),)
        case PushDeviceRemoved():
            return (Change(REMOVE_DEVICE, {"of_id": entry.device_id, "of_principal_id": entry.principal_id}),)
        case _:
            assert_never(entry)


def remove_devices_of(principal_id: str) -> Change:
    """Remove all that somebody has."""
    return Change(REMOVE_DEVICES, {"of_principal_id": principal_id})


@stored("device", "id")
def _read_device(row: ARow) -> PushDevice:
    return PushDevice(row.id, row.principal_id, row.name, row.service, row.digest, bytes(row.sealed), row.added_at)


class PushReader(Reader):
    """Devices."""

    async def push_devices(self, principal_id: str) -> Sequence[PushDevice]:
        own = select(t.push_devices).where(t.push_devices.c.principal_id == principal_id)
        return await self._list(own.order_by(t.push_devices.c.added_at, t.push_devices.c.id), _read_device)

    async def push_device_of(self, digest: str) -> PushDevice | None:
        return self._find(select(t.push_devices).where(t.push_devices.c.digest == digest), _read_device)
