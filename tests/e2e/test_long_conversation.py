"""A conversation of many messages: its end is there at once, and the rest comes without moving what is read."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.e2e.person import Person
from tests.harness.http import Browser
from tests.harness.person import Turn
from tests.harness.socket import Socket

pytestmark = pytest.mark.asyncio(loop_scope="session")

TURNS = 100

HOLD_IDLE = """() => {
  window.idle = [];
  window.requestIdleCallback = (work) => window.idle.push(work);
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) window.shift += each.value;
  }).observe({ type: "layout-shift" });
}"""
"""From here on the page has nothing better to do only when the test says so, and what moves by itself is counted."""

PASS_IDLE = "() => { for (const work of window.idle.splice(0)) work(); }"

TOP_OF_SEEN = """(log) => {
  const seen = [...log.querySelectorAll("article")].find((each) => each.getBoundingClientRect().top > 200);
  return [seen.textContent, Math.round(seen.getBoundingClientRect().top)];
}"""


async def _make_conversation(person: Person) -> str:
    cookies: dict[str, dict[str, str]] = {}
    for each in await person.context.cookies():
        cookies.setdefault(each.get("domain", ""), {})[each.get("name", "")] = each.get("value", "")
    shell = await Socket.open(Browser(person.gateway.port, cookies), person.gateway.agent_origin)
    turn = await Turn.begin(shell)
    for number in range(TURNS):
        place = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
        for role, content in (("user", f"question {number}"), ("assistant", f"answer {number}\n\n* with\n* a list")):
            await shell.call("messages/append", {**place, "message": {"role": role, "content": content}})
        await shell.call("turns/end", place)
        if number + 1 < TURNS:
            turn = await Turn.begin(shell, turn.conversation_id)
    await shell.close()
    return turn.conversation_id


async def _open(person: Person, conversation: str, path: str = "") -> Page:
    page = await person.context.new_page()
    await page.add_init_script(f"({HOLD_IDLE})()")
    await page.goto(f"{person.gateway.agent_origin}/c/{conversation}{path}")
    await expect(page.get_by_role("article").last).to_contain_text(f"answer {TURNS - 1}")
    return page


async def test_the_end_is_there_at_once_and_older_messages_come_above_without_moving_what_is_read(person: Person) -> None:
    page = await _open(person, await _make_conversation(person))
    log, articles = page.get_by_role("log"), page.get_by_role("log").get_by_role("article")
    await expect(articles).to_have_count(40)
    await expect(articles.last).to_be_in_viewport()
    # Reading somewhere in the middle of what is there, while more is drawn above.
    await log.evaluate("(log) => { log.scrollTop = log.scrollHeight / 2; }")
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    read = await log.evaluate(TOP_OF_SEEN)
    await page.evaluate("() => { window.shift = 0; }")
    for count in (80, 120, 160, 200):
        await expect(page.locator("[data-undrawn]")).to_have_count(1)
        await page.evaluate(PASS_IDLE)
        await expect(articles).to_have_count(count)
        assert await log.evaluate(TOP_OF_SEEN) == read
    await expect(page.locator("[data-undrawn]")).to_have_count(0)
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert await log.evaluate(TOP_OF_SEEN) == read
    assert await page.evaluate("() => window.shift") == 0
    said = await articles.all_text_contents()
    assert [each.split("with")[0] for each in said] == [f"{kind} {at}" for at in range(TURNS) for kind in ("question", "answer")]
    await page.close()
    await person.check_no_violations()


async def test_home_leads_to_the_first_message_and_the_browsers_search_finds_it(person: Person) -> None:
    conversation = await _make_conversation(person)
    page = await _open(person, conversation)
    await page.get_by_role("log").focus()
    await page.keyboard.press("Home")
    await expect(page.get_by_role("article").first).to_have_text("question 0")
    await expect(page.get_by_role("article").first).to_be_in_viewport()
    await page.close()
    page = await _open(person, conversation)
    await page.get_by_label("Message").focus()
    await page.keyboard.press("Control+f")
    assert await page.evaluate("() => window.find('question 0', false, false, true)")
    await page.close()
