"""What was begun by a session that lives and is finished once it has ended, at the running gateway."""

from __future__ import annotations

import asyncio
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest

from gateway.core.canonical import Json
from tests.harness.http import Browser
from tests.harness.mcp_web import WebPeer
from tests.harness.person import Person
from tests.hostile.held_request import HeldRequest
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

Ending = Literal["suspend", "remove", "sign out"]
ENDINGS: list[Ending] = ["suspend", "remove", "sign out"]
CALL = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "list_directory", "arguments": {"path": "."}}}


async def end(scene: Scene, bob: Person, name: str, how: Ending) -> None:
    match how:
        case "suspend" | "remove":
            code, said = await scene.gateway.run("people", how, name)
            assert code == 0, said
        case "sign out":
            kept = {host: dict(jar) for host, jar in bob.browser.cookies.items()}
            assert (await bob.sign_out()).status == 204
            bob.browser.cookies.update(kept)


@pytest.mark.parametrize("how", ENDINGS)
async def test_case_267_a_request_that_is_held_back_until_its_session_has_ended_does_nothing(scene: Scene, how: Ending) -> None:
    name = f"Bob who is to {how}"
    bob = await scene.another(name, "operator")
    agent, console = scene.gateway.agent_origin, scene.gateway.console_origin
    login = await bob.browser.get(f"{agent}/login")
    state = parse_qs(urlsplit(login.headers["Location"]).query)["state"][0]
    file: Json = {"source": "chatgpt", "title": "late", "messages": [{"role": "user", "content": "late"}]}
    held = [
        await HeldRequest.begin(bob.browser, f"{console}/authorize", {"state": state}),
        await HeldRequest.begin(bob.browser, f"{console}/devices/offer", {}),
        await HeldRequest.begin(bob.browser, f"{console}/passkeys/options", {}),
        await HeldRequest.begin(bob.browser, f"{agent}/conversations/import", file),
    ]
    await end(scene, bob, name, how)
    assert await asyncio.gather(*(each.finish() for each in held)) == [401] * len(held)


@pytest.mark.parametrize("how", ENDINGS)
async def test_case_268_a_code_of_an_mcp_client_ends_with_the_session_that_allowed_it(scene: Scene, how: Ending) -> None:
    name = f"Bob with a client who is to {how}"
    bob = await scene.another(name, "operator")
    peer = WebPeer(bob)
    code = await peer.code()
    await end(scene, bob, name, how)
    reply = await peer.redeem(code=code)
    assert (reply.status, reply.json["error"]) == (400, "invalid_grant")


async def test_case_267_a_message_of_an_mcp_client_that_is_held_back_until_its_grant_has_ended_does_nothing(scene: Scene) -> None:
    bob = await scene.another("Bob whose client is slow", "operator")
    peer = await WebPeer(bob).come_in()
    headers = {
        "Origin": peer.origin,
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {peer.tokens['access_token']}",
        "Mcp-Session-Id": peer.session,
        "Mcp-Protocol-Version": "2025-11-25",
    }
    held = await HeldRequest.begin(Browser(scene.gateway.port), f"{peer.origin}/mcp", CALL, headers)
    await end(scene, bob, "Bob whose client is slow", "suspend")
    assert await held.finish() == 401
