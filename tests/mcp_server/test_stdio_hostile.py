"""MCP clients that keep to no rule: typed errors, nothing runs that should not, and nothing of it reaches the gateway's log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest
import pytest_asyncio

from tests.harness.mcp_client import LinePeer
from tests.harness.person import Person
from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import Scene, ada, gateway, make_gateway, scene

__all__ = ["ada", "gateway", "scene"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 20.0


@pytest_asyncio.fixture(loop_scope="module")
async def peer(scene: Scene) -> AsyncIterator[LinePeer]:
    opened = await (await LinePeer.start(scene.gateway)).greet()
    yield opened
    await opened.kill()


def effects(scene: Scene, word: str) -> int:
    """How many lines of the file of effects have that word."""
    path = scene.gateway.home / "effects"
    return sum(word in line for line in path.read_text().splitlines()) if path.exists() else 0


async def asked(scene: Scene) -> str:
    notice = await scene.console.notification("approvals/requested")
    return str(notice["approval"]["id"])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{" * 100, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001, -32700),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', -32700),
        (b"\xff\xfe", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 300_000 + b'"}', -32700),
        (b"[]", -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc":"1.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":"' + b"i" * 129 + b'","method":"ping"}', -32600),
    ],
)
async def test_a_line_that_is_no_message_gets_its_error_and_the_connection_stays(peer: LinePeer, line: bytes, code: int) -> None:
    await peer.write(line + b"\n")
    assert (await peer.answer(None))["error"]["code"] == code
    assert "result" in await peer.ask("after", "ping")


async def test_the_fifth_line_that_is_no_message_ends_the_connection(scene: Scene) -> None:
    peer = await (await LinePeer.start(scene.gateway)).greet()
    await peer.write(b"nonsense\n" * 5)
    assert await peer.ended() == 1
    assert "too many malformed messages" in await peer.notes()


async def test_a_line_without_an_end_is_not_kept_in_memory(scene: Scene, peer: LinePeer) -> None:
    gateway_process = psutil.Process(scene.gateway.pid)
    before = gateway_process.memory_info().rss
    for _ in range(64):
        await peer.write(b"x" * 1024 * 1024)
    await peer.write(b"\n")
    assert (await peer.answer(None))["error"]["data"]["code"] == "malformed_json"
    assert gateway_process.memory_info().rss - before < 32 * 1024 * 1024
    assert "result" in await peer.ask("after", "ping")


async def test_a_value_that_not_every_reader_can_hold_is_refused_under_the_requests_own_id(peer: LinePeer) -> None:
    await peer.write(
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"peek","arguments":{"what":"a\\u0000b"}}}\n'
    )
    assert (await peer.answer(9))["error"]["code"] == -32602


async def test_nothing_is_served_before_the_handshake(scene: Scene) -> None:
    peer = await LinePeer.start(scene.gateway)
    early = await peer.call(1, "peek", what="early")
    assert early["error"]["code"] == -32602
    assert (await peer.ask(2, "tools/list"))["error"]["code"] == -32602
    assert effects(scene, "peek early") == 0
    await peer.hang_up()


@pytest.mark.parametrize("method", ["tools/invoke", "approvals/decide", "resources/list", "sampling/createMessage", "x" * 1000])
async def test_a_method_that_is_not_offered_is_unknown(peer: LinePeer, method: str) -> None:
    assert (await peer.ask(1, method))["error"]["code"] == -32601


@pytest.mark.parametrize("params", [{}, {"name": 7}, {"name": "peek", "arguments": []}, {"name": ""}, {"name": "n" * 65}])
async def test_params_that_do_not_fit_are_refused(peer: LinePeer, params: dict[str, object]) -> None:
    assert (await peer.ask(1, "tools/call", params))["error"]["code"] == -32602


async def test_nothing_that_a_client_claims_answers_a_question(scene: Scene, peer: LinePeer) -> None:
    claims = {"approved": True, "countersign/permission": "auto", "countersign/approvalId": "apr_x", "progressToken": 1}
    params = {"name": "note", "arguments": {"what": "claimed"}, "_meta": claims, "permission": "auto", "runner": "gateway-side"}
    await peer.request(1, "tools/call", params)
    approval_id = await asked(scene)
    assert approval_id in (await peer.notification("notifications/progress"))["message"]
    # An answer to a question that was never asked over this connection is no answer either.
    await peer.send({"jsonrpc": "2.0", "id": approval_id, "result": {"action": "accept", "content": {"decision": "approve"}}})
    assert "result" in await peer.ask(2, "ping")
    assert effects(scene, "note claimed") == 0
    await scene.ada.answer(scene.console, approval_id, "deny")
    assert (await peer.answer(1))["result"]["isError"]


async def test_the_same_request_sent_again_runs_once(scene: Scene, peer: LinePeer) -> None:
    first = await peer.call(7, "peek", what="once")
    again = await peer.call(7, "peek", what="once")
    assert again["result"]["content"] == first["result"]["content"]
    assert again["result"]["_meta"]["countersign/replayed"] is True
    other = await peer.call(7, "peek", what="twice")
    assert other["result"]["_meta"]["countersign/reason"] == "replayConflict"
    assert (effects(scene, "peek once"), effects(scene, "peek twice")) == (1, 0)


@pytest.mark.parametrize("more", [{"_meta": {"progressToken": "p"}}, {"_meta": {"example.com/trace": "1"}}, {"extra": 1}])
async def test_whatever_else_is_in_a_request_the_call_is_the_same(scene: Scene, peer: LinePeer, more: dict[str, Any]) -> None:
    what = f"in the form {more}"
    params = {"name": "peek", "arguments": {"what": what}}
    first = await peer.ask(9, "tools/call", params)
    again = await peer.ask(9, "tools/call", params | more)
    assert again["result"]["_meta"] == first["result"]["_meta"] | {"countersign/replayed": True}
    assert again["result"] | {"_meta": {}} == first["result"] | {"_meta": {}}
    assert effects(scene, f"peek {what}") == 1


async def test_a_request_whose_parts_have_other_types_is_refused_and_runs_nothing(scene: Scene, peer: LinePeer) -> None:
    wrong: list[dict[str, Any]] = [
        {"name": 7, "arguments": {"what": "typed"}},
        {"name": "peek", "arguments": ["typed"]},
        {"arguments": {"what": "typed"}},
        {"name": "peek", "arguments": {"what": "typed"}, "_meta": {"progressToken": {}}},
        {"name": "peek", "arguments": {"what": "typed"}, "_meta": []},
    ]
    for number, params in enumerate(wrong):
        assert (await peer.ask(number, "tools/call", params))["error"]["code"] == -32602, params
    assert effects(scene, "peek typed") == 0
    assert not (await peer.call("after", "peek", what="typed after"))["result"]["isError"]


@pytest.mark.parametrize("more", [{}, {"_meta": {"example.com/trace": "1"}}])
async def test_a_request_is_cancelled_by_its_own_id_alone_and_gets_no_answer(
    scene: Scene, peer: LinePeer, more: dict[str, Any]
) -> None:
    assert "result" in await peer.ask("before", "tools/list")
    await peer.request(1, "tools/call", {"name": "note", "arguments": {"what": "withdrawn"}, **more})
    approval_id = await asked(scene)
    for other in (True, 2, None, [1]):
        await peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": other}})
    assert "result" in await peer.ask("between", "ping")
    assert approval_id in {each["id"] for each in (await scene.console.call("approvals/list"))["approvals"]}
    await peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    resolved = await scene.console.notification("approvals/resolved", approvalId=approval_id)
    assert resolved["status"] == "cancelled"
    assert "result" in await peer.ask("after", "ping")
    assert not any(message.get("id") == 1 for message in peer.seen)
    assert effects(scene, "note withdrawn") == 0


async def test_a_request_that_waits_cannot_be_sent_a_second_time(scene: Scene, peer: LinePeer) -> None:
    params = {"name": "note", "arguments": {"what": "double"}}
    await peer.request(1, "tools/call", params)
    approval_id = await asked(scene)
    for request_id in (1, "1"):
        await peer.request(request_id, "tools/call", params)
        assert (await peer.answer(request_id))["error"]["code"] == -32600
    await scene.ada.answer(scene.console, approval_id)
    assert not (await peer.answer(1))["result"]["isError"]
    assert effects(scene, "note double") == 1


async def test_a_flood_of_calls_is_refused_beyond_thirty_two_and_none_is_lost(scene: Scene, peer: LinePeer) -> None:
    count = 2_000
    lines = [
        b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"linger","arguments":{}}}\n' % number
        for number in range(count)
    ]
    before = effects(scene, "linger")
    sending = asyncio.ensure_future(peer.write(b"".join(lines)))
    refused = 0
    while refused < count - 32:
        # What is answered at once is refused; what lingers answers only when it is cancelled.
        assert (await peer.answer(refused + 32))["error"]["data"]["code"] == "too_many_requests"
        refused += 1
    await sending
    for number in range(32):
        await peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    # A cancelled call has its place until its end is on record.
    async with asyncio.timeout(PATIENCE):
        while "result" not in await peer.ask("after", "ping"):
            pass
    assert effects(scene, "linger") - before <= 32


async def test_a_client_that_connects_again_may_not_ask_again_what_was_turned_down_too_often(scene: Scene) -> None:
    for _ in range(2):
        peer = await (await LinePeer.start(scene.gateway)).greet()
        for number in range(3):
            await peer.request(number, "tools/call", {"name": "note", "arguments": {"what": f"no {number}"}})
            await scene.ada.answer(scene.console, await asked(scene), "deny")
            await peer.answer(number)
        await peer.hang_up()
    peer = await (await LinePeer.start(scene.gateway)).greet()
    refused = await peer.call(1, "note", what="no more")
    assert refused["result"]["_meta"]["countersign/reason"] == "denied"
    assert "asked nothing more" in refused["result"]["content"][0]["text"]
    stopped = (await scene.console.call("approvals/list", {"status": "pending"}))["stopped"]
    await scene.console.call("sessions/allow-questions", {"sessionId": stopped[0]["sessionId"]})
    await peer.request(2, "tools/call", {"name": "note", "arguments": {"what": "may ask"}})
    await scene.ada.answer(scene.console, await asked(scene))
    assert not (await peer.answer(2))["result"]["isError"]
    await peer.hang_up()


async def test_no_more_than_thirty_two_clients_are_let_in(scene: Scene) -> None:
    readers: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    answers: list[bytes] = []
    for _ in range(33):
        reader, writer = await asyncio.open_unix_connection(scene.gateway.state / "control.sock")
        readers.append((reader, writer))
        writer.write(b'{"command":"mcp"}\n')
        async with asyncio.timeout(PATIENCE):
            answers.append(await reader.readline())
    assert [b"result" in answer for answer in answers] == [True] * 32 + [False]
    assert b"too_many_requests" in answers[-1]
    for reader, writer in readers:
        writer.close()
        async with asyncio.timeout(PATIENCE):
            await reader.read()


async def test_without_a_gateway_or_anybody_enrolled_one_line_says_what_to_do(scene: Scene) -> None:
    code, output = await scene.gateway.run("mcp", "--state", "elsewhere")
    assert code == 2
    assert "countersign serve" in output
    assert len(output.splitlines()) == 1
    fresh = make_gateway(scene.gateway.home / "fresh")
    await fresh.start()
    try:
        code, output = await fresh.run("mcp")
        assert (code, "countersign enrol" in output, len(output.splitlines())) == (2, True, 1)
    finally:
        assert await fresh.stop() == 0


async def test_a_gateway_that_stops_ends_the_connection_and_says_so(scene: Scene) -> None:
    own = make_gateway(scene.gateway.home / "stopping")
    await own.start()
    ada = await _enrolled(own)
    peer = await (await LinePeer.start(own)).greet()
    params = {"name": "note", "arguments": {"what": "at the end"}}
    console = await ada.console()
    await peer.request(1, "tools/call", params)
    await console.notification("approvals/requested")
    stopping = asyncio.ensure_future(own.stop())
    assert (await peer.answer(1))["result"]["_meta"]["countersign/outcome"] == "cancelled"
    assert await peer.ended() == 1
    assert "the gateway stops" in await peer.notes()
    await ada.leave()
    assert await stopping == 0
    assert "Traceback" not in own.output


async def _enrolled(own: GatewayProcess) -> Person:
    return await Person.at(own).arrive()
