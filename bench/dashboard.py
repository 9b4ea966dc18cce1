"""The console's audit page in a real browser over a made log: from going there until its rows stand there and a key is answered,
and beside it the same page of a gateway on which nothing happened.

`--calls` and `--folder` are those of `history`. Somebody is enrolled anew each time, so a log that is kept grows a little.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from playwright.async_api import Browser, BrowserContext, Page

from bench.figures import Pace, report_load, report_pairs, say
from bench.made_logs import BEGIN, END, made_state
from bench.servers import Gateway, prepare_gateway, work_folder
from bench.shell import PATIENCE_MS, sign_in
from gateway.core.times import rfc3339
from tests.e2e.chromium import chromium
from tests.e2e.conftest import built_web
from tests.harness.person import Person

DAY_MS: Final = 86_400_000
# Asked for with each picture, in the page: Playwright's own waits look after 20, 50, 100, 100 and then each 500 ms.
_UNTIL: Final = "new Promise((done) => { const look = () => (%s) ? done() : requestAnimationFrame(look); look(); })"
_ROWS: Final = "document.querySelectorAll('a[data-row]')"
_AT_FIRST_ROW: Final = f"() => {_UNTIL % f'{_ROWS}.length > 1'}.then(() => {_ROWS}[0].focus())"
_AT_SECOND_ROW: Final = f"() => {_UNTIL % f'document.activeElement === {_ROWS}[1]'}"
_SHOWN: Final = f"(words) => {_UNTIL % 'document.body?.innerText.includes(words)'}"

LOOKS: Final = {"day": (END - DAY_MS, END), "month": (BEGIN, END)}


async def measure(pace: Pace) -> None:
    """Each look in a page of its own, in turns with the empty one."""
    async with made_state(pace) as state, chromium() as browser:
        with work_folder() as empty:
            async with _open(state.parent, browser) as (full, page_of), _open(empty, browser) as (none, page_of_none):
                for name, (since, until) in LOOKS.items():
                    asked = urlencode({"from": rfc3339(since), "to": rfc3339(until)})
                    pairs: list[tuple[float, float]] = []
                    for number in range(pace.rounds + 1):
                        say(f"dashboard: {name}, round {number} of {pace.rounds}")
                        measured = (
                            await _look(page_of, f"{full}/audit?{asked}", rows=True),
                            await _look(page_of_none, f"{none}/audit?{asked}", rows=False),
                        )
                        # The first is of a browser that has neither the page nor a compiled script of it.
                        pairs += [measured] if number else []
                    report_pairs(f"dashboard/interactive/{name}", "s", pairs)
                report_load()


@contextlib.asynccontextmanager
async def _open(home: Path, browser: Browser) -> AsyncGenerator[tuple[str, BrowserContext]]:
    """A gateway over that home: its console's address, and a browser in which an operator is signed in."""
    with work_folder() as policy:
        process = prepare_gateway(policy, COUNTERSIGN_WEB=str(built_web()))
        process.home = home
        await process.start()
        try:
            code, said = await process.run("enrol", "Bench", "--profile", "operator")
            link = re.search(r"#t=(\S+)", said)
            assert code == 0, said
            assert link is not None, said
            person = await Person.at(process).arrive(link.group(1))
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            context.set_default_timeout(PATIENCE_MS)
            await sign_in(context, Gateway(process, person))
            yield process.console_origin, context
            await context.close()
        finally:
            await process.stop()


async def _look(context: BrowserContext, address: str, *, rows: bool) -> float:
    page = await context.new_page()
    try:
        began = time.perf_counter()
        await page.goto(address, wait_until="commit")
        if rows:
            await _walk(page)
        else:
            await page.evaluate(_SHOWN, "No call in this time")
        return time.perf_counter() - began
    finally:
        await page.close()


async def _walk(page: Page) -> None:
    """To the second row, by keyboard."""
    await page.evaluate(_AT_FIRST_ROW)
    await page.keyboard.press("ArrowDown")
    await page.evaluate(_AT_SECOND_ROW)
