"""What somebody hears who works by keyboard with a screen reader: where the keyboard stands, and what is announced meanwhile.

It reads Chromium's accessibility tree, which is what the screen readers of every system are given.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Page

from tests.e2e.person import TIMEOUT_MS

# Changes in a live region, and alerts that come. A region that comes with its words is read by nobody unless it is an alert.
_LISTEN = """() => {
  const LIVE = "[role=alert], [role=status], [role=log], [aria-live]";
  const say = (region) => {
    if (region?.isConnected && region.getAttribute("aria-live") !== "off" && region.innerText.trim()) heard(region.innerText);
  };
  new MutationObserver((changes) => {
    const changed = new Set();
    const fresh = new Set();
    for (const { target, addedNodes } of changes) {
      for (const node of addedNodes) {
        if (node.nodeType !== Node.ELEMENT_NODE) continue;
        for (const region of [node, ...node.querySelectorAll(LIVE)]) if (region.matches(LIVE)) fresh.add(region);
      }
      const region = (target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement)?.closest(LIVE);
      if (region) changed.add(region);
    }
    for (const region of changed) if (!fresh.has(region)) say(region);
    for (const region of fresh) if (region.matches("[role=alert]")) say(region);
  }).observe(document, { subtree: true, childList: true, characterData: true });
}"""

_STATES = {"checked": {"true": "checked"}, "expanded": {True: "open", False: "closed"}, "disabled": {True: "not available"}}

_WANDERING = ((re.compile(r"\b\d{1,2}:\d\d(:\d\d)?( [AP]M)?\b"), "12:34"), (re.compile(r"\b\d+(?:\.\d+)? m?s\b"), "7 ms"))


@dataclass
class ScreenReader:
    """One person's, in all windows of a browser context; `script` is what was done and heard, line by line."""

    script: list[str] = field(default_factory=list[str])
    _sessions: dict[Page, CDPSession] = field(default_factory=dict[Page, CDPSession])
    _heard: list[tuple[Page, str]] = field(default_factory=list[tuple[Page, str]])
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen_in(self, context: BrowserContext) -> None:
        """In the pages that are opened from now on."""
        # Playwright gives the callback no types.
        await context.expose_binding("heard", self._hear)  # pyright: ignore[reportUnknownMemberType]
        await context.add_init_script(f"({_LISTEN})()")

    async def arrive(self, page: Page, place: str) -> None:
        """A page has opened: its title is read, and what has the keyboard."""
        self.script += ["", f"## {place}", f"Title: {_steady(await page.title())}", f"Here: {await self._focused(page)}"]

    async def press(self, page: Page, key: str) -> None:
        """And hear where that leads."""
        await page.keyboard.press(key)
        self.script.append(f"{key}: {await self._focused(page)}")

    async def press_until(self, page: Page, key: str, name: str) -> None:
        """A person gives up sooner than this does."""
        for _ in range(30):
            await self.press(page, key)
            if name in self.script[-1]:
                return
        raise AssertionError(f"{key} never came to {name!r}:\n" + "\n".join(self.script))

    def do(self, what: str) -> None:
        """Put down what the person does."""
        self.script.append(what)

    async def hear(self, page: Page, words: str) -> None:
        """Listen in a window until these are announced. Two windows speak in no particular order."""
        async with asyncio.timeout(TIMEOUT_MS / 1000):
            while not any(window is page and words in said for window, said in self._heard):
                self._more.clear()
                await self._more.wait()
        self.script += [f"Heard: {said}" for window, said in self._heard if window is page]
        self._heard = [each for each in self._heard if each[0] is not page]

    def nothing_more_was_heard(self) -> None:
        """Since the last announcement of each window that was waited for."""
        assert self._heard == []

    def _hear(self, source: Mapping[str, Page], text: str) -> None:
        self._heard.append((source["page"], _steady(text)))
        self._more.set()

    async def _focused(self, page: Page) -> str:
        # A session that is given up takes the virtual passkey of its page with it.
        if page not in self._sessions:
            self._sessions[page] = await page.context.new_cdp_session(page)
        cdp = self._sessions[page]
        found = await _send(cdp, "Runtime.evaluate", expression="document.activeElement")
        tree = await _send(cdp, "Accessibility.getPartialAXTree", objectId=found["result"]["objectId"], fetchRelatives=False)
        return _describe(tree["nodes"][0])


def _describe(node: dict[str, Any]) -> str:
    """The role, name, description and state of an element."""
    facts = {each["name"]: each["value"].get("value") for each in node.get("properties", ())}
    said = [f"{_word(node, 'role')} “{_word(node, 'name')}”"]
    if facts.get("level"):
        said.append(f"level {facts['level']}")
    said += [words[facts[fact]] for fact, words in _STATES.items() if facts.get(fact) in words]
    if description := _word(node, "description"):
        said.append(description)
    return _steady(", ".join(said))


def _word(node: dict[str, Any], name: str) -> str:
    return str(node.get(name, {}).get("value") or "")


def _steady(text: str) -> str:
    text = " ".join(text.split())
    for pattern, word in _WANDERING:
        text = pattern.sub(word, text)
    return text


async def _send(cdp: CDPSession, method: str, **params: Any) -> dict[str, Any]:
    # Playwright gives CDP no types.
    return await cdp.send(method, params)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
