"""Several models in the shell: which of them answers, for which conversation, and until when."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import expect

from gateway.adapters.inference.scripted import Reply
from tests.e2e.conftest import serving
from tests.e2e.person import Person, answers, call_card, expect_idle, send
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

STUB = "Stub (rules, no language model)"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """One with a remote model, which is the first, and one on this machine."""
    async with serving(
        tmp_path_factory.mktemp("gateway"),
        COUNTERSIGN_MODEL_URL=model.url,
        COUNTERSIGN_MODEL_TIER="native",
        COUNTERSIGN_OTHER_MODELS='["stub"]',
    ) as process:
        yield process


async def test_the_model_of_a_conversation_is_its_own_after_a_reload_too(person: Person, model: ScriptedServer) -> None:
    shell = await person.open_shell()
    menu = shell.get_by_label("Model", exact=True)
    await menu.select_option(label=STUB)
    await send(shell, "list notes/")
    await expect(call_card(shell, "list_directory", "Done")).to_be_visible()
    await expect_idle(shell)
    # A remote model is told nothing of what was meant for the one on this machine.
    await shell.reload()
    await expect(menu.locator("option:checked")).to_have_text(STUB)
    await send(shell, "read notes/todo.txt")
    await expect(call_card(shell, "read_file", "Done")).to_be_visible()
    await expect_idle(shell)
    assert model.asked == []

    await shell.get_by_role("button", name="New conversation").click()
    await expect(menu.locator("option:checked")).to_have_text("scripted (not on this machine)")
    model.will_answer(Reply("From afar."))
    await send(shell, "hello")
    await expect(answers(shell)).to_have_text("From afar.")
    await expect_idle(shell)
    await person.check_no_violations()
