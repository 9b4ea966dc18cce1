"""A gateway that is killed while a browser is open: the pages say so, reconnect, and nothing is lost or done twice.

docs/SECURITY.md case 57.
"""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.person import Person, answers, approval_dock, call_card, decide, expect_idle, send
from tests.e2e.scripted_server import ScriptedServer

STORY = "Once upon a time " * 20

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("002-33", "a question that waits survives a restart, and its answer counts")
async def test_a_pending_approval_survives_a_restart_and_is_decided_after_it(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    model.will_answer(Reply(calls=(("erase", {"what": "everything"}),)), Reply("It is gone."))
    await send(shell, "erase everything")
    await expect(approval_dock(shell)).to_contain_text("Erase everything")
    await person.console.goto(f"{person.gateway.console_origin}/approvals")
    await expect(person.console.get_by_role("link", name="Review")).to_be_visible()

    await person.gateway.kill()
    lost_shell = shell.get_by_text("The gateway does not answer")
    lost_console = person.console.get_by_text("The connection to the gateway is lost")
    await expect(lost_shell).to_be_visible()
    await expect(lost_console).to_be_visible()
    await person.gateway.start()
    await expect(lost_shell).to_be_hidden()
    await expect(lost_console).to_be_hidden()

    await expect(approval_dock(shell)).to_contain_text("Erase everything")
    async with person.open_approval(shell) as approval:
        await decide(approval, "Approve with passkey")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect(call_card(shell, "erase", "Done")).to_be_visible()
    await expect(answers(shell)).to_have_text("It is gone.")
    await expect_idle(shell)
    # The ledger of effects that the tools keep outside the gateway.
    effects = (person.gateway.home / "effects").read_text().splitlines()
    assert [line.partition(" erase ")[2] for line in effects] == ["everything"]
    code, said = await person.gateway.run("audit", "verify")
    assert code == 0, said


async def test_half_an_answer_outlasts_the_gateway_that_died_in_the_middle_of_it(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    # Asked again after the restart, nobody has anything more to say.
    model.will_answer(Reply(STORY, stalls_after=12))
    await send(shell, "tell me a story")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await person.gateway.kill()
    await expect(shell.get_by_text("The gateway does not answer")).to_be_visible()
    await person.gateway.start()
    await expect(answers(shell)).to_contain_text("Stopped here.")
    await expect_idle(shell)
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await shell.reload()
    await expect(answers(shell)).to_contain_text("Once upon a time")


async def test_a_page_that_could_not_be_loaded_without_the_gateway_comes_once_it_is_back(person: Person) -> None:
    console = await person.context.new_page()
    await console.goto(person.gateway.console_origin)
    await expect(console.get_by_role("heading", name="Hello, Operator")).to_be_visible()
    await person.gateway.kill()
    await expect(console.get_by_text("The connection to the gateway is lost")).to_be_visible()
    await console.get_by_role("navigation").get_by_role("link", name="Grants").click()
    await expect(console.get_by_text("This page could not be shown")).to_be_visible()
    # Loading everything again would leave nothing but the browser's own page of errors.
    await expect(console.get_by_text("It comes by itself once the gateway is back.")).to_be_visible()
    await expect(console.get_by_role("button", name="Try again")).to_have_count(0)
    await person.gateway.start()
    await expect(console.get_by_role("heading", level=1, name="Grants")).to_be_visible()
    await expect(console.get_by_text("This page could not be shown")).to_be_hidden()
    await console.close()


async def test_a_part_of_the_shell_that_cannot_be_loaded_leaves_the_rest_and_comes_once_the_gateway_is_back(
    person: Person,
) -> None:
    shell = await person.open_shell()
    message = shell.get_by_label("Message")
    await message.fill("what I was about to ask")
    await person.gateway.kill()
    await expect(shell.get_by_text("The gateway does not answer")).to_be_visible()
    await shell.get_by_role("button", name="Operator").click()
    await shell.get_by_role("menuitem", name="Settings").click()
    await expect(shell.get_by_text("This part could not be shown")).to_be_visible()
    await expect(shell.get_by_text("It comes by itself once the gateway is back.")).to_be_visible()
    await expect(shell.get_by_role("button", name="Try again")).to_have_count(0)
    await expect(message).to_have_value("what I was about to ask")
    await person.gateway.start()
    await expect(shell.get_by_text("This part could not be shown")).to_be_hidden()
    await expect(message).to_have_value("what I was about to ask")
    await shell.get_by_role("button", name="Operator").click()
    await shell.get_by_role("menuitem", name="Settings").click()
    await expect(shell.get_by_role("dialog", name="Settings")).to_be_visible()
    await shell.close()
