"""The audit page: a call's closing entry is opened, and its receipt is a file that holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from gateway.adapters.identity.recorded_answers import check_recorded_answer
from gateway.core.receipts import check_receipt
from tests.e2e.person import Person, call_card, call_tool, end_turn

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("002-74", "a call's receipt is saved from the audit page, and holds by itself")
async def test_the_receipt_of_a_call_is_saved_from_its_entry_and_holds(person: Person, shell: Page, tmp_path: Path) -> None:
    await call_tool(shell, "peek", what="milk")
    await expect(call_card(shell, "peek", "Done")).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/audit?event=call:closed")
    await page.get_by_role("button", name="Entry #").first.click()
    async with page.expect_download() as saving:
        await page.get_by_role("link", name="Download the receipt").click()
    saved = await saving.value
    await saved.save_as(tmp_path / saved.suggested_filename)
    report = check_receipt((tmp_path / saved.suggested_filename).read_bytes(), check_recorded_answer)
    assert report.fault is None
    assert [each.body["tool"] for each in report.records if each.body["event"] == "call:closed"] == ["peek"]
    await page.close()
    await person.check_no_violations()
