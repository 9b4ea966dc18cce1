"""Floods of frames at the running gateway; nobody else may have to wait for them."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from gateway.runtime.timing import FULL_SESSIONS, SOCKETS_PER_SESSION
from tests.harness.http import Browser
from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.hostile.raw_socket import PATIENCE, Opcode, RawSocket, connect, frame, handshake, request
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import finish

pytestmark = pytest.mark.asyncio(loop_scope="module")

PING = request("session/describe")
_IN_FRAGMENTS = (
    frame(PING[:1], final=False) + frame(b"", Opcode.CONTINUATION, final=False) * 1000 + frame(PING[1:], Opcode.CONTINUATION)
)


@pytest.mark.parametrize(
    ("sent", "allowed"),
    [(frame(b"", Opcode.PING), 20), (frame(b"", Opcode.PONG), 20), (_IN_FRAGMENTS, 2)],
    ids=["pings", "pongs", "messages in a thousand fragments"],
)
async def test_case_276_a_flood_of_frames_that_are_no_messages_ends_its_connection(
    gateway: GatewayProcess, scene: Scene, sent: bytes, allowed: int
) -> None:
    wire = await RawSocket.open(scene.ada.browser, gateway.agent_origin)
    wire.write(sent * allowed)
    for _ in range(allowed if sent is _IN_FRAGMENTS else 0):
        assert "result" in await wire.receive()
    assert "result" in await wire.exchange(PING)
    wire.write(sent * 10 * allowed)
    assert await wire.close_code() == 1008
    await wire.drop()
    assert (await scene.shell.call("session/describe"))["session"]["profile"] == "operator"


async def test_case_277_requests_that_do_not_wait_for_their_answers_end_their_connection(
    gateway: GatewayProcess, scene: Scene
) -> None:
    host = urlsplit(gateway.agent_origin).netloc
    reader, writer = await connect(gateway.port)
    asked = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    writer.write(asked * 20)
    async with asyncio.timeout(PATIENCE):
        for _ in range(20):
            assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
            await reader.readuntil(b"}")
        writer.write(asked * 1_000)
        answers = await reader.read()
        while answers and not answers.endswith(b"}}"):
            answers += await reader.read()
    assert answers.count(b"HTTP/1.1 400 ") == 1
    assert answers.count(b"HTTP/1.1 200 ") < 40
    writer.close()
    assert (await scene.shell.call("session/describe"))["session"]["profile"] == "operator"


async def test_case_290_what_is_no_http_does_not_fill_the_operators_log(gateway: GatewayProcess) -> None:
    """Whoever reaches the port can send it, on as many connections as they like."""

    async def send(what: bytes) -> None:
        reader, writer = await connect(gateway.port)
        writer.write(what)
        async with asyncio.timeout(PATIENCE):
            await reader.read()
        writer.close()

    host = urlsplit(gateway.agent_origin).netloc
    unknown = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n".encode()
    before = len(gateway.output)
    for _ in range(10):
        await asyncio.gather(*(send(what) for what in (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", unknown) for _ in range(20)))
    assert len(gateway.output) - before < 3_000


async def test_case_306_slow_tools_of_one_person_keep_nobody_elses_from_running(scene: Scene) -> None:
    eve = await scene.another("Eve", "operator")
    theirs = await Turn.begin(await eve.agent())
    over = scene.gateway.home / "over"
    slow = [await theirs.start("dawdle", {"file": str(over)}) for _ in range(32)]
    await theirs.socket.notification("tools/progress")
    assert (await (await scene.begin()).invoke("peek", {"what": "tea"}))["outcome"] == "ok"
    assert not any(call.done() for call in slow)
    over.touch()
    assert {(await call)["outcome"] for call in slow} == {"ok"}
    await eve.leave()


async def test_case_297_of_calls_that_wait_in_line_it_is_known_that_nothing_ran(scene: Scene) -> None:
    eve = await scene.another("Eve in line", "operator")
    theirs = await Turn.begin(await eve.agent())
    over = scene.gateway.home / "over at last"
    calls = {f"d{number}": await theirs.start("dawdle", {"file": str(over)}, f"d{number}") for number in range(20)}
    begun = {(await theirs.socket.notification("tools/progress"))["callId"] for _ in range(16)}
    for call_id in calls.keys() - begun:
        await theirs.socket.call("tools/cancel", {"conversationId": theirs.conversation_id, "callId": call_id})
    ends = [await finish(calls[call_id]) for call_id in calls.keys() - begun]
    assert [(end["outcome"], "nothing ran" in end["error"]) for end in ends] == [("cancelled", True)] * 4
    over.touch()
    assert [(await finish(calls[call_id]))["outcome"] for call_id in begun] == ["ok"] * 16
    assert len(scene.effects(theirs.conversation_id)) == 16
    await eve.leave()


async def test_case_307_a_person_of_many_sessions_has_no_more_sockets_than_four_of_them(scene: Scene) -> None:
    trudy, crowd = await scene.another("Trudy", "guest"), list[tuple[int, RawSocket]]()
    for _ in range(FULL_SESSIONS + 1):
        again = Person(scene.gateway, Browser(scene.gateway.port), trudy.authenticator)
        assert (await again.sign_in()).status == 204
        assert (await again.open_shell()).status in (302, 303)
        crowd += await asyncio.gather(*(handshake(again.browser, scene.gateway.agent_origin) for _ in range(SOCKETS_PER_SESSION)))
    refused = [wire for status, wire in crowd if status == 429]
    assert (len(crowd) - len(refused), len(refused)) == (FULL_SESSIONS * SOCKETS_PER_SESSION, SOCKETS_PER_SESSION)
    assert (await (await scene.begin()).invoke("peek", {"what": "a"}))["outcome"] == "ok"
    for _, wire in crowd:
        await wire.drop()
