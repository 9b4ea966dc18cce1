"""The sign-ins of a gateway that a test puts together, with the host that is shipped."""

from __future__ import annotations

from pathlib import Path

from gateway.adapters.storage.secret_box import SecretBox
from gateway.adapters.tools.added import Secrets
from gateway.adapters.tools.oauth.host import OAuthSignIns
from gateway.runtime.ports import Clock
from gateway.runtime.sign_ins import SignIns
from tests.fakes.clock import FakeClock
from tests.fakes.entropy import FakeEntropy
from tests.fakes.ledger import MemoryLedger

CONSOLE = "http://console.localhost:8765"


def make_sign_ins(ledger: MemoryLedger, folder: Path, host: OAuthSignIns | None = None, clock: Clock | None = None) -> SignIns:
    """With the ledger and the key of the sources around it."""
    clock = clock or FakeClock()
    host = host or OAuthSignIns(Secrets().fill, clock.now)
    sealer = SecretBox(folder)
    entropy = FakeEntropy()
    return SignIns(ledger=ledger, records=ledger, host=host, sealer=sealer, clock=clock, entropy=entropy, console=CONSOLE)
