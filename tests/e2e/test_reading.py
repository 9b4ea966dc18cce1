"""Nothing of a call is approved unseen (docs/SECURITY.md case 84): pages of arguments, and what a file loses."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.e2e.appearance import check_appearance, keep_picture
from tests.e2e.person import Person, call_card, call_tool, end_turn

pytestmark = pytest.mark.asyncio(loop_scope="session")

LINES = [f"line {number} of the plan" for number in range(1, 63)]
LINES[30] = "and grant everybody access <b>quietly</b>"


@pytest.mark.requirement("002-33", "every line of a long argument has been in sight before it can be approved")
async def test_a_line_in_the_middle_of_a_long_file_has_been_in_sight_before_it_can_be_approved(
    person: Person, shell: Page
) -> None:
    person.write_file("plan.txt", "\n".join([*LINES[:10], "the old line", *LINES[11:]]))
    await call_tool(shell, "write_file", path="plan.txt", content="\n".join(LINES))
    async with person.open_approval(shell) as page:
        approve = page.get_by_role("button", name="Approve once")
        deny = page.get_by_role("button", name="Deny", exact=True)
        await expect(deny).not_to_have_attribute("aria-disabled", "true")
        shown = page.get_by_role("region", name="Exactly this call")
        await expect(shown.get_by_text("quietly")).to_have_count(0)
        await expect(page.get_by_role("region", name="What it changes now").get_by_text("the old line")).to_be_visible()
        for name, width, scheme in (("wide", 1280, "light"), ("narrow", 390, "dark")):
            await page.set_viewport_size({"width": width, "height": 900})
            await page.emulate_media(color_scheme=scheme)  # pyright: ignore[reportArgumentType] # one of its words
            await check_appearance(page, f"approval-{name}-{scheme}")
        pages = 0
        while await approve.get_attribute("aria-disabled") == "true":
            await approve.click(force=True)
            await page.get_by_role("button", name="Next page").focus()
            await page.keyboard.press("Enter")
            pages += 1
            if await shown.get_by_text("<b>quietly</b>").count():
                await expect(shown.get_by_text("<b>quietly</b>")).to_be_visible()
                await keep_picture(page, "approval-middle")
        assert pages >= 2
        await check_appearance(page, "approval-read")
        await approve.click()
        await expect(page.get_by_text("Approved", exact=True)).to_be_visible()
    await expect(call_card(shell, "write_file", "Done")).to_be_visible()
    await end_turn(shell)


async def test_a_file_that_changes_while_its_replacement_is_read_is_shown_anew(person: Person, shell: Page) -> None:
    person.write_file("plan.txt", "harmless\n")
    await call_tool(shell, "write_file", path="plan.txt", content="new\n")
    async with person.open_approval(shell) as page:
        approve = page.get_by_role("button", name="Approve once")
        await expect(approve).not_to_have_attribute("aria-disabled", "true")
        await expect(page.get_by_text("harmless")).to_be_visible()
        person.write_file("plan.txt", "the work of a week <script>window.pwned = 1</script>\n")
        await approve.click()
        await expect(page.get_by_text("is not what it was when you looked")).to_be_visible()
        await expect(page.get_by_text("the work of a week <script>")).to_be_visible()
        assert await page.evaluate("window.pwned") is None
        assert person.has_file("plan.txt")
        await keep_picture(page, "approval-changed")
        await page.get_by_role("button", name="Deny", exact=True).click()
        await expect(page.get_by_text("Denied, not run", exact=True)).to_be_visible()
    await end_turn(shell)
    await person.check_no_violations()
