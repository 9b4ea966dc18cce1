"""Floods of frames at the running gateway; nobody else may have to wait for them."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from tests.harness.process import GatewayProcess
from tests.hostile.raw_socket import PATIENCE, Opcode, RawSocket, connect, frame, request
from tests.scenarios.conftest import Scene

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
