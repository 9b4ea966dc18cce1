"""From the waiting card to the console window, by mouse and by keyboard; and no key that was meant for something else decides.

docs/SECURITY.md case 35.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e.person import Person, approval_dock, call_card, call_tool, decide, end_turn, expect_idle

pytestmark = pytest.mark.asyncio(loop_scope="session")

OLD = "notes/old.txt"
ACTIVATION_DELAY_MS = 600


@pytest_asyncio.fixture(loop_scope="session")
async def waiting(person: Person, shell: Page) -> AsyncIterator[Page]:
    """A shell in which the deletion of a file waits for the passkey."""
    person.write_file(OLD, "Things that are long done.\n")
    await call_tool(shell, "delete_file", path=OLD)
    await expect(approval_dock(shell)).to_be_visible()
    yield shell
    await end_turn(shell)


async def active_text(page: Page) -> str:
    """The element that has the keyboard: its tag and its words."""
    return await page.evaluate("document.activeElement.tagName + ' ' + document.activeElement.innerText.trim()")


async def tab_to(page: Page, words: str) -> None:
    """Press Tab until the element with these words has the keyboard; a person gives up sooner than this does."""
    for _ in range(40):
        await page.keyboard.press("Tab")
        if words in await active_text(page):
            return
    raise AssertionError(f"Tab never came to {words!r}")


async def stop_clock(page: Page) -> None:
    """From now on time passes only when the test says so, in this browser context."""
    await page.clock.install()
    await page.clock.pause_at(time.time() + 1)


async def settle(page: Page) -> None:
    """Let a page whose clock stands still come to its first question."""
    heading = page.get_by_role("heading", name="Delete notes/old.txt")
    while not await heading.is_visible():
        await page.clock.run_for(1)


@pytest.mark.requirement("002-34", "the shell's card shows the gateway's question and has no answer of its own")
async def test_the_card_opens_the_question_on_the_console_and_holds_no_answer_itself(person: Person, waiting: Page) -> None:
    names = await approval_dock(waiting).get_by_role("button").all_inner_texts()
    assert [name.strip() for name in names] == ["Open approval", "Cancel call", "Edit and call again"]
    async with person.open_approval(waiting) as approval:
        assert re.fullmatch(rf"{person.gateway.console_origin}/approvals/apr_[\w-]+", approval.url)
        await expect(approval.get_by_role("heading", level=1)).to_have_text("Delete notes/old.txt")


async def test_what_was_decided_a_while_ago_says_who_decided_and_not_that_it_was_elsewhere(person: Person, waiting: Page) -> None:
    async with person.open_approval(waiting) as approval:
        address = approval.url
        await decide(approval, "Approve with passkey")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    later = await person.context.new_page()
    await later.goto(address)
    decision = later.get_by_role("region", name="Your decision")
    await expect(decision.get_by_text("Approved", exact=True)).to_be_visible()
    await expect(decision).to_contain_text(re.compile("Decided by.*Operator.*Passkey", re.DOTALL))
    await expect(later.get_by_text(re.compile("elsewhere", re.IGNORECASE))).to_have_count(0)
    await later.close()


@pytest.mark.requirement("002-33", "no key or click of before the page was in sight is an answer")
async def test_the_answer_has_no_focus_and_the_buttons_act_only_after_a_moment_in_sight(person: Person, waiting: Page) -> None:
    async with person.open_approval(waiting) as opened:
        address = opened.url
    async with person.on_another_device() as browser:
        page = await browser.new_page()
        await person.passkey.carry_to(page)
        await stop_clock(page)
        await page.goto(address)
        await settle(page)
        approve, deny = (page.get_by_role("button", name=name, exact=True) for name in ("Approve with passkey", "Deny"))

        assert (await active_text(page)).startswith("H1 ")
        for key in ("Enter", "Space"):
            await page.keyboard.press(key)
        for button in (approve, deny):
            await expect(button).to_have_attribute("aria-disabled", "true")
            await button.focus()
            for key in ("Enter", "Space"):
                await page.keyboard.press(key)
            await button.click(force=True)
        await page.clock.run_for(ACTIVATION_DELAY_MS - 100)
        await expect(approve).to_have_attribute("aria-disabled", "true")
        await page.clock.run_for(200)
        await expect(approve).not_to_have_attribute("aria-disabled", "true")
        await expect(deny).not_to_have_attribute("aria-disabled", "true")
        # Nothing of what was pressed before has been an answer.
        await expect(approval_dock(waiting)).to_be_visible()
        await person.passkey.carry_to(person.console)


async def test_a_window_that_is_not_in_front_is_never_armed(person: Person, waiting: Page) -> None:
    async with person.open_approval(waiting) as page:
        await expect(page.get_by_role("button", name="Deny", exact=True)).not_to_have_attribute("aria-disabled", "true")
        await page.evaluate("document.hasFocus = () => false; window.dispatchEvent(new Event('blur'))")
        await expect(page.get_by_role("button", name="Deny", exact=True)).to_have_attribute("aria-disabled", "true")
        await expect(page.get_by_text("once this window has been in front")).to_be_visible()


async def test_the_whole_way_can_be_gone_by_keyboard(person: Person, waiting: Page) -> None:
    await waiting.get_by_label("Message").focus()
    await waiting.keyboard.press("Shift+F6")
    assert "Open approval" in await active_text(waiting)
    async with person.context.expect_page() as opened:
        await waiting.keyboard.press("Enter")
    approval = await opened.value
    await person.passkey.carry_to(approval)
    approve = approval.get_by_role("button", name="Approve with passkey")
    await expect(approve).not_to_have_attribute("aria-disabled", "true")
    await tab_to(approval, "Approve with passkey")
    await approval.get_by_role("heading", level=1).focus()
    # No number of these keys is an answer: they only lead to the button.
    for key in "daaa":
        await approval.keyboard.press(key)
    assert "Approve with passkey" in await active_text(approval)
    await expect(approval_dock(waiting)).to_be_visible()
    await approval.keyboard.press("Enter")
    await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    # The button is gone; the keyboard goes on from where it stood.
    assert "Approved" in await active_text(approval)
    await expect(approval.get_by_role("region", name="Your decision")).to_contain_text(
        re.compile("Decided by.*Operator.*Passkey", re.DOTALL)
    )
    await expect(call_card(waiting, "delete_file", "Done")).to_be_visible()
    assert not person.has_file(OLD)
    await person.passkey.carry_to(person.console)
    await approval.close()


@pytest.mark.requirement("002-30", "a grant that was taken back covers no further call")
async def test_a_grant_for_the_session_says_what_it_covers_and_the_next_call_does_not_ask(person: Person, shell: Page) -> None:
    await call_tool(shell, "note", what="milk")
    async with person.open_approval(shell) as approval:
        await approval.get_by_role("radio", name="For this session").check()
        await expect(approval.get_by_text("Every call of note")).to_contain_text("exactly as shown")
        await decide(approval, "Approve for this session")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect_idle(shell)
    await call_tool(shell, "note", what="milk")
    await expect(call_card(shell, "note", "Done")).to_have_count(2)

    console = person.console
    await console.get_by_role("navigation").get_by_role("link", name="Grants").click()
    grant = console.get_by_role("main").get_by_role("listitem").filter(has_text="note")
    await expect(grant).to_contain_text("used 1 of")
    await grant.get_by_role("button", name="Revoke").click()
    await expect(console.get_by_text("No grant is in force")).to_be_visible()
    await call_tool(shell, "note", what="milk")
    await expect(approval_dock(shell)).to_contain_text("Note milk")
    # One for a turn is over with it, and is not listed as if it still held.
    async with person.open_approval(shell) as approval:
        await approval.get_by_role("radio", name="For this turn").check()
        await decide(approval, "Approve for this turn")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect_idle(shell)
    await console.reload()
    await expect(console.get_by_text("No grant is in force")).to_be_visible()


async def test_the_inbox_shows_a_new_question_by_itself_and_can_deny_all(person: Person) -> None:
    console = person.console
    await console.goto(f"{person.gateway.console_origin}/approvals")
    await expect(console.get_by_text("Nothing waits for you", exact=True)).to_be_visible()
    shells = [await person.open_shell() for _ in range(2)]
    for number, page in enumerate(shells):
        await call_tool(page, "note", what=f"number-{number}")
        await expect(console.get_by_role("listitem").filter(has_text=f"Note number-{number}").first).to_be_visible()
    await console.get_by_role("button", name="Deny all").click()
    await console.get_by_role("dialog").get_by_role("button", name=re.compile("Deny")).click()
    for page in shells:
        await expect(call_card(page, "note", "Denied")).to_be_visible()
        await page.close()
    await expect(console.get_by_text("Nothing waits for you", exact=True)).to_be_visible()


_SEEN_WHOLE = """() => {
  const { bottom } = document.querySelector('[aria-label="Your decision"]').getBoundingClientRect();
  const bars = [...document.querySelectorAll("nav")].filter((nav) => nav.checkVisibility());
  const tops = bars.map((nav) => nav.getBoundingClientRect().top).filter((top) => top > innerHeight / 2);
  return bottom <= Math.min(innerHeight, ...tops);
}"""


async def test_what_came_of_a_call_is_not_left_behind_the_navigation(person: Person, shell: Page) -> None:
    await call_tool(shell, "erase", what="everything")
    async with person.open_approval(shell) as approval:
        # As large as the window that the shell opens.
        await approval.set_viewport_size({"width": 560, "height": 820})
        await decide(approval, "Approve with passkey")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
        await approval.wait_for_function(_SEEN_WHOLE)
    await expect_idle(shell)


async def test_no_page_reported_a_violation(person: Person) -> None:
    await person.check_no_violations()
