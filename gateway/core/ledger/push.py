"""Devices that are told of questions while no page is open: which browser's push service the gateway may write to.

The address and the keys are secrets of the browser. They are sealed in the tables alone; the record has a hash of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, header
from gateway.core.canonical import own_bytes
from gateway.core.vocabulary import PushDeviceEnd

__all__ = ["PushDevice", "PushDeviceAdded", "PushDeviceRemoved"]


@dataclass(frozen=True, slots=True)
class PushDevice:
    """A device of a person. `service` is the host that carries messages to it; `digest` is of its address and keys, by which its
    own page knows it again; `sealed` has these."""

    id: str
    principal_id: str
    name: str
    service: str
    digest: str
    sealed: bytes
    added_at: int


@dataclass(frozen=True, slots=True)
class PushDeviceAdded:
    """A person has this device told of the questions that wait for them."""

    EVENT: ClassVar[str] = "push-device:added"

    at: int
    console_session_id: str
    device: PushDevice

    def leaf(self) -> Leaf:
        device = self.device
        body = {
            "deviceId": device.id,
            "consoleSessionId": self.console_session_id,
            "digest": device.digest,
        }
        named = own_bytes({"deviceName": device.name, "service": device.service})
        return Leaf({**header(self.EVENT, self.at, device.principal_id), **body}, named)


@dataclass(frozen=True, slots=True)
class PushDeviceRemoved:
    """This device is told nothing from here on."""

    EVENT: ClassVar[str] = "push-device:removed"

    at: int
    principal_id: str
    device_id: str
    end: PushDeviceEnd

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "deviceId": self.device_id, "end": self.end.value})


PushEntry = PushDeviceAdded | PushDeviceRemoved
"""What may be written."""
