"""A folder that is put out of the way and replaced by a link while a call that works in it waits for its approval."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import Scene, make_gateway
from tests.scenarios.programs import VALUE
from tests.scenarios.staging import finish

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVER = Path(__file__).parents[1] / "harness" / "changing_mcp_server.py"
SECRET = "what nobody may read"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("swapped").resolve()
    for name in ("apart", "library", "outside"):
        (home / name).mkdir()
        (home / name / "word").write_text(SECRET if name == "outside" else name)
    shared: dict[str, Any] = {
        "description": "for tests",
        "parameters": VALUE,
        "_category": "write",
        "_exec": 'cat -- "$value"; echo x > here',
    }
    tools = [
        {"name": "work", "_folder": "apart", **shared},
        {"name": "consult", "_folder": "apart", "_readable": ["library"], **shared},
    ]
    (home / "tools.json").write_text(json.dumps({"tools": tools}))
    (home / "server").mkdir()
    (home / "server" / "offers").write_text("keep|destructiveHint|Keep a text.\n")
    command = json.dumps([sys.executable, str(SERVER), str(home / "server" / "offers")])
    folder = json.dumps(str(home / "server"))
    (home / "countersign.toml").write_text(
        f'[sources.kept]\nkind = "mcp"\ncommand = {command}\nwritable = [{folder}]\ntools = {{ keep = "write" }}\n'
    )
    process = make_gateway(home, COUNTERSIGN_TOOL_FILES='["tools.json"]')
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output, process.output


def swap(folder: Path) -> None:
    """The folder is renamed away, and a link to another one is put there."""
    folder.rename(folder.with_name(f"{folder.name}.away"))
    folder.symlink_to(folder.with_name("outside"))


def put_back(folder: Path) -> None:
    folder.unlink()
    folder.with_name(f"{folder.name}.away").rename(folder)


async def approve_while(scene: Scene, tool: str, arguments: dict[str, Any], call_id: str, swapped: Path) -> Any:
    """The result of a call, for which a folder was swapped between its question and the yes."""
    turn = await scene.begin()
    call = await turn.start(tool, arguments, call_id)
    approval = await scene.asked(call_id)
    swap(swapped)
    try:
        await scene.ada.answer(scene.console, approval)
        return await finish(call)
    finally:
        put_back(swapped)


@pytest.mark.parametrize(("tool", "swapped"), [("work", "apart"), ("consult", "library"), ("consult", "apart")])
async def test_case_329_a_program_does_not_follow_a_folder_that_was_swapped_before_the_yes(
    scene: Scene, tool: str, swapped: str
) -> None:
    home = scene.gateway.home
    word = {"value": str(home / swapped / "word")}
    result = await approve_while(scene, tool, word, f"{tool}-{swapped}", home / swapped)
    assert SECRET not in json.dumps(result), result
    assert not (home / "outside" / "here").exists()
    # The folder is back where it was, and the next call runs in it.
    turn = await scene.begin()
    call = await turn.start(tool, word, f"{tool}-{swapped}-again")
    await scene.ada.answer(scene.console, await scene.asked(f"{tool}-{swapped}-again"))
    assert (await finish(call))["outcome"] == "ok"


async def test_case_329_a_tool_server_does_not_follow_its_folder_that_was_swapped_before_the_yes(scene: Scene) -> None:
    found = await scene.console.call("sources/test", {"name": "kept"}, patience=60)
    assert found["state"] == "ready", found
    home = scene.gateway.home
    before = sorted(path.name for path in (home / "outside").iterdir())
    result = await approve_while(scene, "kept__keep", {"text": "a"}, "kept", home / "server")
    assert SECRET not in json.dumps(result), result
    assert sorted(path.name for path in (home / "outside").iterdir()) == before


async def test_case_329_a_file_tool_does_not_follow_a_folder_of_the_workspace_that_was_swapped_before_the_yes(
    scene: Scene,
) -> None:
    folder = scene.gateway.workspace / "kept"
    folder.mkdir()
    (folder.with_name("outside")).symlink_to(scene.gateway.home / "outside")
    written = {"path": "kept/new.txt", "content": "a"}
    result = await approve_while(scene, "write_file", written, "written", folder)
    assert result["outcome"] != "ok", result
    assert not (scene.gateway.home / "outside" / "new.txt").exists()
