"""The console's page of settings in the browser: a change that the passkey signs, its refusal, and the way back."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.e2e.appearance import check_appearance, check_focus
from tests.e2e.person import DESKTOP, PHONE, Person

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_backup_is_made_on_the_console_and_stands_in_the_list(person: Person) -> None:
    page = await person.context.new_page()
    await page.goto(person.gateway.console_origin)
    await page.get_by_role("navigation", name="Console").get_by_role("link", name="Backup").click()
    await expect(page.get_by_text("The console has made none yet")).to_be_visible()
    await page.get_by_role("button", name="Make a backup").click()
    await expect(page.get_by_text("the copy was checked")).to_be_visible()
    file = await page.get_by_role("region", name="Backups that are there").get_by_role("definition").locator("code").inner_text()
    assert (person.gateway.state / "backups" / file).is_file()
    # No page puts one back; the page says with which command, on this very file.
    await expect(page.get_by_role("listitem").filter(has_text=f"/backups/{file}")).to_contain_text("countersign restore /")
    await page.close()


async def test_a_setting_is_changed_with_the_passkey_and_put_back(person: Person) -> None:
    page = await person.context.new_page()
    await page.goto(person.gateway.console_origin)
    await page.get_by_role("navigation").get_by_role("link", name="Settings").click()
    await expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    await person.passkey.carry_to(page)
    card = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Time to answer a question"))
    await expect(card.get_by_text("120 seconds")).to_be_visible()
    await card.get_by_role("button", name="Change").click()
    dialog = page.get_by_role("dialog", name="Time to answer a question")
    value, sign = dialog.get_by_label("New value"), dialog.get_by_role("button", name="Change with your passkey")
    await value.fill("9")
    await expect(dialog.get_by_text("It cannot be that.")).to_be_visible()
    await expect(sign).to_be_disabled()
    for name, size in (("phone", PHONE), ("desktop", DESKTOP)):
        await page.set_viewport_size(size)
        for colours in ("light", "dark"):
            await page.emulate_media(color_scheme=colours)
            await check_appearance(page, f"{name}-{colours}-console-settings-change")
    await value.fill("95")
    await value.press("Enter")
    await expect(card.get_by_text("95 seconds")).to_be_visible()
    await expect(card.get_by_text("changed here")).to_be_visible()
    code, said = await person.gateway.run("settings", "list")
    assert (code, said.split()[:2]) == (0, ["approval_seconds", "95"]), said
    # What somebody changes at the machine meanwhile is shown without a reload, and is what the next change begins from.
    await card.get_by_role("button", name="Change").click()
    await check_focus(page, 4)
    code, said = await person.gateway.run("settings", "set", "approval_seconds", "96")
    assert code == 0, said
    await expect(dialog.get_by_text("Now it is 96 seconds.")).to_be_visible()
    await value.fill("97")
    await sign.click()
    await expect(card.get_by_text("97 seconds")).to_be_visible()
    await card.get_by_role("button", name="Put back to 120 seconds").click()
    await expect(card.get_by_text("default", exact=True)).to_be_visible()
    await expect(card.get_by_text("120 seconds")).to_be_visible()
    await person.passkey.carry_to(person.console)
    await page.close()
