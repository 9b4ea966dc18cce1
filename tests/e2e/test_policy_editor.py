"""The policy editor, from a change that is typed to the version in force and back, with the passkey in the browser."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.appearance import check_appearance, check_focus
from tests.e2e.conftest import serving
from tests.e2e.person import DESKTOP, PHONE, Person, call_card, call_tool, end_turn
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_PEEKING = """
@id("test.no-peeking")
@why("Nobody peeks while this is tested")
forbid (principal, action, resource == Countersign::Tool::"peek") when { !resource.network };
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """One that keeps its policy in the database."""
    async with serving(
        tmp_path_factory.mktemp("gateway"),
        COUNTERSIGN_MODEL_URL=model.url,
        COUNTERSIGN_MODEL_TIER="native",
        COUNTERSIGN_POLICY_SOURCE="database",
    ) as process:
        yield process


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ben(browser: Browser, gateway: GatewayProcess, person: Person) -> AsyncIterator[Person]:
    """A second operator, at a browser of his own."""
    made = await Person.with_new_browser(browser, gateway)
    code, said = await gateway.run("enrol", "Ben", "--profile", "operator")
    assert code == 0, said
    await made.enrol(said.rpartition("#t=")[2].split()[0], "Ben")
    yield made
    await made.context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def overview(person: Person) -> AsyncIterator[Page]:
    """The page for people who write no rule, in a window that has the passkey."""
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/policy")
    await expect(page.get_by_role("heading", name="Switches")).to_be_visible()
    await person.passkey.carry_to(page)
    yield page
    await person.passkey.carry_to(person.console)
    await page.close()


@pytest_asyncio.fixture(loop_scope="session")
async def editor(person: Person) -> AsyncIterator[Page]:
    """The page, opened by its link, in a window that has the passkey."""
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/policy")
    await page.get_by_role("link", name="Change it in the policy editor").click()
    await expect(page.get_by_role("heading", name="Policy editor")).to_be_visible()
    await person.passkey.carry_to(page)
    yield page
    await person.passkey.carry_to(person.console)
    await page.close()


async def check_everywhere(page: Page, name: str) -> None:
    """How the page looks at a desk and on a phone, by day and by night."""
    for device, size in (("phone", PHONE), ("desktop", DESKTOP)):
        await page.set_viewport_size(size)
        for colours in ("light", "dark"):
            await page.emulate_media(color_scheme=colours)
            await check_appearance(page, f"{device}-{colours}-{name}")
    await page.emulate_media(color_scheme="null")


async def check_on_both(page: Page, name: str) -> None:
    """How the page looks at a desk by day and on a phone by night."""
    await page.set_viewport_size(PHONE)
    await page.emulate_media(color_scheme="dark")
    await check_appearance(page, f"phone-dark-{name}")
    await page.set_viewport_size(DESKTOP)
    await page.emulate_media(color_scheme="light")
    await check_appearance(page, f"desktop-light-{name}")
    await page.emulate_media(color_scheme="null")


async def read_file(page: Page) -> str:
    """The file that stands open. An editor that draws its text holds no more of it in the page than can be seen."""
    await page.get_by_label("Plain text").check()
    text = await page.get_by_role("textbox", name="Text of").input_value()
    await page.get_by_label("Plain text").uncheck()
    return text


async def write_file(page: Page, text: str) -> None:
    """Put that text in the place of the file's, as somebody does who pastes it."""
    await page.get_by_role("textbox", name="Text of").focus()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(text)


def versions(page: Page) -> Locator:
    """The history."""
    return page.get_by_role("list", name="Versions, newest first").get_by_role("listitem")


async def sign(page: Page) -> None:
    """Sign the version that stands open, which is then in force."""
    await page.get_by_role("button", name="Sign with your passkey").click()
    await expect(page.get_by_role("region", name="Notice")).to_contain_text("in force")
    await expect(page.get_by_text("No version waits for a signature.")).to_be_visible()


async def test_a_change_is_examined_rehearsed_signed_in_force_at_once_and_taken_back(
    person: Person, shell: Page, editor: Page
) -> None:
    await call_tool(shell, "peek", what="before")
    await expect(call_card(shell, "peek", "Done")).to_be_visible()
    await end_turn(shell)
    await check_on_both(editor, "console-policy-editor")
    await editor.get_by_label("File", exact=True).select_option("default.cedar")
    area = editor.get_by_label("Text of default.cedar")
    text = await read_file(editor)
    line = text.count("\n") + 1

    await write_file(editor, f"{text}forbid (")
    fault = editor.get_by_role("button", name=f"default.cedar, line {line}, column")
    await expect(fault.first).to_be_visible()
    await check_on_both(editor, "console-policy-fault")
    await fault.first.click()
    await expect(area).to_be_focused()
    await check_focus(editor, 3)

    await write_file(editor, f'{text}forbid (principal, action, resource == Countersign::Tool::"')
    await editor.keyboard.type("pee")
    await expect(editor.get_by_role("option", name="peek")).to_be_visible()
    await check_on_both(editor, "console-policy-completion")
    await editor.keyboard.press("Enter")
    await expect(area).to_contain_text('Countersign::Tool::"peek"')

    await write_file(editor, text + NO_PEEKING)
    await expect(editor.get_by_role("status").filter(has_text="It loads")).to_contain_text("cases hold")
    await expect(editor.get_by_role("list", name="default.cedar: old and new lines")).to_contain_text("test.no-peeking")
    await editor.get_by_role("button", name="Compare over every kind of call").click()
    await expect(editor.get_by_text("It nowhere asks for less")).to_be_visible()
    await editor.get_by_role("button", name="Rehearse").click()
    await expect(editor.get_by_text("Over the last 7 days this newly refuses 1 call.")).to_be_visible()
    await editor.get_by_label("Why", exact=True).fill("Peeking is not needed")
    await check_on_both(editor, "console-policy-draft")
    await editor.get_by_role("button", name="Propose it").click()
    await expect(editor.get_by_role("button", name="Sign with your passkey")).to_be_visible()
    await check_on_both(editor, "console-policy-proposed")
    await sign(editor)

    await expect(versions(editor).first).to_contain_text("Peeking is not needed")
    await call_tool(shell, "peek", what="after")
    await expect(call_card(shell, "peek", "Refused")).to_be_visible()
    await end_turn(shell)
    assert (await person.recorded_calls(shell))[-1] == "peek refusedByPolicy"

    await versions(editor).nth(1).get_by_role("button", name="Go back to it").click()
    await sign(editor)
    await call_tool(shell, "peek", what="again")
    await expect(call_card(shell, "peek", "Done")).to_have_count(2)
    await end_turn(shell)
    await person.check_no_violations()


async def test_everything_is_frozen_with_a_reason_and_thawed_with_the_passkey(person: Person, editor: Page) -> None:
    await editor.get_by_role("button", name="Freeze everything").click()
    await editor.get_by_label("Why", exact=True).fill("Something is wrong")
    await editor.get_by_role("dialog").get_by_role("button", name="Freeze", exact=True).click()
    await expect(editor.get_by_text("Something is wrong")).to_be_visible()
    await check_on_both(editor, "console-policy-frozen")
    await editor.get_by_role("button", name="Thaw with your passkey").click()
    await expect(editor.get_by_role("button", name="Freeze everything")).to_be_visible()
    await person.check_no_violations()


def switch(page: Page, name: str) -> Locator:
    """The card of a switch."""
    heading = page.get_by_role("heading", name=name, exact=True)
    return page.get_by_role("list", name="Switches").get_by_role("listitem").filter(has=heading)


async def test_a_switch_is_turned_on_and_off_by_somebody_who_writes_no_rule(person: Person, shell: Page, overview: Page) -> None:
    await call_tool(shell, "peek", what="before")
    await expect(call_card(shell, "peek", "Done")).to_be_visible()
    await end_turn(shell)
    await check_everywhere(overview, "console-policy-switches")
    card = switch(overview, "Ask before reading outside some folders")
    await card.get_by_label("Folders", exact=True).fill("notes/")
    await card.get_by_role("button", name="Turn it on").click()
    await expect(card.get_by_text("Over the last 7 days this adds")).to_be_visible()
    await expect(card.get_by_text("newly asked about").first).to_be_visible()
    await expect(card).to_contain_text('context.facts.path == "notes"')
    await check_everywhere(overview, "console-policy-switch-draft")
    await check_focus(overview, 3)
    await card.get_by_role("button", name="Propose it").click()
    await sign(overview)
    await expect(card).to_contain_text("on")
    await expect(card.get_by_role("button", name="Turn it off")).to_be_visible()
    await call_tool(shell, "peek", what="after")
    await expect(call_card(shell, "peek", "Waiting for approval")).to_be_visible()
    await card.get_by_role("button", name="Turn it off").click()
    await card.get_by_role("button", name="Propose it").click()
    await sign(overview)
    await expect(card.get_by_role("button", name="Turn it on")).to_be_visible()
    await end_turn(shell)
    await person.check_no_violations()


async def test_what_asks_for_less_is_in_force_when_a_second_operator_has_signed_it_too(
    person: Person, ben: Person, overview: Page
) -> None:
    card = switch(overview, "Let some hosts through without asking")
    await card.get_by_label("Hosts", exact=True).fill("docs.example.com")
    await card.get_by_role("button", name="Turn it on").click()
    await expect(card.get_by_text("It asks for less than the version in force")).to_be_visible()
    await card.get_by_role("button", name="Propose it").click()
    await overview.get_by_role("button", name="Sign with your passkey").click()
    await expect(overview.get_by_role("region", name="Notice")).to_contain_text("One more operator has to sign.")
    await expect(overview.get_by_text("You have signed it. It waits for another operator.")).to_be_visible()
    await check_everywhere(overview, "console-policy-second-signature")
    theirs = ben.console
    await theirs.goto(f"{person.gateway.console_origin}/policy/editor")
    await theirs.get_by_role("button", name="Read it").click()
    await expect(theirs.get_by_text("1 of 2 signatures")).to_be_visible()
    await check_everywhere(theirs, "console-policy-second-operator")
    await ben.passkey.carry_to(theirs)
    await sign(theirs)
    # The first one's page follows by itself.
    await expect(card.get_by_role("button", name="Turn it off")).to_be_visible()
    await expect(card.get_by_label("Hosts", exact=True)).to_have_value("docs.example.com")
    await person.check_no_violations()
    await ben.check_no_violations()


async def test_a_call_on_record_and_an_imagined_one_are_explained(person: Person, shell: Page, overview: Page) -> None:
    await call_tool(shell, "peek", what="explained")
    await expect(call_card(shell, "peek", "Done")).to_be_visible()
    await end_turn(shell)
    await overview.goto(f"{person.gateway.console_origin}/audit/records?event=call:closed")
    await overview.get_by_role("button", name="Entry #").first.click()
    await overview.get_by_role("link", name="Why the policy decided so").click()
    explained = overview.get_by_role("region", name="Explanation")
    await expect(explained.get_by_role("heading", name="Rules that decide")).to_be_visible()
    await explained.get_by_text("default.cedar, line").first.click()
    await expect(explained).to_contain_text("@id(")
    await check_everywhere(overview, "console-policy-explained")
    await overview.get_by_role("link", name="imagine a call").click()
    await overview.get_by_label("Tool", exact=True).fill("delete_file")
    await overview.get_by_label("path").fill("notes/old.txt")
    await overview.get_by_label("Profile").select_option("guest")
    await overview.get_by_role("button", name="Explain it").click()
    await expect(explained).to_contain_text("This cannot be undone, so it needs your passkey")
    await check_everywhere(overview, "console-policy-imagined")
    await check_focus(overview, 3)
    await person.check_no_violations()
