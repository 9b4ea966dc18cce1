"""What holds for the driver of every kind of added source, tried on a real one of each.

A kind joins by one more entry of `KINDS`, which gives a driver whose other side offers a tool that gives a text back.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from gateway.adapters.tools.kinds import build_driver, check_settings
from gateway.adapters.tools.offer import DriverResources, SourceAway, SourceDriver, SourceOffer, ToolOffer, read_described
from gateway.adapters.tools.schemas import Validator
from gateway.core.canonical import Json
from gateway.core.effects import names_in
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.sources import SourceKind
from tests.adapters.tools.conftest import make_context
from tests.adapters.tools.mcp.servers import HeardListener, find_sandbox

ECHO_SERVER = """
from mcp.server import MCPServer
server = MCPServer("echo")

@server.tool()
def echo(text: str) -> str:
    \"\"\"Give the text back.\"\"\"
    return text

server.run()
"""


def mcp_settings(here: Path) -> Mapping[str, Json]:
    (here / "server.py").write_text(ECHO_SERVER)
    return {"command": sys.executable, "args": [str(here / "server.py")]}


def http_settings(here: Path) -> Mapping[str, Json]:
    return {
        "base_url": (here / "address").read_text() if (here / "address").exists() else "https://api.example.com",
        "allow_private": True,
        "calls": [
            {
                "name": "echo",
                "method": "GET",
                "path": "/echo",
                "description": "Give the text back.",
                "parameters": [{"name": "text", "in": "query", "schema": {"type": "string"}, "required": True}],
            }
        ],
    }


def sql_settings(here: Path) -> Mapping[str, Json]:
    with closing(sqlite3.connect(here / "echo.db")) as made:
        made.execute("CREATE TABLE IF NOT EXISTS said (text TEXT)")
        made.commit()
    return {"url": f"sqlite:///{here / 'echo.db'}", "tables": {"said": []}}


@dataclass(frozen=True)
class Kind:
    """How a kind is set up, and how its tool is asked to give a text back."""

    settings: Callable[[Path], Mapping[str, Json]]
    tool: str = "echo"
    arguments: Mapping[str, Json] = field(default_factory=lambda: {"text": "hello"})


KINDS: dict[SourceKind, Kind] = {
    SourceKind.MCP: Kind(mcp_settings),
    SourceKind.HTTP: Kind(http_settings),
    SourceKind.SQL: Kind(sql_settings, "query", {"sql": "SELECT :text AS said", "parameters": {"text": "hello"}}),
}


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Path]:
    """A folder with what the other sides need; the address of an API that gives back what it is asked stands in a file."""

    async def echo(request: web.Request) -> web.Response:
        return web.json_response({"said": request.query["text"]})

    app = web.Application()
    app.router.add_get("/echo", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    (tmp_path / "address").write_text(f"http://127.0.0.1:{runner.addresses[0][1]}")
    yield tmp_path
    await runner.cleanup()


@dataclass(frozen=True)
class Subject:
    """A driver with the tool of its kind that gives a text back."""

    driver: SourceDriver
    kind: Kind

    async def open(self) -> SourceOffer:
        return await self.driver.open(HeardListener())

    async def tool(self) -> ToolOffer:
        [tool] = [each for each in (await self.open()).tools if each.name == self.kind.tool]
        return tool

    async def say(self, tool: ToolOffer) -> str:
        return (await self.driver.call(tool, self.kind.arguments, make_context())).text


@pytest.fixture(params=KINDS)
async def subject(request: pytest.FixtureRequest, here: Path) -> AsyncIterator[Subject]:
    kind = KINDS[request.param]
    resources = DriverResources("contract", here / "source", (), find_sandbox, lambda setting: setting)
    settings = check_settings(request.param, kind.settings(here))
    made = build_driver(request.param, settings, resources)
    yield Subject(made, kind)
    await made.close()


def test_every_kind_of_source_keeps_this_contract() -> None:
    assert set(KINDS) == set(SourceKind)


async def test_what_is_offered_can_be_pinned_published_and_read_again(subject: Subject) -> None:
    offer = await subject.open()

    for tool in offer.tools:
        Validator(tool.param_schema)
        assert read_described(json.loads(json.dumps(tool.described()))).described() == tool.described()
        assert all(names_in(text) == () or text for text in (tool.summary, *tool.effects))
        assert tool.because
        assert len(offer.pin(tool)) == 64


async def test_opening_again_offers_the_same(subject: Subject) -> None:
    assert await subject.open() == await subject.open()


async def test_a_call_gives_back_what_the_other_side_says(subject: Subject) -> None:
    tool = await subject.tool()

    assert list(subject.driver.find_faults(tool, subject.kind.arguments)) == []
    subject.driver.facts(tool, subject.kind.arguments)
    assert "hello" in await subject.say(tool)


async def test_a_closed_driver_runs_nothing_and_can_be_opened_again(subject: Subject) -> None:
    await subject.driver.close()
    tool = await subject.tool()
    await subject.driver.close()
    await subject.driver.close()

    with pytest.raises((SourceAway, ToolFailed)):
        await subject.say(tool)
    assert "hello" in await subject.say(await subject.tool())


async def test_a_closed_driver_leaves_no_thread_behind(subject: Subject) -> None:
    before = set(threading.enumerate())
    await subject.say(await subject.tool())
    await subject.driver.close()

    for thread in set(threading.enumerate()) - before:
        # Those of the event loop's own executor are the tests'.
        if not thread.name.startswith("asyncio"):
            await asyncio.to_thread(thread.join, 5)
            assert not thread.is_alive(), thread.name


@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_that_is_not_known_is_refused_by_name(kind: SourceKind, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no_such_setting"):
        check_settings(kind, {**KINDS[kind].settings(tmp_path), "no_such_setting": 1})
