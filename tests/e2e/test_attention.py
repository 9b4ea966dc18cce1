"""Nobody misses a question: it is in name and icon of every tab, told outside of the browser, and has one window."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e.appearance import check_appearance
from tests.e2e.person import PHONE, Person, approval_dock, call_card, call_tool, decide, end_turn, expect_idle

pytestmark = pytest.mark.asyncio(loop_scope="session")

OLD = "notes/old.txt"

# A browser without a screen shows no notifications; what a page asks of it is what counts.
_NOTIFICATIONS = """
  window.isAway = false;
  Object.defineProperty(document, "hidden", { get: () => window.isAway });
  window.shown = [];
  window.timesAsked = 0;
  window.Notification = class {
    static permission = "default";
    static async requestPermission() {
      window.timesAsked += 1;
      this.permission = "granted";
      return "granted";
    }
    constructor(title, options) {
      window.shown.push({ title, ...options });
    }
  };
"""

_ICON = "() => document.querySelector('link[rel=icon]').href"


@pytest_asyncio.fixture(loop_scope="session")
async def asked(person: Person, shell: Page) -> AsyncIterator[Page]:
    """A shell in which a call waits."""
    person.write_file(OLD, "Things that are long done.\n")
    await call_tool(shell, "delete_file", path=OLD)
    await expect(approval_dock(shell)).to_be_visible()
    yield shell
    await end_turn(shell)


async def test_what_waits_is_counted_in_name_and_icon_of_shell_and_console(person: Person, asked: Page) -> None:
    await person.console.goto(person.gateway.console_origin)
    for page, name in ((asked, "Countersign"), (person.console, "Countersign console")):
        await expect(page).to_have_title(re.compile(rf"^\(1\) .*{name}$"))
        assert (await page.evaluate(_ICON)).startswith("data:image/svg+xml,")
    await expect(asked.get_by_role("navigation", name="Conversations").get_by_role("timer")).to_be_visible()
    await expect(call_card(asked, "delete_file", "Waiting for approval").get_by_role("timer")).to_be_visible()
    await approval_dock(asked).get_by_role("button", name="Cancel call").click()
    for page in (asked, person.console):
        await expect(page).not_to_have_title(re.compile(r"^\("))
        assert (await page.evaluate(_ICON)).endswith(".svg")


async def test_a_question_on_a_phone_leaves_the_conversation_most_of_the_screen(asked: Page) -> None:
    await asked.set_viewport_size(PHONE)
    box = await approval_dock(asked).bounding_box()
    assert box is not None
    assert box["height"] / PHONE["height"] < 0.28, box
    for name in ("Open approval", "Cancel call"):
        await expect(approval_dock(asked).get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    await check_appearance(asked, "shell-question-phone")


async def test_notifications_are_offered_with_the_first_question_and_say_nothing_that_a_model_wrote(person: Person) -> None:
    shell = await person.context.new_page()
    await shell.add_init_script(_NOTIFICATIONS)
    await shell.goto(person.gateway.agent_origin)
    await expect(shell.get_by_label("Message")).to_be_visible()
    assert await shell.evaluate("window.timesAsked") == 0
    await call_tool(shell, "delete_file", path=OLD)
    offer = shell.get_by_role("button", name="Tell me")
    await expect(offer).to_be_visible()
    assert await shell.evaluate("[window.timesAsked, window.shown.length]") == [0, 0]
    await check_appearance(shell, "shell-offer")
    await shell.set_viewport_size(PHONE)
    await check_appearance(shell, "shell-offer-phone")
    await offer.click()
    await expect(offer).to_be_hidden()
    await expect(shell.get_by_label("Message")).to_be_focused()
    assert await shell.evaluate("window.timesAsked") == 1
    await end_turn(shell)

    await shell.evaluate("() => { window.isAway = true; }")
    await call_tool(shell, "delete_file", path=OLD)
    await expect(approval_dock(shell)).to_be_visible()
    (shown,) = await shell.evaluate("window.shown")
    assert shown["title"] == "Your approval is needed"
    assert shown["body"] == "A call of delete_file needs your passkey."
    assert shown["silent"] is True
    await end_turn(shell)
    await shell.close()


async def test_a_question_has_one_window_that_goes_when_it_is_answered(person: Person, asked: Page) -> None:
    async def press() -> Page:
        async with person.context.expect_page() as opened:
            await approval_dock(asked).get_by_role("button", name="Open approval").click()
        page = await opened.value
        await expect(page.get_by_role("button", name="Deny")).to_be_visible()
        return page

    first = await press()
    async with first.expect_event("close"):
        second = await press()
    async with second.expect_event("close"):
        await decide(second, "Deny")
        await expect(second.get_by_text("This window closes by itself.")).to_be_visible()
        await check_appearance(second, "console-window-goes")
    await expect(call_card(asked, "delete_file", "Denied")).to_be_visible()
    await expect_idle(asked)
    assert person.has_file(OLD)


async def test_no_page_reported_a_violation(person: Person) -> None:
    await person.check_no_violations()
