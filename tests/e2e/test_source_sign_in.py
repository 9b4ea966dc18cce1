"""Signing in to a remote MCP server in a browser: out to its authorization server, and back to the console."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.e2e.appearance import check_appearance
from tests.e2e.person import Person
from tests.harness.oauth_site import OAuthSite, serve_oauth

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def add(page: Page, origin: str, url: str) -> None:
    await page.goto(f"{origin}/sources")
    await page.get_by_role("button", name="Add a source").click()
    await page.get_by_label("Name", exact=True).fill("remote")
    await page.get_by_label("Kind").select_option("address")
    await page.get_by_label("Address", exact=True).fill(url)
    await page.get_by_role("button", name="Add it").click()


async def test_a_person_signs_in_with_three_clicks_and_out_again(person: Person) -> None:
    async with serve_oauth(OAuthSite()) as site:
        page = await person.context.new_page()
        origin = person.gateway.console_origin
        await add(page, origin, site.url)
        part = page.get_by_role("region", name="Sign-in")
        await expect(part).to_contain_text("The server wants a person to sign in", timeout=60_000)
        await check_appearance(page, "source-needs-sign-in")
        await part.get_by_role("button", name="Sign in").click()
        asked = page.get_by_role("dialog", name="Sign in to remote")
        await expect(asked).to_contain_text(site.origin)
        await check_appearance(page, "source-sign-in-place")
        await asked.get_by_role("button", name="Continue").click()
        await expect(page.get_by_text("You are signed in")).to_be_visible()
        # The code is in no address that the browser remembers.
        await expect(page).to_have_url(f"{origin}/sources/remote/callback")
        await check_appearance(page, "source-signed-in")
        await page.get_by_role("link", name="To the source").click()
        await expect(part).to_contain_text(site.origin)
        await expect(page.get_by_role("grid", name="Tools of remote")).to_contain_text("remote__look", timeout=60_000)
        # Going back brings nothing again.
        await page.go_back()
        await expect(page.get_by_text("There is nothing to finish here")).to_be_visible()
        await page.go_forward()
        assert site.times("/token") == 1
        await part.get_by_role("button", name="Sign out").click()
        await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
        await expect(part).to_contain_text("wants a person to sign in", timeout=60_000)
        assert site.times("/revoke") == 1
        await page.close()
