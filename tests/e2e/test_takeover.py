"""An attacker who owns the shell's page, script and all: what the browser and the headers still keep from them.

Design, promise 1; security report, cases 35 and 36, section 3. Ids: 002-10, 002-17, 002-34a, 002-75.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from tests.e2e.desk import PATIENCE_MS, Desk, call, dock

pytestmark = pytest.mark.asyncio(loop_scope="module")

GET = """async (rpId) => {
  try {
    await navigator.credentials.get({publicKey: {challenge: new Uint8Array(32), ...(rpId && {rpId})}});
    return "signed";
  } catch (error) { return error.name; }
}"""

CREATE = """async (rpId) => {
  try {
    await navigator.credentials.create({publicKey: {challenge: new Uint8Array(32), rp: {name: "Console", ...(rpId && {id: rpId})},
      user: {id: new Uint8Array(16), name: "ada", displayName: "Ada"}, pubKeyCredParams: [{type: "public-key", alg: -7}]}});
    return "created";
  } catch (error) { return error.name; }
}"""


FRAME = """async (url) => {
  const frame = document.createElement("iframe");
  const settled = new Promise((done) => { frame.onload = done; });
  frame.src = url;
  document.body.append(frame);
  await settled;
  try { return frame.contentDocument.body.innerText; } catch { return "closed to us"; }
}"""

REACH = """async ([console, wanted]) => {
  const attempts = {
    read: () => fetch(`${console}/readyz`),
    post: () => fetch(`${console}/signin/options`, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" }),
    decide: () => fetch(`${console}/approvals`, { credentials: "include" }),
    socket: () => new Promise((opened, failed) => {
      const socket = new WebSocket(`${console.replace("http", "ws")}/ws`, "countersign.v1");
      socket.onopen = opened;
      socket.onerror = () => failed(new Error("closed"));
    }),
    beacon: () => new Promise((loaded, failed) => {
      const image = new Image();
      image.onload = loaded;
      image.onerror = () => failed(new Error("blocked"));
      image.src = "https://evil.test/leak.png";
    }),
    code: () => new Function("return 1")(),
    markup: () => { document.body.innerHTML = "<p>owned</p>"; },
    inline: () => {
      const script = document.createElement("script");
      script.textContent = "window.owned = true";
      document.head.append(script);
      if (!window.owned) throw new Error("not run");
    },
  };
  // In a task of its own: Chromium lets a debugger's own script evaluate strings whatever the policy says.
  await new Promise((later) => setTimeout(later));
  try { await attempts[wanted](); return "done"; } catch (error) { return error.name; }
}"""


@pytest.mark.parametrize("whose", ["the console's", "the page's own", "the domain above both"])
async def test_the_shells_origin_cannot_start_a_ceremony_even_with_the_passkey_plugged_in(
    desk: Desk, shell: Page, whose: str
) -> None:
    rp_id = {
        "the console's": urlsplit(desk.gateway.console_origin).hostname,
        "the page's own": None,
        "the domain above both": "localhost",
    }[whose]
    await desk.passkey.carry_to(shell)
    try:
        for ceremony in (GET, CREATE):
            assert await shell.evaluate(ceremony, rp_id) in ("SecurityError", "NotAllowedError")
    finally:
        await desk.passkey.carry_to(desk.console)


async def test_the_shell_gets_no_hold_of_the_console_window_it_opens(desk: Desk, shell: Page) -> None:
    """`Cross-Origin-Opener-Policy` cuts the two windows apart."""
    async with desk.context.expect_page() as opened:
        await shell.evaluate("url => { window.grip = window.open(url, 'grip') }", desk.gateway.console_origin)
    page = await opened.value
    await expect(page.get_by_role("heading", name="Hello")).to_be_visible()
    assert await shell.evaluate("window.grip.closed") is True
    assert await page.evaluate("window.opener") is None
    await page.close()


@pytest.mark.parametrize("attempt", ["read", "post", "decide", "socket", "beacon", "code", "markup", "inline"])
async def test_the_shells_page_reaches_nothing_but_its_own_gateway_and_the_breach_is_reported(
    desk: Desk, shell: Page, attempt: str
) -> None:
    """Also the control of every test that counts no reports: here there is one to count."""
    before = await desk.reports()
    assert await shell.evaluate(REACH, [desk.gateway.console_origin, attempt]) != "done"
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while await desk.reports() == before:
            await asyncio.sleep(0.05)


async def test_the_console_cannot_be_framed(desk: Desk, shell: Page) -> None:
    await call(shell, "erase", what="everything")
    await expect(dock(shell)).to_be_visible()
    async with desk.question(shell) as question:
        address = question.url
    async with asyncio.timeout(PATIENCE_MS / 1000):
        framed = await shell.evaluate(FRAME, address)
    assert "Approve" not in framed
    for frame in shell.frames[1:]:
        await expect(frame.get_by_role("button", name="Approve with passkey")).to_have_count(0)
    await shell.get_by_role("button", name="Stop").click()


async def test_no_script_can_read_a_session_cookie(desk: Desk, shell: Page) -> None:
    assert await shell.evaluate("document.cookie") == ""
    assert await desk.console.evaluate("document.cookie") == ""
    cookies = {cookie.get("name", ""): cookie for cookie in await desk.context.cookies()}
    assert {name.split("_")[-1] for name in cookies} >= {"agent", "console"}
    assert all(cookie.get("httpOnly") for cookie in cookies.values())
