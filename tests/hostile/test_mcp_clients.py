"""Clients of `/mcp` and `countersign mcp` that reach for what belongs to another client, at the running gateway."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import orjson
import pytest

from tests.harness.damage import unwritable
from tests.harness.http import Browser, Reply
from tests.harness.mcp_client import LinePeer
from tests.harness.mcp_web import CALLBACK, FORM, VERIFIER, WebPeer, decide, request_of
from tests.harness.socket import refused
from tests.hostile.raw_socket import connect
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 20.0
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def message_of(reply: Reply) -> dict[str, Any]:
    lines = [line.removeprefix(b"data: ") for line in reply.body.splitlines() if line.startswith(b"data: {")]
    return orjson.loads(lines[-1] if lines else reply.body)


def call(request_id: object, tool: str, what: str, **more: object) -> dict[str, Any]:
    params = {"name": tool, "arguments": {"what": what}, **more}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def ran(scene: Scene, what: str) -> int:
    path = scene.gateway.home / "effects"
    return sum(what in line for line in path.read_text().splitlines()) if path.exists() else 0


async def test_case_162_one_client_cancels_nothing_of_another_by_its_id(scene: Scene) -> None:
    """Two grants, two sessions of one grant, and a program of this machine, which all use the same id."""
    mine, other = await WebPeer(scene.ada).come_in(), await WebPeer(scene.ada).come_in()
    second = WebPeer(scene.ada, mine.client_id, mine.tokens)
    await second.greet()
    local = await (await LinePeer.start(scene.gateway)).greet()
    calling = asyncio.ensure_future(mine.post(call(7, "note", "case 162 cancelled by others")))
    notice = await scene.console.notification("approvals/requested")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    assert (await other.post(cancel)).status == 202
    assert (await second.post(cancel)).status == 202
    await local.send(cancel)
    # With the session of the one and the token of the other, nothing is there.
    assert (await other.post(cancel, headers={"Mcp-Session-Id": mine.session})).status == 404
    for peer in (other, second):
        assert message_of(await peer.post(LIST))["result"]["tools"]
    assert (await local.ask(1, "tools/list"))["result"]["tools"]
    pending = (await scene.console.call("approvals/list", {"status": "pending"}))["approvals"]
    assert notice["approval"]["id"] in {each["id"] for each in pending}
    await scene.ada.answer(scene.console, notice["approval"]["id"])
    async with asyncio.timeout(PATIENCE):
        assert "error" not in message_of(await calling)
    assert ran(scene, "note case 162 cancelled by others") == 1
    assert await local.hang_up() == 0


async def test_case_162_the_same_id_in_two_sessions_is_two_calls(scene: Scene) -> None:
    mine = await WebPeer(scene.ada).come_in()
    second = WebPeer(scene.ada, mine.client_id, mine.tokens)
    await second.greet()
    first = message_of(await mine.post(call(9, "peek", "case 162 here")))
    other = message_of(await second.post(call(9, "peek", "case 162 there")))
    texts = [each["result"]["content"][0]["text"] for each in (first, other)]
    assert texts == ["did peek case 162 here", "did peek case 162 there"]


async def test_case_162_a_task_is_nobody_elses(scene: Scene) -> None:
    mine, other = await WebPeer(scene.ada).come_in(), await WebPeer(scene.ada).come_in()
    second = WebPeer(scene.ada, mine.client_id, mine.tokens)
    await second.greet()
    task = message_of(await mine.post(call(1, "note", "case 162 task", task={})))["result"]["task"]
    notice = await scene.console.notification("approvals/requested")
    for peer in (other, second):
        for number, method in enumerate(("tasks/get", "tasks/result", "tasks/cancel")):
            asked = {"jsonrpc": "2.0", "id": number + 20, "method": method, "params": {"taskId": task["taskId"]}}
            assert message_of(await peer.post(asked))["error"]["data"]["code"] == "not_found", method
        asked = {"jsonrpc": "2.0", "id": 30, "method": "tasks/list"}
        assert message_of(await peer.post(asked))["result"]["tasks"] == []
    pending = (await scene.console.call("approvals/list", {"status": "pending"}))["approvals"]
    assert notice["approval"]["id"] in {each["id"] for each in pending}
    await scene.ada.answer(scene.console, notice["approval"]["id"], "deny")


@pytest.mark.parametrize(
    "raw",
    [
        orjson.dumps([call(1, "peek", "case 162 batch"), call(2, "peek", "case 162 batch")]),
        orjson.dumps([[LIST]]),
        orjson.dumps(call({"a": 1}, "peek", "case 162 batch")),
        orjson.dumps(call([1], "peek", "case 162 batch")),
        orjson.dumps(call(True, "peek", "case 162 batch")),
        orjson.dumps(call(1.5, "peek", "case 162 batch")),
        orjson.dumps(call(None, "peek", "case 162 batch")),
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b'{"a":' * 40_000,
        orjson.dumps(call(1, "peek", "case 162 batch")).replace(b'"name":"peek"', b'"name":"peek","name":"note"'),
        b"\xef\xbb\xbf" + orjson.dumps(call(1, "peek", "case 162 batch")),
        orjson.dumps(call(1, "peek", "case 162 batch")) * 2,
    ],
    ids=lambda raw: repr(raw[:50]),
)
async def test_case_162_a_message_that_two_readers_could_read_differently_runs_nothing(scene: Scene, raw: bytes) -> None:
    peer = await WebPeer(scene.ada).come_in()
    before = ran(scene, "case 162 batch")
    assert (await peer.post(raw=raw)).status == 400
    assert ran(scene, "case 162 batch") == before
    assert (await peer.post(LIST)).status == 200


async def send_raw(scene: Scene, *lines: str, body: bytes) -> int:
    """The status of a request whose head is written as it is."""
    reader, writer = await connect(scene.gateway.port)
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
    async with asyncio.timeout(PATIENCE):
        head = await reader.readuntil(b"\r\n")
    writer.close()
    return int(head.split(b" ", 2)[1])


async def test_case_162_a_head_that_says_two_things_opens_nothing(scene: Scene) -> None:
    mine, other = await WebPeer(scene.ada).come_in(), await WebPeer(scene.ada).come_in()
    body = orjson.dumps(call(3, "peek", "case 162 smuggled"))
    host = f"Host: localhost:{scene.gateway.port}"
    mine_, others = (f"Authorization: Bearer {each.tokens['access_token']}" for each in (mine, other))
    usual = ("Content-Type: application/json", "Accept: application/json, text/event-stream")
    session, length = f"Mcp-Session-Id: {mine.session}", f"Content-Length: {len(body)}"
    post = "POST /mcp HTTP/1.1"
    wrong: tuple[tuple[str, ...], ...] = (
        (post, host, mine_, others, *usual, session, length),
        (post, host, others, mine_, *usual, session, length),
        (post, host, mine_, *usual, f"Mcp-Session-Id: {other.session}", session, length),
        (post, host, "Host: evil.test", mine_, *usual, session, length),
        (post, "Host: evil.test", f"X-Forwarded-Host: localhost:{scene.gateway.port}", mine_, *usual, session, length),
        (post, host, "Origin: null", mine_, *usual, session, length),
        (post, host, "Origin: http://evil.test", "Origin: " + mine.origin, mine_, *usual, session, length),
        (post, host, mine_, *usual, session, length, "Content-Length: 3"),
        (post, host, mine_, *usual, session, length, "Transfer-Encoding: chunked"),
        (post, host, f"Cookie: authorization={mine.tokens['access_token']}", *usual, session, length),
        (f"POST /mcp?access_token={mine.tokens['access_token']} HTTP/1.1", host, *usual, session, length),
        (post, host, f"Authorization : Bearer {mine.tokens['access_token']}", *usual, session, length),
    )
    for lines in wrong:
        assert await send_raw(scene, *lines, body=body) in (400, 401, 403, 404, 421), lines
    assert ran(scene, "case 162 smuggled") == 0
    assert await send_raw(scene, post, host, mine_, *usual, session, length, body=body) == 200


async def test_case_162_no_token_of_another_kind_opens_it(scene: Scene) -> None:
    mine = await WebPeer(scene.ada).come_in()
    model = (await scene.begin()).snapshot
    for value in (mine.tokens["refresh_token"], mine.session, mine.client_id, model["id"], "null", "x" * 10_000):
        reply = await WebPeer(scene.ada).post(LIST, headers={"Authorization": f"Bearer {value}"})
        assert reply.status in (400, 401, 431), value[:40]
    browser = Browser(scene.gateway.port)
    # The token of a client is worth nothing where people are.
    headers = {"Authorization": f"Bearer {mine.tokens['access_token']}"}
    for site in (scene.gateway.agent_origin, scene.gateway.console_origin):
        assert (await browser.get(f"{site}/session", headers=headers)).status in (401, 404)


async def test_case_184_a_stream_that_is_to_be_taken_up_again_begins_anew_for_its_own_session_alone(scene: Scene) -> None:
    mine, other = await WebPeer(scene.ada).come_in(), await WebPeer(scene.ada).come_in()
    head = ("GET /mcp HTTP/1.1", f"Host: localhost:{scene.gateway.port}", f"Authorization: Bearer {mine.tokens['access_token']}")
    usual = ("Accept: text/event-stream", "Mcp-Protocol-Version: 2025-11-25")
    for event in ("0", "1", f"{other.session}/1", "x" * 5_000):
        theirs = (f"Mcp-Session-Id: {other.session}", f"Last-Event-ID: {event}")
        assert await send_raw(scene, *head, *usual, *theirs, body=b"") == 404
        # The stream before is given up, which the gateway may learn a moment later.
        async with asyncio.timeout(PATIENCE):
            while (
                status := await send_raw(
                    scene, *head, *usual, f"Mcp-Session-Id: {mine.session}", f"Last-Event-ID: {event}", body=b""
                )
            ) == 409:
                await asyncio.sleep(0.05)
        assert status == 200, event
    assert (await mine.post(LIST)).status == (await other.post(LIST)).status == 200


@pytest.mark.parametrize("address", ["https://attacker.example/cb", "attackers-app:/cb"])
async def test_case_220_no_link_leads_to_an_address_that_somebody_registered_before_a_person_says_so(
    scene: Scene, address: str
) -> None:
    peer = WebPeer(scene.ada)
    assert (await peer.register(address)).status == 201
    for mistake in (
        {"response_type": "token"},
        {"scope": "admin"},
        {"code_challenge_method": "plain"},
        {"code_challenge": ""},
        {"resource": "https://attacker.example/mcp"},
        {"state": "s" * 6_000},
    ):
        reply = await scene.ada.browser.get(peer.authorization(redirect_uri=address, **mistake))
        if reply.status == 302:
            # To the console, where it is shown who asks and where the answer goes.
            assert reply.headers["Location"].startswith(f"{scene.gateway.console_origin}/connect?"), (mistake, reply)
        else:
            assert (reply.status, "Location" in reply.headers) == (400, False), (mistake, reply)
            assert "error" in reply.json
    request = await request_of(scene.ada.browser, peer.authorization(redirect_uri=address))
    shown = await scene.ada.browser.post(f"{scene.gateway.console_origin}/connect/describe", {"request": request})
    assert shown.json["destination"] == address.removesuffix("/cb")


async def test_case_220_a_link_that_is_sent_to_somebody_else_gives_its_sender_nothing_without_their_yes(scene: Scene) -> None:
    """Whoever sends the page's own link could as well send the one before it, so neither is bound to a browser."""
    peer = WebPeer(scene.ada)
    assert (await peer.register()).status == 201
    request = await request_of(Browser(scene.gateway.port), peer.authorization())
    url = f"{scene.gateway.console_origin}/connect/decide"
    # Neither looking at it nor a page of somebody else decides.
    assert (await scene.ada.browser.get(f"{scene.gateway.console_origin}/connect?request={request}")).status == 200
    forged = {"request": request, "decision": "allow"}
    for page in ("https://attacker.example", scene.gateway.agent_origin, peer.origin, "null"):
        assert (await scene.ada.browser.post(url, forged, origin=page)).status == 403, page
    assert (await Browser(scene.gateway.port).post(url, forged)).status == 401
    # A no is final, and says so to the client alone.
    denied = await scene.ada.browser.post(url, {"request": request, "decision": "deny"})
    assert "error=access_denied" in denied.json["location"]
    assert (await scene.ada.browser.post(url, forged)).status == 404
    # A code that was seen on the way is worth nothing without the client's proof, and then nothing at all.
    code = parse_qs(urlsplit(await decide(scene.ada, await request_of(scene.ada.browser, peer.authorization()))).query)["code"][0]
    assert (await peer.redeem(code=code, code_verifier="guessed" * 7)).status == 400
    assert (await peer.redeem(code=code)).status == 400


async def test_case_194_requests_of_other_clients_push_nobodys_out(scene: Scene) -> None:
    """A program of this machine registers as often as it likes, and each registration asks as often as it likes."""
    honest, greedy = WebPeer(scene.ada), [WebPeer(scene.ada) for _ in range(8)]
    assert (await honest.register()).status == 201
    request = await request_of(scene.ada.browser, honest.authorization())
    for number, peer in enumerate(greedy):
        assert (await peer.register(name=f"greedy {number}")).status == 201
        for _ in range(10):
            await request_of(Browser(scene.gateway.port), peer.authorization())
    assert "code=" in await decide(scene.ada, request)
    # It was decided once, for good, and nobody makes one up from it.
    decided = {"request": request, "decision": "allow"}
    url = f"{scene.gateway.console_origin}/connect/decide"
    assert (await scene.ada.browser.post(url, decided)).status == 404
    fresh = await request_of(scene.ada.browser, honest.authorization())
    for wrong in (f"A{fresh[1:]}", fresh[:-1], f"{fresh}0", fresh.rpartition(".")[0], "é.é", "."):
        assert (await scene.ada.browser.post(url, {**decided, "request": wrong})).status == 404, wrong
    too_long = await scene.ada.browser.get(honest.authorization(state="s" * 6_000))
    assert "error=invalid_request" in too_long.headers["Location"]
    assert "code=" in await decide(scene.ada, fresh)


async def test_case_275_a_stream_ends_with_its_session_and_says_so_to_its_client(scene: Scene) -> None:
    bob = await scene.another("Bob with an open stream", "operator")
    peer = await WebPeer(bob).come_in()
    reader, writer = await connect(scene.gateway.port)
    head = (
        "GET /mcp HTTP/1.1",
        f"Host: localhost:{scene.gateway.port}",
        f"Authorization: Bearer {peer.tokens['access_token']}",
        "Accept: text/event-stream",
        "Mcp-Protocol-Version: 2025-11-25",
        f"Mcp-Session-Id: {peer.session}",
    )
    writer.write("\r\n".join((*head, "", "")).encode())
    async with asyncio.timeout(PATIENCE):
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        waiting = asyncio.create_task(peer.post(call(5, "note", "case 275")))
        console = await bob.console()
        await console.notification("approvals/requested")
        code, said = await scene.gateway.run("people", "suspend", "Bob with an open stream")
        assert code == 0, said
        # The last chunk: the stream is over, and was not cut off.
        assert (await reader.read()).endswith(b"0\r\n\r\n")
        assert b"result" not in (await waiting).body
    writer.close()
    assert ran(scene, "case 275") == 0
    assert "ASGI callable" not in scene.gateway.output


async def test_case_288_a_parameter_that_comes_twice_is_read_by_nobody(scene: Scene) -> None:
    """Whoever looks at a request before the authorization server may take the first of them, and the server the last."""
    peer = WebPeer(scene.ada)
    assert (await peer.register()).status == 201
    twice = f"{peer.authorization(redirect_uri='https://attacker.example/')}&redirect_uri={quote(CALLBACK, safe='')}"
    reply = await scene.ada.browser.get(twice)
    assert (reply.status, reply.json["error"]) == (400, "invalid_request")

    browser, code = Browser(scene.gateway.port), await peer.code()
    honest = {"grant_type": "authorization_code", "client_id": peer.client_id, "redirect_uri": CALLBACK, "code": code}
    form = urlencode([*honest.items(), ("code_verifier", "x" * 43), ("code_verifier", VERIFIER)]).encode()
    reply = await browser.post(f"{peer.origin}/token", raw=form, headers=FORM, origin=None)
    assert (reply.status, reply.json["error"]) == (400, "invalid_request")
    # Nobody has read the code, so it is still good for whoever asks rightly.
    assert (await peer.redeem(code=code)).status == 200

    raw = f'{{"redirect_uris": ["https://attacker.example/"], "redirect_uris": ["{CALLBACK}"]}}'.encode()
    reply = await browser.post(f"{peer.origin}/register", raw=raw, headers={"Content-Type": "application/json"}, origin=None)
    assert (reply.status, reply.json["error"]) == (400, "invalid_client_metadata")


async def test_case_318_what_cannot_be_recorded_neither_ends_a_client_nor_takes_its_token(scene: Scene) -> None:
    """A token that nobody got is not a stolen one, and a client that a person disconnects is gone for good or not at all."""
    peer = await WebPeer(scene.ada).come_in()
    state, refresh = scene.gateway.state, {"grant_type": "refresh_token", "refresh_token": peer.tokens["refresh_token"]}
    with unwritable(state, "client-token:minted"):
        assert (await peer.redeem(**refresh)).status == 503
    assert (await peer.post(LIST)).status == 200
    assert (await peer.redeem(**refresh)).status == 200
    code = await peer.code()
    clients = await connected_to(scene)
    with unwritable(state, "client-token:minted"):
        assert (await WebPeer(scene.ada, peer.client_id).redeem(code=code)).status != 200
    assert await connected_to(scene) == clients
    with unwritable(state, "client-token:revoked"):
        assert await refused(scene.console, "clients/disconnect", {"clientId": clients[-1]}) == "ledger_unavailable"
    assert await connected_to(scene) == clients
    assert (await peer.post(LIST)).status == 200
    await scene.console.call("clients/disconnect", {"clientId": clients[-1]})
    assert (await peer.post(LIST)).status == 401
    assert (await peer.redeem(**{**refresh, "refresh_token": peer.tokens["refresh_token"]})).status == 400


async def connected_to(scene: Scene) -> list[str]:
    return [each["clientId"] for each in (await scene.console.call("clients/list"))["clients"]]
