"""Sources that offer one tool which no reader of JSON takes, beside good ones (docs/SECURITY.md case 181)."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.tools.sites import ServerRequest, Site, page
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVER = Path(__file__).parents[1] / "adapters" / "tools" / "mcp" / "rogue.py"
HALF = '{"name":"half","description":"x\\ud800y","inputSchema":{"type":"object"}}'
ENDLESS = '{"name":"endless","inputSchema":{"type":"object","default":%s}}' % ('{"a":' * 100_000 + "1" + "}" * 100_000)
DEEP = '{"description":"brackets ] } , [ and \\" in words","inputSchema":{"x":%s},"name":"deep"}' % ("[" * 500 + "]" * 500)
GOOD = '{"name":"%s","description":"A good tool.","inputSchema":{"type":"object"}}'
TOOLS = ",".join((GOOD % "first", HALF, DEEP, GOOD % "between", ENDLESS, GOOD % "last"))
PATIENCE = 20.0


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


async def outcome(scene: Scene, name: str) -> tuple[set[str], dict[str, str]]:
    """Which tools of a source are offered, and which are refused and why."""
    async with asyncio.timeout(PATIENCE):
        while (source := await find(scene, name))["state"] in ("connecting", "off", "away"):
            await asyncio.sleep(0.05)
    assert source["state"] == "ready", source
    listed = (await scene.console.call("sources/list-tools", {"name": name}))["tools"]
    return {tool["tool"] for tool in listed}, {each["tool"]: each["why"] for each in source["refused"]}


async def find(scene: Scene, name: str) -> dict[str, Any]:
    listed = (await scene.console.call("sources/list"))["sources"]
    return next(source for source in listed if source["name"] == name)


async def test_case_181_a_tool_that_cannot_be_read_takes_no_other_tool_of_its_program_away(scene: Scene) -> None:
    settings = {"command": [sys.executable], "args": ["-S", str(SERVER), "unreadable-tools"]}
    await scene.console.call("sources/add", {"name": "odd-program", "kind": "mcp", "settings": settings})
    offered, refused = await outcome(scene, "odd-program")
    assert offered == {"good", "other"}
    assert set(refused) == {"half", "deep"}
    assert "hex escape" in refused["half"]
    assert "recursion" in refused["deep"]


def answering(send: Callable[[ServerRequest, str], Awaitable[None]]) -> Callable[[ServerRequest], Awaitable[None]]:
    """An MCP server over HTTP that sends each answer so."""

    async def handle(request: ServerRequest) -> None:
        raw = b""
        async with asyncio.timeout(PATIENCE):
            while not raw.endswith(b"}"):
                if not (chunk := await request.reader.read(1 << 16)):
                    await request.send(page(b"", status="405 Method Not Allowed"))
                    return
                raw += chunk
        body = json.loads(raw)
        match body.get("method"):
            case "initialize":
                info = {"name": "site", "version": "2"}
                told = json.dumps({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
            case "tools/list":
                told = '{"_meta":{"tools":[1]},"tools":[' + TOOLS + "]}"
            case method if "id" in body:
                error = {"code": -32601, "message": f"no {method}"}
                await request.send(page(json.dumps({"jsonrpc": "2.0", "id": body["id"], "error": error}).encode(), JSON))
                return
            case _:
                await request.send(page(b"", status="202 Accepted"))
                return
        await send(request, '{"jsonrpc":"2.0","id":' + json.dumps(body["id"]) + ',"result":' + told + "}")

    return handle


JSON = "Content-Type: application/json"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


async def send_whole(request: ServerRequest, message: str) -> None:
    await request.send(page(message.encode(), JSON, "Connection: close"))


async def send_events(request: ServerRequest, message: str) -> None:
    raw = b": first\r\n\r\nevent: message\r\ndata: " + message.encode() + b"\r\n\r\n"
    await request.send(EVENTS)
    for start in range(0, len(raw), 700):
        await request.send(raw[start : start + 700])


@pytest.mark.parametrize(("name", "send"), [("odd-site", send_whole), ("odd-stream", send_events)])
async def test_case_181_a_tool_that_cannot_be_read_takes_no_other_tool_of_its_address_away(
    scene: Scene, name: str, send: Callable[[ServerRequest, str], Awaitable[None]]
) -> None:
    site = Site(answering(send), None)
    await site.start("127.0.0.1", 0)
    try:
        settings = {"url": f"http://127.0.0.1:{site.port}/mcp", "type": "http"}
        await scene.console.call("sources/add", {"name": name, "kind": "mcp", "settings": settings})
        offered, refused = await outcome(scene, name)
        assert offered == {"first", "between", "last"}
        assert set(refused) == {"half", "deep", "endless"}
        await scene.console.call("sources/remove", {"name": name})
    finally:
        await site.stop()


async def test_case_181_an_operation_that_cannot_be_read_takes_no_other_operation_of_its_api_away(scene: Scene) -> None:
    deep = {"operationId": "deep", "requestBody": {"content": {"application/json": {"schema": nested(250)}}}}
    named = {"operationId": "named", "parameters": [{"name": "a\ud800", "in": "query", "schema": {"type": "string"}}]}
    chain = {f"S{link}": {"$ref": f"#/components/schemas/S{link + 1}"} for link in range(3_000)}
    paths = {
        "/good": {"get": {"operationId": "good", "description": "half \ud800"}},
        "/half\ud800": {"get": {"operationId": "half"}},
        "/deep": {"post": deep},
        "/by-reference": {"post": {"operationId": "referring", "requestBody": {"$ref": "#/components/requestBodies/Deep"}}},
        "/named": {"get": named},
        "/chained": {
            "get": {
                "operationId": "chained",
                "parameters": [{"name": "a", "in": "query", "required": True, "schema": chain["S0"]}],
            }
        },
    }
    parts = {"requestBodies": {"Deep": deep["requestBody"]}, "schemas": chain}
    document = {"openapi": "3.1.0", "info": {"title": "Odd \ud800", "version": "1"}, "paths": paths, "components": parts}
    path = scene.gateway.home / "odd.json"
    path.write_text(json.dumps(document))
    settings = {"base_url": "http://127.0.0.1:1/", "document": str(path)}
    await scene.console.call("sources/add", {"name": "odd-api", "kind": "http", "settings": settings})
    offered, refused = await outcome(scene, "odd-api")
    assert offered == {"good"}
    assert set(refused) == {"half", "deep", "referring", "named", "chained"}
    assert refused["chained"] == "a schema of it refers on more than 100 times"
    assert refused["deep"] == refused["referring"] == "it nests deeper than 100 levels"
