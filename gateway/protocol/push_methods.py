"""Parameters and results of the console's methods about devices that are told of questions, each person's own."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.protocol.wire import Digest, Flag, Identifier, Timestamp, Wire


class WirePushDevice(Wire):
    """A device. `service` is the host that carries messages to it. `digest` is SHA-256 of its address and keys with a line feed
    between them, by which its own page finds it in the list."""

    id: Identifier
    name: str
    service: str
    digest: Digest
    added_at: Timestamp


class PushState(Wire):
    """Whether devices can be added here, the public key that a browser subscribes with, and those that there are."""

    configured: Flag
    key: str | None = None
    devices: tuple[WirePushDevice, ...]


class NewPushDevice(Wire):
    """A browser's subscription with a name for it. `publicKey` is what the Push API calls `p256dh`."""

    name: Annotated[str, Field(max_length=200)]
    endpoint: Annotated[str, Field(min_length=1, max_length=2048)]
    public_key: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{87}$")]
    auth: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")]


class PushDeviceRef(Wire):
    """Which device."""

    device: Identifier
