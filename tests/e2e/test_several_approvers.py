"""A call that takes two people, at two browsers with a passkey each, and an operator who does it alone."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.appearance import check_appearance, check_focus
from tests.e2e.conftest import make_gateway
from tests.e2e.person import DESKTOP, PHONE, Person, approval_dock, call_card, call_tool, decide, end_turn
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess
from tests.scenarios.staging import POLICY, edit

pytestmark = pytest.mark.asyncio(loop_scope="session")

OLD = "notes/old.txt"
DESTRUCTIVE = '@id("destructive.step-up")\n'


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """One whose policy wants two people for what cannot be undone, or one with a reason."""
    home = tmp_path_factory.mktemp("gateway")
    shutil.copytree(POLICY, home / "policy")
    settings = {"COUNTERSIGN_MODEL_URL": model.url, "COUNTERSIGN_MODEL_TIER": "native"}
    process = make_gateway(home, COUNTERSIGN_POLICY=str(home / "policy"), **settings)
    edit(process, "default.cedar", DESTRUCTIVE, f'{DESTRUCTIVE}@approvers("2")\n@break_glass("allowed")\n')
    await process.start()
    yield process
    assert await process.stop() == 0, process.output


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
async def waiting(person: Person, ben: Person, shell: Page) -> AsyncIterator[Page]:
    """A shell in which the deletion of a file waits for two people."""
    person.write_file(OLD, "Things that are long done.\n")
    await call_tool(shell, "delete_file", path=OLD)
    await expect(approval_dock(shell)).to_be_visible()
    yield shell
    await end_turn(shell)


async def check_on_both(page: Page, name: str) -> None:
    """How the page looks at a desk by day and on a phone by night."""
    await page.set_viewport_size(PHONE)
    await page.emulate_media(color_scheme="dark")
    await check_appearance(page, f"phone-dark-{name}")
    await page.set_viewport_size(DESKTOP)
    await page.emulate_media(color_scheme="null")
    await check_appearance(page, f"desktop-light-{name}")


async def review(ben: Person) -> Page:
    """The question on the second person's console, where it came by itself."""
    page = ben.console
    await page.get_by_role("link", name="Approvals").first.click()
    await page.get_by_role("region", name="Waiting for you").get_by_role("link", name="Review").click()
    await expect(page.get_by_role("heading", name="Delete notes/old.txt")).to_be_visible()
    await ben.passkey.carry_to(page)
    return page


@pytest.mark.requirement("002-33", "two people approve with their own passkeys, and each sees at once what the other did")
async def test_a_call_of_two_people_runs_when_the_second_has_approved_it(person: Person, ben: Person, waiting: Page) -> None:
    async with person.open_approval(waiting) as first:
        who = first.get_by_role("region", name="Who has to approve")
        await expect(who).to_contain_text("0 of 2 people have approved")
        second = await review(ben)
        # A button that changes its colour meanwhile has no contrast of its own.
        await expect(second.get_by_role("button", name="Approve with passkey")).not_to_have_attribute("aria-disabled", "true")
        await check_on_both(second, "console-approval-two-people")
        await person.passkey.carry_to(first)
        await decide(first, "Approve with passkey")
        await expect(first.get_by_text("You have approved it.")).to_be_visible()
        await expect(second.get_by_role("region", name="Who has to approve")).to_contain_text("1 of 2 people has approved")
        await expect(second.get_by_role("listitem").filter(has_text="Operator approved")).to_be_visible()
        await expect(first.get_by_role("button", name="Approve with passkey")).to_be_hidden()
        assert person.has_file(OLD)
        await ben.passkey.carry_to(second)
        await decide(second, "Approve with passkey")
        for page in (first, second):
            await expect(page.get_by_role("region", name="Your decision")).to_contain_text("Decided by")
    await expect(call_card(waiting, "delete_file", "Done")).to_be_visible()
    assert not person.has_file(OLD)


async def test_a_call_that_one_has_approved_waits_in_their_list_for_somebody_else(
    person: Person, ben: Person, waiting: Page
) -> None:
    async with person.open_approval(waiting) as first:
        await decide(first, "Approve with passkey")
        await expect(first.get_by_text("You have approved it.")).to_be_visible()
        await first.get_by_role("link", name="All approvals").click()
        await expect(first.get_by_role("region", name="Waiting for somebody else")).to_contain_text("1 of 2 people has approved")
        await check_on_both(first, "console-approvals-for-others")
    second = await review(ben)
    await decide(second, "Deny")
    await expect(call_card(waiting, "delete_file", "Denied")).to_be_visible()
    assert person.has_file(OLD)


async def test_an_operator_who_acts_alone_says_why_and_the_other_is_told_at_once(
    person: Person, ben: Person, waiting: Page
) -> None:
    await ben.console.get_by_role("link", name="Home").first.click()
    async with person.open_approval(waiting) as page:
        await page.get_by_text("Break the glass").click()
        reason = page.get_by_label("Why can this not wait for somebody else?")
        await reason.fill("too short")
        await decide(page, "Run it alone with passkey")
        await expect(reason).to_have_attribute("aria-invalid", "true")
        await check_on_both(page, "console-approval-alone")
        assert person.has_file(OLD)
        await reason.fill("The disk is full and nobody else is awake")
        await decide(page, "Run it alone with passkey")
        await expect(page.get_by_role("region", name="Your decision")).to_contain_text("Approved")
    await expect(call_card(waiting, "delete_file", "Done")).to_be_visible()
    assert not person.has_file(OLD)
    warned = ben.console.get_by_text("An operator acted alone")
    await expect(warned).to_be_visible()
    await expect(ben.console.get_by_text("The disk is full and nobody else is awake")).to_be_visible()
    await check_on_both(ben.console, "console-acted-alone")
    await check_focus(ben.console, 3)


async def test_the_browsers_reported_nothing(person: Person, ben: Person) -> None:
    await person.check_no_violations()
    await ben.check_no_violations()
