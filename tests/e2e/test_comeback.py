"""A gateway that dies under an open browser: the pages say so, come back by themselves, and nothing is lost or done twice.

Security report, case 57.
"""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.desk import Desk, answers, card, decide, dock, expect_idle, say
from tests.e2e.scripted_server import ScriptedServer

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_question_outlives_the_gateway_and_is_answered_after_it_came_back(
    desk: Desk, shell: Page, model: ScriptedServer
) -> None:
    model.will_say(Reply(calls=(("erase", {"what": "everything"}),)), Reply("It is gone."))
    await say(shell, "erase everything")
    await expect(dock(shell)).to_contain_text("Erase everything")
    await desk.console.goto(f"{desk.gateway.console_origin}/approvals")
    await expect(desk.console.get_by_role("link", name="Review")).to_be_visible()

    await desk.gateway.kill()
    lost_shell = shell.get_by_text("The gateway does not answer")
    lost_console = desk.console.get_by_text("The connection to the gateway is lost")
    await expect(lost_shell).to_be_visible()
    await expect(lost_console).to_be_visible()
    await desk.gateway.start()
    await expect(lost_shell).to_be_hidden()
    await expect(lost_console).to_be_hidden()

    await expect(dock(shell)).to_contain_text("Erase everything")
    async with desk.question(shell) as approval:
        await decide(approval, "Approve with passkey")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect(card(shell, "erase", "Done")).to_be_visible()
    await expect(answers(shell)).to_have_text("It is gone.")
    await expect_idle(shell)
    # The ledger of effects that the tools keep outside the gateway.
    effects = (desk.gateway.home / "effects").read_text().splitlines()
    assert [line.partition(" erase ")[2] for line in effects] == ["everything"]
    code, said = await desk.gateway.run("audit", "verify")
    assert code == 0, said
