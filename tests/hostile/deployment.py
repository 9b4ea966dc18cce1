"""The running gateway of the state machine test, with three signed-in browsers."""

from __future__ import annotations

import itertools
import shutil
import signal
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness.http import Browser
from tests.harness.person import Person
from tests.hostile.reference_model import TrackedBrowser, TrackedConversation, TrackedDenials, TrackedGrant
from tests.scenarios.conftest import Scene, make_gateway

PATIENCE = 20.0
"""Seconds that any wait may take; a bound, not a measurement."""


class Deployment:
    """The gateway and its users; all histories share them."""

    def __init__(self, home: Path) -> None:
        self.policy = home / "policy"
        shutil.copytree(Path(__file__).parents[2] / "policy", self.policy)
        profiles = self.policy / "profiles.toml"
        # Quotas large enough for any number of histories; other tests cover the quotas.
        profiles.write_text(profiles.read_text().replace("calls_per_session = 2_000", "calls_per_session = 1_000_000"))
        profiles.write_text(profiles.read_text().replace("per_day = 10_000", "per_day = 1_000_000"))
        profiles.write_text(profiles.read_text().replace("per_session = 256", "per_session = 1_000_000"))
        # The grace period is longer than a history, so that only messages end a turn.
        self.gateway = make_gateway(home, COUNTERSIGN_POLICY=str(self.policy), COUNTERSIGN_GRACE_SECONDS="600")
        self.browsers: list[TrackedBrowser] = []
        self.policy_version = ""
        self.names = itertools.count()

    async def start(self) -> None:
        """Start the gateway and sign in Ada in two browsers and Eve in one; both are operators."""
        await self.gateway.start()
        ada = await Person.at(self.gateway).arrive()
        phone = Person(self.gateway, Browser(self.gateway.port), ada.authenticator)
        assert (await phone.sign_in()).status == 204
        await phone.open_shell()
        eve = await Scene(self.gateway, ada, *(await ada.agent(), await ada.console())).another("Eve", "operator")
        self.browsers = [
            TrackedBrowser("desktop", ada, "ada"),
            TrackedBrowser("phone", phone, "ada"),
            TrackedBrowser("eve", eve, "eve"),
        ]
        for browser in self.browsers:
            await self.open_sockets(browser)

    async def stop(self) -> None:
        """Close every socket, stop the gateway, and verify the audit log."""
        for browser in self.browsers:
            await browser.person.leave()
        assert await self.gateway.stop() == 0, self.gateway.output
        assert "Traceback" not in self.gateway.output, self.gateway.output
        code, output = await self.gateway.run("audit", "verify")
        assert code == 0, output

    async def open_sockets(self, browser: TrackedBrowser) -> None:
        """Open the sockets of two tabs and of a console."""
        browser.tabs = [await browser.person.agent(), await browser.person.agent()]
        browser.console = await browser.person.console()
        browser.session_id = (await browser.tabs[0].call("session/describe"))["session"]["id"]

    def effects(self) -> list[str]:
        """Every line that a tool wrote, oldest first."""
        path = self.gateway.home / "effects"
        return path.read_text().splitlines() if path.exists() else []

    async def reload_policy(self) -> None:
        """Publish a new policy version with the same decisions: every open snapshot becomes invalid."""
        profiles = self.policy / "profiles.toml"
        profiles.write_text(profiles.read_text().split("\n# edition")[0] + f"\n# edition {next(self.names)}\n")
        console = self.browsers[0].console
        console.notifications.clear()
        self.gateway.send(signal.SIGHUP)
        self.policy_version = (await console.notification("policy/changed"))["policyVersion"]


@dataclass(eq=False)
class History:
    """One history: the conversations and grants that its messages have made so far."""

    deployment: Deployment
    conversations: list[TrackedConversation] = field(default_factory=list[TrackedConversation])
    grants: list[TrackedGrant] = field(default_factory=list[TrackedGrant])
    denials: TrackedDenials = field(default_factory=TrackedDenials)
