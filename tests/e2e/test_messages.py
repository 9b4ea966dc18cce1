"""What is done with what was said: copied, asked again in a branch, put in line while an answer is under way."""

from __future__ import annotations

import asyncio
import re

import pytest
from playwright.async_api import Locator, Page, WebSocketRoute, expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.appearance import check_appearance, is_firefox
from tests.e2e.person import PHONE, TIMEOUT_MS, Person, answers, approval_dock, call_card, call_tool, expect_idle, send
from tests.e2e.scripted_server import ScriptedServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

CODE = """| item | cost |
|:---|---:|
| rent | 900 |

- [x] paid

```python
def pay(rent: int) -> str:
    return "paid"  # <b>at once</b>
```
"""


def questions(shell: Page) -> Locator:
    """What the person said."""
    return shell.get_by_role("article", name="You", exact=True)


@pytest.mark.requirement("002-22", "the shell asks again in a branch, and the first answer stays")
async def test_a_question_is_asked_in_other_words_in_a_branch_and_the_first_answer_stays(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    model.will_answer(Reply("Hello."), Reply("It is blue."), Reply("It is green."), Reply("It is red."))
    await send(shell, "good morning")
    await expect(answers(shell)).to_have_text("Hello.")
    await expect_idle(shell)
    await send(shell, "which colour is the sky?")
    await expect(answers(shell).nth(1)).to_have_text("It is blue.")
    await expect_idle(shell)
    first = shell.url

    await shell.get_by_role("button", name="Edit", exact=True).nth(1).click()
    await shell.get_by_label("In other words").fill("which colour is grass?")
    await shell.get_by_role("button", name="Ask in a branch").click()
    await expect(answers(shell).nth(1)).to_have_text("It is green.")
    await expect_idle(shell)
    await expect(questions(shell)).to_have_text(["good morning", "which colour is grass?"])
    assert shell.url != first

    await shell.get_by_role("button", name="Try again in a branch").last.click()
    await expect(answers(shell).nth(1)).to_have_text("It is red.")
    await expect_idle(shell)
    await expect(shell.get_by_role("group", name="Branches")).to_contain_text("3 / 3")
    await check_appearance(shell, "shell-branches")

    # The two before are as they were, a reload later too.
    await shell.reload()
    await expect(answers(shell).nth(1)).to_have_text("It is red.")
    # What the answers took, and how full the context is, is known again as well.
    await expect(shell.get_by_text(re.compile(r"^\d+ tokens\b")).last).to_be_visible()
    await expect(shell.get_by_role("meter")).to_be_visible()
    await shell.get_by_role("button", name="Branch before").click()
    await expect(answers(shell).nth(1)).to_have_text("It is green.")
    await shell.get_by_role("button", name="Branch before").click()
    await expect(answers(shell).nth(1)).to_have_text("It is blue.")
    assert shell.url == first
    await shell.set_viewport_size(PHONE)
    await check_appearance(shell, "shell-branches-phone")
    # Beside each other, or below each other on a phone; the keyboard leaves it, and what was said is found again.
    await shell.get_by_role("button", name="Compare").click()
    compared = shell.get_by_role("dialog", name="Compare branches")
    await expect(compared.get_by_role("region", name="This branch")).to_contain_text("It is blue.")
    await expect(compared.get_by_role("region", name="Branch 2")).to_contain_text("It is green.")
    await check_appearance(shell, "shell-compare-phone")
    await shell.keyboard.press("Escape")
    await expect(compared).to_be_hidden()
    await shell.set_viewport_size({"width": 1280, "height": 800})
    search = shell.get_by_role("searchbox", name="Search conversations")
    await search.fill("is GREEN")
    await shell.get_by_role("region", name="In what was said").get_by_role("button", name="It is green.").click()
    await expect(answers(shell).nth(1)).to_have_text("It is green.")
    await expect(answers(shell).nth(1)).to_be_focused()
    await expect(shell.get_by_role("group", name="Found messages")).to_contain_text("Message 1 of 1")
    marked = await shell.evaluate("() => [...CSS.highlights.get('found')].map(String)")
    assert marked == ["is", "green", "is"] or marked == ["is", "is", "green"], marked
    await check_appearance(shell, "shell-search")
    await search.fill("")
    # What the model is told in a branch is the branch, and nothing of its neighbours.
    said = [message["content"] for message in model.asked[-1]["messages"]]
    assert "It is blue." not in said
    assert any("Hello." in each for each in said)


async def test_what_is_sent_while_an_answer_comes_stands_in_line_and_can_be_changed(shell: Page, model: ScriptedServer) -> None:
    model.will_answer(Reply("Once upon a time " * 20, stalls_after=12), Reply("The third it is."))
    await send(shell, "tell me a story")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await send(shell, "a second one")
    await send(shell, "a third one")
    line = shell.get_by_role("region", name="Next in line")
    await expect(line.get_by_role("listitem")).to_have_count(2)
    await check_appearance(shell, "shell-line")
    await line.get_by_role("button", name="Edit a second one").click()
    await expect(shell.get_by_label("Message")).to_have_value("a second one")
    await shell.get_by_label("Message").fill("")
    await shell.get_by_role("button", name="Stop").click()
    await expect_idle(shell)
    # A stop is a stop: what stands in line is sent when the person says so, even after a reload.
    await expect(line).to_contain_text("a third one")
    await shell.reload()
    await line.get_by_role("button", name="Go on with these").click()
    await expect(answers(shell).last).to_have_text("The third it is.")
    await expect(line).to_be_hidden()


async def test_a_text_in_line_is_sent_by_itself_when_the_answer_is_complete(shell: Page, model: ScriptedServer) -> None:
    model.will_answer(Reply(calls=(("linger", {}),)))
    await send(shell, "wait a little")
    await expect(shell.get_by_role("article", name="linger: Running")).to_be_visible()
    model.will_answer(Reply("That was it."), Reply("And this is next."))
    await send(shell, "what is next?")
    # What begins with "also" is meant for the work under way.
    await send(shell, "also say why")
    line = shell.get_by_role("region", name="Next in line").get_by_role("listitem")
    await expect(line.first).to_contain_text("also say whyBefore the next step")
    await check_appearance(shell, "shell-steering")
    await shell.get_by_role("button", name="Cancel call of linger").click()
    await expect(answers(shell)).to_have_text(["That was it.", "And this is next."])
    await expect_idle(shell)
    added = shell.get_by_role("article", name="You, in between")
    await expect(added).to_contain_text("also say why")
    await expect(questions(shell)).to_have_text(["wait a little", "what is next?"])
    assert model.asked[-2]["messages"][-1] == {"role": "user", "content": "also say why"}
    await shell.reload()
    await expect(added).to_contain_text("also say why")


async def read_clipboard(shell: Page) -> str:
    """What a person would paste. Firefox asks before script may read it, so there it is pasted, and taken out again."""
    if not is_firefox(shell):
        return await shell.evaluate("() => navigator.clipboard.readText()")
    box = shell.get_by_label("Message")
    await box.press("ControlOrMeta+V")
    pasted = await box.input_value()
    await box.fill("")
    return pasted


async def test_code_has_colours_numbers_stand_right_and_all_of_it_is_copied(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    if not is_firefox(shell):
        await person.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=person.gateway.agent_origin)
    model.will_answer(Reply(CODE))
    await send(shell, "show me")
    await expect(answers(shell).locator("code span").first).to_have_text("def")
    # What looks like HTML in a program is text of it.
    await expect(answers(shell).locator("pre")).to_contain_text("# <b>at once</b>")
    await expect_idle(shell)
    assert await answers(shell).locator("td").nth(1).evaluate("cell => getComputedStyle(cell).textAlign") == "end"
    assert await answers(shell).locator("li").evaluate("item => getComputedStyle(item).listStyleType") == "none"
    for what, text in (("code", 'def pay(rent: int) -> str:\n    return "paid"  # <b>at once</b>'), ("answer", CODE.strip())):
        await shell.get_by_role("button", name=f"Copy {what}").click()
        await expect(shell.get_by_role("button", name="Copied")).to_be_visible()
        assert (await read_clipboard(shell)).strip() == text
    for scheme in ("light", "dark"):
        await shell.emulate_media(color_scheme=scheme)
        await check_appearance(shell, f"shell-code-{scheme}")


async def test_a_reader_further_up_is_offered_the_way_down(shell: Page, model: ScriptedServer) -> None:
    lines = "\n\n".join(f"Line {number}" for number in range(80))
    model.will_answer(Reply(lines), Reply("That was the last."), Reply("There is no other."))
    await send(shell, "count")
    await expect(answers(shell)).to_contain_text("Line 79")
    await expect_idle(shell)
    latest = shell.get_by_role("button", name="Jump to latest")
    await expect(latest).to_be_hidden()
    await shell.get_by_role("log").evaluate("log => { log.scrollTop = 0; }")
    await latest.click()
    await expect(latest).to_be_hidden()
    await expect(answers(shell).get_by_text("Line 79")).to_be_in_viewport()
    # Whoever asks something sees what comes of it, and the composer stays where it is.
    await shell.get_by_role("log").evaluate("log => { log.scrollTop = 0; }")
    await expect(latest).to_be_visible()
    await send(shell, "is there more?")
    await expect(answers(shell).get_by_text("That was the last.")).to_be_in_viewport()
    await expect_idle(shell)
    await shell.get_by_role("button", name="Try again in a branch").last.click()
    await expect(answers(shell).get_by_text("There is no other.")).to_be_in_viewport()
    await expect(shell.get_by_role("group", name="Branches")).to_contain_text("2 / 2")
    assert await shell.get_by_role("main").evaluate("main => main.scrollHeight - main.clientHeight") == 0


async def test_a_conversation_is_found_pinned_and_saved_as_markdown(shell: Page, model: ScriptedServer) -> None:
    model.will_answer(Reply("Noted."))
    await send(shell, "remember the zucchini")
    await expect(answers(shell)).to_have_text("Noted.")
    await expect_idle(shell)
    side = shell.get_by_role("navigation", name="Conversations")
    await side.get_by_role("searchbox").fill("ZUCCHINI remember")
    await expect(side.get_by_role("listitem")).to_have_count(1)
    await side.get_by_role("button", name="More for").click()
    await shell.get_by_role("menuitem", name="Pin to the top").click()
    await expect(side.get_by_role("list", name="Pinned")).to_contain_text("remember the zucchini")
    await side.get_by_role("button", name="More for").click()
    async with shell.expect_download() as download:
        await shell.get_by_role("menuitem", name="Export as Markdown").click()
    saved = (await (await download.value).path()).read_text(encoding="utf-8")
    assert "## You\n\nremember the zucchini\n\n## Assistant\n\nNoted.\n" in saved
    await shell.reload()
    await expect(side.get_by_role("list", name="Pinned")).to_contain_text("remember the zucchini")
    await check_appearance(shell, "shell-pinned")


async def test_older_conversations_stand_under_their_days_and_one_is_renamed(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    model.will_answer(Reply("Noted."))
    await send(shell, "remember the quince")
    await expect(answers(shell)).to_have_text("Noted.")
    await expect_idle(shell)

    def aged(message: str | bytes) -> str:
        """The gateway's list, each conversation of it as if it were used last in the year 2025."""
        text = message if isinstance(message, str) else message.decode()
        return re.sub(r'("updatedAt":\s*")\d{4}-\d\d', r"\g<1>2025-03", text)

    def forward(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        server.on_message(lambda message: socket.send(aged(message)))

    page = await person.context.new_page()
    await page.route_web_socket(re.compile("/ws$"), forward)
    await page.goto(person.gateway.agent_origin)
    side = page.get_by_role("navigation", name="Conversations")
    older = side.get_by_role("list", name="March 2025")
    await expect(older).to_contain_text("remember the quince")
    await expect(side.get_by_text("Today", exact=True)).to_have_count(0)
    await older.get_by_role("button", name="More for remember the quince").click()
    await page.get_by_role("menuitem", name="Rename").click()
    await page.get_by_label("Title").fill("Fruit")
    await page.get_by_label("Title").press("Enter")
    await expect(older.get_by_role("button", name="More for Fruit")).to_be_visible()
    await expect(older.get_by_text("remember the quince")).to_have_count(0)
    await page.close()


async def test_no_page_reported_a_violation(person: Person) -> None:
    await person.check_no_violations()


STORY = "Once upon a time " * 20
"""Long enough to be read while it comes."""


async def test_a_reload_in_mid_stream_keeps_the_answer_which_goes_on_by_itself(shell: Page, model: ScriptedServer) -> None:
    goes_on = asyncio.Event()
    model.will_answer(Reply(STORY, stalls_after=12, goes_on=goes_on))
    asked = len(model.asked)
    await send(shell, "tell me a story")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await shell.wait_for_function("() => Object.keys(localStorage).some((name) => name.startsWith('partial:'))")
    for _ in range(2):
        await shell.reload()
        await expect(answers(shell)).to_contain_text("Once upon a time")
        await expect(shell.get_by_role("button", name="Stop")).to_be_visible()
        await expect(shell.get_by_text("This answer was interrupted")).to_be_hidden()
    goes_on.set()
    await expect(answers(shell)).to_have_text(STORY.strip())
    await expect_idle(shell)
    assert len(model.asked) == asked + 1, "the model was asked for it more than once"


async def test_an_answer_that_goes_on_after_a_reload_is_stopped_as_any_other(shell: Page, model: ScriptedServer) -> None:
    model.will_answer(Reply(STORY, stalls_after=12))
    await send(shell, "tell me another story")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await shell.wait_for_function("() => Object.keys(localStorage).some((name) => name.startsWith('partial:'))")
    await shell.reload()
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await shell.get_by_role("button", name="Stop").click()
    await expect_idle(shell)
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await expect(answers(shell)).to_contain_text("Stopped here.")
    async with asyncio.timeout(TIMEOUT_MS / 1000):
        while model.open_streams:
            await asyncio.sleep(0.02)


async def test_what_ran_before_a_reload_does_not_run_again_when_the_answer_goes_on(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    person.write_file("notes/read-once.txt", "Only once.\n")
    model.will_answer(Reply(calls=(("read_file", {"path": "notes/read-once.txt"}),)), Reply(STORY, stalls_after=12))
    await send(shell, "read notes/read-once.txt")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await shell.reload()
    await expect(answers(shell)).to_contain_text("Once upon a time")
    await shell.get_by_role("button", name="Stop").click()
    await expect_idle(shell)
    assert await person.recorded_calls(shell) == ["read_file ok"]


async def test_another_tab_is_asked_whether_the_answer_goes_on_there(person: Person, shell: Page, model: ScriptedServer) -> None:
    model.will_answer(Reply(STORY, stalls_after=12), Reply("The end."))
    await send(shell, "tell me a story for later")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    address = shell.url
    await shell.goto("about:blank")
    other = await person.context.new_page()
    await other.goto(address)
    await expect(other.get_by_text("This answer was interrupted")).to_be_visible()
    await other.get_by_role("button", name="End it").click()
    await expect_idle(other)
    await other.close()


async def test_an_answer_that_is_being_written_goes_to_another_tab_and_back_as_one(
    person: Person, shell: Page, model: ScriptedServer
) -> None:
    goes_on = asyncio.Event()
    model.will_answer(Reply(STORY, stalls_after=12, goes_on=goes_on))
    await send(shell, "tell me a story here and there")
    await expect(answers(shell)).to_contain_text("Once upon a time")
    other = await person.context.new_page()
    await other.goto(shell.url)
    # Whether that tab has asked for the answer yet, before it is taken back, makes no difference.
    await other.get_by_role("button", name="Continue here").click()
    await expect(shell.get_by_text("This conversation is open in another tab")).to_be_visible()
    await expect(shell.get_by_text("Stopped here.")).to_be_hidden()
    await shell.get_by_role("button", name="Continue here").click()
    await expect(other.get_by_text("This conversation is open in another tab")).to_be_visible()
    goes_on.set()
    await expect_idle(shell)
    for page in (shell, other):
        await expect(answers(page)).to_have_text([STORY.strip()])
    await other.close()


async def test_a_turn_that_another_tab_took_over_settles_here_and_can_be_taken_back(person: Person, shell: Page) -> None:
    person.write_file("notes/over.txt", "Long done.\n")
    await call_tool(shell, "delete_file", path="notes/over.txt")
    await expect(approval_dock(shell)).to_be_visible()
    other = await person.context.new_page()
    await other.goto(shell.url)
    await other.get_by_role("button", name="Continue here").click()
    await expect(approval_dock(other)).to_be_visible()
    await expect(shell.get_by_text("This conversation is open in another tab")).to_be_visible()

    await shell.get_by_role("button", name="Continue here").click()
    await expect(other.get_by_text("This conversation is open in another tab")).to_be_visible()
    await approval_dock(shell).get_by_role("button", name="Cancel call").click()
    await expect(call_card(shell, "delete_file", "Cancelled")).to_be_visible()
    await expect_idle(shell)
    # The tab that lost it shows what became of it, and nothing that still runs.
    await expect(call_card(other, "delete_file", "Cancelled")).to_be_visible()
    await expect(other.get_by_text("This conversation is open in another tab")).to_be_hidden()
    await expect(approval_dock(other)).to_be_hidden()
    await other.close()
