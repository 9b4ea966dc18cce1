"""Sources that a person added, in the terminal: the tools of the first turn, through the same gate as in the shell."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest

from gateway.adapters.inference.scripted import Reply
from tests.harness.terminal import agent_command, call

SERVER = Path(__file__).parents[1] / "harness" / "changing_mcp_server.py"
SOURCES = """
[sources.server]
kind = "mcp"
command = {command}
writable = [{folder}]
tools = {{ look = "read", keep = "destructive" }}

[sources.shop]
kind = "sql"
url = {database}
tools = {{ query = "read" }}

[sources.gone]
kind = "mcp"
command = ["nonesuch-server"]
tools = {{ look = "read" }}
"""
QUESTION = r"Allow it\? .*\[y/.*N\] "


@pytest.fixture
def home(tmp_path: Path) -> Path:
    served = tmp_path / "served"
    served.mkdir()
    (served / "offers").write_text("look|readOnlyHint|Look at a text.\nkeep|destructiveHint|Keep a text.\n")
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE orders (item TEXT)")
        connection.execute("INSERT INTO orders VALUES ('tea')")
    command = json.dumps([sys.executable, str(SERVER), str(served / "offers")])
    database = json.dumps(f"sqlite:///{tmp_path / 'shop.db'}")
    settings = SOURCES.format(command=command, folder=json.dumps(str(served)), database=database)
    (tmp_path / "countersign.toml").write_text(settings)
    return tmp_path


def calls(home: Path) -> list[str]:
    path = home / "served" / "offers.calls"
    return path.read_text().splitlines() if path.exists() else []


async def test_the_first_turn_has_the_tools_of_the_sources_and_says_which_is_away(home: Path) -> None:
    replies = [call("server__look", text="first"), call("shop__query", sql="SELECT item FROM orders"), Reply("There is tea.")]
    async with agent_command(home, *replies) as at:
        code, out, err = await at.run("--single", "what is there?")
        told = json.dumps(at.backend.asked[-1], default=str)
    assert (code, out) == (0, "There is tea.\n"), err
    assert (len(calls(home)), "tea" in told) == (1, True)
    assert "The source `gone` is away: the program `nonesuch-server` is not found" in err


async def test_what_a_source_offers_passes_the_same_gate(home: Path) -> None:
    async with agent_command(home, call("server__keep", text="mine"), Reply("Not kept.")) as at:
        code, out, err = await at.run("--single", "keep it")
    assert (code, out, calls(home)) == (3, "Not kept.\n", [])
    assert "There is no passkey that may confirm `server__keep`" in err
