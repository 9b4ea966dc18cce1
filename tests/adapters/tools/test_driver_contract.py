"""What holds for the driver of every kind of added source, tried on a real one of each.

A kind joins by one more entry of `KINDS`, which gives a driver whose other side offers a tool `echo` that gives its `text` back.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from gateway.adapters.tools.kinds import build_driver, check_settings
from gateway.adapters.tools.offer import DriverResources, SourceAway, SourceDriver, SourceOffer, read_described
from gateway.adapters.tools.schemas import Validator
from gateway.core.canonical import Json
from gateway.core.effects import names_in
from gateway.core.errors import Misconfigured
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


KINDS: dict[SourceKind, Callable[[Path], Mapping[str, Json]]] = {SourceKind.MCP: mcp_settings}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture(params=KINDS)
async def driver(request: pytest.FixtureRequest, here: Path) -> AsyncIterator[SourceDriver]:
    resources = DriverResources("contract", here / "source", (), find_sandbox, lambda setting: setting)
    settings = check_settings(request.param, KINDS[request.param](here))
    made = build_driver(request.param, settings, resources)
    yield made
    await made.close()


async def open_driver(driver: SourceDriver) -> SourceOffer:
    return await driver.open(HeardListener())


async def test_what_is_offered_can_be_pinned_published_and_read_again(driver: SourceDriver) -> None:
    offer = await open_driver(driver)
    [tool] = [each for each in offer.tools if each.name == "echo"]

    Validator(tool.param_schema)
    assert read_described(json.loads(json.dumps(tool.described()))).described() == tool.described()
    assert all(names_in(text) == () or text for text in (tool.summary, *tool.effects))
    assert tool.because
    assert len(offer.pin(tool)) == 64


async def test_opening_again_offers_the_same(driver: SourceDriver) -> None:
    assert await open_driver(driver) == await open_driver(driver)


async def test_a_call_gives_back_what_the_other_side_says(driver: SourceDriver) -> None:
    [tool] = [each for each in (await open_driver(driver)).tools if each.name == "echo"]

    assert driver.find_faults(tool, {"text": "hello"}) == ()
    driver.facts(tool, {"text": "hello"})
    assert "hello" in (await driver.call(tool, {"text": "hello"}, make_context())).text


async def test_a_closed_driver_runs_nothing_and_can_be_opened_again(driver: SourceDriver) -> None:
    await driver.close()
    [tool] = [each for each in (await open_driver(driver)).tools if each.name == "echo"]
    await driver.close()
    await driver.close()

    with pytest.raises(SourceAway):
        await driver.call(tool, {"text": "hello"}, make_context())
    await open_driver(driver)
    assert "hello" in (await driver.call(tool, {"text": "hello"}, make_context())).text


@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_that_is_not_known_is_refused_by_name(kind: SourceKind, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no_such_setting"):
        check_settings(kind, {**KINDS[kind](tmp_path), "no_such_setting": 1})
