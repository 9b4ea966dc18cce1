"""The client of docs/examples, written from docs/PROTOCOL.md alone, against the running gateway."""

from __future__ import annotations

import ast
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

CLIENT = Path(__file__).parents[2] / "docs" / "examples" / "minimal_client.py"

PATIENCE = 60.0
"""Seconds that the client may take on a busy machine; a bound, not a measurement."""


async def lines_of(scene: Scene, *arguments: str, cookie: str | None = None) -> AsyncIterator[dict[str, Any]]:
    """What the client prints, and `exit` with its code at the end."""
    host = str(urlsplit(scene.gateway.agent_origin).hostname)
    cookie = cookie or scene.ada.browser.cookies[host]["countersign_agent"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(CLIENT), "--origin", scene.gateway.agent_origin, f"--cookie={cookie}", *arguments),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        async for line in process.stdout:
            yield json.loads(line)
        yield {"event": "exit", "code": await process.wait()}


async def run(scene: Scene, *arguments: str, cookie: str | None = None) -> dict[str, dict[str, Any]]:
    return {line["event"]: line async for line in lines_of(scene, *arguments, cookie=cookie)}


@pytest.mark.requirement("002-26", "a client of its own, of a few lines, calls a tool over the socket")
async def test_an_automatic_tool_runs_and_its_result_is_printed(scene: Scene) -> None:
    told = await run(scene, "peek", '{"what": "x"}')
    assert told["result"]["outcome"] == "ok"
    assert told["calls"]["calls"] == {"call-1": "closed"}
    assert told["exit"]["code"] == 0


@pytest.mark.parametrize(("decision", "outcome", "code"), [("approve", "ok", 0), ("deny", "deniedByUser", 1)])
async def test_a_call_that_needs_consent_waits_for_the_person_on_the_console(
    scene: Scene, decision: str, outcome: str, code: int
) -> None:
    told: dict[str, dict[str, Any]] = {}
    async for line in lines_of(scene, "note", '{"what": "x"}'):
        told[line["event"]] = line
        if line["event"] == "waiting":
            assert line["answer"].startswith(scene.gateway.console_origin)
            await scene.ada.answer(scene.console, line["answer"].rpartition("/")[2], decision)
    assert told["result"]["outcome"] == outcome
    assert told["exit"]["code"] == code


async def test_a_tool_that_is_forbidden_for_a_guest_is_an_outcome_and_not_an_error(scene: Scene) -> None:
    guest = await scene.another("Greta", "guest")
    cookie = guest.browser.cookies[str(urlsplit(scene.gateway.agent_origin).hostname)]["countersign_agent"]
    told = await run(scene, "administer", '{"what": "x"}', cookie=cookie)
    assert "administer" not in told["turn"]["tools"]
    assert (told["result"]["outcome"], told["result"]["reason"]) == ("unknownTool", "notAdvertised")
    assert told["exit"]["code"] == 1


async def test_arguments_that_are_no_object_are_an_error_of_the_protocol(scene: Scene) -> None:
    told = await run(scene, "peek", "[]")
    assert "-32602" in told["failed"]["why"]
    assert told["exit"]["code"] == 2


@pytest.mark.requirement("002-84", "a client without a session gets no connection")
async def test_without_a_session_there_is_no_connection(scene: Scene) -> None:
    told = await run(scene, "peek", cookie="nobody")
    assert "401" in told["failed"]["why"]
    assert told["exit"]["code"] == 2


async def test_it_is_short_and_needs_nothing_but_the_standard_library_and_websockets() -> None:
    source = CLIENT.read_text(encoding="utf-8")
    assert len(source.splitlines()) < 150
    imported: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {each.name.partition(".")[0] for each in node.names}
        if isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    assert imported - set(sys.stdlib_module_names) == {"websockets"}
