"""One person at one browser: a passkey, a console, a shell, and a record of everything the pages did on the side."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, ViewportSize, expect

from tests.e2e.chromium import Passkey
from tests.harness.http import Browser as Client
from tests.harness.process import GatewayProcess

PATIENCE_MS = 60_000
"""What anything may take on a busy machine; a bound, not a measurement."""

DESKTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)

_REPORTS = re.compile(r'^countersign_http_requests_total\{[^}]*tag="report:taken"[^}]*\} (\S+)', re.MULTILINE)

# Answers that our pages ask for and understand, and that Chromium puts on its console all the same: "you are not signed in" to
# a handshake, and "not ready yet" while the model loads.
_ANSWERS = re.compile(
    r"^error: (WebSocket connection to .*/ws' failed: HTTP Authentication failed"
    r"|Failed to load resource: .* 503 .* (/readyz|/v1/chat/completions)$)"
)

expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Witness:
    """What the pages of a browser context did besides what they show."""

    own_hosts: frozenset[str]
    complaints: list[str] = field(default_factory=list[str])
    elsewhere: list[str] = field(default_factory=list[str])

    def watch(self, context: BrowserContext) -> None:
        """From now on."""
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.complaints.append(f"uncaught: {error.error}"))
        context.on("request", self._see)
        context.on("page", self._watch_page)

    def _watch_page(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._weigh(socket.url))

    def _hear(self, message: ConsoleMessage) -> None:
        complaint = f"{message.type}: {message.text} {urlsplit(message.location['url']).path}"
        if message.type in ("error", "warning") and not _ANSWERS.search(complaint):
            self.complaints.append(complaint)

    def _see(self, request: Request) -> None:
        self._weigh(request.url)

    def _weigh(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.netloc not in self.own_hosts:
            self.elsewhere.append(url)


@dataclass
class Desk:
    """Where a person sits. `console` is the window that stays open; shells and further windows come and go."""

    gateway: GatewayProcess
    context: BrowserContext
    passkey: Passkey
    console: Page
    witness: Witness

    @classmethod
    async def at(cls, browser: Browser, gateway: GatewayProcess) -> Desk:
        """A browser that has never been here."""
        context = await browser.new_context(viewport=DESKTOP)
        context.set_default_timeout(PATIENCE_MS)
        hosts = frozenset(urlsplit(origin).netloc for origin in (gateway.agent_origin, gateway.console_origin))
        witness = Witness(hosts)
        witness.watch(context)
        console = await context.new_page()
        passkey = Passkey()
        await passkey.carry_to(console)
        return cls(gateway, context, passkey, console, witness)

    # ── coming in ──

    async def enrol(self, token: str = "", name: str = "Operator") -> None:
        """Open an enrolment link, the one that the first start prints if no other, and register the passkey."""
        token = token or await self.gateway.enrolment_token()
        await self.console.goto(f"{self.gateway.console_origin}/enrol#t={token}")
        await self.console.get_by_role("button", name="Register a passkey").click()
        await expect(self.console.get_by_role("heading", name=f"Hello, {name}")).to_be_visible()

    async def enter_shell(self) -> Page:
        """Open the shell and let the console lend it a session."""
        page = await self.context.new_page()
        await page.goto(self.gateway.agent_origin)
        await page.get_by_role("link", name="Sign in").click()
        await page.get_by_role("button", name="Continue to the shell").click()
        await expect(page.get_by_label("Message")).to_be_visible()
        return page

    async def open_shell(self) -> Page:
        """A further window of the shell, with an empty conversation."""
        page = await self.context.new_page()
        await page.goto(self.gateway.agent_origin)
        await expect(page.get_by_role("heading", name="What shall be done")).to_be_visible()
        return page

    # ── working ──

    @contextlib.asynccontextmanager
    async def question(self, shell: Page) -> AsyncGenerator[Page]:
        """Follow the waiting card to the window it opens, with the passkey, and come back with it."""
        async with self.context.expect_page() as opened:
            await dock(shell).get_by_role("button", name="Open approval").click()
        page = await opened.value
        await page.wait_for_url(re.compile("/approvals/"))
        await self.passkey.carry_to(page)
        try:
            yield page
        finally:
            await self.passkey.carry_to(self.console)
            await page.close()

    @contextlib.asynccontextmanager
    async def elsewhere(self, **options: Any) -> AsyncGenerator[BrowserContext]:
        """A browser of another kind, such as a phone's, in which the same person is signed in."""
        assert self.context.browser is not None
        context = await self.context.browser.new_context(storage_state=await self.context.storage_state(), **options)
        context.set_default_timeout(PATIENCE_MS)
        self.witness.watch(context)
        try:
            yield context
        finally:
            await context.close()

    def put(self, path: str, text: str) -> None:
        """Put a file into the workspace, behind everybody's back."""
        (self.gateway.workspace / path).write_text(text, encoding="utf-8")

    def holds(self, path: str) -> bool:
        """Whether the workspace has this file."""
        return (self.gateway.workspace / path).is_file()

    # ── looking back ──

    async def reports(self) -> int:
        """How many breaches of the content policy browsers have reported to the gateway."""
        metrics = (await Client(self.gateway.port).get(f"{self.gateway.agent_origin}/metrics")).body.decode()
        return int(sum(float(count) for count in _REPORTS.findall(metrics)))

    async def record(self, shell: Page) -> list[str]:
        """What the log holds of the calls of the conversation on the screen, oldest first: what was asked, and what became of it.

        A call of no published tool is on record without the name it was given.
        """
        conversation = urlsplit(shell.url).path.rpartition("/")[2]
        code, said = await self.gateway.run("audit", "show", "--conversation", conversation, "--json", "--limit", "1000")
        assert code == 0, said
        bodies = [json.loads(line)["body"] for line in reversed(said.splitlines())]
        words = {"approval:requested": "asked", "call:closed": "{outcome}"}
        return [f"{each['tool'] or 'nothing'} {words[each['event']].format(**each)}" for each in bodies if each["event"] in words]

    async def check_peace(self) -> None:
        """Nothing was blocked, nothing complained, nothing left for another host."""
        assert self.witness.complaints == [], "\n".join(self.witness.complaints)
        assert self.witness.elsewhere == []
        assert await self.reports() == 0


# ── what is on the shell ──


def dock(shell: Page) -> Locator:
    """The calls that wait for a person."""
    return shell.get_by_role("region", name="Waiting for your approval")


def card(shell: Page, tool: str, state: str) -> Locator:
    """The card of a call of `tool` that stands at `state`."""
    return shell.get_by_role("article", name=f"{tool}: {state}", exact=True)


def steps(shell: Page) -> Locator:
    """What the message under way asks for, one by one."""
    return shell.get_by_role("list", name="Steps of this message").get_by_role("listitem")


def answers(shell: Page) -> Locator:
    """What the assistant said."""
    return shell.get_by_role("article", name="Assistant")


async def say(shell: Page, text: str) -> None:
    """Type into the composer and send."""
    box = shell.get_by_label("Message")
    await box.fill(text)
    await box.press("Enter")


async def call(shell: Page, tool: str, **arguments: object) -> None:
    """Call a tool through the gate, with no model in between."""
    await say(shell, f"/call {tool} {json.dumps(arguments)}")


async def expect_idle(shell: Page) -> None:
    """The turn is over: there is nothing left to stop."""
    await expect(shell.get_by_role("button", name="Send")).to_be_visible()
    await expect(shell.get_by_role("button", name="Stop")).to_be_hidden()


# ── what is on the console ──


async def decide(page: Page, answer: str) -> None:
    """Press a button of an approval once it is armed."""
    await page.get_by_role("button", name=answer, exact=True).click()
