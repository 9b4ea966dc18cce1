"""The examples of docs/examples in the web shell: the same calls, the same questions, the same record."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e.conftest import make_gateway
from tests.e2e.person import Person, answers, approval_dock, decide, expect_idle, send
from tests.e2e.scripted_server import ScriptedServer
from tests.examples.walkthroughs import EXAMPLES, WALKTHROUGHS, Walkthrough
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module", params=WALKTHROUGHS, ids=lambda example: example.name)
def example(request: pytest.FixtureRequest) -> Walkthrough:
    return request.param


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(
    example: Walkthrough, model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp(example.name)
    tried = {"COUNTERSIGN_MODEL_URL": model.url, "COUNTERSIGN_MODEL_TIER": "native", "COUNTERSIGN_TOOLS_MODULES": "[]"}
    process = make_gateway(home, **tried, **settings_of(example))
    shutil.copytree(EXAMPLES / example.name / workspace_of(example), process.workspace, dirs_exist_ok=True)
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output, process.output


def workspace_of(example: Walkthrough) -> str:
    return example.option(1, "--workspace").removeprefix(f"docs/examples/{example.name}/")


def settings_of(example: Walkthrough) -> dict[str, str]:
    """The options of the page's second command, as settings."""
    command = example.commands[1]
    settings = {"COUNTERSIGN_BUILTIN_TOOLS": "false"} if "--no-builtin-tools" in command else {}
    if "--tools" in command:
        settings["COUNTERSIGN_TOOL_FILES"] = json.dumps([str(EXAMPLES.parents[1] / example.option(1, "--tools"))])
    return settings


async def test_the_browser_does_what_the_page_says(
    person: Person, shell: Page, model: ScriptedServer, example: Walkthrough
) -> None:
    model.will_answer(*example.replies)
    await send(shell, example.option(0, "--single"))
    for _tool in example.asks:
        await expect(approval_dock(shell)).to_be_visible()
        async with person.open_approval(shell) as approval:
            await decide(approval, "Approve once")
            await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect(answers(shell)).to_contain_text(example.answer)
    await expect_idle(shell)
    closed = [call for call in await person.recorded_calls(shell) if not call.endswith(" asked")]
    assert closed == [f"{tool} {outcome}" for _, tool, _, outcome in reversed(example.record)]
    assert example.is_done(person.gateway.workspace)
