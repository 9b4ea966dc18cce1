"""Who is connected, how a person ends that, and what a restart of the gateway leaves of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gateway.runtime.clients import NAME_LENGTH, VERSION_LENGTH
from tests.harness.mcp_client import LinePeer
from tests.harness.mcp_web import WebPeer
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene, ada, gateway, scene

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 20.0
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
NOTE = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "note", "arguments": {"what": "disconnected"}}}


async def listed(console: Socket) -> list[dict[str, Any]]:
    return (await console.call("clients/list"))["clients"]


async def bodies(scene: Scene, event: str) -> list[dict[str, Any]]:
    found = await scene.console.call("audit/list", {"filter": {"event": event}, "limit": 50})
    return [entry["body"] for entry in found["entries"]]


async def called(scene: Scene, name: str) -> WebPeer:
    peer = WebPeer(scene.ada)
    await peer.register(name=name)
    return await peer.come_in()


async def introduced(scene: Scene, name: str, version: str) -> LinePeer:
    peer = await LinePeer.start(scene.gateway, "--as", "Operator")
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": version}}
    assert "result" in await peer.ask("hello", "initialize", params)
    await peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert "result" in await peer.ask(1, "tools/list")
    return peer


async def test_a_program_of_this_machine_is_listed_until_it_is_disconnected(scene: Scene) -> None:
    peer = await introduced(scene, "editor\u202e\x1b[2J" + "x" * 200, "9" * 200)
    [client] = await listed(scene.console)
    assert (client["transport"], client["principalName"], client["connections"], client["label"]) == (
        "stdio",
        "Operator",
        1,
        "public",
    )
    assert "lastCallAt" not in client
    # What it calls itself can move nothing on a page or a terminal.
    assert client["name"].startswith("editor\\u202e\\u001b[2J")
    assert len(client["name"]) < NAME_LENGTH + 20
    assert len(client["version"]) == VERSION_LENGTH
    assert "result" in await peer.call(2, "peek", what="seen")
    assert (await listed(scene.console))[0]["lastCallAt"] >= client["since"]
    await peer.request(3, "tools/call", {"name": "note", "arguments": {"what": "disconnected"}})
    notice = await scene.console.notification("approvals/requested")
    await scene.console.call("clients/disconnect", {"clientId": client["clientId"]})
    assert await peer.ended() == 1
    resolved = await scene.console.notification("approvals/resolved", approvalId=notice["approval"]["id"])
    assert resolved["status"] == "cancelled"
    assert await listed(scene.console) == []
    ended = await bodies(scene, "agent-session:ended")
    assert ended[0]["reason"] == "revoked"


async def test_a_client_over_http_that_is_disconnected_is_out_at_once(scene: Scene) -> None:
    peer = await WebPeer(scene.ada).come_in()
    assert (await peer.post(LIST)).status == 200
    [client] = await listed(scene.console)
    assert (client["transport"], client["name"], client["version"], client["connections"]) == ("http", "peer", "0", 1)
    calling = asyncio.ensure_future(peer.post(NOTE))
    notice = await scene.console.notification("approvals/requested")
    await scene.console.call("clients/disconnect", {"clientId": client["clientId"]})
    resolved = await scene.console.notification("approvals/resolved", approvalId=notice["approval"]["id"])
    assert resolved["status"] == "cancelled"
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(calling, return_exceptions=True)
    assert (await peer.post(LIST)).status == 401
    assert (await peer.redeem(grant_type="refresh_token", refresh_token=peer.tokens["refresh_token"])).status == 400
    assert await listed(scene.console) == []
    revoked = (await bodies(scene, "client-token:revoked"))[0]
    assert (revoked["reason"], revoked["by"]) == ("person", revoked["principalId"])
    granted = (await bodies(scene, "client:granted"))[0]
    assert (granted["grantId"], granted["resource"]) == (client["clientId"], f"{peer.origin}/mcp")


async def test_a_guest_sees_and_disconnects_only_what_acts_for_them(scene: Scene) -> None:
    guest = await scene.another("Gil", "guest")
    console = await guest.console()
    mine, theirs = await WebPeer(scene.ada).come_in(), await WebPeer(guest).come_in()
    everybodys = {client["principalName"]: client["clientId"] for client in await listed(scene.console)}
    assert set(everybodys) == {"Operator", "Gil"}
    assert [client["clientId"] for client in await listed(console)] == [everybodys["Gil"]]
    with pytest.raises(RpcError) as refused:
        await console.call("clients/disconnect", {"clientId": everybodys["Operator"]})
    assert refused.value.code == -32003
    assert (await mine.post(LIST)).status == 200
    # An operator may end everybody's.
    await scene.console.call("clients/disconnect", {"clientId": everybodys["Gil"]})
    assert (await theirs.post(LIST)).status == 401
    await scene.console.call("clients/disconnect", {"clientId": everybodys["Operator"]})
    await guest.leave()


async def test_the_command_line_lists_and_disconnects_beside_the_gateway(scene: Scene) -> None:
    local, remote = await introduced(scene, "editor\n", "1"), await WebPeer(scene.ada).come_in()
    code, output = await scene.gateway.run("mcp", "clients", "list")
    assert code == 0, output
    first, second = output.splitlines()
    assert "stdio" in first
    assert first.endswith("public  editor\\n 1")
    assert "http" in second
    assert second.endswith("public  peer 0")
    for line in (first, second):
        code, output = await scene.gateway.run("mcp", "clients", "revoke", line.split()[0])
        assert code == 0, output
    assert await local.ended() == 1
    assert (await remote.post(LIST)).status == 401
    assert (await bodies(scene, "client-token:revoked"))[0]["reason"] == "terminal"
    code, output = await scene.gateway.run("mcp", "clients", "revoke", "cgr_nothing")
    assert (code, "there is no such client" in output) == (2, True), output


async def test_a_restart_ends_no_grant_and_brings_none_back(scene: Scene) -> None:
    kept, renewed, replaying, again, revoked = [
        await called(scene, name) for name in ("kept", "renewed", "replaying", "again", "revoked")
    ]
    code = await (late := WebPeer(scene.ada)).code()
    assert (await late.redeem(code=code)).status == 200
    old = replaying.tokens["refresh_token"]
    assert (await replaying.redeem(grant_type="refresh_token", refresh_token=old)).status == 200
    guest = await scene.another("Gus", "guest")
    signed_out = await WebPeer(guest).come_in()
    assert (await guest.sign_out()).status == 204
    ids = {client["name"]: client["clientId"] for client in await listed(scene.console)}
    await scene.console.call("clients/disconnect", {"clientId": ids.pop("revoked")})
    await scene.shell.close()
    await scene.console.close()
    assert await scene.gateway.stop() == 0

    # Without a gateway the command line reads and ends the same grants.
    status, output = await scene.gateway.run("mcp", "clients", "list")
    assert status == 0, output
    assert {line.split()[0] for line in output.splitlines()} == set(ids.values())
    assert (await scene.gateway.run("mcp", "clients", "revoke", ids.pop("again")))[0] == 0

    await scene.gateway.start()
    scene.console = await scene.ada.console()
    assert {client["clientId"] for client in await listed(scene.console)} == set(ids.values())
    await kept.greet()
    assert (await kept.post(LIST)).status == 200
    for peer in (revoked, again, signed_out):
        assert (await peer.post(LIST)).status == 401
    assert (await renewed.redeem(grant_type="refresh_token", refresh_token=renewed.tokens["refresh_token"])).status == 200
    await renewed.greet()

    # What was used before the restart is known to have been used.
    await replaying.greet()
    assert (await replaying.redeem(grant_type="refresh_token", refresh_token=old)).status == 400
    assert (await replaying.post(LIST)).status == 401
    good = dict(late.tokens)
    assert (await late.redeem(code=code)).status == 400
    late.tokens = good
    assert (await late.post(LIST)).status == 401
    assert {body["reason"] for body in await bodies(scene, "client-token:refused")} >= {"replayed", "code"}


async def test_no_secret_of_a_client_stands_in_the_database(scene: Scene) -> None:
    peer = await WebPeer(scene.ada).come_in()
    assert (await peer.redeem(grant_type="refresh_token", refresh_token=peer.tokens["refresh_token"])).status == 200
    stored = b"".join(path.read_bytes() for path in scene.gateway.state.glob("*.db*"))
    assert stored
    for secret in (peer.tokens["access_token"], peer.tokens["refresh_token"]):
        assert secret.encode() not in stored
