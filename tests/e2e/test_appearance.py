"""Every page on a desktop in light colours and on a phone in dark ones: accessible, nothing off screen, answers in view.

What other pages of this kind are blamed for: buttons pushed out of sight, text cut off, a keyboard that gets lost.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.appearance import check_appearance, check_focus, check_in_view
from tests.e2e.conftest import built_web
from tests.e2e.person import DESKTOP, PHONE, Person, answers, approval_dock, call_card, call_tool, expect_idle, send
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.mcp_client import LinePeer

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANSWER = """There are **three** files in `notes/`:

1. `ideas.md`, which is about [a garden](https://example.org/garden)
2. `old.txt`
3. `todo.txt`

| file | size |
|---|---:|
| ideas.md | 122 |
| todo.txt | 72 |

> Nothing else was found.

```sh
ls -l notes/ --and-a-very-long-line-that-does-not-fit-on-any-phone-however-wide-it-may-be-held
```
"""


@dataclass(frozen=True)
class Device:
    """A browser with a size and colours, in which the same person is signed in."""

    name: str
    context: BrowserContext
    person: Person

    async def visit(self, path: str, heading: str | None = None) -> Page:
        """A page of the console, under its heading or under any."""
        page = await self.context.new_page()
        await page.goto(f"{self.person.gateway.console_origin}{path}")
        await expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
        return page


@pytest_asyncio.fixture(params=["desktop-light", "phone-dark"], loop_scope="session")
async def device(person: Person, request: pytest.FixtureRequest) -> AsyncIterator[Device]:
    """A desktop in light colours, then a phone in dark ones."""
    name: str = request.param
    if name == "desktop-light":
        async with person.on_another_device(viewport=DESKTOP, color_scheme="light") as context:
            yield Device(name, context, person)
    else:
        async with person.on_another_device(viewport=PHONE, color_scheme="dark", is_mobile=True, has_touch=True) as context:
            yield Device(name, context, person)


async def open_shell(device: Device) -> Page:
    """A window of the shell with an empty conversation."""
    page = await device.context.new_page()
    await page.goto(device.person.gateway.agent_origin)
    await expect(page.get_by_role("heading", name="What would you like to do")).to_be_visible()
    return page


async def test_the_empty_shell(device: Device) -> None:
    shell = await open_shell(device)
    await check_appearance(shell, f"{device.name}-shell-empty")
    await check_in_view(shell, shell.get_by_label("Message"), shell.get_by_role("button", name="Send"))
    await check_focus(shell, 12)


async def test_a_conversation_with_cards_of_every_kind(device: Device, model: ScriptedServer) -> None:
    shell = await open_shell(device)
    model.will_answer(Reply(calls=(("list_directory", {"path": "notes"}),)), Reply(ANSWER))
    await send(shell, "what is in notes/?")
    await expect(answers(shell)).to_contain_text("Nothing else was found.")
    await expect_idle(shell)
    await check_appearance(shell, f"{device.name}-shell-answer")
    await call_tool(shell, "stumble")
    await expect(call_card(shell, "stumble", "Failed")).to_be_visible()
    await call_tool(shell, "read_file", path="../../etc/passwd")
    await expect(call_card(shell, "read_file", "Not accepted")).to_be_visible()
    await call_tool(shell, "read_file", path="notes/nothing.txt")
    await expect(call_card(shell, "read_file", "Failed")).to_be_visible()
    await check_appearance(shell, f"{device.name}-shell-cards")
    await check_focus(shell, 25)
    await send(shell, "/tools")
    await expect(shell.get_by_role("region", name="Tools of this conversation")).to_be_visible()
    await check_appearance(shell, f"{device.name}-shell-tools")
    await send(shell, "/inspect write_file")
    await expect(shell.get_by_role("region", name="The tool write_file")).to_be_visible()
    await check_appearance(shell, f"{device.name}-shell-inspect")
    await send(shell, "/help")
    await check_appearance(shell, f"{device.name}-shell-help")
    await send(shell, "/nonsense")
    await expect(shell.get_by_text("There is no command")).to_be_visible()
    await check_appearance(shell, f"{device.name}-shell-mistake")


async def test_what_waits_and_what_runs(device: Device, model: ScriptedServer) -> None:
    shell = await open_shell(device)
    model.will_answer(Reply(ANSWER * 4, stalls_after=260))
    await send(shell, "tell me more")
    await expect(answers(shell)).to_contain_text("Nothing else was found.")
    await check_appearance(shell, f"{device.name}-shell-streaming")
    await check_in_view(shell, shell.get_by_role("button", name="Stop"))
    await shell.get_by_role("button", name="Stop").click()
    await expect_idle(shell)

    await call_tool(shell, "write_file", path="notes/plan.md", content="# Plan\n\n" + "One step after the other. " * 60)
    buttons = [approval_dock(shell).get_by_role("button", name=name) for name in ("Open approval", "Cancel call")]
    await expect(buttons[0]).to_be_visible()
    await check_appearance(shell, f"{device.name}-shell-waiting")
    await check_in_view(shell, *buttons, shell.get_by_label("Message"))
    await approval_dock(shell).get_by_text("Arguments").click()
    await check_appearance(shell, f"{device.name}-shell-waiting-open")
    await check_in_view(shell, *buttons, shell.get_by_label("Message"))
    await shell.get_by_role("button", name="Stop").click()
    await expect_idle(shell)


async def test_the_shells_dialogs(device: Device) -> None:
    shell = await open_shell(device)
    if device.name.startswith("phone"):
        await shell.get_by_role("button", name="Conversations").click()
        await expect(shell.get_by_role("dialog", name="Conversations")).to_be_visible()
        await check_appearance(shell, f"{device.name}-shell-list")
        await shell.get_by_role("button", name="Close").click()
    await shell.get_by_role("button", name="account and grants").click()
    await expect(shell.get_by_role("menu")).to_be_visible()
    await check_appearance(shell, f"{device.name}-shell-menu")
    await shell.get_by_role("menuitem", name="Grants").click()
    await expect(shell.get_by_text("No grant is in force")).to_be_visible()
    await check_appearance(shell, f"{device.name}-shell-grants")


async def test_an_approval_with_the_passkey_and_one_without(device: Device) -> None:
    shell = await open_shell(device)
    await call_tool(shell, "delete_file", path="notes/todo.txt")
    await expect(approval_dock(shell)).to_be_visible()
    home = await device.visit("/", "Hello, Operator")
    await expect(home.get_by_role("heading", name="1 call waits")).to_be_visible()
    await check_appearance(home, f"{device.name}-console-home-waiting")
    more = home.get_by_role("button", name="More")
    last = home.get_by_role("navigation").get_by_role("link", name="Passkeys")
    if device.name.startswith("phone"):
        await more.click()
        await check_in_view(home, last)
        await check_appearance(home, f"{device.name}-console-more")
        await home.keyboard.press("Escape")
        await expect(last).to_be_hidden()
        await expect(more).to_be_focused()
    else:
        # A window of 1280 px has room for all of them beside the page.
        await expect(more).to_be_hidden()
        await check_in_view(home, *await home.get_by_role("navigation").get_by_role("link").all())
    await check_focus(home, 12)
    inbox = await device.visit("/approvals", "Approvals")
    await expect(inbox.get_by_role("link", name="Review")).to_be_visible()
    await check_appearance(inbox, f"{device.name}-console-approvals")
    await check_in_view(inbox, inbox.get_by_role("link", name="Review"))
    await inbox.get_by_role("link", name="Review").click()
    await expect(inbox.get_by_role("heading", level=1, name="Delete notes/todo.txt")).to_be_visible()
    decisions = [inbox.get_by_role("button", name=name, exact=True) for name in ("Approve with passkey", "Deny")]
    await expect(decisions[0]).not_to_have_attribute("aria-disabled", "true")
    await check_appearance(inbox, f"{device.name}-console-step-up")
    await check_in_view(inbox, *decisions)
    await check_focus(inbox, 15)
    await inbox.get_by_text("Everything that is signed").click()
    await check_appearance(inbox, f"{device.name}-console-signed")
    await decisions[1].click()
    await expect(inbox.get_by_text("Denied, not run", exact=True)).to_be_visible()
    await check_appearance(inbox, f"{device.name}-console-denied")
    await expect_idle(shell)

    await call_tool(shell, "write_file", path="notes/plan.md", content="# Plan\n\n" + "One step after the other. " * 60)
    await expect(approval_dock(shell)).to_be_visible()
    await inbox.get_by_role("navigation").get_by_role("link", name="Approvals").click()
    await inbox.get_by_role("link", name="Review").click()
    decisions = [inbox.get_by_role("button", name=name, exact=True) for name in ("Approve once", "Deny")]
    await expect(decisions[0]).not_to_have_attribute("aria-disabled", "true")
    await check_appearance(inbox, f"{device.name}-console-consent")
    await check_in_view(inbox, *decisions)
    await inbox.get_by_role("radio", name="For this session").check()
    await inbox.get_by_role("radio", name="All but content").check()
    await check_appearance(inbox, f"{device.name}-console-consent-wide")
    await check_in_view(inbox, *decisions[1:], inbox.get_by_text("Calls will run with values that you have not seen."))
    await inbox.get_by_role("button", name="Approve for this session").click()
    await expect(inbox.get_by_text("Approved", exact=True)).to_be_visible()
    await check_appearance(inbox, f"{device.name}-console-approved")
    await expect_idle(shell)

    grants = await device.visit("/grants", "Grants")
    await expect(grants.get_by_role("button", name="Revoke")).to_be_visible()
    await check_appearance(grants, f"{device.name}-console-grants")
    await grants.get_by_role("button", name="Revoke").click()
    await expect(grants.get_by_text("No grant is in force")).to_be_visible()
    await check_appearance(grants, f"{device.name}-console-grants-none")
    # The notice about it covers nothing that one may want to press.
    await grants.get_by_role("navigation").get_by_role("link", name="Home").click(trial=True)


async def test_several_approvals_at_once(device: Device) -> None:
    """Each is decided separately, or all are denied; there is no button that approves all."""
    shells = [await open_shell(device) for _ in range(2)]
    await call_tool(shells[0], "delete_file", path="notes/todo.txt")
    await call_tool(shells[1], "http_get", url="https://example.org/a/rather/long/address?with=a&query=in&it=" + "x" * 120)
    for shell in shells:
        await expect(approval_dock(shell)).to_be_visible()
    inbox = await device.visit("/approvals", "Approvals")
    await expect(inbox.get_by_role("link", name="Review")).to_have_count(2)
    await check_appearance(inbox, f"{device.name}-console-approvals-two")
    await inbox.get_by_role("button", name="Deny all").click()
    await expect(inbox.get_by_role("dialog")).to_be_visible()
    await check_appearance(inbox, f"{device.name}-console-deny-all")
    await inbox.get_by_role("dialog").get_by_role("button", name="Deny").click()
    await expect(inbox.get_by_text("Nothing waits for you", exact=True)).to_be_visible()
    await check_appearance(inbox, f"{device.name}-console-approvals-none")


async def test_a_connected_client_and_its_end(device: Device) -> None:
    peer = await LinePeer.start(device.person.gateway)
    await peer.greet()
    assert "result" in await peer.ask(1, "tools/list")
    page = await device.visit("/clients", "Clients")
    await expect(page.get_by_role("heading", name="peer")).to_be_visible()
    await check_appearance(page, f"{device.name}-console-clients")
    await check_focus(page, 12)
    await page.get_by_role("button", name="Disconnect").click()
    await expect(page.get_by_text("No client is connected")).to_be_visible()
    assert await peer.ended() == 1


async def test_every_page_in_the_consoles_table(device: Device) -> None:
    """Of the build that is served: a new page is looked at here without being named."""
    paths: list[str] = json.loads((built_web() / "console" / "pages.json").read_text(encoding="utf-8"))
    for path in paths:
        if ":" not in path:
            page = await device.visit(path)
            await check_appearance(page, f"{device.name}-console-page{path.replace('/', '-')}")
            await page.close()


async def test_the_console_when_nothing_waits(device: Device) -> None:
    home = await device.visit("/", "Hello, Operator")
    await expect(home.get_by_text("ready", exact=True)).to_be_visible()
    policy = await device.visit("/policy", "Policy")
    await expect(policy.get_by_role("button", name="Runs by itself").first).to_be_visible()
    await check_appearance(policy, f"{device.name}-console-policy")
    await policy.get_by_role("button", name="Needs a passkey").first.click()
    await expect(policy.get_by_role("dialog")).to_be_visible()
    await check_appearance(policy, f"{device.name}-console-policy-field")
    passkeys = await device.visit("/passkeys", "Passkeys")
    await expect(passkeys.get_by_role("button", name="Rename")).to_be_visible()
    await check_focus(passkeys, 14)
    await passkeys.get_by_role("button", name="Rename").click()
    await check_appearance(passkeys, f"{device.name}-console-rename")
    audit = await device.visit("/audit/records", "Every record")
    await expect(audit.get_by_role("table")).to_be_visible()
    await audit.get_by_role("button", name="Verify the whole log").click()
    await expect(audit.get_by_text("hash to the signed checkpoint")).to_be_visible()
    await check_appearance(audit, f"{device.name}-console-audit")
    if device.name.startswith("desktop"):
        row = await audit.get_by_role("row").filter(has=audit.get_by_role("button", name="Entry #")).first.bounding_box()
        assert row is not None
        assert row["height"] <= 34
    await audit.get_by_role("button", name="Entry #").first.click()
    await expect(audit.get_by_role("heading", name="Entry", exact=True)).to_be_visible()
    await check_appearance(audit, f"{device.name}-console-audit-open")
    await check_focus(audit, 20)
    nothing = await device.visit("/audit/records?tool=nothing", "Every record")
    await expect(nothing.get_by_text("No entry matches")).to_be_visible()
    await check_appearance(nothing, f"{device.name}-console-audit-none")
    gone = await device.visit("/approvals/apr_gone", "This approval cannot be shown")
    await check_appearance(gone, f"{device.name}-console-gone")


async def test_the_calls_of_the_audit_log(device: Device) -> None:
    shell = await open_shell(device)
    await call_tool(shell, "read_file", path="notes/nothing.txt")
    await expect(call_card(shell, "read_file", "Failed")).to_be_visible()
    calls = await device.visit("/audit?range=7d", "Audit")
    await expect(calls.get_by_role("table", name="Calls over time")).to_be_attached()
    await calls.get_by_label("Group by conversation").check()
    await expect(calls.get_by_text("Turn 1").first).to_be_visible()
    await check_appearance(calls, f"{device.name}-console-calls-grouped")
    await calls.get_by_label("Group by conversation").uncheck()
    await check_appearance(calls, f"{device.name}-console-calls")
    await check_focus(calls, 20)
    await calls.locator("a[data-row]").first.click()
    await expect(calls.get_by_role("heading", name="What happened")).to_be_visible()
    await check_appearance(calls, f"{device.name}-console-call")
    for path, heading in (("load", "Load on people"), ("models", "Models")):
        sums = await device.visit(f"/audit/{path}", heading)
        await expect(sums.get_by_role("table").first).to_be_visible()
        # A name stays in one piece, however narrow the window.
        first = await sums.get_by_role("table").first.get_by_role("rowheader").first.bounding_box()
        assert first is not None
        assert first["height"] < 60
        await check_appearance(sums, f"{device.name}-console-{path}")


async def test_the_pages_for_people_who_are_not_signed_in(device: Device) -> None:
    stranger = await device.visit("/enrol#t=token", "Register your passkey")
    await check_appearance(stranger, f"{device.name}-console-enrol")
    await check_focus(stranger, 6)
    broken = await device.visit("/enrol", "This enrolment link is not complete")
    await check_appearance(broken, f"{device.name}-console-enrol-broken")
    authorize = await device.visit("/authorize?state=unknown", "Continue to the shell")
    await check_appearance(authorize, f"{device.name}-console-authorize")
    await device.context.clear_cookies()
    await authorize.goto(f"{device.person.gateway.agent_origin}/callback?code=old&state=old")
    await expect(authorize.get_by_role("heading", name="You are not signed in")).to_be_visible()
    await check_appearance(authorize, f"{device.name}-shell-refused")
    sign_in = await device.visit("/signin", "Sign in")
    await check_appearance(sign_in, f"{device.name}-console-sign-in")
    await check_focus(sign_in, 6)
    shell = await device.context.new_page()
    await shell.goto(device.person.gateway.agent_origin)
    await expect(shell.get_by_role("heading", name="Sign in to Countersign")).to_be_visible()
    await check_appearance(shell, f"{device.name}-shell-sign-in")
    await shell.get_by_label("Language").select_option("Deutsch")
    await expect(shell.get_by_role("heading", name="Bei Countersign anmelden")).to_be_visible()
    await shell.get_by_label("Sprache").select_option("English")
    await expect(shell.get_by_role("heading", name="Sign in to Countersign")).to_be_visible()
