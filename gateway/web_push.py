"""Web push as the settings have it: nothing without a key."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gateway.adapters.tools.builtin.egress import Egress
from gateway.runtime.gateway import Gateway
from gateway.runtime.ports import SecretSealer
from gateway.server.access import Origins
from gateway.settings import Settings

if TYPE_CHECKING:
    from gateway.runtime.push_tests import OpenPush

PUSH_PORTS = frozenset({443})


def open_push(settings: Settings, gateway: Gateway, sealer: SecretSealer, origins: Origins) -> OpenPush | None:
    """Everybody's devices, which are told of the gateway's questions from now on. Raises Misconfigured."""
    if settings.push_key is None:
        return None
    # Imported where there is a key: a gateway without one does without the cipher.
    from gateway.adapters.push.sending import WebPush
    from gateway.adapters.push.vapid import read_key_file
    from gateway.adapters.tools.builtin.posting import Poster
    from gateway.runtime.push_devices import PushDevices
    from gateway.runtime.push_notices import PushNotices
    from gateway.runtime.push_tests import OpenPush, PushTests

    ports = gateway.ports
    key = read_key_file(settings.push_key, settings.push_contact or origins.console)
    devices = PushDevices(
        sender=WebPush(key, Poster(Egress(settings.push_allow_hosts, ports=PUSH_PORTS)), ports.clock.now),
        ledger=ports.ledger,
        records=ports.records,
        sealer=sealer,
        clock=ports.clock,
        entropy=ports.entropy,
    )
    host = urlsplit(origins.console).netloc
    gateway.approvals.on_asked(PushNotices(devices, ports.records, ports.clock, gateway.tasks, host).asked)
    return OpenPush(devices, PushTests(devices, ports.clock, host))
