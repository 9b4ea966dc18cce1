"""Passkey ceremonies: answers that must not count, and links and sessions that are over.

docs/SECURITY.md case 37.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e import chromium
from tests.e2e.person import Person, approval_dock, call_card, call_tool, decide, end_turn

pytestmark = pytest.mark.asyncio(loop_scope="session")

OLD = "notes/old.txt"


@pytest_asyncio.fixture(loop_scope="session")
async def question(person: Person, shell: Page) -> AsyncIterator[Page]:
    """The console's page about a deletion; the passkey is plugged in there, and honest again afterwards."""
    person.write_file(OLD, "Things that are long done.\n")
    await call_tool(shell, "delete_file", path=OLD)
    async with person.open_approval(shell) as page:
        yield page
    await end_turn(shell)


async def test_a_passkey_that_cannot_tell_who_touches_it_approves_nothing(person: Person, shell: Page, question: Page) -> None:
    await person.passkey.verify_user(succeeds=False)
    await decide(question, "Approve with passkey")
    await expect(question.get_by_text("Your answer did not count")).to_be_visible()
    await expect(approval_dock(shell)).to_be_visible()
    assert person.has_file(OLD)
    # It was no answer, so the question is still open for a right one.
    await person.passkey.verify_user(succeeds=True)
    await decide(question, "Approve with passkey")
    await expect(call_card(shell, "delete_file", "Done")).to_be_visible()
    assert not person.has_file(OLD)


@pytest.mark.requirement("002-33", "an assertion without verification, touch or signature runs nothing")
@pytest.mark.parametrize("bit", ["isBadUV", "isBadUP", "isBogusSignature"])
async def test_an_answer_without_verification_touch_or_signature_is_refused_by_the_gateway(
    person: Person, shell: Page, question: Page, bit: str
) -> None:
    """The browser lets these through; what refuses them is ours."""
    assert isinstance(person.passkey, chromium.Passkey)
    await person.passkey.forge(**{bit: True})
    await decide(question, "Approve with passkey")
    await expect(call_card(shell, "delete_file", "Not confirmed")).to_be_visible()
    await expect(question.get_by_role("button", name="Approve with passkey")).to_be_hidden()
    assert person.has_file(OLD)


async def test_a_passkey_that_nobody_touches_leaves_the_approval_open_until_the_turn_is_stopped(
    person: Person, shell: Page, question: Page
) -> None:
    assert isinstance(person.passkey, chromium.Passkey)
    await person.passkey.await_touch(comes=False)
    await decide(question, "Approve with passkey")
    await expect(question.get_by_role("button", name="Waiting for your passkey")).to_be_visible()
    await expect(approval_dock(shell)).to_be_visible()
    await shell.get_by_role("button", name="Stop").click()
    await expect(question.get_by_text("Cancelled, not run", exact=True)).to_be_visible()
    assert person.has_file(OLD)


async def test_a_used_enrolment_link_says_so_and_lets_nobody_in(person: Person) -> None:
    token = await person.gateway.enrolment_token()
    stranger = await Person.with_new_browser(person.context.browser or pytest.fail("no browser"), person.gateway)
    await stranger.console.goto(f"{person.gateway.console_origin}/enrol#t={token}")
    await stranger.console.get_by_role("button", name="Register a passkey").click()
    await expect(stranger.console.get_by_text("No passkey was registered")).to_be_visible()
    await expect(stranger.console.get_by_text("A link works once")).to_be_visible()
    await stranger.context.close()


async def test_signing_out_and_in_again_needs_the_passkey_and_nothing_else(person: Person) -> None:
    console = person.console
    await person.passkey.carry_to(console)
    await console.goto(person.gateway.console_origin)
    await console.get_by_role("button", name="Sign out").click()
    await console.get_by_role("button", name="Sign in with a passkey").click()
    await expect(console.get_by_role("heading", name="Hello, Operator")).to_be_visible()
