"""Passkey ceremonies in Chromium: answers that must not count, and links and sessions that are over.

Security report section 3 and case 37. Ids: 002-33.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e.desk import Desk, call, card, decide, dock, expect_idle

pytestmark = pytest.mark.asyncio(loop_scope="module")

OLD = "notes/old.txt"


@pytest_asyncio.fixture(loop_scope="module")
async def question(desk: Desk, shell: Page) -> AsyncIterator[Page]:
    """The console's page about a deletion; the passkey is plugged in there, and honest again afterwards."""
    desk.put(OLD, "Things that are long done.\n")
    await call(shell, "delete_file", path=OLD)
    async with desk.question(shell) as page:
        yield page
    stop = shell.get_by_role("button", name="Stop")
    if await stop.is_visible():
        await stop.click()
    await expect_idle(shell)


async def test_a_passkey_that_cannot_tell_who_touches_it_approves_nothing(desk: Desk, shell: Page, question: Page) -> None:
    await desk.passkey.verify_user(succeeds=False)
    await decide(question, "Approve with passkey")
    await expect(question.get_by_text("Your answer did not count")).to_be_visible()
    await expect(dock(shell)).to_be_visible()
    assert desk.holds(OLD)
    # It was no answer, so the question is still open for a right one.
    await desk.passkey.verify_user(succeeds=True)
    await decide(question, "Approve with passkey")
    await expect(card(shell, "delete_file", "Done")).to_be_visible()
    assert not desk.holds(OLD)


@pytest.mark.parametrize("bit", ["isBadUV", "isBadUP", "isBogusSignature"])
async def test_an_answer_without_verification_touch_or_signature_is_refused_by_the_gateway(
    desk: Desk, shell: Page, question: Page, bit: str
) -> None:
    """The browser lets these through; what refuses them is ours."""
    await desk.passkey.forge(**{bit: True})
    await decide(question, "Approve with passkey")
    await expect(card(shell, "delete_file", "Not confirmed")).to_be_visible()
    await expect(question.get_by_role("button", name="Approve with passkey")).to_be_hidden()
    assert desk.holds(OLD)


async def test_a_passkey_that_nobody_touches_leaves_the_question_open_and_a_no_still_possible(
    desk: Desk, shell: Page, question: Page
) -> None:
    await desk.passkey.await_touch(comes=False)
    await decide(question, "Approve with passkey")
    await expect(question.get_by_role("button", name="Waiting for your passkey")).to_be_visible()
    await expect(dock(shell)).to_be_visible()
    await shell.get_by_role("button", name="Stop").click()
    await expect(question.get_by_text("Cancelled, not run", exact=True)).to_be_visible()
    assert desk.holds(OLD)


async def test_a_used_enrolment_link_says_so_and_lets_nobody_in(desk: Desk) -> None:
    token = await desk.gateway.enrolment_token()
    stranger = await Desk.at(desk.context.browser or pytest.fail("no browser"), desk.gateway)
    await stranger.console.goto(f"{desk.gateway.console_origin}/enrol#t={token}")
    await stranger.console.get_by_role("button", name="Register a passkey").click()
    await expect(stranger.console.get_by_text("No passkey was registered")).to_be_visible()
    await expect(stranger.console.get_by_text("A link works once")).to_be_visible()
    await stranger.context.close()


async def test_signing_out_and_in_again_needs_the_passkey_and_nothing_else(desk: Desk) -> None:
    console = desk.console
    await console.goto(desk.gateway.console_origin)
    await console.get_by_role("button", name="Sign out").click()
    await console.get_by_role("button", name="Sign in with a passkey").click()
    await expect(console.get_by_role("heading", name="Hello, Operator")).to_be_visible()
