"""Debian's own Firefox, driven by WebDriver BiDi (W3C), which it speaks itself: no driver program and no patched build.

Firefox has no virtual authenticator, so whoever needs a passkey gets their cookies from a sign-in over HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import shutil
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 60.0
"""Seconds that anything may take on a busy machine; a bound, not a measurement."""

_LISTENING = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")

_PREFERENCES: Mapping[str, object] = {
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
}

_FIND = """
  const find = (roles, name) => [...document.querySelectorAll(roles)].find((each) => {
    const said = each.getAttribute('aria-label') ?? (each.labels?.[0] ?? each).textContent ?? '';
    return each.checkVisibility() && !each.disabled && said.trim() === name;
  });
"""


def executable() -> str:
    """Where Firefox is: `$FIREFOX`, else the one on PATH. The prerequisites of `make test` bring it on Debian; a system that has
    none to give leaves the test out."""
    found = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
    if not found:
        pytest.skip("Firefox is not installed, or not on the PATH; FIREFOX=/path/to/firefox names one")
    return found


class Firefox:
    """One window with one page, and what its pages complained about."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._window: str = ""
        self.complaints: list[str] = []

    async def tell(self, method: str, **params: Any) -> Any:
        """A command of BiDi and its result. Fails with the browser's own words."""
        number = next(self._ids)
        await self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        async with asyncio.timeout(PATIENCE):
            while True:
                message = json.loads(await self._socket.recv())
                if message.get("id") == number:
                    assert message["type"] == "success", f"{method}: {message.get('error')}: {message.get('message')}"
                    return message["result"]
                self._note(message)

    def _note(self, message: Mapping[str, Any]) -> None:
        if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
            self.complaints.append(message["params"]["text"])

    async def begin(self) -> None:
        """Start the session."""
        await self.tell("session.new", capabilities={})
        await self.tell("session.subscribe", events=["log.entryAdded"])
        self._window = (await self.tell("browsingContext.getTree"))["contexts"][0]["context"]

    async def look_at(self, url: str) -> None:
        """Open an address in the window."""
        await self.tell("browsingContext.navigate", context=self._window, url=url, wait="complete")

    @contextlib.asynccontextmanager
    async def in_the_window_that_opens(self) -> AsyncGenerator[None]:
        """What a press has just opened, in front and spoken to until the block ends; then it has to close itself."""
        before = self._window
        opened = await self._windows(2, "about:")
        self._window = next(window for window in opened if window != before)
        await self.tell("browsingContext.activate", context=self._window)
        yield
        self._window = before
        await self._windows(1, "")

    async def _windows(self, count: int, unlike: str) -> list[str]:
        """The windows, once there are so many and none is at such an address any more."""
        async with asyncio.timeout(PATIENCE):
            while True:
                found = (await self.tell("browsingContext.getTree", maxDepth=0))["contexts"]
                if len(found) == count and not any(unlike and each["url"].startswith(unlike) for each in found):
                    return [each["context"] for each in found]

    async def resize(self, width: int, height: int) -> None:
        """The size of the page, in CSS pixels."""
        await self.tell("browsingContext.setViewport", context=self._window, viewport={"width": width, "height": height})

    async def take_cookies(self, origin: str, cookies: Mapping[str, str]) -> None:
        """What a sign-in elsewhere left for a host."""
        host = origin.partition("://")[2].partition(":")[0]
        for name, value in cookies.items():
            cookie = {"name": name, "domain": host, "value": {"type": "string", "value": value}, "path": "/", "httpOnly": True}
            await self.tell("storage.setCookie", cookie={**cookie, "sameSite": "strict"})

    async def ask(self, expression: str) -> Any:
        """What an expression is on the page: a text, a number, true or false."""
        target = {"context": self._window}
        found = await self.tell("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert found["type"] == "success", found["exceptionDetails"]["text"]
        return found["result"].get("value")

    async def wait_for(self, condition: str, what: str) -> None:
        """Until a condition holds on the page. `find(selector, name)` is a visible control of that name."""
        held = await self.ask(
            f"""(async () => {{
              {_FIND}
              const end = Date.now() + {PATIENCE * 900};
              while (!({condition})) {{
                if (Date.now() > end) return document.body.innerText.slice(0, 2000);
                await new Promise((go) => setTimeout(go, 20));
              }}
              return true;
            }})()"""
        )
        assert held is True, f"{what} did not come; the page says:\n{held}"

    async def see(self, text: str) -> None:
        """Wait for a text on the page."""
        await self.wait_for(f"document.body?.innerText.includes({json.dumps(text)})", text)

    async def press(self, selector: str, name: str) -> None:
        """A press of the mouse on the middle of a control, once it is there, active and in sight."""
        control = f"find({json.dumps(selector)}, {json.dumps(name)})"
        await self.wait_for(f"{control} && {control}.getAttribute('aria-disabled') !== 'true'", name)
        place = json.loads(
            await self.ask(
                f"""(() => {{ {_FIND} const control = {control}; control.scrollIntoView({{block: 'center'}});
                const box = control.getBoundingClientRect();
                return JSON.stringify([box.x + box.width / 2, box.y + box.height / 2].map(Math.round)); }})()"""
            )
        )
        steps = [
            {"type": "pointerMove", "x": place[0], "y": place[1]},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        await self._act({"type": "pointer", "id": "mouse", "actions": steps})

    async def type(self, text: str) -> None:
        """Keys, one after the other, for what has the focus."""
        steps = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        await self._act({"type": "key", "id": "keyboard", "actions": steps})

    async def _act(self, *sources: Mapping[str, Any]) -> None:
        await self.tell("input.performActions", context=self._window, actions=list(sources))


ENTER = "\ue007"


def _make_profile(folder: Path) -> None:
    folder.mkdir()
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in _PREFERENCES.items())
    (folder / "user.js").write_text("".join(lines))


@contextlib.asynccontextmanager
async def firefox(profile: Path) -> AsyncGenerator[Firefox]:
    """A headless browser with a new profile in that folder."""
    _make_profile(profile)
    process = await asyncio.create_subprocess_exec(
        executable(),
        *("--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", str(profile)),
        env={**os.environ, "HOME": str(profile), "MOZ_CRASHREPORTER_DISABLE": "1"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        address, reading = await _address(process)
        async with connect(f"{address}/session", max_size=None) as socket:
            window = Firefox(socket)
            await window.begin()
            yield window
            with contextlib.suppress(Exception):
                await window.tell("browser.close")
        reading.cancel()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


async def _address(process: asyncio.subprocess.Process) -> tuple[str, asyncio.Task[None]]:
    """Where it listens, which it prints; and a task that reads on, so that it is never held up by what it says."""
    assert process.stderr is not None
    said = b""
    async with asyncio.timeout(PATIENCE):
        while (found := _LISTENING.search(said)) is None:
            line = await process.stderr.readline()
            assert line, f"Firefox ended before it listened:\n{said.decode(errors='replace')}"
            said += line

    async def read_on(stream: asyncio.StreamReader) -> None:
        while await stream.read(65536):
            pass

    return found[1].decode(), asyncio.create_task(read_on(process.stderr))
