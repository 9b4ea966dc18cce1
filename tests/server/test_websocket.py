"""Sockets: handshakes, messages and endings (docs/PROTOCOL.md section 2; docs/SECURITY.md cases 13 to 27)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from gateway.protocol.frames import AGENT, CONSOLE, MAX_MESSAGE_BYTES
from gateway.runtime.notices import PolicyChangedNotice, ToolProgressNotice
from gateway.server import message_budget, transport, websocket
from gateway.server.methods.agent import REQUESTS_IN_FLIGHT
from tests.harness.socket import RpcError, Socket
from tests.server.sockets import PATIENCE, Stage, Turn, serve_sockets


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        yield served


async def refused_with(stage: Stage, site: str, **options: Any) -> int:
    with pytest.raises(InvalidStatus) as caught:
        await stage.connect(site, **options)
    return caught.value.response.status_code


async def answer_to(stage: Stage, opened: Socket, raw: str) -> Mapping[str, Any]:
    """The error that answers a message without an id that could be matched."""
    before = len(opened.notifications)
    await opened.connection.send(raw)
    await stage.until(lambda: len(opened.notifications) > before)
    return opened.notifications[-1]["params"]["error"]


# ── the handshake ──


@pytest.mark.parametrize("site", ["agent", "console"])
async def test_handshake_without_the_subprotocol_is_400(stage: Stage, site: str) -> None:
    assert await refused_with(stage, site, subprotocols=None) == 400
    assert await refused_with(stage, site, subprotocols=["countersign.v2"]) == 400


@pytest.mark.parametrize("site", ["agent", "console"])
@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.test", "http://localhost:{port}", "http://127.0.0.1:{port}", "http://{other}.localhost:{port}",
     "http://{site}.localhost", "https://{site}.localhost:{port}", "http://x.{site}.localhost:{port}"],
)  # fmt: skip
async def test_handshake_from_a_foreign_origin_is_403_with_any_cookie(stage: Stage, site: str, origin: str | None) -> None:
    other = "console" if site == "agent" else "agent"
    sent = None if origin is None else origin.format(port=stage.port, site=site, other=other)
    assert await refused_with(stage, site, origin=sent) == 403


async def test_handshake_to_another_host_is_421(stage: Stage) -> None:
    for site in ("localhost", "evil.test", f"x.agent.localhost:{stage.port}"):
        head = f"GET /ws HTTP/1.1\r\nHost: {site}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        head += f"Origin: {stage.origin('agent')}\r\nCookie: session=ses_ada_agent\r\nSec-WebSocket-Version: 13\r\n"
        head += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: countersign.v1\r\n\r\n"
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", stage.port)
            writer.write(head.encode())
            assert (await reader.readline()).split()[1] == b"421"
            writer.close()
            await writer.wait_closed()


@pytest.mark.requirement("002-84", "a connection without a session is refused and leaves nothing behind")
async def test_handshake_without_a_session_is_401_and_creates_no_state(stage: Stage) -> None:
    assert await refused_with(stage, "agent", session="nobody") == 401
    assert await refused_with(stage, "console", session="nobody") == 401
    assert stage.gateway.connections.connection_count() == 0


@pytest.mark.requirement("002-34a", "a session of the agent origin is worth nothing at the console")
async def test_a_session_of_one_origin_is_not_valid_at_the_other(stage: Stage) -> None:
    """docs/SECURITY.md case 36."""
    assert await refused_with(stage, "console", session="ses_ada_agent") == 401
    assert await refused_with(stage, "agent", session="ses_ada_console") == 401


async def test_accepted_handshake_names_the_subprotocol_and_no_extension(stage: Stage) -> None:
    opened = await stage.connect("agent", compression="deflate")
    assert opened.connection.subprotocol == "countersign.v1"
    assert not opened.connection.protocol.extensions


# ── messages that are no calls ──


async def test_a_malformed_message_is_answered_and_the_connection_stays(stage: Stage) -> None:
    opened = await stage.connect("agent")
    assert (await answer_to(stage, opened, "{"))["code"] == -32700
    assert (await answer_to(stage, opened, "[]"))["code"] == -32600
    assert (await opened.call("session/describe"))["session"]["id"] == "ses_ada_agent"


async def test_the_fifth_malformed_message_closes_with_1008(stage: Stage) -> None:
    opened = await stage.connect("agent")
    for _ in range(5):
        await answer_to(stage, opened, "not JSON")
    assert (await opened.wait_closed())[0] == 1008


async def test_well_formed_messages_do_not_reset_the_count_of_malformed_ones(stage: Stage) -> None:
    opened = await stage.connect("agent")
    for _ in range(4):
        await answer_to(stage, opened, "not JSON")
        await opened.call("session/describe")
    await answer_to(stage, opened, "not JSON")
    assert (await opened.wait_closed())[0] == 1008


async def test_a_binary_frame_closes_with_1003(stage: Stage) -> None:
    opened = await stage.connect("agent")
    await opened.connection.send(b'{"jsonrpc":"2.0","id":1,"method":"session/describe"}')
    assert (await opened.wait_closed())[0] == 1003


async def test_a_message_beyond_256_kib_closes_with_1009(stage: Stage) -> None:
    opened = await stage.connect("agent")
    await opened.connection.send(" " * (MAX_MESSAGE_BYTES + 1))
    assert (await opened.wait_closed())[0] == 1009
    (said,) = opened.notifications
    assert said["params"]["id"] is None
    assert (said["params"]["error"]["code"], said["params"]["error"]["data"]["code"]) == (-32600, "message_too_large")


async def test_the_largest_message_is_read(stage: Stage) -> None:
    opened = await stage.connect("agent")
    assert (await answer_to(stage, opened, " " * MAX_MESSAGE_BYTES))["code"] == -32700


async def test_fragments_count_together(stage: Stage) -> None:
    opened = await stage.connect("agent")
    await opened.connection.send([" " * 200_000, " " * 200_000])
    assert (await opened.wait_closed())[0] == 1009


async def test_invalid_utf8_closes_with_1007_and_affects_no_other_connection(stage: Stage) -> None:
    opened, other = await stage.connect("agent"), await stage.connect("agent")
    await opened.connection.send(b"\xff\xfe", text=True)
    assert (await opened.wait_closed())[0] == 1007
    assert await other.call("session/describe")


@pytest.mark.parametrize("site", ["agent", "console"])
async def test_unknown_methods_are_32601_and_the_other_origins_methods_are_unknown(stage: Stage, site: str) -> None:
    opened = await stage.connect(site)
    theirs = CONSOLE if site == "agent" else AGENT
    ours = AGENT if site == "agent" else CONSOLE
    for method in ["", "rpc.discover", "__class__", "x" * 5000, *(theirs.methods.keys() - ours.methods.keys())]:
        with pytest.raises(RpcError) as caught:
            await opened.call(method)
        assert caught.value.code == -32601
        assert len(str(caught.value)) < 200


async def test_wrong_params_are_32602_and_the_error_names_the_path(stage: Stage) -> None:
    opened = await stage.connect("agent")
    with pytest.raises(RpcError, match=r"call\.name") as caught:
        await opened.call("tools/invoke", {"call": {"name": 5}})
    assert caught.value.code == -32602
    with pytest.raises(RpcError, match="clientConsented"):
        await opened.call("session/describe", {"clientConsented": True})


async def test_an_internal_error_is_32603_without_details_and_the_connection_stays(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def burst(*_: Any) -> None:
        raise RuntimeError("secret in a path")

    opened = await stage.connect("agent")
    monkeypatch.setattr(stage.gateway.ports.records, "conversations", burst, raising=True)
    with caplog.at_level(logging.ERROR), pytest.raises(RpcError) as caught:
        await opened.call("conversations/list")
    assert caught.value.code == -32603
    assert caught.value.error["message"] == "internal error"
    assert [record.message for record in caplog.records] == ["`conversations/list` failed"]
    assert await opened.call("session/describe")


# ── many messages ──


async def test_the_33rd_request_in_flight_is_refused_until_others_are_answered(stage: Stage) -> None:
    opened = await stage.connect("agent")
    turn = await Turn.begin(opened)
    started = [await turn.start("wait") for _ in range(REQUESTS_IN_FLIGHT)]
    await stage.until(lambda: len(stage.toolbox.effects) == REQUESTS_IN_FLIGHT)
    with pytest.raises(RpcError) as caught:
        await turn.invoke("look")
    assert caught.value.code == -32002
    stage.toolbox.release.set()
    async with asyncio.timeout(PATIENCE):
        assert {result["outcome"] for result in await asyncio.gather(*started)} == {"ok"}
    assert (await turn.invoke("look"))["outcome"] == "ok"


async def test_large_reads_of_one_person_go_one_at_a_time_and_others_in_between(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, go, real = list[str](), asyncio.Event(), stage.ledger.find_messages

    async def wait(principal_id: str, *asked: Any, **named: Any) -> Any:
        started.append(principal_id)
        await go.wait()
        return await real(principal_id, *asked, **named)

    monkeypatch.setattr(stage.ledger, "find_messages", wait)
    sockets = [await stage.connect("agent"), await stage.connect("agent")]
    asked = [await each.send("conversations/search", {"text": "tea"}) for each in sockets for _ in range(2)]
    gone = await stage.connect("agent")
    await gone.send("conversations/search", {"text": "tea"})
    await stage.until(lambda: started)
    eve = await (await stage.connect("agent", "ses_eve_agent")).send("conversations/search", {"text": "tea"})
    await stage.until(lambda: len(started) > 1)
    assert len(set(started)) == 2, "one of each person"
    # What does not read much goes on, and who is gone is not read for.
    await gone.close()
    assert "session" in await sockets[0].call("session/describe")
    go.set()
    async with asyncio.timeout(PATIENCE):
        answers = await asyncio.gather(*asked, eve)
    assert [each["found"] for each in answers] == [[]] * 5
    assert len(started) == 5


async def test_a_cancel_is_processed_while_a_call_runs(stage: Stage) -> None:
    opened = await stage.connect("agent")
    turn = await Turn.begin(opened)
    running = await turn.start("wait", "call-w")
    await stage.until(stage.toolbox.started.is_set)
    assert await opened.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "call-w"}) == {}
    async with asyncio.timeout(PATIENCE):
        assert (await running)["outcome"] == "cancelled"


@pytest.mark.requirement("002-67", "messages of one connection are limited in rate")
async def test_a_flood_is_refused_until_time_has_passed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_budget, "MESSAGES_AT_ONCE", 3.0)
    opened = await stage.connect("agent")
    for _ in range(3):
        await opened.call("session/describe")
    with pytest.raises(RpcError) as caught:
        await opened.call("session/describe")
    assert caught.value.code == -32002
    stage.clock.advance(1)
    assert await opened.call("session/describe")


async def test_messages_are_appended_in_the_order_they_were_sent(stage: Stage) -> None:
    opened = await stage.connect("agent")
    turn = await Turn.begin(opened)
    messages = [{"role": "user", "content": f"message {number}"} for number in range(20)]
    sent = [await opened.send("messages/append", {**turn.ref, "message": message}) for message in messages]
    async with asyncio.timeout(PATIENCE):
        assert [answer["index"] for answer in await asyncio.gather(*sent)] == list(range(20))
    kept = await opened.call("conversations/open", {"conversationId": turn.conversation_id})
    assert [message["content"] for message in kept["messages"]] == [message["content"] for message in messages]


# ── endings ──


@pytest.mark.requirement("002-32", "a session that ends gets no result any more")
async def test_a_session_end_is_notified_closes_with_4403_and_withholds_results(stage: Stage) -> None:
    """docs/SECURITY.md cases 13 and 46."""
    opened = await stage.connect("agent")
    turn = await Turn.begin(opened)
    running = await turn.start("wait")
    await stage.until(stage.toolbox.started.is_set)
    await stage.gateway.connections.end_session("ses_ada_agent", "signedOut")
    assert (await opened.notification("session/ended"))["reason"] == "signedOut"
    assert await opened.wait_closed() == (4403, "signedOut")
    with pytest.raises(ConnectionError):
        await running


async def test_the_end_of_a_console_session_closes_its_socket_with_4403(stage: Stage) -> None:
    opened, eve = await stage.connect("console"), await stage.connect("console", "ses_eve_console")
    await stage.gateway.connections.end_console("ses_ada_console", "signedOut")
    assert (await opened.notification("session/ended"))["reason"] == "signedOut"
    assert await opened.wait_closed() == (4403, "signedOut")
    assert await eve.call("session/describe")


async def test_an_expired_session_gets_no_further_answer_and_closes_with_4401(stage: Stage) -> None:
    opened = await stage.connect("agent")
    turn = await Turn.begin(opened)
    stage.clock.advance(9 * 3600)
    await turn.start("look")
    assert (await opened.notification("session/ended"))["reason"] == "expired"
    assert (await opened.wait_closed())[0] == 4401
    assert stage.toolbox.effects == []


async def test_a_session_that_ends_during_the_handshake_opens_no_socket(stage: Stage) -> None:
    ada = stage.agents["ses_ada_agent"]

    class Once(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            return self.pop(key, default)

    stage.agents = Once({"ses_ada_agent": ada})
    opened = await stage.connect("agent")
    assert (await opened.wait_closed())[0] == 4403
    assert stage.gateway.connections.connection_count() == 0


async def test_a_lost_connection_is_removed_and_its_missed_events_go_to_the_next(stage: Stage) -> None:
    opened = await stage.connect("agent")
    opened.drop()
    await stage.until(lambda: stage.gateway.connections.connection_count() == 0)
    stage.gateway.connections.notify("ses_ada_agent", PolicyChangedNotice("policy-2"))
    again = await stage.connect("agent")
    assert await again.notification("policy/changed") == {"policyVersion": "policy-2"}


async def test_a_call_outlives_the_connection_that_sent_it_and_is_not_awaited_twice(stage: Stage) -> None:
    opened = await stage.connect("agent")
    turn = await Turn.begin(opened)
    await turn.start("wait", "call-w")
    await stage.until(stage.toolbox.started.is_set)
    opened.drop()
    await stage.until(lambda: stage.gateway.connections.connection_count() == 0)
    again = await stage.connect("agent")
    rebound = await again.call("conversations/open", {"conversationId": turn.conversation_id})
    assert rebound["openTurn"]["turnId"] == turn.snapshot["turnId"]
    stage.toolbox.release.set()
    repeated = Turn(again, turn.conversation_id, rebound["openTurn"]["snapshot"])
    result = await repeated.invoke("wait", "call-w")
    assert (result["outcome"], result["replayed"]) == ("ok", True)
    assert len(stage.toolbox.effects) == 1


async def test_a_peer_that_does_not_read_is_closed_and_holds_no_memory(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/SECURITY.md case 26."""
    monkeypatch.setattr(websocket, "STALL_SECONDS", 0.5)
    monkeypatch.setattr(transport, "CLOSING_SECONDS", 0.1)
    opened, other = await stage.connect("agent"), await stage.connect("agent", "ses_eve_agent")
    opened.connection.transport.pause_reading()
    connections = stage.gateway.connections
    line = ToolProgressNotice("c", "x" * 200_000, None)

    async def flood() -> None:
        while connections.connection_count() == 2:
            connections.notify("ses_ada_agent", line)
            await asyncio.sleep(0)

    async with asyncio.timeout(PATIENCE):
        await flood()
    assert await other.call("session/describe")


async def test_a_slow_peer_that_reads_again_gets_the_close_reason(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "STALL_SECONDS", 0.5)
    opened = await stage.connect("agent")
    connection = await stage.connection_of(opened)
    opened.connection.transport.pause_reading()
    notice = PolicyChangedNotice("x" * 200_000)

    async def flood() -> None:
        while connection.outbox.closing is None and stage.gateway.connections.connection_count():
            stage.gateway.connections.notify("ses_ada_agent", notice)
            await asyncio.sleep(0)

    async with asyncio.timeout(PATIENCE):
        await flood()
        await stage.until(lambda: stage.gateway.connections.connection_count() == 0)
    opened.connection.transport.resume_reading()
    assert (await opened.wait_closed())[0] == 1013


async def test_results_go_out_before_progress(stage: Stage) -> None:
    opened = await stage.connect("agent")
    connection = await stage.connection_of(opened)
    for number in range(50):
        stage.gateway.connections.notify("ses_ada_agent", ToolProgressNotice("c", str(number), None))
    connection.outbox.put(PolicyChangedNotice("2"))
    await stage.until(lambda: len(opened.notifications) == 51)
    assert [each["method"] for each in opened.notifications] == ["policy/changed", *["tools/progress"] * 50]
