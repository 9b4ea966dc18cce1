"""`/mcp` of a running gateway: the SDK's client with its OAuth, and clients that cheat."""

from __future__ import annotations

import asyncio
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from mcp_types import TextContent

from tests.harness.http import Browser, Reply
from tests.harness.mcp_web import FORM, KeptTokens, WebPeer, connected, decide, request_of
from tests.scenarios.conftest import Scene, ada, gateway, scene

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 20.0
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def message_of(reply: Reply) -> dict[str, Any]:
    """The last message of a reply that is a stream."""
    lines = [line.removeprefix(b"data: ") for line in reply.body.splitlines() if line.startswith(b"data: {")]
    return orjson.loads(lines[-1])


async def bodies(scene: Scene, event: str) -> list[dict[str, Any]]:
    listed = await scene.console.call("audit/list", {"filter": {"event": event}, "limit": 50})
    return [entry["body"] for entry in listed["entries"]]


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_the_sdks_client_is_let_in_on_the_console_and_calls_through_the_gate(
    scene: Scene, era: Literal["legacy", "auto"]
) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async with connected(scene.ada, mode=era) as client:
        said = client.server_capabilities.tools
        assert said is not None
        assert said.list_changed
        assert {"peek", "note"} <= {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("peek", {"what": "web"})
        assert result.content == [TextContent(type="text", text="did peek web")]
        calling = asyncio.ensure_future(client.call_tool("note", {"what": "web"}, progress_callback=hear))
        notice = await scene.console.notification("approvals/requested")
        await scene.ada.answer(scene.console, notice["approval"]["id"])
        async with asyncio.timeout(PATIENCE):
            assert not (await calling).is_error
        assert heard[0] is not None
        assert notice["approval"]["id"] in heard[0]
    assert (await bodies(scene, "call:intended"))[0]["runner"] == "mcp-client"
    assert (await bodies(scene, "client-token:minted"))[0]["sessionId"].startswith("ses_")


async def test_without_a_token_the_answer_says_where_to_get_one(scene: Scene) -> None:
    peer = WebPeer(scene.ada)
    reply = await peer.post(LIST)
    assert reply.status == 401
    metadata = reply.headers["WWW-Authenticate"].partition('resource_metadata="')[2].partition('"')[0]
    resource = (await Browser(scene.gateway.port).get(metadata)).json
    assert resource["resource"] == f"{peer.origin}/mcp"
    [server] = resource["authorization_servers"]
    # As of many clients, which name that type in every request.
    typed = {"Content-Type": "application/json"}
    described = (await Browser(scene.gateway.port).get(f"{server}/.well-known/oauth-authorization-server", headers=typed)).json
    assert (described["issuer"], described["code_challenge_methods_supported"]) == (server, ["S256"])
    # The cookies of a person at the console or the shell are worth nothing here.
    for jar in scene.ada.browser.cookies.values():
        cookie = "; ".join(f"{name}={value}" for name, value in jar.items())
        assert (await peer.post(LIST, headers={"Cookie": cookie})).status == 401


async def test_a_page_of_another_origin_or_another_host_is_turned_away(scene: Scene) -> None:
    peer = await WebPeer(scene.ada).come_in()
    assert (await peer.post(LIST)).status == 200
    assert (await peer.post(LIST, origin="http://evil.test")).status == 403
    assert (await peer.post(LIST, origin=scene.gateway.console_origin)).status == 403
    assert (await peer.post(LIST, headers={"Host": f"evil.test:{scene.gateway.port}"})).status == 421
    assert (await peer.post(LIST, url=f"{scene.gateway.agent_origin}/mcp")).status in (404, 405)
    assert (await peer.post(LIST, url=f"{scene.gateway.console_origin}/mcp")).status in (404, 405)


@pytest.mark.parametrize(
    "redirect",
    [
        "javascript:alert(1)",
        "http://evil.test/callback",
        "data:text/html,x",
        "file:///etc/passwd",
        "view-source:https://console.localhost/",
        "https://a.test/#x",
        "https://bank.test@evil.test/",
        "x" * 300,
    ],
)
async def test_a_client_cannot_register_an_address_that_no_client_has(scene: Scene, redirect: str) -> None:
    assert (await WebPeer(scene.ada).register(redirect)).status == 400


async def test_a_request_without_proof_for_another_address_or_audience_reaches_no_person(scene: Scene) -> None:
    peer = WebPeer(scene.ada)
    assert (await peer.register()).status == 201
    for changed, error in (
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": ""}, None),
        ({"resource": "https://other.test/mcp"}, "invalid_target"),
        ({"response_type": "token"}, "unsupported_response_type"),
    ):
        reply = await scene.ada.browser.get(peer.authorization(**changed))
        location = reply.headers.get("Location", "")
        assert "/connect" not in location or error is None, changed
        if error is not None:
            said = parse_qs(urlsplit(location).query)
            assert (said["error"], said["iss"]) == ([error], [peer.origin])
    for changed in ({"redirect_uri": "http://127.0.0.1:9/other"}, {"client_id": f"{peer.client_id}x"}):
        assert (await scene.ada.browser.get(peer.authorization(**changed))).status == 400


async def test_a_persons_no_gives_no_code_and_is_on_record(scene: Scene) -> None:
    peer = WebPeer(scene.ada)
    await peer.register()
    request = await request_of(scene.ada.browser, peer.authorization())
    described = await scene.ada.browser.post(f"{scene.gateway.console_origin}/connect/describe", {"request": request})
    assert described.json == {"client": "peer", "destination": "http://127.0.0.1:4321"}
    said = parse_qs(urlsplit(await decide(scene.ada, request, "deny")).query)
    assert (said["error"], said["state"], "code" in said) == (["access_denied"], ["st"], False)
    assert (await bodies(scene, "client-token:refused"))[0]["reason"] == "person"
    decided = {"request": request, "decision": "allow"}
    assert (await scene.ada.browser.post(f"{scene.gateway.console_origin}/connect/decide", decided)).status == 404


async def test_only_the_console_of_a_person_who_is_signed_in_decides(scene: Scene) -> None:
    peer = WebPeer(scene.ada)
    await peer.register()
    request = await request_of(scene.ada.browser, peer.authorization())
    url, decided = f"{scene.gateway.console_origin}/connect/decide", {"request": request, "decision": "allow"}
    assert (await Browser(scene.gateway.port).post(url, decided)).status == 401
    assert (await scene.ada.browser.post(url, decided, origin=scene.gateway.agent_origin)).status == 403
    assert (await scene.ada.browser.post(url, decided, origin=peer.origin)).status == 403
    assert await decide(scene.ada, request)


async def test_a_code_is_good_once_for_its_client_with_its_proof(scene: Scene) -> None:
    peer = WebPeer(scene.ada)
    for wrong in (
        {"code_verifier": "w" * 43},
        {"redirect_uri": "http://127.0.0.1:9/other"},
        {"resource": "https://other.test/mcp"},
    ):
        code = await peer.code()
        assert (await peer.redeem(code=code, **wrong)).status == 400
        # Whoever has seen it may be somebody else: it is worth nothing more.
        assert (await peer.redeem(code=code)).status == 400
    code = await peer.code()
    other = WebPeer(scene.ada)
    await other.register("http://127.0.0.1:9/callback")
    assert (await other.redeem(code=code, redirect_uri="http://127.0.0.1:9/callback")).status == 400


async def test_a_code_that_is_used_twice_ends_what_the_first_use_gave(scene: Scene) -> None:
    peer = WebPeer(scene.ada)
    code = await peer.code()
    assert (await peer.redeem(code=code)).status == 200
    assert (await peer.redeem(code=code)).status == 400
    assert (await peer.post(LIST)).status == 401
    assert (await bodies(scene, "client-token:refused"))[0]["reason"] == "code"


async def test_a_refresh_token_is_good_once_and_an_old_one_ends_the_grant(scene: Scene) -> None:
    peer = await WebPeer(scene.ada).come_in()
    first = dict(peer.tokens)
    assert (await peer.redeem(grant_type="refresh_token", refresh_token=first["refresh_token"])).status == 200
    assert (await peer.post(LIST)).status == 200
    assert (await peer.post(LIST, headers={"Authorization": f"Bearer {first['access_token']}"})).status == 401
    assert (await peer.redeem(grant_type="refresh_token", refresh_token=first["refresh_token"])).status == 400
    assert (await peer.post(LIST)).status == 401
    assert (await bodies(scene, "client-token:refused"))[0]["reason"] == "replayed"


async def test_a_token_opens_no_session_of_another_grant(scene: Scene) -> None:
    one, other = await WebPeer(scene.ada).come_in(), await WebPeer(scene.ada).come_in()
    assert (await one.post(LIST, headers={"Mcp-Session-Id": other.session})).status == 404


async def test_a_revoked_token_ends_its_session_and_what_waits(scene: Scene) -> None:
    peer = await WebPeer(scene.ada).come_in()
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "note", "arguments": {"what": "revoked"}}}
    calling = asyncio.ensure_future(peer.post(call))
    notice = await scene.console.notification("approvals/requested")
    browser = Browser(scene.gateway.port)
    form = f"token={peer.tokens['access_token']}&client_id={peer.client_id}".encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (await browser.post(f"{peer.origin}/revoke", raw=form, headers=headers, origin=None)).status == 200
    resolved = await scene.console.notification("approvals/resolved", approvalId=notice["approval"]["id"])
    assert resolved["status"] == "cancelled"
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(calling, return_exceptions=True)
    assert (await peer.post(LIST)).status == 401
    assert (await bodies(scene, "client-token:revoked"))[0]["sessionId"].startswith("ses_")


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400),
        (b"[" * 100_000, 400),
        (b" " * 300_000, 413),
    ],
)
async def test_a_body_that_is_no_message_is_refused(scene: Scene, raw: bytes, status: int) -> None:
    peer = await WebPeer(scene.ada).come_in()
    assert (await peer.post(raw=raw)).status == status
    assert (await peer.post(LIST)).status == 200


@pytest.mark.parametrize("path", ["/token", "/revoke", "/register"])
async def test_a_form_of_another_kind_or_size_is_refused_before_it_is_read(scene: Scene, path: str) -> None:
    """The SDK's parser raises for a form in parts that has no boundary: a 500 with a traceback, for anybody."""
    url = f"{WebPeer(scene.ada).origin}{path}"
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x", "text/plain"):
        reply = await Browser(scene.gateway.port).post(url, raw=b"[]", headers={"Content-Type": kind}, origin=None)
        assert (reply.status, reply.json["error"]["code"]) == (415, "unsupported_media_type")
    assert (await Browser(scene.gateway.port).post(url, raw=b"x" * 20_000, headers=FORM, origin=None)).status == 413


@pytest.mark.parametrize("raw", [b"a=1&" * 3_000, b"=&" * 8_000, b"&" * 16_000, b"\xff\xfe=%ff%00&;&==", b"%", b""])
async def test_case_186_a_form_that_takes_its_parser_apart_is_refused_without_a_trace(scene: Scene, raw: bytes) -> None:
    for path in ("/token", "/revoke", "/register"):
        reply = await Browser(scene.gateway.port).post(f"{WebPeer(scene.ada).origin}{path}", raw=raw, headers=FORM, origin=None)
        assert (reply.status, "error" in reply.json) in ((400, True), (401, True)), (path, reply.body)
    assert "Traceback" not in scene.gateway.output


async def test_the_same_request_of_a_session_runs_once(scene: Scene) -> None:
    peer = await WebPeer(scene.ada).come_in()
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "peek", "arguments": {"what": "web once"}}}
    first, again = message_of(await peer.post(call)), message_of(await peer.post(call))
    assert again["result"]["content"] == first["result"]["content"]
    assert again["result"]["_meta"]["countersign/replayed"] is True
    lines = (scene.gateway.home / "effects").read_text().splitlines()
    assert sum("peek web once" in line for line in lines) == 1


async def test_signing_out_on_the_console_ends_what_it_let_in(scene: Scene) -> None:
    guest = await scene.another("Gil", "guest")
    kept = KeptTokens()
    async with connected(guest, kept=kept) as client:
        assert "administer" not in {tool.name for tool in (await client.list_tools()).tools}
        assert kept.tokens is not None
        peer = WebPeer(guest, tokens={"access_token": kept.tokens.access_token})
        assert (await guest.sign_out()).status == 204
        assert (await peer.post(LIST)).status == 401
    await guest.leave()
