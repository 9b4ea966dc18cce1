"""A real Chromium, and the one thing in it that is not real: the hardware of the passkey."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, CDPSession, Page, async_playwright

FLAGS = (
    "--no-sandbox",  # the suite also runs as root in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)

_AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


_ON_PATH = ("chromium-headless-shell", "chromium", "google-chrome")
"""First the one without windows: a page takes a quarter less of the processor where no toolbar is drawn beside it."""


def executable() -> str:
    """Where Chromium is: `$CHROMIUM`, else one on PATH, else the one that Playwright brought (on Ubuntu)."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _ON_PATH)), None)
    brought = Path.home().glob(".cache/ms-playwright/chromium-*/chrome-linux*/chrome")
    found = found or next(map(str, brought), None)
    assert found, "these tests need Chromium; `deploy/prerequisites.sh test` says how to get it"
    return found


@contextlib.asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """A headless browser."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable(), args=list(FLAGS))
        yield browser
        await browser.close()


@dataclass
class Passkey:
    """A virtual authenticator (WebAuthn section 11). Chromium ties it to a page, so it is carried from page to page.

    It is on one page at a time, as a security key is in one slot: two copies would count their signatures separately, which is
    how a gateway knows a cloned one.
    """

    page: Page | None = None
    cdp: CDPSession | None = None
    authenticator: str = ""

    async def carry_to(self, page: Page) -> None:
        """Take it out of where it is, and plug it in here with all its credentials."""
        if page is self.page:
            return
        credentials: list[dict[str, Any]] = []
        if self.cdp is not None and self.page is not None and not self.page.is_closed():
            credentials = (await self._tell("WebAuthn.getCredentials"))["credentials"]
            await self._tell("WebAuthn.removeVirtualAuthenticator")
            await self.cdp.detach()
        self.page, self.cdp = page, await page.context.new_cdp_session(page)
        await self._send("WebAuthn.enable", enableUI=False)
        self.authenticator = (await self._send("WebAuthn.addVirtualAuthenticator", options=_AUTHENTICATOR))["authenticatorId"]
        for credential in credentials:
            await self._tell("WebAuthn.addCredential", credential=credential)

    async def verify_user(self, *, succeeds: bool) -> None:
        """Whether the finger or PIN is the right one from now on."""
        await self._tell("WebAuthn.setUserVerified", isUserVerified=succeeds)

    async def await_touch(self, *, comes: bool) -> None:
        """Whether somebody touches it when it blinks."""
        await self._tell("WebAuthn.setAutomaticPresenceSimulation", enabled=comes)

    async def forge(self, **bits: bool) -> None:
        """`isBogusSignature`, `isBadUV`, `isBadUP`: what is wrong with every answer from now on; nothing when empty."""
        await self._tell("WebAuthn.setResponseOverrideBits", **bits)

    async def _tell(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._send(method, authenticatorId=self.authenticator, **params)

    async def _send(self, method: str, **params: Any) -> dict[str, Any]:
        assert self.cdp is not None
        # Playwright gives CDP no types.
        return await self.cdp.send(method, params)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
