"""An HTTP API and a database as sources of the running gateway: what a person is shown is what happens."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio
from aiohttp import web

from tests.scenarios.conftest import Scene, ada, gateway, scene

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Orders", "version": "1"},
    "paths": {
        "/orders/{id}": {
            "post": {
                "operationId": "changeOrder",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                    {"name": "note", "in": "query", "schema": {"type": "string"}},
                ],
                "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}},
                "responses": {"200": {"description": "ok"}},
            }
        }
    },
}


@dataclass
class Arrived:
    """An API, and what it was really sent."""

    address: str = ""
    requests: list[tuple[str, str, bytes, str]] = field(default_factory=list[tuple[str, str, bytes, str]])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api() -> AsyncIterator[Arrived]:
    arrived = Arrived()

    async def take(request: web.Request) -> web.Response:
        token = request.headers.get("X-Token", "")
        arrived.requests.append((request.method, request.raw_path, await request.read(), token))
        return web.json_response({"taken": True, "token": token})

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    arrived.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield arrived
    await runner.cleanup()


async def add(scene: Scene, name: str, kind: str, settings: dict[str, Any], **categories: str) -> None:
    await scene.console.call("sources/add", {"name": name, "kind": kind, "settings": settings})
    added = await scene.console.call("sources/test", {"name": name})
    assert added["state"] == "ready", added
    listed = (await scene.console.call("sources/list-tools", {"name": name}))["tools"]
    pins = {tool["tool"]: tool["pin"] for tool in listed}
    decisions = [{"tool": tool, "pin": pins[tool], "category": category} for tool, category in categories.items()]
    await scene.console.call("sources/decide", {"name": name, "decisions": decisions})


async def test_the_request_that_is_shown_is_the_request_that_arrives(scene: Scene, api: Arrived) -> None:
    await scene.console.call("secrets/store", {"name": "shop.TOKEN", "value": "t0ken-of-the-shop"})
    settings = {
        "base_url": api.address,
        "allow_private": True,
        "document": orjson.dumps(DOCUMENT).decode(),
        "headers": {"X-Token": "${secret:shop.TOKEN}"},
    }
    await add(scene, "shop", "http", settings, changeOrder="write")
    turn = await scene.begin()
    body = {"total": 7, "what": "näils & \u202ebolts", "more": ["<b>", None, 1.5]}
    arguments = {"id": "a b?&", "note": "ü=1&admin=2#x", "body": body}
    calling = await turn.start("shop__changeOrder", arguments, "c-1")
    question = await scene.console.call("approvals/get", {"approvalId": await scene.asked("c-1")})
    assert api.requests == []
    preview = question["preview"]
    assert (preview["change"], preview["complete"]) == ("send", True)
    shown = "\n".join(line["text"] for line in preview["lines"])
    assert "t0ken-of-the-shop" not in orjson.dumps(question).decode()
    await scene.ada.answer(scene.console, question["approval"]["id"])
    result = await calling
    assert result["outcome"] == "ok", result
    [(method, path, sent, token)] = api.requests
    # Method, address and body to the byte; of the secret its name was shown.
    head, _, shown_body = shown.partition("\n\n")
    assert head.splitlines()[0] == f"{method} {api.address}{path}"
    assert shown_body.encode() == sent
    assert (preview["target"], preview["bytesAfter"]) == (f"{api.address}{path}", len(sent))
    assert orjson.loads(sent) == body
    assert ("X-Token: ${secret:shop.TOKEN}" in head, token) == (True, "t0ken-of-the-shop")
    assert "t0ken-of-the-shop" not in orjson.dumps(result).decode()


async def test_a_request_that_nobody_approved_is_not_sent(scene: Scene, api: Arrived) -> None:
    before = list(api.requests)
    turn = await scene.begin()
    calling = await turn.start("shop__changeOrder", {"id": "1", "body": {}}, "c-1")
    await scene.ada.answer(scene.console, await scene.asked("c-1"), "deny")
    assert (await calling)["outcome"] == "deniedByUser"
    assert api.requests == before


def people(path: Path) -> list[tuple[str, int]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT name, age FROM people ORDER BY name").fetchall()


async def test_a_change_to_a_database_shows_its_rows_and_changes_no_others(scene: Scene) -> None:
    path = scene.gateway.home / "people.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE people (name TEXT PRIMARY KEY, age INTEGER NOT NULL)")
        database.executemany("INSERT INTO people VALUES (?, ?)", [("Ada", 36), ("Grace", 85), ("Joan", 85)])
        database.commit()
    settings: dict[str, Any] = {"url": f"sqlite:///{path}", "role": "change", "tables": {"people": []}}
    await add(scene, "register", "sql", settings, query="read", change="write")
    turn = await scene.begin()
    change = {"sql": "UPDATE people SET age = age + :by WHERE age > 80", "parameters": {"by": 1}}
    calling = await turn.start("register__change", change, "c-1")
    question = await scene.console.call("approvals/get", {"approvalId": await scene.asked("c-1")})
    shown = orjson.dumps(question["preview"]).decode()
    assert "2 rows" in shown, shown
    assert ("86" in shown, "Ada" in shown) == (True, False), shown
    # To show it, it was tried and rolled back.
    assert people(path) == [("Ada", 36), ("Grace", 85), ("Joan", 85)]
    await scene.ada.answer(scene.console, question["approval"]["id"])
    assert (await calling)["outcome"] == "ok"
    assert people(path) == [("Ada", 36), ("Grace", 86), ("Joan", 86)]
    read = await turn.invoke("register__query", {"sql": "SELECT count(*) AS n FROM people WHERE age = 86"})
    assert (read["outcome"], read["structured"]["rows"]) == ("ok", [[2]])
    refused = await turn.invoke("register__query", {"sql": "DELETE FROM people"})
    assert refused["outcome"] == "invalidArguments"
    assert len(people(path)) == 3
