"""From the printed link to the first answer: two presses in one window, and back to the same place after signing in again."""

from __future__ import annotations

import asyncio
import re

import pytest
from playwright.async_api import Browser, Route, expect

from tests.e2e.person import Person, call_card, call_tool
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_two_presses_in_one_window_lead_from_the_link_to_the_first_call_and_one_back_to_it(
    browser: Browser, gateway: GatewayProcess, person: Person
) -> None:
    code, said = await gateway.run("enrol", "Ada", "--profile", "operator")
    assert code == 0, said
    ada = await Person.with_new_browser(browser, gateway)
    window = ada.console
    await ada.enrol(said.rpartition("#t=")[2].split()[0], "Ada")
    await window.get_by_role("button", name="Start working").click()
    await expect(window.get_by_label("Message")).to_be_visible()
    assert window.url == f"{gateway.agent_origin}/"
    assert len(ada.context.pages) == 1
    await call_tool(window, "list_directory", path=".")
    await expect(call_card(window, "list_directory", "Done")).to_be_visible()

    # Signing in again is one step, and leads back to the conversation.
    await window.wait_for_url(f"{gateway.agent_origin}/c/*")
    conversation = window.url
    await ada.context.clear_cookies()
    await window.reload()
    await window.get_by_role("link", name="Sign in").click()
    await window.get_by_role("button", name="Sign in and open the shell").click()
    await expect(call_card(window, "list_directory", "Done")).to_be_visible()
    assert window.url == conversation
    assert ada.monitor.problems == []
    await ada.context.close()


async def test_being_signed_in_on_the_console_is_not_enough_for_a_page_to_get_a_session(person: Person) -> None:
    """docs/SECURITY.md case 45: a page can lead a browser to `/login`; without a press on the console nothing comes of it."""
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.agent_origin}/login")
    await expect(page.get_by_role("button", name="Continue to the shell")).to_be_visible()
    assert page.url.startswith(f"{person.gateway.console_origin}/authorize")
    await page.close()


async def test_a_person_who_opens_the_wrong_name_is_shown_the_right_ones(person: Person) -> None:
    port = person.gateway.console_origin.rpartition(":")[2]
    page = await person.context.new_page()
    await page.goto(f"http://127.0.0.1:{port}/")
    await expect(page.get_by_role("heading", name="This is not the address of a page")).to_be_visible()
    await expect(page.get_by_role("link", name=person.gateway.agent_origin)).to_be_visible()
    await expect(page.get_by_role("link", name=person.gateway.console_origin)).to_be_visible()
    await page.close()


async def test_a_page_whose_program_is_still_on_its_way_is_not_blank(gateway: GatewayProcess, person: Person) -> None:
    has_come = asyncio.Event()

    async def hold(route: Route) -> None:
        await has_come.wait()
        await route.continue_()

    for origin in (gateway.agent_origin, gateway.console_origin):
        page = await person.context.new_page()
        await page.route(re.compile(r"\.js$"), hold)
        await page.goto(origin, wait_until="commit")
        await expect(page.get_by_text("Countersign", exact=True)).to_be_visible()
        has_come.set()
        await expect(page.get_by_role("main")).to_be_visible()
        await expect(page.locator(".begins")).to_have_count(0)
        has_come.clear()
        await page.unroute_all(behavior="wait")
        await page.close()
