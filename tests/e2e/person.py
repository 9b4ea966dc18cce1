"""Page objects: one person at one browser with a passkey, a console and shells, and a monitor of what the pages do besides."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, ViewportSize, WebError, expect

from tests.e2e.passkey import Passkey, new_passkey
from tests.harness.http import Browser as Client
from tests.harness.process import GatewayProcess

TIMEOUT_MS = 60_000
"""What anything may take on a busy machine; a bound, not a measurement."""

DESKTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)

_REPORTS = re.compile(r'^countersign_http_requests_total\{[^}]*tag="report:taken"[^}]*\} (\S+)', re.MULTILINE)

# Answers that our pages ask for and understand, and that Chromium puts on its console all the same: "you are not signed in" to
# a handshake, and "not ready yet" while the model loads.
_EXPECTED = re.compile(
    r"^error: (WebSocket connection to .*/ws' failed: HTTP Authentication failed"
    r"|Failed to load resource: .* 401 .* /ws$"
    r"|Failed to load resource: .* 50[23] .* (/readyz|/v1/chat/completions)$)"
)

# The same in Firefox, as an error of the page's; and what it says of a part that is on its way when the page is left.
_EXPECTED_IN_FIREFOX = re.compile(
    r"^Firefox can’t establish a connection to the server at ws://[^ ]*/ws\.$"
    r"|Unable to preload CSS|error loading dynamically imported module"
)

expect.set_options(timeout=TIMEOUT_MS)


@dataclass
class PageMonitor:
    """What the pages of a browser context did besides what they show: console messages, and requests to other hosts."""

    own_hosts: frozenset[str]
    problems: list[str] = field(default_factory=list[str])
    foreign_requests: list[str] = field(default_factory=list[str])

    def watch(self, context: BrowserContext) -> None:
        """From now on."""
        context.on("console", self._check_message)
        context.on("weberror", self._check_error)
        context.on("request", self._check_request)
        context.on("page", self._watch_page)

    def _watch_page(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._check_url(socket.url))

    def _check_message(self, message: ConsoleMessage) -> None:
        problem = f"{message.type}: {message.text} {urlsplit(message.location['url']).path}"
        if message.type in ("error", "warning") and not _EXPECTED.search(problem):
            self.problems.append(problem)

    def _check_error(self, error: WebError) -> None:
        if not _EXPECTED_IN_FIREFOX.search(str(error.error)):
            self.problems.append(f"uncaught: {error.error}")

    def _check_request(self, request: Request) -> None:
        self._check_url(request.url)

    def _check_url(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.netloc not in self.own_hosts:
            self.foreign_requests.append(url)


@dataclass
class Person:
    """A person at a browser. `console` is the window that stays open; shells and further windows are opened and closed."""

    gateway: GatewayProcess
    context: BrowserContext
    passkey: Passkey
    console: Page
    monitor: PageMonitor

    @classmethod
    async def with_new_browser(cls, browser: Browser, gateway: GatewayProcess, **options: Any) -> Person:
        """In a browser that has no cookie of this gateway. `options` are what else a context is made with."""
        made: dict[str, Any] = {"viewport": DESKTOP, **options}
        context = await browser.new_context(**made)
        context.set_default_timeout(TIMEOUT_MS)
        hosts = frozenset(urlsplit(origin).netloc for origin in (gateway.agent_origin, gateway.console_origin))
        monitor = PageMonitor(hosts)
        monitor.watch(context)
        console = await context.new_page()
        passkey = new_passkey(browser)
        await passkey.carry_to(console)
        return cls(gateway, context, passkey, console, monitor)

    # ── signing in ──

    async def enrol(self, token: str = "", name: str = "Operator") -> None:
        """Open an enrolment link, the one that the first start prints if no other, and register the passkey."""
        token = token or await self.gateway.enrolment_token()
        await self.console.goto(f"{self.gateway.console_origin}/enrol#t={token}")
        await self.console.get_by_role("button", name="Register a passkey").click()
        await expect(self.console.get_by_role("heading", name=f"Hello, {name}")).to_be_visible()

    async def sign_in_to_shell(self) -> Page:
        """Open the shell and have the console give it a session."""
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
        await expect(page.get_by_role("heading", name="What would you like to do")).to_be_visible()
        return page

    # ── working ──

    @contextlib.asynccontextmanager
    async def open_approval(self, shell: Page) -> AsyncGenerator[Page]:
        """The console window that the waiting call opens, with the passkey plugged in there for as long as it is open."""
        async with self.context.expect_page() as opened:
            await approval_dock(shell).get_by_role("button", name="Open approval").click()
        page = await opened.value
        await page.wait_for_url(re.compile("/approvals/"))
        # It would go by itself some seconds after an answer, and a slow test still reads in it.
        await page.evaluate("() => { window.close = () => undefined; }")
        await self.passkey.carry_to(page)
        try:
            yield page
        finally:
            await self.passkey.carry_to(self.console)
            await page.close()

    @contextlib.asynccontextmanager
    async def on_another_device(self, **options: Any) -> AsyncGenerator[BrowserContext]:
        """A browser of another kind, such as a phone's, in which the same person is signed in."""
        assert self.context.browser is not None
        context = await self.context.browser.new_context(storage_state=await self.context.storage_state(), **options)
        context.set_default_timeout(TIMEOUT_MS)
        self.monitor.watch(context)
        try:
            yield context
        finally:
            await context.close()

    def write_file(self, path: str, text: str) -> None:
        """Put a file into the workspace, without the gateway."""
        (self.gateway.workspace / path).write_text(text, encoding="utf-8")

    def has_file(self, path: str) -> bool:
        """Whether the workspace has this file."""
        return (self.gateway.workspace / path).is_file()

    # ── what was recorded ──

    async def reports(self) -> int:
        """How many violations of the content policy browsers have reported to the gateway."""
        metrics = (await Client(self.gateway.port).get(f"{self.gateway.agent_origin}/metrics")).body.decode()
        return int(sum(float(count) for count in _REPORTS.findall(metrics)))

    async def recorded_calls(self, shell: Page) -> list[str]:
        """What the log holds of the calls of the conversation on the screen, oldest first: what was asked, and what became of it.

        A call of no published tool is on record without the name it was given.
        """
        conversation = urlsplit(shell.url).path.rpartition("/")[2]
        code, said = await self.gateway.run("audit", "show", "--conversation", conversation, "--json", "--limit", "1000")
        assert code == 0, said
        bodies = [json.loads(line)["body"] for line in reversed(said.splitlines())]
        words = {"approval:requested": "asked", "call:closed": "{outcome}"}
        return [f"{each['tool'] or 'nothing'} {words[each['event']].format(**each)}" for each in bodies if each["event"] in words]

    async def closed_calls(self, tool: str) -> list[dict[str, Any]]:
        """What the log says of every call of a tool that is closed, oldest first."""
        code, said = await self.gateway.run("audit", "show", "--event", "call:closed", "--json", "--limit", "1000")
        assert code == 0, said
        bodies = [json.loads(line)["body"] for line in reversed(said.splitlines())]
        return [body for body in bodies if body["tool"] == tool]

    async def check_no_violations(self) -> None:
        """Nothing was blocked, no page reported an error or a warning, no request went to another host."""
        assert self.monitor.problems == [], "\n".join(self.monitor.problems)
        assert self.monitor.foreign_requests == []
        assert await self.reports() == 0


# ── what is on the shell ──


def approval_dock(shell: Page) -> Locator:
    """The calls that wait for a person."""
    return shell.get_by_role("region", name="Waiting for your approval")


def call_card(shell: Page, tool: str, state: str) -> Locator:
    """The card of a call of `tool` that stands at `state`."""
    return shell.get_by_role("article", name=f"{tool}: {state}", exact=True)


def steps(shell: Page) -> Locator:
    """What the message under way asks for, one by one."""
    return shell.get_by_role("list", name="Steps of this message").get_by_role("listitem")


def answers(shell: Page) -> Locator:
    """What the assistant said."""
    return shell.get_by_role("article", name="Assistant")


async def open_conversation_menu(shell: Page) -> None:
    """The menu of the conversation on the screen, in the list of conversations."""
    row = shell.get_by_role("listitem").filter(has=shell.locator("[aria-current=page]"))
    await row.get_by_role("button", name="More for").click()


async def send(shell: Page, text: str) -> None:
    """Type into the composer and send."""
    box = shell.get_by_label("Message")
    await box.fill(text)
    await box.press("Enter")


async def call_tool(shell: Page, tool: str, **arguments: object) -> None:
    """Call a tool through the gate, with no model in between."""
    await send(shell, f"/call {tool} {json.dumps(arguments)}")


async def end_turn(shell: Page) -> None:
    """Stop the turn if one still runs. The look and the click are one step, because a turn may end between the two."""
    await shell.get_by_role("button", name="Stop").evaluate_all("buttons => buttons.forEach((button) => button.click())")
    await expect_idle(shell)


async def expect_idle(shell: Page) -> None:
    """The turn is over: there is nothing left to stop."""
    await expect(shell.get_by_role("button", name="Send")).to_be_visible()
    await expect(shell.get_by_role("button", name="Stop")).to_be_hidden()


# ── what is on the console ──


async def decide(page: Page, answer: str) -> None:
    """Press a button of an approval; it is waited for until it is active."""
    await page.get_by_role("button", name=answer, exact=True).click()
