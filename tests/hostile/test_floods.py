"""Floods of frames at the running gateway; nobody else may have to wait for them."""

from __future__ import annotations

import pytest

from tests.harness.process import GatewayProcess
from tests.hostile.raw_socket import Opcode, RawSocket, frame, request
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
