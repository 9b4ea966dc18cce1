"""Several calls of one reply, as one page with one answer."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.appearance import check_appearance
from tests.e2e.person import DESKTOP, PHONE, Person, approval_dock, decide, expect_idle, send
from tests.e2e.scripted_server import ScriptedServer

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("002-31", "a run of calls that ask is one page, and any of them can be denied")
async def test_three_steps_are_one_page_one_of_them_denied_and_the_others_approved_with_one_passkey(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    for name in ("one", "two", "three"):
        person.write_file(f"notes/{name}.txt", f"{name}\n")
    deletions = tuple(("delete_file", {"path": f"notes/{name}.txt"}) for name in ("one", "two", "three"))
    model.will_answer(Reply(calls=deletions), Reply("That is done."))
    await send(shell, "delete one, two and three")
    await expect(approval_dock(shell)).to_contain_text("2 more calls wait")
    await expect(shell.get_by_text("The question stands below")).to_have_count(1)
    # In the list the time that is left stands in the place of the time since.
    row = shell.get_by_role("listitem").filter(has=shell.locator("[aria-current=page]"))
    await expect(row.get_by_role("timer")).to_be_visible()
    await expect(row.locator("time")).to_have_count(0)
    async with person.open_approval(shell) as page:
        await expect(page.get_by_role("heading", name="3 steps wait for your approval")).to_be_visible()
        for step in (1, 2, 3):
            await page.get_by_role("button", name=f"Deny step {step}").scroll_into_view_if_needed()
        approve = page.get_by_role("button", name="Approve all 3 with passkey")
        await expect(approve).not_to_have_attribute("aria-disabled", "true")
        await page.set_viewport_size(PHONE)
        await page.emulate_media(color_scheme="dark")
        await check_appearance(page, "phone-dark-console-plan")
        await page.set_viewport_size(DESKTOP)
        await page.emulate_media(color_scheme="null")
        await check_appearance(page, "desktop-light-console-plan")
        await decide(page, "Deny step 2")
        await decide(page, "Approve all 2 with passkey")
        await expect(page.get_by_role("heading", name="2 steps wait for your approval")).to_be_hidden()
    await expect_idle(shell)
    assert [person.has_file(f"notes/{name}.txt") for name in ("one", "two", "three")] == [False, True, False]
