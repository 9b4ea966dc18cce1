"""A message that asks for two things, with a small model that does well, badly or nothing: each is done once, in order, or said.

Ids: 000-06, 000-15, 000-38, 003-02, 003-07, 004-01, 004-05, 004-08, 004-10.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.conftest import make_gateway
from tests.e2e.desk import Desk, answers, call, card, decide, dock, expect_idle, say, steps
from tests.e2e.looks import check_focus, check_look
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAVE = "save the numbers 12, 40 and 7 to costs.md"
SHOW = "show me what is in reports/"
DELETE = "delete notes/old.txt"

RECORDED = ["write_file asked", "write_file ok"]
"""What the log holds of a saving that a person agreed to."""


def wishes(*actions: str) -> Reply:
    """What the model says a message asks for."""
    return Reply(json.dumps({"requestedActions": actions}))


def action(tool: str, **arguments: str) -> Reply:
    """A call, as a small model writes it."""
    return Reply(json.dumps({"tool": tool, "arguments": arguments}))


SAVING = action("write_file", path="costs.md", content="12, 40, 7")
SHOWING = action("list_directory", path="reports/")
DELETING = action("delete_file", path="notes/old.txt")

PROSE = Reply("Sure! I would love to help you with your folders. <b>First</b>, let me think about it.")
PLAN = Reply(json.dumps({"answer": "I will list the directory for you."}))
BROKEN = Reply('{"tool": "list_directory", "arguments": {"path": "repo')
UNKNOWN = action("open_folder", path="reports/")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("small")
    process = make_gateway(home, COUNTERSIGN_TOOLS_MODULES="[]", **model.as_small_model(home))
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output, process.output


@pytest.fixture(autouse=True)
def as_on_the_first_day(desk: Desk) -> None:
    """Something to delete and nothing saved yet, whatever the test before did."""
    desk.put("notes/old.txt", "Things that are long done.\n")
    (desk.gateway.workspace / "costs.md").unlink(missing_ok=True)


async def agree(desk: Desk, shell: Page, summary: str, answer: str = "Approve once") -> None:
    """Say yes to what waits."""
    await expect(dock(shell)).to_contain_text(summary)
    async with desk.question(shell) as approval:
        await expect(approval.get_by_role("heading", level=1)).to_have_text(summary)
        await decide(approval, answer)
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()


async def refuse(desk: Desk, shell: Page, summary: str) -> None:
    """Say no to what waits."""
    await expect(dock(shell)).to_contain_text(summary)
    async with desk.question(shell) as approval:
        await decide(approval, "Deny")
        await expect(approval.get_by_text("Denied, not run", exact=True)).to_be_visible()


async def test_two_wishes_are_two_actions_in_order_each_done_once(desk: Desk, shell: Page, model: ScriptedServer) -> None:
    model.will_say(wishes(SAVE, SHOW), SAVING, SHOWING, Reply("Three files."))
    await say(shell, f"{SAVE} and {SHOW}")
    await expect(dock(shell)).to_contain_text("Write costs.md")
    await expect(steps(shell)).to_have_text([f"▸{SAVE}", f"·{SHOW}"])
    assert not desk.holds("costs.md")
    await agree(desk, shell, "Write costs.md")
    await expect(answers(shell)).to_have_text(["Saved costs.md.", "Three files."])
    await expect_idle(shell)
    await expect(steps(shell)).to_have_count(0)
    assert (desk.gateway.workspace / "costs.md").read_text() == "12, 40, 7"
    assert await desk.record(shell) == [*RECORDED, "list_directory ok"]


async def test_a_no_to_the_first_leaves_it_undone_and_the_second_is_asked_for_all_the_same(
    desk: Desk, shell: Page, model: ScriptedServer
) -> None:
    model.will_say(wishes(SAVE, DELETE), SAVING, DELETING)
    await say(shell, f"{SAVE} and {DELETE}")
    await refuse(desk, shell, "Write costs.md")
    await expect(dock(shell)).to_contain_text("Delete notes/old.txt")
    await expect(steps(shell)).to_have_text([f"✕{SAVE} (not done)", f"▸{DELETE}"])
    await agree(desk, shell, "Delete notes/old.txt", "Approve with passkey")
    await expect(answers(shell)).to_have_text(["You said no, so write_file did not run.", "Deleted notes/old.txt."])
    await expect_idle(shell)
    assert not desk.holds("costs.md")
    assert not desk.holds("notes/old.txt")
    recorded = ["write_file asked", "write_file deniedByUser", "delete_file asked", "delete_file ok"]
    assert await desk.record(shell) == recorded


async def test_a_no_to_the_second_leaves_the_first_standing(desk: Desk, shell: Page, model: ScriptedServer) -> None:
    model.will_say(wishes(SAVE, DELETE), SAVING, DELETING)
    await say(shell, f"{SAVE} and {DELETE}")
    await agree(desk, shell, "Write costs.md")
    await refuse(desk, shell, "Delete notes/old.txt")
    await expect(answers(shell)).to_have_text(["Saved costs.md.", "You said no, so delete_file did not run."])
    await expect_idle(shell)
    assert desk.holds("costs.md")
    assert desk.holds("notes/old.txt")
    assert await desk.record(shell) == [*RECORDED, "delete_file asked", "delete_file deniedByUser"]


@pytest.mark.parametrize(
    "said", [[PROSE] * 3, [BROKEN] * 3, [PLAN] * 4, [SAVING]], ids=["prose", "broken JSON", "plans", "the first once more"]
)
async def test_whatever_a_model_makes_of_the_second_the_first_stands_and_the_rest_is_named_calmly(
    desk: Desk, shell: Page, model: ScriptedServer, said: list[Reply]
) -> None:
    model.will_say(wishes(SAVE, SHOW), SAVING, *said)
    await say(shell, f"{SAVE} and {SHOW}")
    await agree(desk, shell, "Write costs.md")
    calm = "I lost the thread after that. What is done above stands; please ask for the rest separately."
    await expect(answers(shell)).to_have_text(["Saved costs.md.", f"{calm}Not done: {SHOW}."])
    await expect_idle(shell)
    assert desk.holds("costs.md")
    assert await desk.record(shell) == RECORDED


@pytest.mark.parametrize(
    ("said", "calm"),
    [
        ([PROSE] * 3, "I could not turn that into an action or an answer. Please say it another way."),
        ([BROKEN] * 3, "I could not turn that into an action or an answer. Please say it another way."),
        ([Reply("")] * 3, "I could not turn that into an action or an answer. Please say it another way."),
        ([PLAN] * 4, "I only said what I would do, and did nothing of it. Please ask for one thing at a time."),
    ],
    ids=["prose", "broken JSON", "silence", "plans"],
)
async def test_what_is_neither_an_action_nor_an_answer_ends_in_calm_words_and_is_shown_to_nobody(
    desk: Desk, shell: Page, model: ScriptedServer, said: list[Reply], calm: str
) -> None:
    model.will_say(*said)
    await say(shell, SHOW)
    await expect(answers(shell)).to_have_text([calm])
    await expect_idle(shell)
    assert await desk.record(shell) == []


async def test_a_tool_that_does_not_exist_is_refused_and_said_and_what_was_done_before_stands(
    desk: Desk, shell: Page, model: ScriptedServer
) -> None:
    model.will_say(wishes(SAVE, SHOW), SAVING, *[UNKNOWN] * 3)
    await say(shell, f"{SAVE} and {SHOW}")
    await agree(desk, shell, "Write costs.md")
    await expect(answers(shell).last).to_contain_text("There is no tool called open_folder here.")
    await expect_idle(shell)
    assert desk.holds("costs.md")
    assert await desk.record(shell) == [*RECORDED, *["nothing unknownTool"] * 3]


async def test_respond_is_an_answer_for_the_page_and_no_tool_at_the_gateway(
    desk: Desk, shell: Page, model: ScriptedServer
) -> None:
    model.will_say(action("respond", message="Good morning."))
    await say(shell, "hello")
    await expect(answers(shell)).to_have_text(["Good morning."])
    await expect_idle(shell)
    assert await desk.record(shell) == []
    await call(shell, "respond", message="hello")
    await expect(card(shell, "respond", "No such tool")).to_be_visible()
    assert await desk.record(shell) == ["nothing unknownTool"]


async def test_a_reload_while_the_second_waits_does_not_do_the_first_again(
    desk: Desk, shell: Page, model: ScriptedServer
) -> None:
    model.will_say(wishes(SAVE, DELETE), SAVING, DELETING)
    await say(shell, f"{SAVE} and {DELETE}")
    await agree(desk, shell, "Write costs.md")
    await expect(dock(shell)).to_contain_text("Delete notes/old.txt")
    # What is asked again after a reload is what the message asks for, and nothing else.
    model.will_say(wishes(SAVE, DELETE))
    await shell.reload()
    await agree(desk, shell, "Delete notes/old.txt", "Approve with passkey")
    await expect(answers(shell)).to_have_text(["Saved costs.md.", "Deleted notes/old.txt."])
    await expect_idle(shell)
    assert await desk.record(shell) == [*RECORDED, "delete_file asked", "delete_file ok"]


async def test_a_stop_between_two_actions_says_what_is_not_done(desk: Desk, shell: Page, model: ScriptedServer) -> None:
    model.will_say(wishes(SAVE, SHOW), SAVING, Reply("{" + " " * 400, stalls_after=5))
    await say(shell, f"{SAVE} and {SHOW}")
    await agree(desk, shell, "Write costs.md")
    await expect(steps(shell)).to_have_text([f"✓{SAVE} (done)", f"▸{SHOW}"])
    await shell.get_by_role("button", name="Stop").click()
    await expect(shell.get_by_text("Stopped. What is done stands.")).to_be_visible()
    await expect(shell.get_by_text(f"Not done: {SHOW}.")).to_be_visible()
    await expect_idle(shell)
    assert desk.holds("costs.md")
    assert await desk.record(shell) == RECORDED


async def test_a_conversation_that_is_too_long_is_answered_with_a_warning(shell: Page, model: ScriptedServer) -> None:
    model.will_say(Reply(json.dumps({"answer": "It is long."})))
    await say(shell, "what do you say to this: " + "lorem ipsum dolor " * 600)
    await expect(answers(shell)).to_have_text(["It is long."])
    await expect(shell.get_by_text("This conversation is as long as the model can hold")).to_be_visible()


HEAR = """() => {
  window.heard = [];
  for (const region of document.querySelectorAll("[role=status]"))
    new MutationObserver(() => region.textContent && heard.push(region.textContent))
      .observe(region, { childList: true, characterData: true, subtree: true });
}"""


async def test_a_keyboard_and_ears_are_enough_and_the_keyboard_is_never_lost(
    desk: Desk, shell: Page, model: ScriptedServer
) -> None:
    model.will_say(wishes(SAVE, DELETE), SAVING, DELETING)
    box = shell.get_by_role("textbox", name="Message")
    await expect(box).to_be_focused()
    await shell.evaluate(HEAR)
    await shell.keyboard.type(f"{SAVE} and {DELETE}")
    await shell.keyboard.press("Enter")
    await expect(dock(shell)).to_contain_text("Write costs.md")
    await expect(box).to_be_focused()
    await shell.keyboard.press("Shift+F6")
    await expect(dock(shell).get_by_role("button", name="Open approval")).to_be_focused()
    async with desk.context.expect_page() as opened:
        await shell.keyboard.press("Enter")
    approval = await opened.value
    yes = approval.get_by_role("button", name="Approve once")
    await expect(yes).not_to_have_attribute("aria-disabled", "true")
    await yes.focus()
    await approval.keyboard.press("Enter")
    await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await approval.close()

    # The question went away under the keyboard, and the next one came meanwhile or a moment later.
    await expect(dock(shell)).to_contain_text("Delete notes/old.txt")
    await expect(box).to_be_focused()
    await shell.keyboard.press("Shift+F6")
    await shell.keyboard.press("Tab")
    await expect(dock(shell).get_by_role("button", name="Cancel call")).to_be_focused()
    await shell.keyboard.press("Enter")
    await expect(dock(shell)).to_be_hidden()
    await expect_idle(shell)
    await expect(box).to_be_focused()
    assert desk.holds("notes/old.txt")
    assert await shell.evaluate("heard") == [
        "Responding.",
        f"Step 1 of 2: {SAVE}",
        "Approval needed: Write costs.md",
        f"Step 2 of 2: {DELETE}",
        "Approval needed: Delete notes/old.txt",
        "A call did not run to its end.",
        "Complete.",
    ]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (768, "dark"), (360, "dark"), (360, "light")])
async def test_steps_refusals_and_calm_words_look_right_at_every_size(
    desk: Desk, model: ScriptedServer, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 740}
    async with desk.elsewhere(viewport=size, color_scheme=scheme) as context:
        shell = await context.new_page()
        await shell.goto(desk.gateway.agent_origin)
        model.will_say(wishes(SAVE, SHOW, DELETE), SAVING, SHOWING, Reply("Three files."), DELETING, BROKEN, BROKEN, BROKEN)
        await say(shell, f"{SAVE}, {SHOW} and {DELETE}")
        await expect(dock(shell)).to_contain_text("Write costs.md")
        await check_look(shell, f"steps-{width}-{scheme}-first")
        await dock(shell).get_by_role("button", name="Cancel call").click()
        await expect(answers(shell).last).to_contain_text("cancelled")
        await expect(answers(shell).last).to_contain_text("Not done")
        await expect_idle(shell)
        await check_look(shell, f"steps-{width}-{scheme}-cancelled")
        await check_focus(shell, 12)


async def test_none_of_this_made_the_browser_complain(desk: Desk) -> None:
    await desk.check_peace()
