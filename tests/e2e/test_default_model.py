"""The first hour of a newcomer, with the real model in its sidecar and a real browser."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from gateway.adapters.inference.catalog import load_catalog, models_folder
from gateway.adapters.inference.fetch import is_present
from tests.e2e.conftest import serving
from tests.e2e.person import Person, answers, approval_dock, call_card, decide, expect_idle, send, steps
from tests.harness.process import GatewayProcess
from tests.harness.processes import running_below

pytestmark = pytest.mark.asyncio(loop_scope="session")

OLD = "notes/old.txt"

DOWNLOAD_SECONDS = 1200
"""For some 400 MB over a slow line, once per machine."""

MODEL_MS = 240_000
"""For the model to load and to read its whole prompt for the first time, beside everything else on two cores."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def weights() -> Path:
    """The folder of the default model, fetched as a newcomer would if it is not there."""
    folder = models_folder(os.environ)
    if not is_present(load_catalog(folder).find("default"), folder):
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "gateway", "models", "fetch")
        async with asyncio.timeout(DOWNLOAD_SECONDS):
            assert await process.wait() == 0, "`countersign models fetch` failed; what it said is above"
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("newcomer")
    async with serving(
        home, COUNTERSIGN_MODEL="default", COUNTERSIGN_MODELS=str(weights), COUNTERSIGN_TOOLS_MODULES="[]"
    ) as process:
        yield process


@pytest.mark.requirement("002-80", "the real model's calls run: a listing by itself, a deletion after the passkey")
@pytest.mark.requirement("002-15", "the page's loop proposes, the gateway asks, runs and records")
@pytest.mark.requirement("002-20", "a listing runs by itself, a deletion waits for the passkey")
@pytest.mark.requirement("002-57", "the default model answers in its own sidecar")
@pytest.mark.requirement("002-03", "the file stands until the deletion is approved")
async def test_a_listing_runs_by_itself_a_deletion_waits_for_the_passkey_and_the_log_proves_both(
    person: Person, shell: Page
) -> None:
    assert person.has_file(OLD)
    await send(shell, "what is in notes/?")
    listed = call_card(shell, "list_directory", "Done")
    await expect(listed).to_contain_text("old.txt", timeout=MODEL_MS)
    await expect(answers(shell)).to_contain_text("old.txt", timeout=MODEL_MS)
    await expect_idle(shell)
    await expect(approval_dock(shell)).to_be_hidden()

    await send(shell, "delete notes/old.txt")
    await expect(approval_dock(shell)).to_contain_text("Delete notes/old.txt", timeout=MODEL_MS)
    await expect(approval_dock(shell)).to_contain_text("Needs your passkey.")
    await expect(call_card(shell, "delete_file", "Waiting for approval")).to_be_visible()
    assert person.has_file(OLD)

    async with person.open_approval(shell) as approval:
        assert re.fullmatch(rf"{person.gateway.console_origin}/approvals/apr_[\w-]+", approval.url)
        await expect(approval.get_by_role("heading", level=1)).to_have_text("Delete notes/old.txt")
        assert person.has_file(OLD)
        await decide(approval, "Approve with passkey")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect(call_card(shell, "delete_file", "Done")).to_be_visible()
    await expect_idle(shell)
    await expect(approval_dock(shell)).to_be_hidden()
    assert not person.has_file(OLD)

    code, said = await person.gateway.run("audit", "verify")
    assert code == 0, said
    assert "The log is sound" in said
    _, calls = await person.gateway.run("audit", "show", "--event", "call:closed")
    assert [re.findall(r"list_directory|delete_file|\bok\b", line) for line in calls.splitlines()] == [
        ["delete_file", "ok"],
        ["list_directory", "ok"],
    ]
    await person.check_no_violations()


@pytest.mark.parametrize(
    ("example", "tool"),
    [
        ("welche Dateien sind in notes/?", "list_directory"),
        ("schreib „Ana anrufen“ in notes/heute.txt", "append_file"),
        ("lösche notes/old.txt", "delete_file"),
    ],
)
async def test_a_german_example_of_an_empty_conversation_leads_to_the_call_that_it_names(
    person: Person, shell: Page, example: str, tool: str
) -> None:
    person.write_file(OLD, "old\n")
    await shell.evaluate("() => localStorage.setItem('countersign.language', 'de')")
    await shell.reload()
    await shell.get_by_role("button", name=example).click()
    await expect(shell.get_by_role("article", name=f"{tool}: ")).to_be_visible(timeout=MODEL_MS)
    await shell.get_by_role("button", name="Anhalten").evaluate_all("buttons => buttons.forEach((each) => each.click())")
    await expect(shell.get_by_role("button", name="Senden")).to_be_visible()
    await shell.evaluate("() => localStorage.removeItem('countersign.language')")


HEADLINE = "save these numbers to costs.md and show me what is in reports/"


@pytest.mark.requirement("004-01", "the real model makes two actions of one sentence")
@pytest.mark.requirement("004-05", "each action is on record once")
@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("", "save the numbers 12, 40 and 7 to costs.md and show me what is in reports/"),
        ("", f"{HEADLINE}\n12\n40\n7"),
        ("Here are my costs: 12, 40 and 7", HEADLINE),
    ],
    ids=["named", "pasted below", "in the message before"],
)
async def test_numbers_to_save_and_a_folder_to_show_are_two_actions_in_order_each_once_and_on_record(
    person: Person, shell: Page, before: str, message: str
) -> None:
    costs = person.gateway.workspace / "costs.md"
    costs.unlink(missing_ok=True)
    if before:
        await send(shell, before)
        await expect(answers(shell)).to_have_count(1, timeout=MODEL_MS)
        await expect_idle(shell)
    recorded = await person.recorded_calls(shell) if before else []
    said = await answers(shell).count()

    await send(shell, message)
    await expect(approval_dock(shell)).to_contain_text("Write costs.md", timeout=MODEL_MS)
    await expect(steps(shell)).to_have_text([re.compile("^▸save .* to costs.md"), "·show me what is in reports/"])
    assert not costs.exists()
    async with person.open_approval(shell) as approval:
        await expect(approval.get_by_role("heading", level=1)).to_have_text("Write costs.md")
        await decide(approval, "Approve once")
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect(call_card(shell, "list_directory", "Done").last).to_contain_text("january.csv", timeout=MODEL_MS)
    await expect(answers(shell)).to_have_count(said + 2, timeout=MODEL_MS)
    await expect_idle(shell)
    await expect(answers(shell).nth(said)).to_have_text("Saved costs.md.")
    await expect(answers(shell).last).to_contain_text("february.csv")

    assert re.findall(r"\d+", costs.read_text(encoding="utf-8")) == ["12", "40", "7"]
    assert (await person.recorded_calls(shell))[len(recorded) :] == ["write_file asked", "write_file ok", "list_directory ok"]
    await person.check_no_violations()


@pytest.mark.requirement("002-09", "stop ends the real model's answer, and the next question is answered")
async def test_stop_while_the_model_speaks_keeps_what_was_said_and_the_next_question_is_answered(
    person: Person, shell: Page
) -> None:
    await send(shell, "explain in detail how a sailing ship works")
    await expect(answers(shell)).to_contain_text("ship", timeout=MODEL_MS)
    await shell.get_by_role("button", name="Stop").click()
    await expect(answers(shell)).to_contain_text("Stopped here.")
    await expect_idle(shell)
    # The sidecar has one slot: what still ran there would be in the way.
    await send(shell, "what is in notes/?")
    await expect(call_card(shell, "list_directory", "Done")).to_contain_text("todo.txt", timeout=MODEL_MS)
    await expect(answers(shell).last).to_contain_text("todo.txt", timeout=MODEL_MS)
    await expect_idle(shell)
    await person.check_no_violations()


async def test_a_model_that_dies_is_started_again_and_the_question_that_waited_for_it_is_answered(
    person: Person, shell: Page
) -> None:
    for server in running_below(person.gateway.pid, "xllama_launcher"):
        with contextlib.suppress(psutil.NoSuchProcess):
            server.kill()
    await send(shell, "what is in notes/?")
    await expect(shell.get_by_text("Your message waits for it.")).to_be_visible()
    await expect(call_card(shell, "list_directory", "Done")).to_contain_text("todo.txt", timeout=MODEL_MS)
    await expect(answers(shell)).to_contain_text("todo.txt", timeout=MODEL_MS)
    await expect_idle(shell)


async def test_a_note_is_found_read_and_answered_out_of(person: Person, shell: Page) -> None:
    person.write_file("notes/visits.txt", "Visits this week\n\nAna wants the spare keys on Tuesday.\n")
    await send(shell, "find the note that mentions Ana and tell me what she wants on Tuesday")
    await expect(answers(shell).last).to_contain_text("(notes/visits.txt, line 3)", timeout=MODEL_MS)
    await expect(answers(shell).last).to_contain_text("keys")
    await expect_idle(shell)
    assert (await person.recorded_calls(shell))[-2:] == ["search_files ok", "read_file ok"]
