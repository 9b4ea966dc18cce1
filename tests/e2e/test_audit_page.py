"""The audit page: a call's closing entry is opened, and its receipt is a file that holds."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import AsyncIterator, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from gateway.adapters.identity.recorded_answers import check_recorded_answer
from gateway.core.receipts import check_receipt
from tests.e2e.appearance import check_appearance, check_focus, check_in_view, is_firefox
from tests.e2e.conftest import built_web, serving
from tests.e2e.person import DESKTOP, PHONE, Person, call_card, call_tool, decide, end_turn
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """A gateway whose log goes to a file, and to a collector that is not there."""
    home = tmp_path_factory.mktemp("gateway")
    sinks = {
        "copy": {"kind": "file", "path": str(home / "copy.jsonl")},
        "siem": {"kind": "syslog", "host": "127.0.0.1", "port": 9, "tls": False},
    }
    async with serving(home, COUNTERSIGN_MODEL="stub", COUNTERSIGN_SINKS=json.dumps(sinks)) as process:
        yield process


@pytest.mark.requirement("002-74", "a call's receipt is saved from the audit page, and holds by itself")
async def test_the_receipt_of_a_call_is_saved_from_its_entry_and_holds(person: Person, shell: Page, tmp_path: Path) -> None:
    await call_tool(shell, "peek", what="milk")
    await expect(call_card(shell, "peek", "Done")).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/audit/records?event=call:closed")
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


@pytest.mark.requirement("002-74", "from the list to a call's own page, with the arrow keys, and its receipt from there")
async def test_a_call_is_found_by_its_tool_opened_by_keyboard_and_shown_as_it_was(
    person: Person, shell: Page, tmp_path: Path
) -> None:
    await call_tool(shell, "peek", what="cheese")
    await expect(call_card(shell, "peek", "Done").last).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/audit")
    await page.get_by_label("Tool").select_option("peek")
    await expect(page.get_by_label("Narrowed by")).to_contain_text("peek")
    await page.locator("a[data-row]").first.focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Home")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Call of peek")).to_be_visible()
    for title in (
        "What happened",
        "Why it ran, or did not",
        "The tool, as it was described",
        "What the turn could see",
        "Result",
    ):
        await expect(page.get_by_role("heading", name=title)).to_be_visible()
    await expect(page.get_by_text("cheese").first).to_be_visible()
    async with page.expect_download() as saving:
        await page.get_by_role("link", name="Download the receipt").click()
    # Firefox counts the files of one name.
    assert re.fullmatch(r"receipt(\(1\))?\.json", (await saving.value).suggested_filename)
    await page.get_by_role("button", name="Verify this").click()
    await expect(page.get_by_text("The receipt holds")).to_be_visible()
    checks = page.get_by_role("list", name="What was checked").get_by_role("listitem")
    assert [(await each.inner_text())[:7] for each in await checks.all()] == ["✓ holds"] * 10
    await check_appearance(page, "call-verified")
    # On paper stands what the page says, and nothing to press.
    if not is_firefox(page):
        await page.emulate_media(media="print")
        await expect(page.get_by_role("heading", name="What happened")).to_be_visible()
        for each in ("navigation", "button"):
            await expect(page.get_by_role(each).filter(visible=True)).to_have_count(0)
        await page.emulate_media(media="null")
    await page.go_back()
    await expect(page.get_by_label("Narrowed by")).to_contain_text("peek")
    # What is looked at stands in the address, and is kept under a name.
    assert "tool=peek" in page.url
    await page.locator("summary", has_text="Saved views").click()
    await page.get_by_label("Save this view as").fill("Peeks")
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.goto(f"{person.gateway.console_origin}/audit")
    await page.locator("summary", has_text="Saved views").click()
    await page.get_by_role("link", name="Peeks").click()
    await expect(page.get_by_label("Narrowed by")).to_contain_text("peek")
    await page.locator("summary", has_text="Export").click()
    async with page.expect_download() as saving:
        await page.get_by_role("button", name="Export", exact=True).click()
    saved = await saving.value
    assert saved.suggested_filename == "calls.csv"
    await saved.save_as(tmp_path / "calls.csv")
    header, *rows = (tmp_path / "calls.csv").read_text().splitlines()
    assert header.startswith("position,at,")
    assert rows
    assert all("peek" in row for row in rows)
    await check_appearance(page, "calls-exported")
    await page.close()
    await person.check_no_violations()


async def check_on_both(page: Page, name: str) -> None:
    """How the page looks on a phone by night and at a desk by day."""
    await page.set_viewport_size(PHONE)
    await page.emulate_media(color_scheme="dark")
    await check_appearance(page, f"phone-dark-{name}")
    await page.set_viewport_size(DESKTOP)
    await page.emulate_media(color_scheme="null")
    await check_appearance(page, f"desktop-light-{name}")


@pytest.mark.requirement("002-22", "two conversations are laid side by side from a call's page, by keyboard, on a phone too")
async def test_a_conversation_is_compared_with_another_from_the_page_of_its_call(person: Person, shell: Page) -> None:
    await call_tool(shell, "peek", what="both")
    await expect(call_card(shell, "peek", "Done").last).to_be_visible()
    await end_turn(shell)
    await shell.get_by_role("button", name="New conversation").first.click()
    for number, what in enumerate(("both", "only\u202ehere"), start=1):
        await call_tool(shell, "peek", what=what)
        await expect(call_card(shell, "peek", "Done")).to_have_count(number)
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/audit")
    await page.get_by_label("Tool").select_option("peek")
    await page.locator("a[data-row]").first.press("Enter")
    await page.get_by_role("link", name="Compare with another conversation").press("Enter")
    await expect(page.get_by_text("Choose two conversations")).to_be_visible()
    second = page.get_by_label("Second conversation")
    await expect(second.get_by_role("option")).not_to_have_count(1)
    chosen = await page.get_by_label("First conversation").input_value()
    others = [await each.get_attribute("value") for each in await second.get_by_role("option").all()]
    await second.select_option(next(each for each in others if each and each != chosen))
    await page.get_by_role("button", name="Compare", exact=True).press("Enter")
    pairs = page.locator("[data-finding]")
    await expect(pairs.filter(has_text="Only in the first").filter(has_text="U+202E")).to_have_count(1)
    await expect(pairs.filter(has_text="Same").first).to_be_visible()
    assert "\u202e" not in await page.locator("main").inner_text()
    await check_on_both(page, "comparison")
    await pairs.filter(has_text="Only in the first").get_by_role("link").first.press("Enter")
    await expect(page.get_by_role("heading", name="Call of peek")).to_be_visible()
    await page.close()
    await person.check_no_violations()


@pytest.mark.requirement(
    "002-74", "what the model could choose from, who approved and the proof are found without a search of the page"
)
async def test_the_proof_of_a_call_stands_in_the_first_window_and_what_it_saw_before_its_texts(
    person: Person, shell: Page
) -> None:
    await call_tool(shell, "peek", what="olives")
    await expect(call_card(shell, "peek", "Done").last).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/audit")
    await page.get_by_label("Tool").select_option("peek")
    await page.locator("a[data-row]").first.press("Enter")
    verify, receipt = page.get_by_role("button", name="Verify this"), page.get_by_role("link", name="Download the receipt")
    await expect(page.get_by_role("heading", name="What happened")).to_be_visible()
    for size in (DESKTOP, PHONE):
        await page.set_viewport_size(size)
        await check_in_view(page, verify, receipt)
    headings = await page.locator("main h2").all_inner_texts()
    parts = ["Proof", "What happened", "What the turn could see", "Result", "Records"]
    assert [each for each in headings if each in parts] == parts
    # A word of the policy's, and no code.
    await page.get_by_text(re.compile(r"^\d+ tools$")).click()
    await expect(page.get_by_role("listitem").filter(has_text="delete_file").get_by_text("Needs a passkey")).to_be_visible()
    await page.close()


@pytest.mark.requirement("002-11", "what was done, by which model, with which tools in sight and who approved, shown and proved")
async def test_a_week_is_answered_in_six_presses_with_a_file_that_both_programs_take(
    person: Person, shell: Page, tmp_path: Path
) -> None:
    for what in ("rice", "salt"):
        await call_tool(shell, "peek", what=what)
        await expect(call_card(shell, "peek", "Done").last).to_be_visible()
    person.write_file("old.txt", "Things that are long done.\n")
    await call_tool(shell, "delete_file", path="old.txt")
    async with person.open_approval(shell) as approval:
        await decide(approval, "Approve with passkey")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(person.gateway.console_origin)
    # What did it do last week?
    await page.get_by_role("navigation").get_by_role("link", name="Audit").click()
    await page.get_by_label("Time", exact=True).select_option(label="Last 7 days")
    row = page.locator("a[data-row]").filter(has_text="delete_file").first
    await expect(row).to_contain_text("Signed with a passkey (Operator)")
    # With which model, on whose word, and what else could it have called?
    await row.click()
    for term in ("Asked for by", "Proposed by model", "Answered by"):
        await expect(page.get_by_text(term, exact=True)).to_be_visible()
    await page.get_by_text(re.compile(r"^\d+ tools$")).click()
    await expect(page.get_by_role("listitem").filter(has_text="peek")).to_be_visible()
    # Can it be proved, here and by somebody else?
    await page.get_by_role("button", name="Verify this").click()
    await expect(page.get_by_text("The receipt holds")).to_be_visible()
    async with page.expect_download() as saving:
        await page.get_by_role("link", name="Download the receipt").click()
    await (await saving.value).save_as(tmp_path / "receipt.json")
    code, said = await person.gateway.run("audit", "verify", str(tmp_path / "receipt.json"))
    assert code == 0, said
    (tmp_path / "verify.html").write_bytes((built_web() / "verifier" / "index.html").read_bytes())
    # Somebody else has neither the operator's cookies nor this network.
    assert page.context.browser is not None
    elsewhere = await page.context.browser.new_context(offline=True)
    stranger = await elsewhere.new_page()
    await stranger.goto((tmp_path / "verify.html").as_uri())
    await stranger.get_by_label("Choose a receipt").set_input_files(tmp_path / "receipt.json")
    await expect(stranger.get_by_role("heading", level=2, name="The receipt holds")).to_be_visible()
    await elsewhere.close()
    await page.close()


@pytest.mark.requirement("002-71", "an export says that it was not compared with the log, and where that is done")
async def test_an_export_says_that_nothing_in_it_was_checked_and_leads_to_the_check(person: Person, shell: Page) -> None:
    await call_tool(shell, "peek", what="figs")
    await expect(call_card(shell, "peek", "Done").last).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/audit")
    await page.locator("summary", has_text="Export").click()
    await expect(page.get_by_text("Nothing in it is compared with what the log's checkpoints sign")).to_be_visible()
    await page.get_by_role("link", name="Verify the whole log").press("Enter")
    await page.get_by_role("button", name="Verify the whole log").click()
    await expect(page.get_by_text("entries hash to the signed checkpoint")).to_be_visible()
    await page.close()


async def test_the_check_of_a_changed_log_shows_names_as_code_and_no_backticks(person: Person, shell: Page) -> None:
    await call_tool(shell, "peek", what="capers")
    await expect(call_card(shell, "peek", "Done").last).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/audit/records")
    check = page.get_by_role("button", name="Verify the whole log")
    with changed_snapshot(person.gateway.state):
        await check.click()
        fault = page.get_by_role("alert").filter(has_text="The log does not match its checkpoint")
        await expect(fault.get_by_text("was changed")).to_be_visible()
        await expect(fault.locator("code").first).to_be_visible()
        await expect(fault).not_to_contain_text("`")
    await check.click()
    await expect(page.get_by_text("entries hash to the signed checkpoint")).to_be_visible()
    await expect(page.get_by_text("They are whole, and nothing in them contradicts the rest.")).to_be_visible()
    await page.close()


@contextmanager
def changed_snapshot(state: Path) -> Generator[None]:
    """One list of tools that the log names is another one meanwhile."""
    with closing(sqlite3.connect(state / "ledger.db", isolation_level=None, timeout=30)) as database:
        digest, body = database.execute("SELECT digest, body FROM snapshots ORDER BY digest LIMIT 1").fetchone()
        change = "UPDATE snapshots SET body = ? WHERE digest = ?"
        database.execute(change, (body.replace('"policyVersion":"', '"policyVersion":"0', 1), digest))
        try:
            yield
        finally:
            database.execute(change, (body, digest))


async def test_a_record_is_told_with_times_and_without_what_is_not_there(person: Person, shell: Page) -> None:
    await call_tool(shell, "peek", what="leeks")
    await expect(call_card(shell, "peek", "Done").last).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/audit/records?tool=peek")
    await expect(page.get_by_role("cell", name="Call closed", exact=True).first).to_be_visible()
    for event in ("Call closed", "Call about to run"):
        row = page.get_by_role("row").filter(has=page.get_by_role("cell", name=event, exact=True)).first
        opened = row.get_by_role("button", name="Entry #")
        await opened.click()
        entry = page.locator(f"#{await opened.get_attribute('aria-controls')}").locator("section").first
        await expect(entry.get_by_text("callId", exact=True).first).to_be_visible()
        told = re.sub(r"As it is recorded.*", "", await entry.inner_text(), flags=re.DOTALL)
        assert re.search(r"\bat\n?\s*20\d\d-\d\d-\d\dT", told), told
        assert not re.search(r"\b1\d{12}\b", told), told
        assert "empty list" not in told
    await page.close()


async def test_what_is_kept_of_a_call_is_erased_with_a_passkey_and_the_places_of_the_log_are_named(
    person: Person, shell: Page
) -> None:
    await call_tool(shell, "peek", what="butter")
    await expect(call_card(shell, "peek", "Done").last).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/audit")
    down = page.get_by_role("note").filter(has_text="siem takes no records")
    await expect(down).to_be_visible()
    await page.locator("summary", has_text="The log is sent to 2 places").click()
    await expect(page.get_by_role("listitem").filter(has_text="copy (file)")).to_be_visible()
    await check_on_both(page, "audit-sinks")

    await page.get_by_label("Tool").select_option("peek")
    await page.locator("a[data-row]").first.press("Enter")
    await page.get_by_role("button", name="Erase what is kept of it").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("erased for good")
    await check_on_both(page, "erase-call")
    await check_focus(page, 3)
    await person.passkey.carry_to(page)
    await dialog.get_by_role("button", name="Erase", exact=True).click()
    gone = page.get_by_role("status").filter(has_text="The content of the call is erased.")
    confirm = dialog.get_by_role("button", name="Confirm with your passkey")
    await expect(gone.or_(confirm).first).to_be_visible()
    if await confirm.count():
        await check_on_both(page, "erase-call-confirm")
        await confirm.click()
    await expect(dialog).to_be_hidden()
    # What the person typed is the conversation's and stays; of the call nothing is left that could be erased.
    await expect(page.get_by_role("button", name="Erase what is kept of it")).to_have_count(0)
    await expect(page.get_by_text("did peek butter")).to_have_count(0)
    await expect(page.get_by_text("It holds what is kept of the call's arguments and result.")).to_be_visible()
    await check_on_both(page, "erased-call")

    # What had content and has none any more is told apart from what never had any.
    await page.goto(f"{person.gateway.console_origin}/audit/records")
    for event, words in (("Call closed", "It is not kept any more."), ("Content erased", "There is none:")):
        row = page.get_by_role("row").filter(has=page.get_by_role("cell", name=event, exact=True)).first
        opened = row.get_by_role("button", name="Entry #")
        await opened.click()
        details = page.locator(f"#{await opened.get_attribute('aria-controls')}")
        await expect(details.get_by_text(words)).to_be_visible()

    # Once the conversation is erased too, nothing offers to erase it again.
    await page.goto(f"{person.gateway.console_origin}/audit")
    await page.get_by_label("Tool").select_option("peek")
    await page.locator("a[data-row]").first.press("Enter")
    await page.get_by_role("button", name="Erase the whole conversation").click()
    await dialog.get_by_role("button", name="Erase", exact=True).click()
    await expect(page.get_by_role("status").filter(has_text="The content of the conversation is erased.")).to_be_visible()
    await expect(page.get_by_text("It is not kept, or the conversation was deleted.")).to_be_visible()
    await expect(page.get_by_role("button", name="Erase the whole conversation")).to_have_count(0)
    await person.passkey.carry_to(person.console)
    await page.close()
    await person.check_no_violations()


async def test_on_a_tablet_all_columns_of_the_widest_sums_are_in_sight(person: Person, shell: Page) -> None:
    await call_tool(shell, "peek", what="salt")
    await expect(call_card(shell, "peek", "Done")).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.set_viewport_size({"width": 768, "height": 1024})
    await page.goto(f"{person.gateway.console_origin}/audit/models")
    table = page.get_by_role("table", name="By model")
    await expect(table).to_be_visible()
    assert await table.evaluate("({ parentElement: { scrollWidth, clientWidth } }) => scrollWidth <= clientWidth")
    await page.close()


async def test_on_a_phone_sums_stand_one_below_the_other_and_the_search_has_a_row_of_its_own(person: Person, shell: Page) -> None:
    await call_tool(shell, "peek", what="bread")
    await expect(call_card(shell, "peek", "Done")).to_be_visible()
    await end_turn(shell)
    page = await person.context.new_page()
    await page.set_viewport_size(PHONE)
    await page.goto(f"{person.gateway.console_origin}/audit/load")
    table = page.get_by_role("table", name="By person")
    await expect(table).to_be_visible()
    assert await table.evaluate("({ parentElement: { scrollWidth, clientWidth } }) => scrollWidth <= clientWidth")
    cells = table.get_by_role("cell")
    await expect(cells.first).to_be_visible()
    lefts: list[int] = await cells.evaluate_all("(cells) => cells.map((cell) => Math.round(cell.getBoundingClientRect().left))")
    assert len(set(lefts)) == 1
    await check_appearance(page, "audit-load-phone")
    await page.goto(f"{person.gateway.console_origin}/audit")
    field = await page.get_by_label("Name or id").bounding_box()
    assert field is not None
    assert field["width"] > PHONE["width"] / 2
    await page.close()
