"""Names that have another address when they are connected to than when they were judged, at the running gateway.

A trap listens on this machine at the port to which each name leads in the end; nothing may come to it.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.adapters.push.vapid import make_key_file
from gateway.core.canonical import Json
from tests.adapters.tools.mcp.test_http import answering, result, send_json
from tests.adapters.tools.sites import ServerRequest, Site
from tests.harness.process import GatewayProcess
from tests.harness.push_service import PushService
from tests.harness.socket import refused
from tests.scenarios.conftest import Scene, make_gateway
from tests.scenarios.staging import POLICY, edit, finish

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 60.0
PUBLIC = "93.184.215.14"
"""The first address of each name in `tests.harness.rebound_names`, which changes the process that imports it."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """One whose policy lets everybody reach every host without asking, and which sends push messages."""
    home: Path = tmp_path_factory.mktemp("rebinding")
    shutil.copytree(POLICY, home / "policy")
    make_key_file(home / "push.key")
    process = make_gateway(
        home,
        COUNTERSIGN_TOOLS_MODULES='["tests.harness.effect_tools", "tests.harness.rebound_names"]',
        COUNTERSIGN_POLICY=str(home / "policy"),
        COUNTERSIGN_PUSH_KEY=str(home / "push.key"),
        COUNTERSIGN_PUSH_CONTACT="mailto:ada@example.org",
    )
    edit(process, "default.cedar", "unless { principal.autoHosts.isEmpty() };", ";")
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output, process.output


@dataclass
class Trap:
    """What a service of this machine was sent."""

    port: int = 0
    came: int = 0


@asynccontextmanager
async def trapping() -> AsyncGenerator[Trap]:
    trap = Trap()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        trap.came += 1
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    trap.port = server.sockets[0].getsockname()[1]
    async with server:
        yield trap


def noted(scene: Scene, file: str) -> list[list[str]]:
    path = scene.gateway.home / file
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def connected(scene: Scene) -> set[str]:
    """Hosts of this machine and others that were connected to at the ports of the web."""
    return {host for host, port in noted(scene, "connected") if port in ("80", "443")}


def looked_up(scene: Scene, name: str) -> list[str]:
    return [address for asked, address in noted(scene, "looked-up") if asked == name]


async def test_case_328_a_name_that_is_fetched_is_connected_to_where_it_was_judged(scene: Scene) -> None:
    turn = await scene.begin()
    for scheme in ("http", "https"):
        result = await finish(await turn.start("http_get", {"url": f"{scheme}://{scheme}.rebound.test/"}, scheme))
        assert result["outcome"] == "executionError", result
        assert looked_up(scene, f"{scheme}.rebound.test") == [PUBLIC]
        # The second time it leads here from the beginning.
        result = await finish(await turn.start("http_get", {"url": f"{scheme}://{scheme}.rebound.test/"}, f"{scheme}-2"))
        assert "may not be fetched" in result["content"], result
    assert connected(scene) == {PUBLIC}


async def test_case_328_a_push_service_that_moves_to_this_machine_is_not_asked(scene: Scene) -> None:
    async with PushService().there() as service:
        params: dict[str, Any] = {**service.subscribe().params(), "endpoint": "https://push.rebound.test/w/1"}
    await scene.console.call("push/add", params)
    (device,) = (await scene.console.call("push/list"))["devices"]
    for asked in (1, 2):
        assert await refused(scene.console, "push/test", {"device": device["id"]}) == "pushNotTaken"
        assert len(looked_up(scene, "push.rebound.test")) == asked
    assert connected(scene) == {PUBLIC}
    await scene.console.call("push/remove", {"device": device["id"]})


API = """{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/a": {"get": {"operationId": "look"}}}}"""


async def test_case_328_an_api_that_moves_to_this_machine_is_not_asked(scene: Scene) -> None:
    async with trapping() as trap:
        name = "api.rebound.test"
        settings = {"document": API, "base_url": f"https://{name}:{trap.port}"}
        await scene.console.call("sources/add", {"name": "api", "kind": "http", "settings": settings})
        found = await scene.console.call("sources/test", {"name": "api"}, patience=PATIENCE)
        assert found["state"] == "ready", found
        (tool,) = (await scene.console.call("sources/list-tools", {"name": "api"}))["tools"]
        decision = {"tool": tool["tool"], "pin": tool["pin"], "category": "network"}
        await scene.console.call("sources/decide", {"name": "api", "decisions": [decision]})
        turn = await scene.begin()
        for number in range(3):
            result = await finish(await turn.start(tool["name"], {}, f"api-{number}"))
            assert result["outcome"] == "executionError", result
        assert looked_up(scene, name)[0] == PUBLIC
        assert trap.came == 0
    await scene.console.call("sources/remove", {"name": "api"})


async def _act(request: ServerRequest, body: dict[str, Json]) -> None:
    await send_json(request, result(body, {"content": [{"type": "text", "text": "acted"}]}))


async def test_case_334_a_tool_server_that_moves_into_the_local_network_is_not_asked(scene: Scene) -> None:
    site = Site(answering(_act), None)
    await site.start("127.0.0.1", 0)
    settings = {"url": f"http://tools.rebound.test:{site.port}/mcp"}
    await scene.console.call("sources/add", {"name": "far", "kind": "mcp", "settings": settings})
    found = await scene.console.call("sources/test", {"name": "far"}, patience=PATIENCE)
    assert found["state"] == "ready", found
    (tool,) = (await scene.console.call("sources/list-tools", {"name": "far"}))["tools"]
    decision = {"tool": tool["tool"], "pin": tool["pin"], "category": "network"}
    await scene.console.call("sources/decide", {"name": "far", "decisions": [decision]})
    turn = await scene.begin()
    acted = await finish(await turn.start(tool["name"], {}, "far-1"))
    assert (acted["outcome"], acted["content"]) == ("ok", "acted"), acted

    (scene.gateway.home / "leads-to").write_text("10.9.8.7")
    for number in (2, 3):
        moved = await finish(await turn.start(tool["name"], {}, f"far-{number}"))
        assert moved["outcome"] == "executionError", moved
        assert "its name leads to a private network; if that is meant, set `allow_private`" in moved["content"], moved
        assert "10.9.8.7" not in str(moved), moved
    found = await scene.console.call("sources/test", {"name": "far"}, patience=PATIENCE)
    assert found["state"] == "away", found
    assert "set `allow_private`" in found["why"], found
    assert found["why"].endswith("(the address is 10.9.8.7)"), found
    assert "10.9.8.7" not in str(await scene.shell.call("tools/describe", {"conversationId": turn.conversation_id}))
    assert {host for host, _ in noted(scene, "worker-connected")} == {PUBLIC}
    await scene.console.call("sources/remove", {"name": "far"})
    await site.stop()


async def test_case_334_the_sign_in_to_a_tool_server_that_moves_to_this_machine_asks_nothing_there(scene: Scene) -> None:
    (scene.gateway.home / "leads-to").write_text("10.9.8.7")
    name = "sign-in.rebound.test"
    async with trapping() as trap:
        settings = {"url": f"https://{name}:{trap.port}/mcp"}
        for allowed in (False, True):
            added = {"name": "signed", "kind": "mcp", "settings": {**settings, "allow_private": allowed}}
            await scene.console.call("sources/add", added)
            for _ in range(2):
                assert await refused(scene.console, "sources/sign-in", {"name": "signed"}) == "signInFailed"
            await scene.console.call("sources/remove", {"name": "signed"})
        assert set(looked_up(scene, name)) == {PUBLIC, "127.0.0.1"}
        assert trap.came == 0
