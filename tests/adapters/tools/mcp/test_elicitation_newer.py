"""What a server of the protocol's newer era asks: not by itself, but as what its result waits for (SEP-2322)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from tests.adapters.tools.mcp.servers import make_driven
from tests.adapters.tools.mcp.test_elicitation import FORM, VALUES, Asked
from tests.adapters.tools.mcp.test_http import error, read_body, result, send_json
from tests.adapters.tools.sites import ServerRequest, Start

REFUSED = "the server asked the person for input (elicitation), which is refused"
CACHED: dict[str, Json] = {"resultType": "complete", "cacheScope": "private", "ttlMs": 0}


def newer(requests: Json, heard: list[Json]) -> Callable[[ServerRequest], Awaitable[None]]:
    """A server of the era since 2026: it asks nothing by itself, and a call of it waits for what is asked in its result."""

    async def handle(request: ServerRequest) -> None:
        body = await read_body(request) or {}
        match body.get("method"):
            case "server/discover":
                server: Json = {"io.modelcontextprotocol/serverInfo": {"name": "newer", "version": "1"}}
                told: Json = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": server}
                await send_json(request, result(body, {**told, **CACHED}))
            case "tools/list":
                tools: Json = [{"name": "act", "inputSchema": {"type": "object"}}]
                await send_json(request, result(body, {"tools": tools, **CACHED}))
            case "tools/call" if (given := body["params"].get("inputResponses")) is not None:
                heard.extend([given, body["params"]["requestState"]])
                await send_json(request, result(body, {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}))
            case "tools/call":
                asked: Json = {"resultType": "input_required", "inputRequests": requests, "requestState": "s1"}
                await send_json(request, result(body, asked))
            case _:
                await send_json(request, error(body, -32601, "Method not found"), "404 Not Found")

    return handle


def question(**params: Json) -> Json:
    return {"method": "elicitation/create", "params": {"mode": "form", "message": "Which?", "requestedSchema": FORM, **params}}


async def call_newer(
    start: Start, tmp_path_factory: pytest.TempPathFactory, requests: Json, person: Asked, heard: list[Json], rule: str = "ask"
) -> str:
    site = await start(newer(requests, heard))
    url = f"http://127.0.0.1:{site.port}/mcp"
    driven = make_driven({"url": url, "elicitation": rule}, tmp_path_factory.mktemp("newer").resolve() / "source")
    try:
        await driven.open()
        return (await driven.call("act", person.context)).text
    finally:
        await driven.driver.close()


async def test_a_server_of_the_newer_era_gets_its_answers_with_the_call_sent_again(
    start: Start, tmp_path_factory: pytest.TempPathFactory
) -> None:
    person, heard = Asked(), list[Json]()

    text = await call_newer(start, tmp_path_factory, {"a": question(), "b": question(message="And?")}, person, heard)

    answered: Json = {"action": "accept", "content": VALUES}
    assert text == "done"
    assert heard == [{"a": answered, "b": answered}, "s1"]
    assert [form.message for form in person.forms] == ["Which?", "And?"]


@pytest.mark.parametrize(
    ("requests", "rule", "why"),
    [
        ({"a": question()}, "refuse", REFUSED),
        (
            {
                "a": {
                    "method": "elicitation/create",
                    "params": {"mode": "url", "message": "Sign in", "url": "https://evil.example/"},
                }
            },
            "ask",
            f"{REFUSED}: it wants an address to be opened, and only forms are shown",
        ),
        ({"a": {"method": "roots/list"}}, "ask", "the server asked for the folders of the client (roots), which is refused"),
    ],
    ids=["not allowed", "an address", "roots"],
)
async def test_what_a_server_of_the_newer_era_does_not_get_fails_its_call(
    start: Start, tmp_path_factory: pytest.TempPathFactory, requests: Json, rule: str, why: str
) -> None:
    person = Asked()

    with pytest.raises(ToolFailed) as failed:
        await call_newer(start, tmp_path_factory, requests, person, [], rule)

    assert failed.value.message == why
    assert person.forms == []
