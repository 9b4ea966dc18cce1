"""Debian's own Firefox, driven by WebDriver BiDi (W3C), which it speaks itself: no driver program and no patched build.

Its passkeys come over Marionette, the protocol that Firefox has spoken since before BiDi, for BiDi has no command for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.e2e import bidi_relay
from tests.harness.process import free_port

PATIENCE = 60.0
"""Seconds that anything may take on a busy machine; a bound, not a measurement."""

_PREFERENCES: Mapping[str, str | float | bool] = {
    # Nothing leaves this machine.
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
    # It draws without a graphics card, where every frame of what turns and fades costs a processor that the other tests need.
    "ui.prefersReducedMotion": 1,
    "layout.frame_rate": 20,
    # A passkey in software, and no search for one in hardware.
    "security.webauth.webauthn_enable_softtoken": True,
    "security.webauth.webauthn_enable_usbtoken": False,
    # Each page has the focus in its own window, as if it were the only one.
    "focusmanager.testmode": True,
}

_AUTHENTICATOR: Mapping[str, object] = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserConsenting": True,
    "isUserVerified": True,
}


def executable() -> str:
    """Where Firefox is: `$FIREFOX`, else the one on PATH. The prerequisites of `make test` bring it on Debian; a system that has
    none to give leaves these tests out."""
    found = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
    if not found:
        pytest.skip("Firefox is not installed, or not on the PATH; FIREFOX=/path/to/firefox names one")
    return found


class Slot:
    """Where a passkey is plugged in. Firefox has one for all its pages."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._number = 0
        self._holds: Passkey | None = None
        self._authenticator = ""

    async def take(self, passkey: Passkey) -> None:
        """Plug it in, instead of the one that is there. It has the credentials that it had."""
        if self._holds is passkey:
            return
        if self._holds is not None:
            self._holds.credentials = await self._tell("WebAuthn:GetCredentials")
            await self._tell("WebAuthn:RemoveVirtualAuthenticator")
        self._authenticator = await self._send("WebAuthn:AddVirtualAuthenticator", **_AUTHENTICATOR)
        for credential in passkey.credentials:
            await self._tell("WebAuthn:AddCredential", credentials=credential)
        self._holds = passkey

    async def verify_user(self, *, succeeds: bool) -> None:
        """Whether the finger or PIN is the right one from now on."""
        await self._tell("WebAuthn:SetUserVerified", isUserVerified=succeeds)

    async def quit(self) -> None:
        """End Firefox."""
        await self._send("Marionette:Quit", flags=["eForceQuit"])

    async def _tell(self, method: str, **params: Any) -> Any:
        return await self._send(method, authenticatorId=self._authenticator, **params)

    async def _send(self, method: str, **params: Any) -> Any:
        """A command of Marionette: `length:[0, number, method, params]`, answered by `length:[1, number, error, result]`."""
        self._number += 1
        command = json.dumps([0, self._number, method, params]).encode()
        self._writer.write(b"%d:%s" % (len(command), command))
        async with asyncio.timeout(PATIENCE):
            _, _, error, result = await self.read()
        assert error is None, f"{method}: {error['message']}"
        # Most results are an object with a value; the one of a list is the list.
        return result if isinstance(result, list) else result.get("value")  # pyright: ignore[reportUnknownVariableType] # JSON

    async def read(self) -> Any:
        """The next message."""
        length = (await self._reader.readuntil(b":")).removesuffix(b":")
        return json.loads(await self._reader.readexactly(int(length)))


@dataclass(eq=False)
class Passkey:
    """A virtual authenticator (WebAuthn section 11). Of several people's, the slot holds the one that was carried last."""

    slot: Slot
    credentials: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def carry_to(self, page: Page) -> None:
        """Plug it in, and have the page in front: Firefox asks for a passkey nowhere else."""
        await self.slot.take(self)
        await page.bring_to_front()

    async def verify_user(self, *, succeeds: bool) -> None:
        """Whether the finger or PIN is the right one from now on."""
        await self.slot.verify_user(succeeds=succeeds)


_SLOTS: dict[Browser, Slot] = {}


def new_passkey(browser: Browser) -> Passkey:
    """One with no credential yet."""
    return Passkey(_SLOTS[browser])


@contextlib.asynccontextmanager
async def firefox() -> AsyncGenerator[Browser]:
    """A headless browser with a new profile."""
    port = free_port()
    with TemporaryDirectory() as folder:
        program = Path(folder) / "firefox"
        words = shlex.join([sys.executable, str(Path(bidi_relay.__file__)), executable()])
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        async with async_playwright() as playwright:
            browser = await playwright.firefox.launch(
                channel="moz-firefox",
                executable_path=program,
                args=["--no-remote", "--marionette"],
                env={**os.environ, "HOME": folder, "MOZ_CRASHREPORTER_DISABLE": "1"},
                firefox_user_prefs={**_PREFERENCES, "marionette.port": port},
            )
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            slot = _SLOTS[browser] = Slot(reader, writer)
            assert (await slot.read())["marionetteProtocol"] == 3
            yield browser
            # With Marionette it is Marionette that ends Firefox; BiDi's command is heard and nothing comes of it.
            await slot.quit()
            writer.close()
            del _SLOTS[browser]
            await browser.close()
