"""An attacker who owns the shell's page, script and all: what the browser and the headers still keep from them.

docs/SECURITY.md cases 35 and 36.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from tests.e2e.appearance import is_firefox
from tests.e2e.person import TIMEOUT_MS, Person, approval_dock, call_tool

pytestmark = pytest.mark.asyncio(loop_scope="session")

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
  // Firefox loads nothing at all into a frame that the page's own policy forbids.
  const settled = new Promise((done) => {
    frame.onload = done;
    document.addEventListener("securitypolicyviolation", done, { once: true });
  });
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


@pytest.mark.requirement("002-34a", "script of the shell's origin can neither use nor make a passkey")
@pytest.mark.parametrize("whose", ["the console's", "the page's own", "the domain above both"])
async def test_the_shells_origin_cannot_start_a_ceremony_even_with_the_passkey_plugged_in(
    person: Person, shell: Page, whose: str
) -> None:
    rp_id = {
        "the console's": urlsplit(person.gateway.console_origin).hostname,
        "the page's own": None,
        "the domain above both": "localhost",
    }[whose]
    await person.passkey.carry_to(shell)
    try:
        assert await shell.evaluate(GET, rp_id) in ("SecurityError", "NotAllowedError")
        made = await shell.evaluate(CREATE, rp_id)
        if is_firefox(shell) and rp_id is None:
            # It has no Permissions-Policy: script may make a passkey of the shell's own host. The console takes none but its own.
            assert made == "created"
        else:
            assert made in ("SecurityError", "NotAllowedError")
    finally:
        await person.passkey.carry_to(person.console)


async def test_the_shell_gets_no_hold_of_the_console_window_it_opens(person: Person, shell: Page) -> None:
    """`Cross-Origin-Opener-Policy` cuts the two windows apart."""
    async with person.context.expect_page() as opened:
        await shell.evaluate("url => { window.grip = window.open(url, 'grip') }", person.gateway.console_origin)
    page = await opened.value
    await expect(page.get_by_role("heading", name="Hello")).to_be_visible()
    assert await shell.evaluate("window.grip.closed") is True
    assert await page.evaluate("window.opener") is None
    await page.close()


@pytest.mark.requirement("002-75", "script in the shell's page reaches no other host and runs no new code")
@pytest.mark.requirement("002-10", "the shell's page cannot reach the console")
@pytest.mark.parametrize("attempt", ["read", "post", "decide", "socket", "beacon", "code", "markup", "inline"])
async def test_the_shells_page_reaches_nothing_but_its_own_gateway_and_the_breach_is_reported(
    person: Person, shell: Page, attempt: str
) -> None:
    """Also the control of every test that counts no reports: here there is one to count."""
    before = await person.reports()
    assert await shell.evaluate(REACH, [person.gateway.console_origin, attempt]) != "done"
    async with asyncio.timeout(TIMEOUT_MS / 1000):
        while await person.reports() == before:
            await asyncio.sleep(0.05)


@pytest.mark.requirement("002-17", "the shell cannot show the console's buttons in a frame")
async def test_the_console_cannot_be_framed(person: Person, shell: Page) -> None:
    await call_tool(shell, "erase", what="everything")
    await expect(approval_dock(shell)).to_be_visible()
    async with person.open_approval(shell) as question:
        address = question.url
    async with asyncio.timeout(TIMEOUT_MS / 1000):
        framed = await shell.evaluate(FRAME, address)
    assert "Approve" not in framed
    for frame in shell.frames[1:]:
        await expect(frame.get_by_role("button", name="Approve with passkey")).to_have_count(0)
    await shell.get_by_role("button", name="Stop").click()


@pytest.mark.requirement("002-34a", "script reads no cookie")
async def test_no_script_can_read_a_session_cookie(person: Person, shell: Page) -> None:
    assert await shell.evaluate("document.cookie") == ""
    assert await person.console.evaluate("document.cookie") == ""
    cookies = {cookie.get("name", ""): cookie for cookie in await person.context.cookies()}
    assert {name.split("_")[-1] for name in cookies} >= {"agent", "console"}
    assert all(cookie.get("httpOnly") for cookie in cookies.values())
