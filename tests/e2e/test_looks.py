"""Every page at a desk in the light and on a phone in the dark: accessible, nothing off screen, answers in sight.

What other pages of this kind are blamed for: buttons pushed out of sight, text cut off, a keyboard that gets lost.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.desk import DESKTOP, PHONE, Desk, answers, call, card, dock, expect_idle, say
from tests.e2e.looks import check_focus, check_in_view, check_look
from tests.e2e.scripted_server import ScriptedServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

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
class Place:
    """Where a person looks from."""

    name: str
    context: BrowserContext
    desk: Desk

    async def visit(self, path: str, heading: str) -> Page:
        """A page of the console."""
        page = await self.context.new_page()
        await page.goto(f"{self.desk.gateway.console_origin}{path}")
        await expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
        return page


@pytest_asyncio.fixture(params=["desk-light", "phone-dark"], loop_scope="module")
async def place(desk: Desk, request: pytest.FixtureRequest) -> AsyncIterator[Place]:
    """The same person at a desk in the light, and with a phone in the dark."""
    name: str = request.param
    if name == "desk-light":
        async with desk.elsewhere(viewport=DESKTOP, color_scheme="light") as context:
            yield Place(name, context, desk)
    else:
        async with desk.elsewhere(viewport=PHONE, color_scheme="dark", is_mobile=True, has_touch=True) as context:
            yield Place(name, context, desk)


async def open_shell(place: Place) -> Page:
    """A window of the shell with an empty conversation."""
    page = await place.context.new_page()
    await page.goto(place.desk.gateway.agent_origin)
    await expect(page.get_by_role("heading", name="What shall be done")).to_be_visible()
    return page


async def test_the_empty_shell(place: Place) -> None:
    shell = await open_shell(place)
    await check_look(shell, f"{place.name}-shell-empty")
    await check_in_view(shell, shell.get_by_label("Message"), shell.get_by_role("button", name="Send"))
    await check_focus(shell, 12)


async def test_a_conversation_with_cards_of_every_kind(place: Place, model: ScriptedServer) -> None:
    shell = await open_shell(place)
    model.will_say(Reply(calls=(("list_directory", {"path": "notes"}),)), Reply(ANSWER))
    await say(shell, "what is in notes/?")
    await expect(answers(shell)).to_contain_text("Nothing else was found.")
    await expect_idle(shell)
    await check_look(shell, f"{place.name}-shell-answer")
    await call(shell, "stumble")
    await expect(card(shell, "stumble", "Failed")).to_be_visible()
    await call(shell, "read_file", path="../../etc/passwd")
    await expect(card(shell, "read_file", "Not accepted")).to_be_visible()
    await call(shell, "read_file", path="notes/nothing.txt")
    await expect(card(shell, "read_file", "Failed")).to_be_visible()
    await check_look(shell, f"{place.name}-shell-cards")
    await check_focus(shell, 25)
    await say(shell, "/tools")
    await expect(shell.get_by_role("region", name="Tools of this conversation")).to_be_visible()
    await check_look(shell, f"{place.name}-shell-tools")
    await say(shell, "/inspect write_file")
    await expect(shell.get_by_role("region", name="The tool write_file")).to_be_visible()
    await check_look(shell, f"{place.name}-shell-inspect")
    await say(shell, "/help")
    await check_look(shell, f"{place.name}-shell-help")
    await say(shell, "/nonsense")
    await expect(shell.get_by_text("There is no command")).to_be_visible()
    await check_look(shell, f"{place.name}-shell-mistake")


async def test_what_waits_and_what_runs(place: Place, model: ScriptedServer) -> None:
    shell = await open_shell(place)
    model.will_say(Reply(ANSWER * 4, stalls_after=260))
    await say(shell, "tell me more")
    await expect(answers(shell)).to_contain_text("Nothing else was found.")
    await check_look(shell, f"{place.name}-shell-streaming")
    await check_in_view(shell, shell.get_by_role("button", name="Stop"))
    await shell.get_by_role("button", name="Stop").click()
    await expect_idle(shell)

    await call(shell, "write_file", path="notes/plan.md", content="# Plan\n\n" + "One step after the other. " * 60)
    buttons = [dock(shell).get_by_role("button", name=name) for name in ("Open approval", "Cancel call")]
    await expect(buttons[0]).to_be_visible()
    await check_look(shell, f"{place.name}-shell-waiting")
    await check_in_view(shell, *buttons, shell.get_by_label("Message"))
    await dock(shell).get_by_text("Arguments").click()
    await check_look(shell, f"{place.name}-shell-waiting-open")
    await check_in_view(shell, *buttons, shell.get_by_label("Message"))
    await shell.get_by_role("button", name="Stop").click()
    await expect_idle(shell)


async def test_the_shells_dialogs(place: Place) -> None:
    shell = await open_shell(place)
    if place.name.startswith("phone"):
        await shell.get_by_role("button", name="Conversations").click()
        await expect(shell.get_by_role("dialog", name="Conversations")).to_be_visible()
        await check_look(shell, f"{place.name}-shell-list")
        await shell.get_by_role("button", name="Close").click()
    await shell.get_by_role("button", name="account and grants").click()
    await expect(shell.get_by_role("menu")).to_be_visible()
    await check_look(shell, f"{place.name}-shell-menu")
    await shell.get_by_role("menuitem", name="What I allowed").click()
    await expect(shell.get_by_text("Nothing is allowed in advance")).to_be_visible()
    await check_look(shell, f"{place.name}-shell-grants")


async def test_a_question_for_the_passkey_and_a_question_for_a_yes(place: Place) -> None:
    shell = await open_shell(place)
    await call(shell, "delete_file", path="notes/todo.txt")
    await expect(dock(shell)).to_be_visible()
    home = await place.visit("/", "Hello, Operator")
    await expect(home.get_by_role("heading", name="1 call waits")).to_be_visible()
    await check_look(home, f"{place.name}-console-home-waiting")
    await check_focus(home, 12)
    inbox = await place.visit("/approvals", "Approvals")
    await expect(inbox.get_by_role("link", name="Review")).to_be_visible()
    await check_look(inbox, f"{place.name}-console-approvals")
    await check_in_view(inbox, inbox.get_by_role("link", name="Review"))
    await inbox.get_by_role("link", name="Review").click()
    await expect(inbox.get_by_role("heading", level=1, name="Delete notes/todo.txt")).to_be_visible()
    decisions = [inbox.get_by_role("button", name=name, exact=True) for name in ("Approve with passkey", "Deny")]
    await expect(decisions[0]).not_to_have_attribute("aria-disabled", "true")
    await check_look(inbox, f"{place.name}-console-step-up")
    await check_in_view(inbox, *decisions)
    await check_focus(inbox, 15)
    await inbox.get_by_text("Everything that is signed").click()
    await check_look(inbox, f"{place.name}-console-signed")
    await decisions[1].click()
    await expect(inbox.get_by_text("Denied, not run", exact=True)).to_be_visible()
    await check_look(inbox, f"{place.name}-console-denied")
    await expect_idle(shell)

    await call(shell, "write_file", path="notes/plan.md", content="# Plan\n\n" + "One step after the other. " * 60)
    await expect(dock(shell)).to_be_visible()
    await inbox.get_by_role("navigation").get_by_role("link", name="Approvals").click()
    await inbox.get_by_role("link", name="Review").click()
    decisions = [inbox.get_by_role("button", name=name, exact=True) for name in ("Approve once", "Deny")]
    await expect(decisions[0]).not_to_have_attribute("aria-disabled", "true")
    await check_look(inbox, f"{place.name}-console-consent")
    await check_in_view(inbox, *decisions)
    await inbox.get_by_role("radio", name="For this session").check()
    await inbox.get_by_role("radio", name="All but content").check()
    await check_look(inbox, f"{place.name}-console-consent-wide")
    await check_in_view(inbox, *decisions[1:], inbox.get_by_text("Calls will run with values that you have not seen."))
    await inbox.get_by_role("button", name="Approve for this session").click()
    await expect(inbox.get_by_text("Approved", exact=True)).to_be_visible()
    await check_look(inbox, f"{place.name}-console-approved")
    await expect_idle(shell)

    grants = await place.visit("/grants", "Grants")
    await expect(grants.get_by_role("button", name="Take back")).to_be_visible()
    await check_look(grants, f"{place.name}-console-grants")
    await grants.get_by_role("button", name="Take back").click()
    await expect(grants.get_by_text("No grant is in force")).to_be_visible()
    await check_look(grants, f"{place.name}-console-grants-none")
    # The notice about it covers nothing that one may want to press.
    await grants.get_by_role("navigation").get_by_role("link", name="Home").click(trial=True)


async def test_several_questions_at_once(place: Place) -> None:
    """Each is decided by itself, or all are denied; there is no yes for all."""
    shells = [await open_shell(place) for _ in range(2)]
    await call(shells[0], "delete_file", path="notes/todo.txt")
    await call(shells[1], "http_get", url="https://example.org/a/rather/long/address?with=a&query=in&it=" + "x" * 120)
    for shell in shells:
        await expect(dock(shell)).to_be_visible()
    inbox = await place.visit("/approvals", "Approvals")
    await expect(inbox.get_by_role("link", name="Review")).to_have_count(2)
    await check_look(inbox, f"{place.name}-console-approvals-two")
    await inbox.get_by_role("button", name="Deny all").click()
    await expect(inbox.get_by_role("dialog")).to_be_visible()
    await check_look(inbox, f"{place.name}-console-deny-all")
    await inbox.get_by_role("dialog").get_by_role("button", name="Deny").click()
    await expect(inbox.get_by_text("Nothing waits for you", exact=True)).to_be_visible()
    await check_look(inbox, f"{place.name}-console-approvals-none")


async def test_the_quiet_pages_of_the_console(place: Place) -> None:
    home = await place.visit("/", "Hello, Operator")
    await expect(home.get_by_text("ready", exact=True)).to_be_visible()
    await check_look(home, f"{place.name}-console-home")
    passkeys = await place.visit("/passkeys", "Passkeys")
    await expect(passkeys.get_by_role("button", name="Rename")).to_be_visible()
    await check_look(passkeys, f"{place.name}-console-passkeys")
    await check_focus(passkeys, 14)
    await passkeys.get_by_role("button", name="Rename").click()
    await check_look(passkeys, f"{place.name}-console-rename")
    audit = await place.visit("/audit", "Audit log")
    await expect(audit.get_by_role("table")).to_be_visible()
    await audit.get_by_role("button", name="Check the whole log").click()
    await expect(audit.get_by_text("hash to the signed checkpoint")).to_be_visible()
    await check_look(audit, f"{place.name}-console-audit")
    await audit.get_by_role("button", name="Entry #").first.click()
    await expect(audit.get_by_role("heading", name="The leaf")).to_be_visible()
    await check_look(audit, f"{place.name}-console-audit-open")
    await check_focus(audit, 20)
    nothing = await place.visit("/audit?tool=nothing", "Audit log")
    await expect(nothing.get_by_text("No entry fits")).to_be_visible()
    await check_look(nothing, f"{place.name}-console-audit-none")
    gone = await place.visit("/approvals/apr_gone", "This approval cannot be shown")
    await check_look(gone, f"{place.name}-console-gone")


async def test_the_pages_before_the_door(place: Place) -> None:
    stranger = await place.visit("/enrol#t=token", "Register your passkey")
    await check_look(stranger, f"{place.name}-console-enrol")
    await check_focus(stranger, 6)
    broken = await place.visit("/enrol", "This enrolment link is not complete")
    await check_look(broken, f"{place.name}-console-enrol-broken")
    lent = await place.visit("/authorize?state=unknown", "Continue to the shell")
    await check_look(lent, f"{place.name}-console-authorize")
    await place.context.clear_cookies()
    await lent.goto(f"{place.desk.gateway.agent_origin}/callback?code=old&state=old")
    await expect(lent.get_by_role("heading", name="You are not signed in")).to_be_visible()
    await check_look(lent, f"{place.name}-shell-refused")
    door = await place.visit("/signin", "Sign in")
    await check_look(door, f"{place.name}-console-sign-in")
    await check_focus(door, 6)
    shell = await place.context.new_page()
    await shell.goto(place.desk.gateway.agent_origin)
    await expect(shell.get_by_role("heading", name="Sign in to Countersign")).to_be_visible()
    await check_look(shell, f"{place.name}-shell-sign-in")
