"""The main story without a mouse and without a screen: every key that is pressed, and what is heard, against a text that is kept.

From the printed link to the record of a call: register, start working, ask, approve with the passkey, read what came of it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.person import Person, approval_dock
from tests.e2e.screen_reader import ScreenReader
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEPT = Path(__file__).with_name("main_story.txt")


@pytest.mark.requirement("002-33", "the whole story can be gone by keyboard and heard")
async def test_the_main_story_can_be_gone_by_keyboard_alone_and_is_told_to_a_screen_reader(
    browser: Browser, gateway: GatewayProcess, model: ScriptedServer
) -> None:
    ada = await Person.with_new_browser(browser, gateway)
    reader = ScreenReader()
    await reader.listen_in(ada.context)
    ada.write_file("old.txt", "Things that are long done.\n")
    model.will_answer(Reply(calls=(("delete_file", {"path": "old.txt"}),)), Reply("I deleted old.txt."))

    window = ada.console
    await window.goto(f"{gateway.console_origin}/enrol#t={await gateway.enrolment_token()}")
    await expect(window.get_by_role("heading", level=1)).to_be_focused()
    await reader.arrive(window, "The printed link is opened")
    await reader.press_until(window, "Tab", "button “Register a passkey”")
    await window.keyboard.press("Enter")
    await expect(window.get_by_role("heading", name="Hello, Operator")).to_be_focused()
    await reader.arrive(window, "Enter, and a touch of the passkey")
    await reader.press_until(window, "Tab", "“Start working”")
    await window.keyboard.press("Enter")
    await expect(window.get_by_role("textbox", name="Message")).to_be_focused()
    await reader.arrive(window, "Enter")

    await window.keyboard.type("delete old.txt")
    await window.keyboard.press("Enter")
    reader.do("“delete old.txt”, Enter.")
    await reader.hear(window, "Approval needed")
    await reader.press_until(window, "Shift+Tab", "“Open approval”")
    async with ada.context.expect_page() as opened:
        await window.keyboard.press("Enter")
    approval = await opened.value
    await ada.passkey.carry_to(approval)
    await expect(approval.get_by_role("heading", level=1)).to_be_focused()
    approve = approval.get_by_role("button", name="Approve with passkey")
    await expect(approve).not_to_have_attribute("aria-disabled", "true")
    await expect(approval).to_have_title(re.compile(r"^\(1\) "))
    await reader.arrive(approval, "Enter, and a window opens")
    await reader.press_until(approval, "Tab", "“Approve with passkey”")
    await approval.keyboard.press("Enter")
    await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect(approval).to_have_title(re.compile("^Approval"))
    await reader.arrive(approval, "Enter, and a touch of the passkey")
    await reader.hear(approval, "Approved.")
    await reader.press_until(approval, "Tab", "“Its record”")
    await approval.keyboard.press("Enter")
    await expect(approval.get_by_role("heading", level=1)).to_contain_text("delete_file")
    await expect(approval.get_by_role("heading", level=1)).to_be_focused()
    await reader.arrive(approval, "Enter")
    await approval.close()

    await reader.hear(window, "Complete.")
    await expect(approval_dock(window)).to_be_hidden()
    await reader.arrive(window, "Back in the first window")
    await reader.press_until(window, "Shift+Tab", "log “")
    reader.nothing_more_was_heard()
    assert not ada.has_file("old.txt")
    assert ada.monitor.problems == []
    await ada.context.close()

    told = "\n".join(reader.script).strip() + "\n"
    if os.environ.get("COUNTERSIGN_RENEW_PICTURES") == "1":
        KEPT.write_text(told, encoding="utf-8")
    assert told == KEPT.read_text(encoding="utf-8")
