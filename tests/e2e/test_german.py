"""Both apps in German, by a person who chooses it in the settings: every page and state is read for English that is left."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.appearance import check_edges, keep_picture
from tests.e2e.conftest import built_web
from tests.e2e.german import check_german
from tests.e2e.person import PHONE, Person, approval_dock, call_card, call_tool, decide, end_turn
from tests.e2e.scripted_server import ScriptedServer

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _choose(page: Page, label: str, language: str) -> None:
    """Choose in the page's own select; the page loads again."""
    async with page.expect_navigation():
        await page.get_by_label(label, exact=True).select_option(language)


async def _speak_german(shell: Page) -> None:
    await shell.get_by_role("button", name="account and grants").click()
    await shell.get_by_role("menuitem", name="Settings").click()
    await _choose(shell, "Language", "de")


@pytest_asyncio.fixture(loop_scope="session")
async def german(person: Person, shell: Page) -> AsyncIterator[Page]:
    """A German shell, in which one call is done and one waits."""
    await call_tool(shell, "list_directory", path="notes")
    await expect(call_card(shell, "list_directory", "Done")).to_be_visible()
    person.write_file("notes/plan.md", "One step.\n")
    await call_tool(shell, "write_file", path="notes/plan.md", content="# Plan\n")
    await expect(approval_dock(shell)).to_be_visible()
    await _speak_german(shell)
    yield shell
    await shell.evaluate("() => localStorage.removeItem('countersign.language')")
    await shell.reload()
    await expect(approval_dock(shell)).to_be_visible()
    await end_turn(shell)


async def _check(page: Page, name: str, *foreign: str) -> None:
    # German words are longer. What axe looks at is the same as in English.
    await check_german(page, *foreign)
    await keep_picture(page, name)
    await check_edges(page, name)
    await page.set_viewport_size(PHONE)
    # Some words stand on a narrow page alone, such as what the cells of a table are.
    await check_german(page, *foreign)
    await keep_picture(page, f"{name}-phone")
    await check_edges(page, name)
    await page.set_viewport_size({"width": 1280, "height": 800})


async def test_the_shell_is_german_after_the_choice_and_english_again_after_the_other(person: Person, german: Page) -> None:
    await expect(german.get_by_label("Nachricht", exact=True)).to_be_visible()
    await expect(german.get_by_text("notes/plan.md schreiben", exact=True)).to_be_visible()
    await _check(german, "german-shell-working")
    await german.get_by_role("button", name="Konto und Dauerfreigaben").click()
    await check_german(german)
    await german.get_by_role("menuitem", name="Einstellungen").click()
    await expect(german.get_by_role("dialog", name="Einstellungen")).to_be_visible()
    await _check(german, "german-shell-settings")
    await german.get_by_role("button", name="Schließen").click()
    await german.get_by_role("button", name="Konto und Dauerfreigaben").click()
    await german.get_by_role("menuitem", name="Dauerfreigaben").click()
    await expect(german.get_by_role("dialog", name="Dauerfreigaben")).to_be_visible()
    await _check(german, "german-shell-grants")
    await german.get_by_role("button", name="Schließen").click()
    for command in ("/help", "/tools", "/inspect write_file", "/call write_file"):
        await german.get_by_label("Nachricht", exact=True).fill(command)
        await check_german(german)
    await german.get_by_label("Nachricht", exact=True).fill("")
    await german.get_by_role("button", name="Neues Gespräch").click()
    await expect(german.get_by_role("heading", level=2)).to_be_visible()
    await check_german(german)
    await german.get_by_role("button", name="Aufruf von list_directory").first.click()
    await person.check_no_violations()


@pytest_asyncio.fixture(loop_scope="session")
async def german_console(person: Person, shell: Page) -> AsyncIterator[Page]:
    """The console in German, while a call waits and another was decided."""
    person.write_file("notes/plan.md", "One step.\n")
    await call_tool(shell, "write_file", path="notes/plan.md", content="# Plan\n")
    async with person.open_approval(shell) as approval:
        await decide(approval, "Deny")
        await expect(approval.get_by_text("Denied, not run", exact=True)).to_be_visible()
    await call_tool(shell, "write_file", path="notes/plan.md", content="# Another plan\n")
    await expect(approval_dock(shell)).to_be_visible()
    page = await person.context.new_page()
    await page.goto(person.gateway.console_origin)
    await _choose(page, "Language", "de")
    yield page
    await page.evaluate("() => localStorage.removeItem('countersign.language')")
    await page.close()
    await end_turn(shell)


GATEWAYS_OWN = (
    r".*(Write|write_file|notes/plan\.md|list_directory|tests\.harness).*",
    r"Operator|Countersign",
)
"""Names, and what tools say of themselves."""


async def test_every_page_of_the_console_is_german(person: Person, german_console: Page) -> None:
    await expect(german_console.get_by_role("heading", name="Hallo, Operator")).to_be_visible()
    paths: list[str] = json.loads((built_web() / "console" / "pages.json").read_text(encoding="utf-8"))
    for path in paths:
        # A page of one thing needs its id, and /connect a client that sent the person there.
        if ":" in path or path == "/connect":
            continue
        await german_console.goto(f"{person.gateway.console_origin}{path}")
        await expect(german_console.get_by_role("heading", level=1)).to_be_visible()
        await expect(german_console.get_by_role("progressbar")).to_be_hidden()
        await _check(german_console, f"german-console{path.replace('/', '-')}", *GATEWAYS_OWN)
    await german_console.goto(f"{person.gateway.console_origin}/approvals")
    await german_console.get_by_role("link", name="Prüfen").click()
    await expect(german_console.get_by_role("button", name="Ablehnen", exact=True)).to_be_enabled()
    await expect(german_console.get_by_role("heading", level=1, name="notes/plan.md schreiben")).to_be_visible()
    await expect(german_console.get_by_text("In der Datei notes/plan.md wird dieser Text stehen")).to_be_visible()
    await _check(german_console, "german-console-approval", *GATEWAYS_OWN)
    await person.check_no_violations()


async def test_what_the_agent_says_itself_is_read_in_german_and_stays_english_for_the_model_and_the_record(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    await _speak_german(shell)
    person.write_file("notes/old.txt", "Old.\n")
    model.will_answer(
        Reply(calls=(("list_directory", {"path": "notes"}),)),
        Reply("There is nothing in `notes/`."),
        Reply(calls=(("delete_file", {"path": "notes/old.txt"}),)),
        Reply("I deleted notes/old.txt."),
        Reply("Good day."),
    )
    box = shell.get_by_label("Nachricht", exact=True)
    log = shell.get_by_role("log")
    await box.fill("list the files in notes/")
    await box.press("Enter")
    await expect(call_card(shell, "list_directory", "Fertig")).to_be_visible()
    await expect(log.get_by_text("Es gibt nichts in notes/.")).to_be_visible()
    await box.fill("delete notes/old.txt and move notes/plan.md to notes/done.md")
    await box.press("Enter")
    async with person.context.expect_page() as opened:
        await shell.get_by_role("button", name="Freigabe öffnen").click()
    approval = await opened.value
    await decide(approval, "Deny")
    refused, rest = "Sie haben nein gesagt, darum lief delete_file nicht.", "Nicht getan: move notes/plan.md."
    answer = log.get_by_role("article", name="Assistent").last
    await expect(answer).to_contain_text(refused)
    await expect(answer).to_contain_text(rest)
    assert "deleted" not in await answer.inner_text()
    await check_german(shell, r"(Mehr zu )?(list|delete) .*")
    await box.fill("hello")
    await box.press("Enter")
    await expect(log.get_by_text("Good day.", exact=True)).to_be_visible()
    said = [message["content"] for message in model.asked[-1]["messages"] if message["role"] == "assistant"]
    assert "You said no, so `delete_file` did not run.\n\nNot done: `move notes/plan.md`." in said
    await shell.reload()
    await expect(log.get_by_role("article", name="Assistent").filter(has_text=refused)).to_be_visible()
    await shell.evaluate("() => localStorage.removeItem('countersign.language')")
    await person.check_no_violations()


async def test_the_language_can_be_chosen_before_signing_in(person: Person) -> None:
    assert person.context.browser is not None
    context = await person.context.browser.new_context()
    page = await context.new_page()
    await page.goto(f"{person.gateway.console_origin}/signin")
    await _choose(page, "Language", "de")
    await expect(page.get_by_role("button", name="Mit einem Passkey anmelden")).to_be_visible()
    await _check(page, "german-console-sign-in")
    await _choose(page, "Sprache", "en")
    await expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    await context.close()
