"""Every page and state at the sizes of phones, tablets and desks and at 200 % and 400 % zoom (WCAG 1.4.10): nothing is beyond the
edge or cut off, and every control can be brought into sight and pressed. What is compared is the layout, not its picture."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.appearance import check_layout, is_firefox, keep_picture
from tests.e2e.conftest import built_web, serving
from tests.e2e.person import PHONE, Person, approval_dock, call_card, call_tool, decide, end_turn, expect_idle
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

SIZES = ((390, 844), (768, 1024), (1280, 800), (1920, 1080), (640, 400), (320, 256))
"""CSS pixels. The last two are a window of 1280 by 800 at 200 %, and one of 1280 by 1024 at 400 %."""


SEARCH = "search_the_archive_of_quarterly_financial_reports_by_department"
REMOVE = "remove_obsolete_quarterly_financial_reports_from_archive"
REPORT = "Quartalsabschlussvorbereitung/Donaudampfschifffahrtsgesellschaft/Rechtsschutzversicherungsgesellschaften.md"
"""A path of words as long as German has them."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """A gateway with tools of long names, for each browser."""
    del browser
    tools = json.dumps(["tests.harness.effect_tools", "tests.harness.long_named_tools"])
    async with serving(tmp_path_factory.mktemp("gateway"), COUNTERSIGN_MODEL="stub", COUNTERSIGN_TOOLS_MODULES=tools) as process:
        yield process


@pytest_asyncio.fixture(loop_scope="session")
async def waiting(person: Person, shell: Page) -> AsyncIterator[Page]:
    """A shell with a call that is done, and one that waits for consent."""
    await call_tool(shell, "list_directory", path="notes")
    await expect(call_card(shell, "list_directory", "Done")).to_be_visible()
    person.write_file("notes/plan.md", "One step.\n")
    await call_tool(shell, "write_file", path="notes/plan.md", content="# Plan\n\n" + "One step after the other.\n" * 30)
    await expect(approval_dock(shell)).to_be_visible()
    yield shell
    await end_turn(shell)


async def check_sizes(page: Page, name: str) -> None:
    """One page at every size, and once more as people with forced colours and without motion have it.

    In Firefox it is one size, a phone's, and no more than that nothing is beyond its edge.
    """
    if is_firefox(page):
        await page.set_viewport_size(PHONE)
        wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name} is {wide} px too wide"
        return
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        await keep_picture(page, f"{name}-{width}")
        await check_layout(page, f"{name} at {width} x {height}")
    await page.emulate_media(forced_colors="active", reduced_motion="reduce")
    await page.set_viewport_size({"width": 1280, "height": 800})
    await keep_picture(page, f"{name}-forced")
    await check_layout(page, f"{name} in forced colours")
    await page.emulate_media(forced_colors="none", reduced_motion="no-preference")


async def test_a_question_can_be_read_and_answered_at_every_size(person: Person, waiting: Page) -> None:
    await check_sizes(waiting, "sizes-shell-waiting")
    async with person.open_approval(waiting) as approval:
        await expect(approval.get_by_role("heading", level=1)).to_be_visible()
        await check_sizes(approval, "sizes-approval")
        await decide(approval, "Deny")
        await expect(approval.get_by_text("Denied, not run", exact=True)).to_be_visible()
        await check_sizes(approval, "sizes-approval-denied")
    await expect_idle(waiting)
    await check_sizes(waiting, "sizes-shell-denied")


async def test_the_composer_and_stop_are_in_sight_in_the_lowest_window_while_a_question_waits(waiting: Page) -> None:
    await waiting.set_viewport_size({"width": 320, "height": 256})
    for control in (waiting.get_by_label("Message"), waiting.get_by_role("button", name="Stop")):
        box = await control.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 256, box
    open_approval = approval_dock(waiting).get_by_role("button", name="Open approval")
    await open_approval.scroll_into_view_if_needed()
    await open_approval.click(trial=True)


async def test_every_page_of_the_console_at_every_size(person: Person) -> None:
    page = await person.context.new_page()
    paths: list[str] = json.loads((built_web() / "console" / "pages.json").read_text(encoding="utf-8"))
    for path in paths:
        if ":" not in path:
            await page.goto(f"{person.gateway.console_origin}{path}")
            await expect(page.get_by_role("heading", level=1)).to_be_visible()
            await check_sizes(page, f"sizes-console{path.replace('/', '-')}")
    await page.close()


async def test_long_names_of_tools_and_files_leave_each_page_its_width(person: Person, shell: Page) -> None:
    await call_tool(shell, SEARCH, what=REPORT)
    await expect(call_card(shell, SEARCH, "Done")).to_be_visible()
    await expect_idle(shell)
    await call_tool(shell, REMOVE, path=REPORT)
    await expect(approval_dock(shell)).to_be_visible()
    page = await person.context.new_page()
    row = page.get_by_role("link").filter(has_text=SEARCH)
    for path, shown in (("/", page.get_by_text(REPORT)), ("/approvals", page.get_by_text(REPORT)), ("/audit", row)):
        await page.goto(f"{person.gateway.console_origin}{path}")
        await expect(shown.first).to_be_visible()
        await check_sizes(page, f"sizes-long-names{path.replace('/', '-')}")
    await page.set_viewport_size({"width": 390, "height": 844})
    tool = await row.get_by_text(SEARCH).bounding_box()
    assert tool is not None
    assert tool["width"] > 200, "a long name is a narrow column"
    await page.close()
    await end_turn(shell)


async def test_every_entry_of_the_navigation_can_be_pressed_in_the_lowest_window(person: Person) -> None:
    page = await person.context.new_page()
    await page.set_viewport_size({"width": 320, "height": 256})
    await page.goto(person.gateway.console_origin)
    more = page.get_by_role("button", name="More")
    await more.click()
    navigation = page.get_by_role("navigation", name="Console")
    for name in ("Policy", "Clients", "Sources", "People", "Passkeys", "Settings", "Backup"):
        entry = navigation.get_by_role("link", name=name, exact=True)
        await entry.scroll_into_view_if_needed()
        box = await entry.bounding_box()
        assert box is not None
        assert box["y"] >= 0, f"{name} is above the window"
        await entry.click(trial=True)
    await page.close()


async def test_the_empty_shell_at_every_size(shell: Page) -> None:
    await check_sizes(shell, "sizes-shell-empty")


async def test_the_two_faces_come_from_here_and_the_console_can_be_installed(person: Person) -> None:
    page = person.console
    await page.goto(person.gateway.console_origin)
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    loaded: list[str] = await page.evaluate(
        """async () => {
          await document.fonts.ready;
          return [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family);
        }"""
    )
    assert {"Inter", "JetBrains Mono"} <= {name.strip('"') for name in loaded}
    manifest: dict[str, Any] = await page.evaluate(
        "async () => (await fetch(document.querySelector('link[rel=manifest]').href)).json()"
    )
    assert (manifest["display"], manifest["start_url"]) == ("standalone", "/")
    icon: str = await page.evaluate(
        "async (place) => (await fetch(place)).headers.get('content-type')", manifest["icons"][0]["src"]
    )
    assert icon == "image/svg+xml"
