"""The console's methods about devices that are told of questions (docs/PROTOCOL.md section 6): everybody's own."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.core.errors import Refused
from gateway.core.ledger import PushDevice
from gateway.core.model import Principal
from gateway.core.times import rfc3339
from gateway.protocol import push_methods as wire
from gateway.protocol.wire import Nothing
from gateway.runtime.ports import PushSubscription
from gateway.runtime.push_devices import PushDevices
from gateway.runtime.push_tests import PushTests
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.encoding import encode_base64url
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow


class PushMethods:
    """The handlers. None: no key is configured, so there are no devices and nothing to try."""

    def __init__(self, devices: PushDevices | None, tests: PushTests | None) -> None:
        self._devices = devices
        self._tests = tests

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        own = MethodPermission.ANY_SESSION
        added = ("push-device:added", "push-device:removed")
        return {
            "push/list": MethodRow(self.list, Concurrency.AT_ONCE, own),
            "push/add": MethodRow(self.add, Concurrency.IN_ORDER, own, added),
            "push/remove": MethodRow(self.remove, Concurrency.IN_ORDER, own, ("push-device:removed",)),
            "push/test": MethodRow(self.test, Concurrency.AT_ONCE, own, ("push-device:removed",)),
        }

    async def list(self, caller: ConsoleCaller, _params: Nothing) -> wire.PushState:
        """The person's own."""
        if self._devices is None:
            return wire.PushState(configured=False, devices=())
        return await _view(self._devices, caller.principal)

    async def add(self, caller: ConsoleCaller, params: wire.NewPushDevice) -> wire.PushState:
        """Have this browser told."""
        devices = self._require()
        subscription = PushSubscription(params.endpoint, params.public_key, params.auth)
        await devices.add(caller.session, subscription, params.name.strip())
        return await _view(devices, caller.principal)

    async def remove(self, caller: ConsoleCaller, params: wire.PushDeviceRef) -> wire.PushState:
        """Tell one nothing any more."""
        devices = self._require()
        await devices.remove(caller.principal, params.device)
        return await _view(devices, caller.principal)

    async def test(self, caller: ConsoleCaller, params: wire.PushDeviceRef) -> Nothing:
        """Have a test message sent to one."""
        self._require()
        assert self._tests is not None
        await self._tests.send(caller.principal, params.device)
        return Nothing()

    def _require(self) -> PushDevices:
        if self._devices is None:
            raise Refused("pushNotConfigured", "no key for web push is configured here", 409)
        return self._devices


async def _view(devices: PushDevices, person: Principal) -> wire.PushState:
    return wire.PushState(
        configured=True,
        key=encode_base64url(devices.sender.key),
        devices=tuple(map(_view_device, await devices.list(person))),
    )


def _view_device(device: PushDevice) -> wire.WirePushDevice:
    return wire.WirePushDevice(
        id=device.id, name=device.name, service=device.service, digest=device.digest, added_at=rfc3339(device.added_at)
    )
