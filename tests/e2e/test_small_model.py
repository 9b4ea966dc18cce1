"""A message that asks for two things, and a small model that does well, badly or nothing: each is done once or said."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.appearance import check_appearance, check_focus
from tests.e2e.conftest import serving
from tests.e2e.person import Person, answers, approval_dock, call_card, call_tool, decide, expect_idle, send, steps
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

SAVE = "save the numbers 12, 40 and 7 to costs.md"
SHOW = "show me what is in reports/"
DELETE = "delete notes/old.txt"

RECORDED = ["write_file asked", "write_file ok"]
"""What the log holds of a saving that a person approved."""


def wishes(*actions: str) -> Reply:
    """What the model says a message asks for."""
    return Reply(json.dumps({"requestedActions": actions}))


def action(tool: str, **arguments: str) -> Reply:
    """A call, as a small model writes it."""
    return Reply(json.dumps({"tool": tool, "arguments": arguments}))


SAVING = action("write_file", path="costs.md", content="12, 40, 7")
SHOWING = action("list_directory", path="reports/")
LISTED = "There are 3 entries in reports/: february.csv, january.csv and summary.md."
DELETING = action("delete_file", path="notes/old.txt")

PROSE = Reply("Sure! I would love to help you with your folders. <b>First</b>, let me think about it.")
PLAN = Reply(json.dumps({"answer": "I will list the directory for you."}))
BROKEN = Reply('{"tool": "list_directory", "arguments": {"path": "repo')
UNKNOWN = action("open_folder", path="reports/")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("small")
    async with serving(home, COUNTERSIGN_TOOLS_MODULES="[]", **model.as_small_model(home)) as process:
        yield process
    assert "Traceback" not in process.output, process.output


@pytest.fixture(autouse=True)
def fresh_workspace(person: Person) -> None:
    """Something to delete and nothing saved yet, whatever the test before did."""
    person.write_file("notes/old.txt", "Things that are long done.\n")
    (person.gateway.workspace / "costs.md").unlink(missing_ok=True)


async def approve(person: Person, shell: Page, summary: str, answer: str = "Approve once") -> None:
    """Approve the call that waits."""
    await expect(approval_dock(shell)).to_contain_text(summary)
    async with person.open_approval(shell) as approval:
        await expect(approval.get_by_role("heading", level=1)).to_have_text(summary)
        await decide(approval, answer)
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()


async def look_at_steps(page: Page, heading: str) -> None:
    """Scroll through the page of a plan: nothing is approved there that was not on the screen."""
    await expect(page.get_by_role("heading", name=heading)).to_be_visible()
    for step in range(1, int(heading[0]) + 1):
        await page.get_by_role("button", name=f"Deny step {step}").scroll_into_view_if_needed()


async def answer_both(person: Person, shell: Page, *said: str, heading: str = "2 steps wait for your approval") -> None:
    """Answer the calls that wait together, on their one page."""
    async with person.open_approval(shell) as page:
        await look_at_steps(page, heading)
        for each in said:
            await decide(page, each)
        await expect(page.get_by_role("heading", name=heading)).to_be_hidden()
        if said[-1] == "Approve once":
            # The page of the last step by itself: an answer that is still under way would end with its window.
            await expect(page.get_by_text("Approved", exact=True)).to_be_visible()


@pytest.mark.requirement("004-01", "one sentence gives two actions in order, each on record once")
async def test_two_wishes_are_two_actions_in_order_each_done_once(person: Person, shell: Page, model: ScriptedServer) -> None:
    model.will_answer(wishes(SAVE, SHOW), SAVING, SHOWING)
    await send(shell, f"{SAVE} and {SHOW}")
    await expect(approval_dock(shell)).to_contain_text("Write costs.md")
    await expect(steps(shell)).to_have_text([f"▸{SAVE}", f"·{SHOW}"])
    assert not person.has_file("costs.md")
    await approve(person, shell, "Write costs.md")
    await expect(answers(shell)).to_have_text(["Saved costs.md.", LISTED])
    await expect_idle(shell)
    await expect(steps(shell)).to_have_count(0)
    assert (person.gateway.workspace / "costs.md").read_text() == "12, 40, 7"
    assert await person.recorded_calls(shell) == [*RECORDED, "list_directory ok"]


async def test_a_denied_first_action_stays_undone_and_the_second_is_asked_for_all_the_same(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    model.will_answer(wishes(SAVE, DELETE), SAVING, DELETING)
    await send(shell, f"{SAVE} and {DELETE}")
    await answer_both(person, shell, "Deny step 1")
    await approve(person, shell, "Delete notes/old.txt", "Approve with passkey")
    await expect(answers(shell)).to_have_text(["You said no, so write_file did not run.", "Deleted notes/old.txt."])
    await expect_idle(shell)
    assert not person.has_file("costs.md")
    assert not person.has_file("notes/old.txt")
    recorded = ["delete_file asked", "delete_file ok", "write_file asked", "write_file deniedByUser"]
    assert sorted(await person.recorded_calls(shell)) == recorded


async def test_a_denied_second_action_leaves_the_first_done(person: Person, shell: Page, model: ScriptedServer) -> None:
    model.will_answer(wishes(SAVE, DELETE), SAVING, DELETING)
    await send(shell, f"{SAVE} and {DELETE}")
    await answer_both(person, shell, "Deny step 2", "Approve once")
    await expect(answers(shell)).to_have_text(["Saved costs.md.", "You said no, so delete_file did not run."])
    await expect_idle(shell)
    assert person.has_file("costs.md")
    assert person.has_file("notes/old.txt")
    assert sorted(await person.recorded_calls(shell)) == ["delete_file asked", "delete_file deniedByUser", *RECORDED]


@pytest.mark.requirement("002-31", "several wishes of one message are one page and one answer, whatever the model can do")
async def test_three_wishes_that_ask_are_one_page_with_one_answer(person: Person, shell: Page, model: ScriptedServer) -> None:
    for name in ("a", "b"):
        person.write_file(f"{name}.docx", f"{name}\n")
    deletions = [action("delete_file", path=f"{name}.docx") for name in ("a", "b")]
    model.will_answer(*deletions, action("write_file", path="costs.md", content="hello"))
    await send(shell, "remove a.docx and b.docx, then write hello to costs.md")
    await answer_both(person, shell, "Approve all 3 with passkey", heading="3 steps wait for your approval")
    await expect(answers(shell)).to_have_text(["Deleted a.docx.", "Deleted b.docx.", "Saved costs.md."])
    await expect_idle(shell)
    assert [person.has_file(name) for name in ("a.docx", "b.docx", "costs.md")] == [False, False, True]


@pytest.mark.requirement("004-08", "no action later keeps the work done and names the rest")
@pytest.mark.requirement("004-05", "a first action proposed again is not run again")
@pytest.mark.requirement("004-10", "a second reply that cannot be read ends the turn and keeps the first action")
@pytest.mark.parametrize(
    "said", [[PROSE] * 3, [BROKEN] * 3, [PLAN] * 4, [SAVING]], ids=["prose", "broken JSON", "plans", "the first once more"]
)
async def test_whatever_a_model_makes_of_the_second_the_first_stays_done_and_the_rest_is_named(
    person: Person, shell: Page, model: ScriptedServer, said: list[Reply]
) -> None:
    model.will_answer(wishes(SAVE, SHOW), SAVING, *said)
    await send(shell, f"{SAVE} and {SHOW}")
    await approve(person, shell, "Write costs.md")
    calm = "I lost the thread after that. What is done above stands; please ask for the rest separately."
    await expect(answers(shell)).to_have_text(["Saved costs.md.", f"{calm}Not done: {SHOW}."])
    await expect_idle(shell)
    assert person.has_file("costs.md")
    assert await person.recorded_calls(shell) == RECORDED


@pytest.mark.requirement("000-06", "the page shows calm words and nothing of the model's prose")
@pytest.mark.requirement("004-08", "no action at first asks to say it another way")
@pytest.mark.requirement("003-07", "four plans in prose end in calm words")
@pytest.mark.requirement("004-10", "a first reply that cannot be read gives calm words")
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
    person: Person, shell: Page, model: ScriptedServer, said: list[Reply], calm: str
) -> None:
    model.will_answer(*said)
    await send(shell, SHOW)
    await expect(answers(shell)).to_have_text([calm])
    await expect_idle(shell)
    assert await person.recorded_calls(shell) == []


async def test_a_tool_that_does_not_exist_is_refused_and_said_and_what_was_done_before_stands(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    model.will_answer(wishes(SAVE, SHOW), SAVING, *[UNKNOWN] * 3)
    await send(shell, f"{SAVE} and {SHOW}")
    await approve(person, shell, "Write costs.md")
    await expect(answers(shell).last).to_contain_text("There is no tool called open_folder here.")
    await expect_idle(shell)
    assert person.has_file("costs.md")
    assert await person.recorded_calls(shell) == [*RECORDED, *["nothing unknownTool"] * 3]


@pytest.mark.parametrize(
    ("message", "then", "said"),
    [
        ("tell me a tale", Reply(json.dumps({"answer": "Once there was a hedgehog."})), "Once there was a hedgehog."),
        ("asdf qwer", SHOWING, "Nothing in that asks for one of my tools, so I used none."),
    ],
    ids=["it answers then", "it insists"],
)
async def test_a_call_that_nobody_asked_for_is_not_sent_and_what_can_be_asked_for_is_said(
    person: Person, shell: Page, model: ScriptedServer, message: str, then: Reply, said: str
) -> None:
    model.will_answer(SHOWING, then)
    await send(shell, message)
    await expect(answers(shell)).to_contain_text([said])
    await expect(answers(shell).last).to_contain_text("I can list")
    await expect_idle(shell)
    assert await person.recorded_calls(shell) == []


@pytest.mark.requirement("003-02", "respond is shown as an answer and never reaches the gateway")
async def test_respond_is_an_answer_for_the_page_and_no_tool_at_the_gateway(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    model.will_answer(action("respond", message="Good morning."))
    await send(shell, "hello")
    await expect(answers(shell)).to_have_text(["Good morning."])
    await expect_idle(shell)
    assert await person.recorded_calls(shell) == []
    await call_tool(shell, "respond", message="hello")
    await expect(call_card(shell, "respond", "No such tool")).to_be_visible()
    assert await person.recorded_calls(shell) == ["nothing unknownTool"]


@pytest.mark.requirement("004-05", "a reload does not run a completed action again")
async def test_a_reload_while_the_second_waits_does_not_do_the_first_again(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    model.will_answer(wishes(SAVE, DELETE), SAVING, DELETING)
    await send(shell, f"{SAVE} and {DELETE}")
    async with person.open_approval(shell) as page:
        await look_at_steps(page, "2 steps wait for your approval")
        # What is asked again after a reload is what the message asks for, and nothing else.
        model.will_answer(wishes(SAVE, DELETE))
        await shell.reload()
        await decide(page, "Approve all 2 with passkey")
        await expect(page.get_by_role("heading", name="2 steps wait for your approval")).to_be_hidden()
    await expect(answers(shell)).to_have_text(["Saved costs.md.", "Deleted notes/old.txt."])
    await expect_idle(shell)
    assert sorted(await person.recorded_calls(shell)) == ["delete_file asked", "delete_file ok", *RECORDED]


async def test_a_stop_between_two_actions_says_what_is_not_done(person: Person, shell: Page, model: ScriptedServer) -> None:
    model.will_answer(wishes(SAVE, SHOW), SAVING, Reply("{" + " " * 400, stalls_after=5))
    await send(shell, f"{SAVE} and {SHOW}")
    await approve(person, shell, "Write costs.md")
    await expect(steps(shell)).to_have_text([f"✓{SAVE} (done)", f"▸{SHOW}"])
    await shell.get_by_role("button", name="Stop").click()
    await expect(shell.get_by_text("Stopped. What is done stands.")).to_be_visible()
    await expect(shell.get_by_text(f"Not done: {SHOW}.")).to_be_visible()
    await expect_idle(shell)
    assert person.has_file("costs.md")
    assert await person.recorded_calls(shell) == RECORDED


@pytest.mark.requirement("000-15", "a conversation at the context limit is answered with a warning")
async def test_a_conversation_that_is_too_long_is_answered_with_a_warning(shell: Page, model: ScriptedServer) -> None:
    model.will_answer(Reply(json.dumps({"answer": "It is long."})))
    await send(shell, "what do you say to this: " + "lorem ipsum dolor " * 600)
    await expect(answers(shell)).to_have_text(["It is long."])
    await expect(shell.get_by_text("This conversation is as long as the model can hold")).to_be_visible()


HEAR = """() => {
  window.heard = [];
  for (const region of document.querySelectorAll("[role=status]"))
    new MutationObserver(() => region.textContent && heard.push(region.textContent))
      .observe(region, { childList: true, characterData: true, subtree: true });
}"""


async def test_keyboard_and_screen_reader_are_enough_and_the_focus_is_never_lost(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    # The second goes back to the first, and so waits for its turn.
    then = "delete notes/old.txt after that one"
    model.will_answer(wishes(SAVE, then), SAVING, DELETING)
    box = shell.get_by_role("textbox", name="Message")
    await expect(box).to_be_focused()
    await shell.evaluate(HEAR)
    await shell.keyboard.type(f"{SAVE} and {then}")
    await shell.keyboard.press("Enter")
    await expect(approval_dock(shell)).to_contain_text("Write costs.md")
    await expect(box).to_be_focused()
    await shell.keyboard.press("Shift+F6")
    await expect(approval_dock(shell).get_by_role("button", name="Open approval")).to_be_focused()
    async with person.context.expect_page() as opened:
        await shell.keyboard.press("Enter")
    approval = await opened.value
    button = approval.get_by_role("button", name="Approve once")
    await expect(button).not_to_have_attribute("aria-disabled", "true")
    await button.focus()
    await approval.keyboard.press("Enter")
    await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await approval.close()

    # The question went away under the keyboard, and the next one came meanwhile or a moment later.
    await expect(approval_dock(shell)).to_contain_text("Delete notes/old.txt")
    await expect(box).to_be_focused()
    await shell.keyboard.press("Shift+F6")
    await shell.keyboard.press("Tab")
    await expect(approval_dock(shell).get_by_role("button", name="Cancel call")).to_be_focused()
    await shell.keyboard.press("Enter")
    await expect(approval_dock(shell)).to_be_hidden()
    await expect_idle(shell)
    await expect(box).to_be_focused()
    assert person.has_file("notes/old.txt")
    assert await shell.evaluate("heard") == [
        "Responding.",
        f"Step 1 of 2: {SAVE}",
        "Approval needed: Write costs.md",
        f"Step 2 of 2: {then}",
        "Approval needed: Delete notes/old.txt",
        "A call did not complete.",
        "Complete.",
    ]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (768, "dark"), (360, "dark"), (360, "light")])
async def test_steps_refusals_and_calm_words_look_right_at_every_size(
    person: Person, model: ScriptedServer, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 740}
    async with person.on_another_device(viewport=size, color_scheme=scheme) as context:
        shell = await context.new_page()
        await shell.goto(person.gateway.agent_origin)
        model.will_answer(wishes(SAVE, SHOW, DELETE), SAVING, SHOWING, DELETING, BROKEN, BROKEN, BROKEN)
        await send(shell, f"{SAVE}, {SHOW} and {DELETE}")
        await expect(approval_dock(shell)).to_contain_text("Write costs.md")
        await check_appearance(shell, f"steps-{width}-{scheme}-first")
        await approval_dock(shell).get_by_role("button", name="Cancel call").click()
        await expect(answers(shell).last).to_contain_text("cancelled")
        await expect(answers(shell).last).to_contain_text("Not done")
        await expect_idle(shell)
        await check_appearance(shell, f"steps-{width}-{scheme}-cancelled")
        await check_focus(shell, 12)


async def test_no_page_reported_a_violation(person: Person) -> None:
    await person.check_no_violations()
