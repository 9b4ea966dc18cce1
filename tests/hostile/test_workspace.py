"""What a program does to the workspace's path leads the gateway's own file tools nowhere else (docs/SECURITY.md case 48)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.scenarios.programs import VALUE, program

ROOT = Path(__file__).parents[2]
SWAP = program("swap", _exec="mv ws ws.old && ln -s /etc ws", _folder="home/shared")
LOOK = program("look", VALUE, _exec='pwd; cat -- "$value"; touch pwned')


@pytest.fixture
def gateway(tmp_path: Path) -> GatewayProcess:
    """Its workspace lies in a folder of its own, and has something beside it to steal."""
    home = tmp_path.resolve() / "home"
    for name in ("ws", "outside"):
        (home / "shared" / name).mkdir(parents=True)
        (home / "shared" / name / "note.txt").write_text(f"from {name}\n")
    places = {"WORKSPACE": "shared/ws", "STATE": "../state", "TOOL_FILES": '["../tools.json"]'}
    return GatewayProcess(home, settings={f"COUNTERSIGN_{name}": value for name, value in places.items()})


@pytest_asyncio.fixture
async def turn(gateway: GatewayProcess) -> AsyncIterator[Turn]:
    (gateway.home.parent / "tools.json").write_text(json.dumps([LOOK]))
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    yield await Turn.begin(await ada.agent())
    await ada.leave()
    assert await gateway.stop() == 0, gateway.output
    assert "Traceback" not in gateway.output


@pytest.mark.parametrize("command", ["serve", "doctor"])
async def test_case_48_no_tool_works_in_a_folder_that_the_workspace_lies_in(gateway: GatewayProcess, command: str) -> None:
    (gateway.home.parent / "tools.json").write_text(json.dumps([SWAP]))
    code, output = await gateway.run(command)
    assert code == {"serve": 2, "doctor": 1}[command]
    assert "tool 1 `swap`: would work in a folder that the workspace lies in; name the workspace, or a folder beside it" in output
    assert "Traceback" not in output


OWN = {
    "state": {"COUNTERSIGN_STATE": "shared/state"},
    "countersign.toml": {"COUNTERSIGN_WORKSPACE": "."},
    "rules": {"COUNTERSIGN_POLICY": "shared/rules"},
    "pages": {"COUNTERSIGN_WEB": "shared/pages"},
    "copy.jsonl": {"COUNTERSIGN_SINKS": '{"copy": {"kind": "file", "path": "shared/copy.jsonl"}}'},
    "checkpoints": {"COUNTERSIGN_ANCHORS": '{"elsewhere": {"kind": "file", "path": "shared/checkpoints"}}'},
    "notebook.py": {"COUNTERSIGN_TOOLS_MODULES": '["notebook"]', "PYTHONPATH": f"{ROOT}:shared"},
}
MODULE = """
from gateway.adapters.tools import tool

@tool(category="read")
def note() -> str:
    'Note.'
    return "noted"
"""


@pytest.mark.parametrize("kept", OWN)
@pytest.mark.parametrize("who", ["the file tools", "a program"])
async def test_case_48_no_tool_works_in_a_folder_with_the_gateways_own_files_in_it(
    gateway: GatewayProcess, kept: str, who: str
) -> None:
    shared = gateway.home / "shared"
    (shared / "notebook.py").write_text(MODULE)
    shutil.copytree(ROOT / "policy", shared / "rules")
    for app in ("shell", "console", "verifier"):
        (shared / "pages" / app).mkdir(parents=True)
        (shared / "pages" / app / "index.html").write_text("<!doctype html>")
    tools = [program("list", _argv=["ls"], _folder="home" if kept == "countersign.toml" else "home/shared")]
    (gateway.home.parent / "tools.json").write_text(json.dumps(tools))
    gateway.settings = {**gateway.settings, "COUNTERSIGN_WORKSPACE": "shared", **OWN[kept]}
    if who == "a program":
        # Apart, so that it is the program's own folder that is refused.
        gateway.settings["COUNTERSIGN_WORKSPACE"] = "../apart"
    else:
        gateway.settings["COUNTERSIGN_TOOL_FILES"] = "[]"
    code, output = await gateway.run("serve")
    assert code == 2, output
    if who == "the file tools" and kept == "state":
        assert "`state` and `workspace` must be two folders, neither within the other" in output
    elif who == "the file tools":
        assert f"`{kept}`, which no tool may change, lie in one another; keep the two apart: " in output
        assert "start in another folder, and name this one with `--workspace`" in output
    else:
        assert f"would work in a folder with `{kept}` in it, which no tool may change; keep the two apart" in output
    assert "Traceback" not in output


@pytest.mark.requirement("002-75", "a link in the place of the workspace is not followed")
async def test_case_48_a_link_in_the_place_of_the_workspace_is_not_followed(gateway: GatewayProcess, turn: Turn) -> None:
    assert (await turn.invoke("read_file", {"path": "note.txt"}))["content"] == "from ws\n"
    workspace = gateway.home / "shared" / "ws"
    for there in ("link", "folder"):
        workspace.rename(workspace.with_name("ws.old"))
        if there == "link":
            workspace.symlink_to("outside")
        else:
            workspace.with_name("outside").rename(workspace)
        for tool, arguments in (
            ("read_file", {"path": "note.txt"}),
            ("list_directory", {"path": "."}),
            ("search_files", {"query": "from"}),
        ):
            result = await turn.invoke(tool, arguments)
            assert (result["outcome"], result["reason"]) == ("executionError", "sourceUnavailable"), result
            assert "moved or replaced after the gateway started" in result["error"]
        ran = await turn.invoke("look", {"value": "note.txt"})
        assert (ran["outcome"], ran["reason"]) == ("executionError", "sandboxUnavailable"), ran
        assert "from outside" not in json.dumps(ran)
        if there == "link":
            workspace.unlink()
        else:
            workspace.rename(workspace.with_name("outside"))
        workspace.with_name("ws.old").rename(workspace)
        assert (await turn.invoke("read_file", {"path": "note.txt"}))["content"] == "from ws\n"
    assert os.listdir(workspace.with_name("outside")) == ["note.txt"]
