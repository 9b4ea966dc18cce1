"""A call that waits, and an answer under way: denied, expired, reloaded, stopped; and what is stored of a conversation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.conftest import make_gateway
from tests.e2e.person import (
    TIMEOUT_MS,
    Person,
    answers,
    approval_dock,
    call_card,
    call_tool,
    decide,
    expect_idle,
    open_conversation_menu,
    send,
)
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

OLD = "notes/old.txt"
DELETION = Reply(calls=(("delete_file", {"path": OLD}),))


@pytest.fixture(autouse=True)
def old_file(person: Person) -> None:
    """Something to delete, whatever the test before did."""
    person.write_file(OLD, "Things that are long done.\n")


@pytest.mark.requirement("002-34", "a denial is shown and fed back, and the file stands")
async def test_a_denied_call_leaves_the_file_and_the_model_is_told(person: Person, shell: Page, model: ScriptedServer) -> None:
    model.will_answer(DELETION, Reply("Then it stays."))
    await send(shell, "delete notes/old.txt")
    async with person.open_approval(shell) as approval:
        await decide(approval, "Deny")
        await expect(approval.get_by_text("Denied, not run", exact=True)).to_be_visible()
    await expect(call_card(shell, "delete_file", "Denied")).not_to_contain_text("You said no")
    await expect(answers(shell)).to_have_text("Then it stays.")
    await expect_idle(shell)
    assert person.has_file(OLD)


async def test_a_conversation_is_exported_and_continued_in_a_copy(shell: Page, model: ScriptedServer) -> None:
    model.will_answer(Reply("It is noted."))
    await send(shell, "remember the milk")
    await expect(answers(shell)).to_have_text("It is noted.")
    await expect_idle(shell)
    await open_conversation_menu(shell)
    async with shell.expect_download() as download:
        await shell.get_by_role("menuitem", name="Export as JSON").click()
    exported = json.loads((await (await download.value).path()).read_text(encoding="utf-8"))
    assert exported["format"] == "countersign.conversation.v1"
    assert [message["content"] for message in exported["messages"]] == ["remember the milk", "It is noted."]

    original = shell.url
    await open_conversation_menu(shell)
    await shell.get_by_role("menuitem", name="Continue in a copy").click()
    await expect(shell.get_by_role("heading", level=1)).to_have_text("remember the milk (copy)")
    await expect(answers(shell)).to_have_text("It is noted.")
    assert shell.url != original


@pytest.mark.requirement("002-56", "a reloaded page shows the waiting call and goes on from it")
async def test_a_reload_brings_the_waiting_call_back_and_the_turn_goes_on_from_it(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    model.will_answer(DELETION, Reply("It is gone now."))
    await send(shell, "delete notes/old.txt")
    await expect(approval_dock(shell)).to_contain_text("Delete notes/old.txt")
    await shell.reload()
    await expect(approval_dock(shell)).to_contain_text("Delete notes/old.txt")
    await expect(call_card(shell, "delete_file", "Waiting for approval")).to_be_visible()
    async with person.open_approval(shell) as approval:
        await decide(approval, "Approve with passkey")
        await expect(call_card(shell, "delete_file", "Done")).to_be_visible()
    await expect(answers(shell)).to_have_text("It is gone now.")
    await expect_idle(shell)
    assert not person.has_file(OLD)


async def test_what_a_model_server_says_of_its_own_fault_reaches_the_person(shell: Page, model: ScriptedServer) -> None:
    model.will_fail("the graphics card ran out of memory")
    await send(shell, "are you there?")
    await expect(shell.get_by_role("log")).to_contain_text("the graphics card ran out of memory")
    await expect_idle(shell)
    model.will_answer(Reply("Here I am."))
    await send(shell, "and now?")
    await expect(answers(shell).last).to_have_text("Here I am.")
    await expect_idle(shell)


@pytest.mark.requirement("002-19", "stop closes the model's stream")
@pytest.mark.requirement("002-45", "stop cancels decoding at the model's server")
async def test_stop_ends_the_stream_at_the_model_and_keeps_what_was_said(shell: Page, model: ScriptedServer) -> None:
    model.will_answer(Reply("Once upon a time " * 20, stalls_after=12))
    await send(shell, "tell me a story")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    assert model.open_streams == 1
    await shell.get_by_role("button", name="Stop").click()
    await expect_idle(shell)
    await expect(answers(shell)).to_contain_text("Stopped here.")
    async with asyncio.timeout(TIMEOUT_MS / 1000):
        while model.open_streams:
            await asyncio.sleep(0.02)
    # How it ended outlasts a reload, and with it the way to go on.
    await shell.reload()
    await expect(answers(shell)).to_contain_text("Stopped here.")
    model.will_answer(Reply("there was a king."))
    await shell.get_by_role("button", name="Go on").click()
    await expect(answers(shell).last).to_have_text("there was a king.")
    await expect_idle(shell)
    await shell.reload()
    await expect(answers(shell).last).to_have_text("there was a king.")
    await expect(shell.get_by_role("button", name="Go on")).to_be_hidden()


@pytest.mark.requirement("002-09", "stop cancels the running tool")
async def test_stop_cancels_a_tool_that_runs(shell: Page) -> None:
    await call_tool(shell, "linger")
    await expect(call_card(shell, "linger", "Running")).to_contain_text("lingering")
    await shell.get_by_role("button", name="Stop").click()
    await expect(call_card(shell, "linger", "Cancelled")).to_be_visible()
    await expect_idle(shell)


async def test_stop_voids_a_question_that_is_open_on_the_console(person: Person, shell: Page) -> None:
    await call_tool(shell, "delete_file", path=OLD)
    async with person.open_approval(shell) as approval:
        await expect(approval.get_by_role("button", name="Approve with passkey")).to_be_visible()
        await shell.get_by_role("button", name="Stop").click()
        await expect(approval.get_by_text("Cancelled, not run", exact=True)).to_be_visible()
        await expect(approval.get_by_role("button", name="Approve with passkey")).to_be_hidden()
    await expect(call_card(shell, "delete_file", "Cancelled")).to_be_visible()
    await expect_idle(shell)
    assert person.has_file(OLD)


async def test_one_waiting_call_can_be_cancelled_from_its_card(person: Person, shell: Page) -> None:
    await call_tool(shell, "delete_file", path=OLD)
    await approval_dock(shell).get_by_role("button", name="Cancel call").click()
    await expect(call_card(shell, "delete_file", "Cancelled")).to_be_visible()
    await expect(approval_dock(shell)).to_be_hidden()
    assert person.has_file(OLD)


@pytest.mark.requirement("002-32", "signing out on the console ends the shell and its waiting call")
async def test_signing_out_on_the_console_ends_the_shell_and_what_waits_in_it(
    browser: Browser, gateway: GatewayProcess, person: Person
) -> None:
    """Somebody else's person, so that the one of this module stays signed in."""
    code, said = await gateway.run("enrol", "Grace", "--profile", "operator")
    assert code == 0, said
    grace = await Person.with_new_browser(browser, gateway)
    await grace.enrol(said.rpartition("#t=")[2].split()[0], "Grace")
    shell = await grace.sign_in_to_shell()
    await call_tool(shell, "note", what="milk")
    async with grace.open_approval(shell) as approval:
        await approval.get_by_role("radio", name="For this session").check()
        await decide(approval, "Approve for this session")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect_idle(shell)
    await call_tool(shell, "delete_file", path=OLD)
    await expect(approval_dock(shell)).to_be_visible()
    await grace.console.get_by_role("button", name="Sign out").click()
    await expect(shell.get_by_role("heading", name="Your session has ended")).to_be_visible()
    await expect(shell).to_have_title("Countersign")
    assert person.has_file(OLD)
    # The session's grant is over with it, and whoever signs in again does not find it listed.
    await grace.console.get_by_role("button", name="Sign in with a passkey").click()
    await grace.console.get_by_role("link", name="Grants").click()
    await expect(grace.console.get_by_text("No grant is in force")).to_be_visible()
    await grace.context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def impatient(browser: Browser, tmp_path: Path) -> AsyncIterator[Person]:
    """A gateway whose questions wait for a few seconds only."""
    gateway = make_gateway(tmp_path, COUNTERSIGN_APPROVAL_SECONDS="6")
    await gateway.start()
    person = await Person.with_new_browser(browser, gateway)
    await person.enrol()
    yield person
    await person.context.close()
    assert await gateway.stop() == 0, gateway.output


async def test_a_question_that_nobody_answers_expires_in_place_and_nothing_runs(impatient: Person) -> None:
    shell = await impatient.sign_in_to_shell()
    await call_tool(shell, "delete_file", path=OLD)
    await expect(call_card(shell, "delete_file", "Expired")).to_contain_text("nobody answered in time; nothing ran")
    await expect(approval_dock(shell)).to_be_hidden()
    await expect_idle(shell)

    # Again, as the person's own call and once, with the question on the console: it settles where the buttons were.
    again = shell.get_by_role("button", name="Ask me again")
    await again.click()
    await expect(again).to_be_hidden()
    async with impatient.open_approval(shell) as approval:
        await expect(approval.get_by_text("Expired, not run", exact=True)).to_be_visible()
        await expect(approval.get_by_text("is removed.", exact=False)).to_be_hidden()
        await expect(approval.get_by_role("button", name="Approve with passkey")).to_be_hidden()
    assert impatient.has_file(OLD)
    await impatient.check_no_violations()


async def test_no_page_reported_a_violation(person: Person) -> None:
    await person.check_no_violations()


@pytest.mark.requirement("002-34", "after noes in a row nothing more is asked, until the person lifts that on the console")
async def test_a_session_that_was_told_no_six_times_asks_again_once_its_person_allows_it(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    for turn in range(2):
        files = [f"notes/no-{turn}-{number}.txt" for number in range(3)]
        for file in files:
            person.write_file(file, "Stays.\n")
        model.will_answer(*(Reply(calls=(("delete_file", {"path": file}),)) for file in files), Reply("They stay."))
        await send(shell, "delete these notes")
        for file in files:
            await expect(approval_dock(shell)).to_contain_text(f"Delete {file}")
            async with person.open_approval(shell) as approval:
                await decide(approval, "Deny")
                await expect(approval.get_by_text("Denied, not run", exact=True)).to_be_visible()
        await expect(answers(shell).nth(turn)).to_have_text("They stay.")
        await expect_idle(shell)
    model.will_answer(DELETION, Reply("It was turned down."))
    await send(shell, "delete notes/old.txt")
    await expect(answers(shell).nth(2)).to_have_text("It was turned down.")
    await expect_idle(shell)

    await person.console.goto(f"{person.gateway.console_origin}/approvals")
    banner = person.console.get_by_role("note").filter(has_text="A session of the shell asks you nothing more")
    await banner.get_by_role("button", name="Let it ask again").click()
    await expect(person.console.get_by_role("region", name="Notice")).to_contain_text("may ask you again")
    await expect(banner).to_be_hidden()

    model.will_answer(DELETION, Reply("It is gone now."))
    await send(shell, "delete notes/old.txt")
    async with person.open_approval(shell) as approval:
        await decide(approval, "Approve with passkey")
        await expect(answers(shell).nth(3)).to_have_text("It is gone now.")
    await expect_idle(shell)
    assert not person.has_file(OLD)
