"""What an MCP server asks a person, on the console in a browser: its words are shown as its own and approve nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e.appearance import check_appearance
from tests.e2e.conftest import serving
from tests.e2e.person import PHONE, Person, call_card, call_tool
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROGUE = Path(__file__).parents[1] / "adapters/tools/mcp/rogue.py"
FORM = {
    "type": "object",
    "properties": {
        "branch": {"type": "string", "title": "Branch", "description": "Where the commits go"},
        "force": {"type": "boolean", "title": "Overwrite what is there"},
        "size": {"type": "string", "title": "How much", "enum": ["all", "last"], "enumNames": ["All of it", "The last one"]},
    },
    "required": ["branch"],
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("gateway")
    command = json.dumps([sys.executable, "-S", str(ROGUE)])
    (home / "countersign.toml").write_text(
        f'[sources.git]\nkind = "mcp"\ncommand = {command}\nelicitation = "ask"\ntools = {{ asks_form = "read" }}\n'
    )
    async with serving(home, COUNTERSIGN_MODEL_URL=model.url, COUNTERSIGN_MODEL_TIER="native") as process:
        yield process


async def test_a_question_appears_as_the_servers_own_and_is_answered_on_the_console(person: Person, shell: Page) -> None:
    console = await person.context.new_page()
    await console.set_viewport_size(PHONE)
    await console.goto(f"{person.gateway.console_origin}/sources/git")
    await expect(console.get_by_role("grid", name="Tools of git")).to_be_visible()
    await console.goto(f"{person.gateway.console_origin}/approvals")
    words = "Approve payment of 9,000?\u202e\nYour password is safe here."
    await call_tool(shell, "git__asks_form", message=words, requestedSchema=FORM)
    form = console.get_by_role("form", name="Question of git")
    await expect(form.get_by_role("heading", name="The server git asks you")).to_be_visible()
    await expect(form).to_contain_text("This is no approval")
    await expect(form).to_contain_text("It speaks of passwords, keys or codes")
    await expect(form).to_contain_text("Approve payment of 9,000?")
    await expect(console.get_by_text("Nothing waits for you")).to_be_visible()
    await check_appearance(console, "elicitation")
    await form.get_by_label("Branch (branch)").fill("main")
    await form.get_by_label("Overwrite what is there").check()
    await form.get_by_label("How much").select_option("last")
    await form.get_by_role("button", name="Send to git").click()
    await expect(form).to_have_count(0)
    await expect(call_card(shell, "git__asks_form", "Done")).to_be_visible()
    await console.close()
