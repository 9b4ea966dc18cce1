"""The page of people in two browsers: one operator invites, suspends and lets in again whoever sits at the other."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.appearance import check_appearance, check_focus
from tests.e2e.person import DESKTOP, PHONE, Person
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRACE = "Grace"


@pytest_asyncio.fixture(loop_scope="session")
async def people(person: Person) -> AsyncIterator[Page]:
    """The page, with the passkey plugged in."""
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/people")
    await expect(page.get_by_role("heading", name="People", exact=True)).to_be_visible()
    await person.passkey.carry_to(page)
    yield page
    await person.passkey.carry_to(person.console)
    await page.close()


async def check_on_both(page: Page, name: str) -> None:
    """How the page looks at a desk by day and on a phone by night."""
    await page.set_viewport_size(PHONE)
    await page.emulate_media(color_scheme="dark")
    await check_appearance(page, f"phone-dark-{name}")
    await page.set_viewport_size(DESKTOP)
    await page.emulate_media(color_scheme="null")
    await check_appearance(page, f"desktop-light-{name}")


def card(page: Page, name: str) -> Locator:
    """A person on the list."""
    return page.get_by_role("listitem", name=name, exact=True)


async def confirm(page: Page, name: str, change: str) -> None:
    """Choose what is to be done about somebody, and confirm it."""
    await card(page, name).get_by_role("button", name=change).click()
    await page.get_by_role("dialog").get_by_role("button", name=change).click()
    await expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.requirement("002-32", "people are enrolled, suspended and let in again on the console")
async def test_somebody_is_invited_suspended_and_let_in_again(
    browser: Browser, gateway: GatewayProcess, person: Person, people: Page
) -> None:
    await check_on_both(people, "console-people")
    await people.get_by_label("Name").fill(GRACE)
    await people.get_by_role("button", name="Make a link").click()
    made = people.get_by_role("note").filter(has_text=f"The link for {GRACE}")
    await expect(made).to_contain_text("15 minutes")
    await check_on_both(people, "console-people-link")
    link = await made.get_by_text("#t=").inner_text()

    grace = await Person.with_new_browser(browser, gateway)
    await grace.enrol(link.strip().rpartition("#t=")[2], GRACE)
    shell = await grace.sign_in_to_shell()
    await expect(card(people, GRACE)).to_contain_text("guest")
    alive = people.get_by_role("region", name="Sessions of the agent").get_by_role("listitem").filter(has_text=GRACE)
    await expect(alive).to_have_count(1)
    # A guest has no link to the page, and is told what it is for.
    await expect(grace.console.get_by_role("link", name="People")).to_have_count(0)

    # A session may be lent a higher label, which never falls again, and be ended by itself.
    label = alive.get_by_label("Label")
    await label.select_option("internal")
    await expect(label.get_by_role("option")).to_have_text(["internal", "confidential", "high"])
    await alive.get_by_role("button", name="End this session").click()
    await expect(shell.get_by_role("heading", name="Your session has ended")).to_be_visible()
    await expect(alive).to_have_count(0)
    await shell.close()
    shell = await grace.sign_in_to_shell()
    await expect(alive).to_have_count(1)

    await person.passkey.carry_to(people)
    await card(people, GRACE).get_by_role("button", name="Suspend").click()
    await check_on_both(people, "console-people-suspend")
    await people.get_by_role("dialog").get_by_role("button", name="Suspend").click()
    await expect(shell.get_by_role("heading", name="Your session has ended")).to_be_visible()
    await expect(grace.console.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    await expect(card(people, GRACE)).to_contain_text("suspended")
    await expect(alive).to_have_count(0)
    await grace.passkey.carry_to(grace.console)
    await grace.console.get_by_role("button", name="Sign in with a passkey").click()
    await expect(grace.console.get_by_text("this account is suspended", exact=False)).to_be_visible()

    await person.passkey.carry_to(people)
    await confirm(people, GRACE, "Let in again")
    await grace.passkey.carry_to(grace.console)
    await grace.console.get_by_role("button", name="Sign in with a passkey").click()
    await expect(grace.console.get_by_role("heading", name=f"Hello, {GRACE}")).to_be_visible()
    await person.passkey.carry_to(people)
    await confirm(people, GRACE, "Remove")
    await expect(people.get_by_role("region", name="Without a passkey")).to_contain_text(GRACE)
    await check_focus(people, 3)
    # Its last page was turned away on purpose: the browser says so, which is no fault of the page.
    assert grace.monitor.foreign_requests == []
    await grace.context.close()


async def test_the_last_operator_stays(people: Page) -> None:
    await card(people, "Operator").get_by_role("button", name="Suspend").click()
    dialog = people.get_by_role("dialog")
    await expect(dialog).to_contain_text("This is you")
    await dialog.get_by_role("button", name="Suspend").click()
    await expect(dialog.get_by_text("nobody else here is an operator", exact=False)).to_be_visible()
