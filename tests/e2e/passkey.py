"""A passkey in either browser."""

from __future__ import annotations

from typing import Protocol

from playwright.async_api import Browser, Page

from tests.e2e import chromium, firefox


class Passkey(Protocol):
    """A virtual authenticator that is carried from page to page, as a security key is."""

    async def carry_to(self, page: Page) -> None:
        """Plug it in where that page is, with all its credentials."""
        ...

    async def verify_user(self, *, succeeds: bool) -> None:
        """Whether the finger or PIN is the right one from now on."""
        ...


def new_passkey(browser: Browser) -> Passkey:
    """One with no credential yet."""
    return firefox.new_passkey(browser) if browser.browser_type.name == "firefox" else chromium.Passkey()
