"""Signing in over fakes of every port: one authenticator, its browser, and a new process when a test asks for one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from gateway.core.ledger import Entry
from gateway.core.vocabulary import Profile
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.ports import ConsoleSession
from gateway.runtime.sessions import Sessions, SignedIn
from tests.authenticator import Forgery
from tests.fakes.clock import FakeClock
from tests.fakes.entropy import FakeEntropy
from tests.fakes.ledger import MemoryLedger
from tests.fakes.passkeys import PlainAuthenticator, PlainVerifier
from tests.fakes.policy import TablePolicy

RP_ID = "console.localhost"
ORIGIN = "http://console.localhost:8765"
BROWSER = "browser-of-ada"
STATE = "state-of-a-shell"

_AnyEntry = TypeVar("_AnyEntry", bound=Entry)


@dataclass
class Accounts:
    """Sessions and passkey ceremonies over fakes, and an authenticator in a browser."""

    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    clock: FakeClock = field(default_factory=FakeClock)
    connections: ConnectionRegistry = field(default_factory=ConnectionRegistry)
    policy: TablePolicy = field(default_factory=TablePolicy)
    authenticator: PlainAuthenticator = field(default_factory=lambda: PlainAuthenticator(ORIGIN))

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """A new process over the same ledger."""
        entropy = FakeEntropy(seed=f"run {self.clock.monotonic()}")
        self.connections = ConnectionRegistry()
        self.sessions = Sessions(
            ledger=self.ledger,
            records=self.ledger,
            connections=self.connections,
            policy=self.policy,
            clock=self.clock,
            entropy=entropy,
        )
        self.passkeys = PasskeyCeremonies(
            sessions=self.sessions,
            verifier=PlainVerifier(rp_id=RP_ID, origin=ORIGIN),
            ledger=self.ledger,
            records=self.ledger,
            clock=self.clock,
            entropy=entropy,
        )

    async def enrol(self, name: str = "ada", profile: Profile = Profile.OPERATOR, browser: str = BROWSER) -> SignedIn:
        token = await self.passkeys.offer(name, profile)
        return await self.passkeys.enrol(browser, token, await self.registration(token, browser), None, None)

    async def registration(self, token: str, browser: str = BROWSER, forgery: Forgery = Forgery()) -> dict[str, Any]:  # noqa: B008 frozen
        return self.authenticator.create(await self.passkeys.enrolment_options(browser, token), forgery)

    def assertion(self, browser: str = BROWSER, forgery: Forgery = Forgery()) -> dict[str, Any]:  # noqa: B008 frozen
        return self.authenticator.get(self.passkeys.sign_in_options(browser), forgery)

    async def sign_in(self, current: ConsoleSession | None = None, browser: str = BROWSER) -> SignedIn:
        return await self.passkeys.sign_in(browser, self.assertion(browser), current)

    def recorded(self, kind: type[_AnyEntry]) -> list[_AnyEntry]:
        return [entry for entry in self.ledger.entries if isinstance(entry, kind)]
