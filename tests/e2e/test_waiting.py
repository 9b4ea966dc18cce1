"""What may become of a call that waits, and of an answer under way: no, too late, a reload, a stop.

Ids: 002-09, 002-19, 002-34, 002-45.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.conftest import make_gateway
from tests.e2e.desk import PATIENCE_MS, Desk, answers, call, card, decide, dock, expect_idle, say
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="module")

OLD = "notes/old.txt"
DELETION = Reply(calls=(("delete_file", {"path": OLD}),))


@pytest.fixture(autouse=True)
def old_file(desk: Desk) -> None:
    """Something to delete, whatever the test before did."""
    desk.put(OLD, "Things that are long done.\n")


async def test_a_persons_no_leaves_the_file_and_the_model_is_told(desk: Desk, shell: Page, model: ScriptedServer) -> None:
    model.will_say(DELETION, Reply("Then it stays."))
    await say(shell, "delete notes/old.txt")
    async with desk.question(shell) as approval:
        await decide(approval, "Deny")
        await expect(approval.get_by_text("Denied, not run", exact=True)).to_be_visible()
    await expect(card(shell, "delete_file", "Denied")).to_contain_text("You said no")
    await expect(answers(shell)).to_have_text("Then it stays.")
    await expect_idle(shell)
    assert desk.holds(OLD)


async def test_a_reload_brings_the_waiting_call_back_and_the_turn_goes_on_from_it(
    desk: Desk, shell: Page, model: ScriptedServer
) -> None:
    model.will_say(DELETION, Reply("It is gone now."))
    await say(shell, "delete notes/old.txt")
    await expect(dock(shell)).to_contain_text("Delete notes/old.txt")
    await shell.reload()
    await expect(dock(shell)).to_contain_text("Delete notes/old.txt")
    await expect(card(shell, "delete_file", "Waiting for approval")).to_be_visible()
    async with desk.question(shell) as approval:
        await decide(approval, "Approve with passkey")
        await expect(card(shell, "delete_file", "Done")).to_be_visible()
    await expect(answers(shell)).to_have_text("It is gone now.")
    await expect_idle(shell)
    assert not desk.holds(OLD)


async def test_a_reload_while_words_stream_keeps_the_question_and_offers_to_continue(shell: Page, model: ScriptedServer) -> None:
    model.will_say(Reply("Once upon a time " * 20, stalls_after=12), Reply("The end."))
    await say(shell, "tell me a story")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await shell.reload()
    await expect(shell.get_by_role("article", name="You")).to_have_text("tell me a story")
    await shell.get_by_role("button", name="Continue", exact=True).click()
    await expect(answers(shell)).to_have_text("The end.")
    await expect_idle(shell)


async def test_stop_ends_the_stream_at_the_model_and_keeps_what_was_said(shell: Page, model: ScriptedServer) -> None:
    model.will_say(Reply("Once upon a time " * 20, stalls_after=12))
    await say(shell, "tell me a story")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    assert model.open_streams == 1
    await shell.get_by_role("button", name="Stop").click()
    await expect_idle(shell)
    await expect(answers(shell)).to_contain_text("Stopped here.")
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while model.open_streams:
            await asyncio.sleep(0.02)


async def test_stop_cancels_a_tool_that_runs(shell: Page) -> None:
    await call(shell, "linger")
    await expect(card(shell, "linger", "Running")).to_contain_text("lingering")
    await shell.get_by_role("button", name="Stop").click()
    await expect(card(shell, "linger", "Cancelled")).to_be_visible()
    await expect_idle(shell)


async def test_stop_voids_a_question_that_is_open_on_the_console(desk: Desk, shell: Page) -> None:
    await call(shell, "delete_file", path=OLD)
    async with desk.question(shell) as approval:
        await expect(approval.get_by_role("button", name="Approve with passkey")).to_be_visible()
        await shell.get_by_role("button", name="Stop").click()
        await expect(approval.get_by_text("Cancelled, not run", exact=True)).to_be_visible()
        await expect(approval.get_by_role("button", name="Approve with passkey")).to_be_hidden()
    await expect(card(shell, "delete_file", "Cancelled")).to_be_visible()
    await expect_idle(shell)
    assert desk.holds(OLD)


async def test_one_waiting_call_can_be_cancelled_from_its_card(desk: Desk, shell: Page) -> None:
    await call(shell, "delete_file", path=OLD)
    await dock(shell).get_by_role("button", name="Cancel call").click()
    await expect(card(shell, "delete_file", "Cancelled")).to_be_visible()
    await expect(dock(shell)).to_be_hidden()
    assert desk.holds(OLD)


async def test_signing_out_on_the_console_ends_the_shell_and_what_waits_in_it(
    browser: Browser, gateway: GatewayProcess, desk: Desk
) -> None:
    """Somebody else's desk, so that the one of this module stays signed in."""
    code, said = await gateway.run("enrol", "Grace", "--profile", "operator")
    assert code == 0, said
    grace = await Desk.at(browser, gateway)
    await grace.enrol(said.rpartition("#t=")[2].split()[0], "Grace")
    shell = await grace.enter_shell()
    await call(shell, "delete_file", path=OLD)
    await expect(dock(shell)).to_be_visible()
    await grace.console.get_by_role("button", name="Sign out").click()
    await expect(shell.get_by_role("heading", name="Your session has ended")).to_be_visible()
    assert desk.holds(OLD)
    await grace.context.close()


@pytest_asyncio.fixture(loop_scope="module")
async def hasty(browser: Browser, tmp_path: Path) -> AsyncIterator[Desk]:
    """A gateway whose questions wait for a few seconds only."""
    gateway = make_gateway(tmp_path, COUNTERSIGN_APPROVAL_SECONDS="6")
    await gateway.start()
    desk = await Desk.at(browser, gateway)
    await desk.enrol()
    yield desk
    await desk.context.close()
    assert await gateway.stop() == 0, gateway.output


async def test_a_question_that_nobody_answers_expires_in_place_and_nothing_runs(hasty: Desk) -> None:
    shell = await hasty.enter_shell()
    await call(shell, "delete_file", path=OLD)
    await expect(card(shell, "delete_file", "Expired")).to_contain_text("Nobody approved")
    await expect(dock(shell)).to_be_hidden()
    await expect_idle(shell)

    # Again, with the question on the console: it settles where the buttons were.
    await call(shell, "delete_file", path=OLD)
    async with hasty.question(shell) as approval:
        await expect(approval.get_by_text("Expired, not run", exact=True)).to_be_visible()
        await expect(approval.get_by_role("button", name="Approve with passkey")).to_be_hidden()
    assert hasty.holds(OLD)
    await hasty.check_peace()


async def test_none_of_this_made_the_browser_complain(desk: Desk) -> None:
    await desk.check_peace()
