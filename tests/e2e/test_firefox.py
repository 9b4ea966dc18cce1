"""What needs no passkey ceremony, in Debian's Firefox: the same pages under the same policy of what they may load."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.e2e.conftest import built_web
from tests.e2e.firefox import ENTER, Firefox, firefox
from tests.harness.person import Person
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

_REPORTS = re.compile(r'^countersign_http_requests_total\{[^}]*tag="report:taken"[^}]*\} (\S+)', re.MULTILINE)

_LEFT = re.compile("Unable to preload CSS|error loading dynamically imported module")
"""What Firefox says of a part that is on its way when the page is left."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def window(gateway: GatewayProcess, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Firefox]:
    """A window in which somebody is signed in on both origins."""
    person = await Person.at(gateway).arrive()
    async with firefox(tmp_path_factory.mktemp("firefox") / "profile") as started:
        for origin in (gateway.agent_origin, gateway.console_origin):
            host = origin.partition("://")[2].partition(":")[0]
            await started.take_cookies(origin, person.browser.cookies[host])
        yield started
    metrics = (await person.browser.get(f"{gateway.console_origin}/metrics")).body.decode()
    assert sum(float(count) for count in _REPORTS.findall(metrics)) == 0, "the pages tried what their policy forbids"


async def test_every_page_of_the_console_opens_on_a_phones_width_in_firefox(gateway: GatewayProcess, window: Firefox) -> None:
    await window.resize(390, 844)
    paths: list[str] = json.loads((built_web() / "console" / "pages.json").read_text(encoding="utf-8"))
    for path in paths:
        if ":" not in path:
            await window.look_at(f"{gateway.console_origin}{path}")
            await window.wait_for("document.querySelector('h1')?.checkVisibility()", f"the heading of {path}")
            wide = await window.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, f"{path} is {wide} px too wide"
    assert [said for said in window.complaints if _LEFT.search(said) is None] == []


async def test_a_call_runs_and_another_is_approved_in_firefox(gateway: GatewayProcess, window: Firefox) -> None:
    window.complaints.clear()
    await window.resize(1280, 800)
    await window.look_at(gateway.agent_origin)
    await window.press("textarea", "Message")
    await window.type('/call list_directory {"path": "notes"}' + ENTER)
    await window.see("list_directory")
    await window.wait_for("!find('button', 'Stop')", "the end of the turn")
    await window.press("textarea", "Message")
    await window.type('/call write_file {"path": "notes/fox.md", "content": "by Firefox"}' + ENTER)
    await window.press("button, a", "Open approval")
    async with window.in_the_window_that_opens():
        await window.see("notes/fox.md")
        await window.press("button", "Approve once")
    await window.wait_for("!find('button', 'Stop')", "the end of the turn")
    assert (gateway.workspace / "notes" / "fox.md").read_text() == "by Firefox"
    assert window.complaints == []
