"""A call that takes long, at the real everything server: its progress is on its card, and cancelling it ends that call alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.adapters.tools.mcp.servers import NODE, PACKAGES
from tests.e2e.appearance import check_appearance
from tests.e2e.conftest import serving
from tests.e2e.person import Person, call_card, call_tool, end_turn
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG = "everything__trigger-long-running-operation".replace("-", "_")
HOURS = 2 * 60 * 60
"""Far longer than any test: only a cancel ends it."""
DECLARED = """
[sources.everything]
kind = "mcp"
command = {command}
timeout = 300
tools = {{ trigger-long-running-operation = "read" }}
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("long-calls")
    command = json.dumps([str(NODE), str(PACKAGES / "server-everything/dist/index.js")])
    (home / "countersign.toml").write_text(DECLARED.format(command=command), encoding="utf-8")
    async with serving(home, COUNTERSIGN_MODEL_URL=model.url, COUNTERSIGN_MODEL_TIER="native") as process:
        yield process
    assert "Traceback" not in process.output, process.output


async def test_a_long_call_shows_how_far_it_is_and_its_cancel_button_ends_it_and_not_the_turn(
    person: Person, shell: Page
) -> None:
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/sources/everything")
    await expect(page.get_by_role("region", name="State")).to_contain_text("ready")
    await page.close()
    # A step each half of a second, so that the second one comes soon and the last one never.
    await call_tool(shell, LONG, duration=HOURS, steps=HOURS * 2)
    card = call_card(shell, LONG, "Running")
    await expect(card.get_by_role("progressbar", name="Progress")).to_be_visible()
    await check_appearance(shell, "desktop-light-shell-long-call")
    await card.get_by_role("button", name=f"Cancel call of {LONG}").click()
    await expect(call_card(shell, LONG, "Cancelled")).to_be_visible()
    # The turn goes on: the model is told, and may answer or call again.
    await end_turn(shell)
    assert await person.recorded_calls(shell) == [f"{LONG} cancelled"]
    await person.check_no_violations()
