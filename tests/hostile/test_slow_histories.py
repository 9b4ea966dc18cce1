"""Queries of the history that take long, asked by one person on many sockets at once; nobody else's have to wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import Scene, make_gateway

pytestmark = pytest.mark.asyncio(loop_scope="module")

SOCKETS, EACH = 4, 8
"""More than there are threads that read."""

SERVERS = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'

SLOW = """
import os, pathlib, threading
from gateway.adapters.storage.history import queries
choose, here, never = queries.choose, pathlib.Path(os.environ["EFFECTS"]).parent, threading.Event()

def choose_slowly(connection, wanted):
    if wanted.text == "slowly":
        with (here / "begun").open("a") as begun:
            begun.write("one\\n")
        for _ in range(3000):
            if (here / "answer").exists():
                break
            never.wait(0.02)
    return choose(connection, wanted)

queries.choose = choose_slowly
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """One whose history is slow for whoever asks for that."""
    process = make_gateway(tmp_path_factory.mktemp("slow"))
    process.before = SLOW
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output, process.output


async def test_case_333_slow_queries_of_one_person_keep_nobody_elses_waiting(scene: Scene) -> None:
    eve = await scene.another("Eve", "operator")
    consoles = [await eve.console() for _ in range(SOCKETS)]
    slow, begun = {"filter": {"text": "slowly"}}, scene.gateway.home / "begun"
    asked = [
        await console.send(method, slow)
        for console in consoles
        for method in ("audit/count", "audit/calls")
        for _ in range(EACH // 2)
    ]
    exports = [
        asyncio.ensure_future(eve.browser.get(f"{scene.gateway.console_origin}/export?format=csv&text=slowly"))
        for _ in range(EACH)
    ]
    async with asyncio.timeout(40):
        while not begun.exists():
            await scene.console.call("session/describe")
        # In the same threads, and in those that others need for other things.
        for method in ("audit/count", "audit/calls", "audit/load", "audit/models", "audit/choices", "audit/list", "audit/verify"):
            await scene.console.call(method)
        await scene.console.call("sources/read-configuration", {"text": SERVERS, "network": False})
        assert (await (await scene.begin()).invoke("peek", {"what": "tea"}))["outcome"] == "ok"
    assert not any(each.done() for each in asked)
    # One question and one export of hers are under way.
    assert len(begun.read_text().splitlines()) <= 2
    (scene.gateway.home / "answer").touch()
    async with asyncio.timeout(60):
        await asyncio.gather(*asked)
        statuses = sorted({(await each).status for each in exports})
    assert statuses in ([200, 429], [200]), statuses
    await eve.leave()
