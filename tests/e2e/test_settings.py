"""What a person sets for the shell: it holds at once, is kept in the browser, and reaches the model where it should."""

from __future__ import annotations

import json
import re

import pytest
from playwright.async_api import Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.appearance import check_appearance
from tests.e2e.person import PHONE, Person, answers, expect_idle, send
from tests.e2e.scripted_server import ScriptedServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

_GROUND = "() => getComputedStyle(document.body).backgroundColor"


async def test_settings_hold_at_once_and_after_a_reload_and_reach_the_model(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    await shell.emulate_media(color_scheme="light")
    light = await shell.evaluate(_GROUND)
    await shell.get_by_role("button", name="account and grants").click()
    await shell.get_by_role("menuitem", name="Settings").click()
    dialog = shell.get_by_role("dialog", name="Settings")
    await dialog.get_by_label("Colours").select_option("dark")
    dark = await shell.evaluate(_GROUND)
    assert dark != light
    await dialog.get_by_label("What sends").select_option("withCtrl")
    await dialog.get_by_label("Temperature").fill("0.7")
    await dialog.get_by_label("What you want of every answer").fill("Answer in rhymes.")
    await check_appearance(shell, "shell-settings-dark")
    await shell.set_viewport_size(PHONE)
    await dialog.get_by_label("Colours").select_option("light")
    await check_appearance(shell, "shell-settings-phone")
    await dialog.get_by_label("Colours").select_option("dark")
    await dialog.get_by_role("button", name="Close").click()
    await shell.set_viewport_size({"width": 1280, "height": 800})

    await shell.reload()
    box = shell.get_by_label("Message")
    await expect(box).to_be_visible()
    assert await shell.evaluate(_GROUND) == dark
    model.will_answer(Reply("Roses are red."))
    await send(shell, "say something")
    await expect(box).to_have_value("say something\n")
    await box.press("Control+Enter")
    await expect(answers(shell)).to_have_text("Roses are red.")
    await expect_idle(shell)
    asked = model.asked[-1]
    assert asked["messages"][0]["content"].endswith("in their own words:\nAnswer in rhymes.")
    assert asked["temperature"] == 0.7
    await expect(shell.get_by_text(re.compile(r"^\d+ tokens? .*first words after (less than )?[\d.,]+ s$"))).to_be_visible()
    await check_appearance(shell, "shell-figures-dark")
    await person.check_no_violations()


async def test_what_one_tab_sets_holds_in_the_other_and_is_not_undone_there(person: Person, shell: Page) -> None:
    other = await person.open_shell()
    for page, label, value in ((other, "Temperature", "1.5"), (shell, "Steps", "5")):
        await page.get_by_role("button", name="account and grants").click()
        await page.get_by_role("menuitem", name="Settings").click()
        await page.get_by_label(label).fill(value)
        await page.keyboard.press("Escape")
    kept = json.loads(await other.evaluate("localStorage.settings"))
    assert (kept["temperature"], kept["steps"]) == (1.5, 5)
    await other.close()
