"""Requests whose target names a host of its own (docs/SECURITY.md case 180): `GET http://evil.test/ HTTP/1.1`."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from tests.harness.process import GatewayProcess
from tests.hostile.raw_socket import PATIENCE, connect
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

UPGRADE = (
    *("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"),
    *("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol: countersign.v1"),
)


async def status_of(gateway: GatewayProcess, *lines: str) -> int:
    """The status of a request whose head is written as it is."""
    reader, writer = await connect(gateway.port)
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    async with asyncio.timeout(PATIENCE):
        head = await reader.readuntil(b"\r\n")
    writer.close()
    return int(head.split(b" ", 2)[1])


async def test_case_180_a_target_that_names_another_host_than_the_header_is_answered_by_nobody(
    gateway: GatewayProcess, scene: Scene
) -> None:
    agent, console = urlsplit(gateway.agent_origin).netloc, urlsplit(gateway.console_origin).netloc
    jar = scene.ada.browser.cookies[f"{urlsplit(gateway.agent_origin).hostname}"]
    cookie = "Cookie: " + "; ".join(f"{name}={value}" for name, value in jar.items())
    wrong = [
        *("http://evil.test", f"http://evil.test:{gateway.port}", f"http://{console}", f"http://{agent}@evil.test"),
        *("http://agent.localhost", f"http://{agent}.", f"http://evil.test?{agent}", f"http://evil.test#{agent}"),
        *(f"ftp://{agent}", f"evil://{agent}", f"http:/{agent}", f"http:///{agent}", f"{agent}", "*", "healthz"),
    ]
    for target in wrong:
        for path in ("/healthz", "/"):
            assert await status_of(gateway, f"GET {target}{path} HTTP/1.1", f"Host: {agent}") == 400, target
        upgrade = (f"Host: {agent}", f"Origin: {gateway.agent_origin}", cookie, *UPGRADE)
        assert await status_of(gateway, f"GET {target}/ws HTTP/1.1", *upgrade) == 400, target
    assert await status_of(gateway, f"GET http://{agent}/healthz HTTP/1.1", f"Host: {agent}", f"Host: {agent}") == 400
    assert await status_of(gateway, f"CONNECT {agent} HTTP/1.1", f"Host: {agent}") == 400
    # RFC 9112 has servers take the form itself.
    for target in (f"http://{agent}/healthz", f"HTTP://{agent.upper()}/healthz", "/healthz", "//evil.test/../healthz"):
        expected = 404 if target.startswith("//") else 200
        assert await status_of(gateway, f"GET {target} HTTP/1.1", f"Host: {agent}") == expected, target
    assert (await scene.shell.call("session/describe"))["session"]["profile"] == "operator"
