"""Requests that two readers could take for two different ones, byte by byte, at the running gateway."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.hostile.raw_socket import PATIENCE, connect
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

POST = b"POST /passkeys/options HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nConnection: close\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n"
GET = b"GET /healthz HTTP/1.1\r\nConnection: close\r\n"


async def answers(scene: Scene, raw: bytes) -> list[int]:
    """The status of each answer until the gateway closes the connection."""
    reader, writer = await connect(scene.gateway.port)
    writer.write(raw.replace(b"%s", scene.gateway.console_origin.removeprefix("http://").encode()))
    async with asyncio.timeout(PATIENCE):
        got = await reader.read()
    writer.close()
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3})", got)]


async def test_case_331_a_field_behind_the_body_is_none_of_the_request(scene: Scene) -> None:
    """RFC 9110 section 6.5.1. What stood there counted as a header: a cookie, an origin, another host, which a proxy in front has
    not seen among the headers."""
    jar = scene.ada.browser.cookies["console.localhost"]
    cookie = "; ".join(f"{name}={value}" for name, value in jar.items()).encode()
    own = scene.gateway.console_origin.encode()
    signed = b"Origin: " + own + b"\r\nSec-Fetch-Site: same-origin\r\n"
    body = b"\r\n2\r\n{}\r\n0\r\n"
    assert await answers(scene, CHUNKED + signed + b"Cookie: " + cookie + b"\r\n" + body + b"\r\n") == [200]
    first = CHUNKED.replace(b"Connection: close\r\n", b"") + signed + b"Cookie: " + cookie + b"\r\n" + body + b"\r\n"
    assert await answers(scene, first + CHUNKED + signed + b"Cookie: " + cookie + b"\r\n" + body + b"\r\n") == [200, 200]
    assert await answers(scene, CHUNKED + signed + body + b"Cookie: " + cookie + b"\r\n\r\n") == [401]
    assert await answers(scene, CHUNKED + b"Cookie: " + cookie + b"\r\n" + body + signed + b"\r\n") == [403]
    assert await answers(scene, CHUNKED + signed + b"Cookie: " + cookie + b"\r\n" + body + b"Host: evil.test\r\n\r\n") == [200]


MALFORMED = {
    "a coding that is none": POST + b"Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "two codings": CHUNKED + b"Transfer-Encoding: identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "a length with a sign": POST + b"Content-Length: +2\r\n\r\n{}",
    "a length twice": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "a list of lengths": POST + b"Content-Length: 2, 2\r\n\r\n{}",
    "a length below zero": POST + b"Content-Length: -1\r\n\r\n{}",
    "a length beyond 64 bits": POST + b"Content-Length: 99999999999999999999\r\n\r\n{}",
    "a length and chunks": CHUNKED + b"Content-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "a folded header": GET + b"Host: %s\r\nX: a\r\n b\r\n\r\n",
    "a space before the colon": GET + b"Host : %s\r\n\r\n",
    "a zero octet in a header": GET + b"Host: %s\r\nX: a\0b\r\n\r\n",
    "lines without returns": b"GET /healthz HTTP/1.1\nHost: %s\n\n",
    "a size below zero": CHUNKED + b"\r\n-2\r\n{}\r\n0\r\n\r\n",
    "a size with a prefix": CHUNKED + b"\r\n0x2\r\n{}\r\n0\r\n\r\n",
    "chunks without returns": CHUNKED + b"\r\n2\n{}\n0\n\n",
    "a size beyond 64 bits": CHUNKED + b"\r\n10000000000000002\r\n{}\r\n0\r\n\r\n",
    "another version": b"GET /healthz HTTP/1.9\r\nHost: %s\r\n\r\n",
    "HTTP/2 at once": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=list(MALFORMED))
async def test_case_332_a_request_that_can_be_read_in_two_ways_is_answered_once_with_400(scene: Scene, raw: bytes) -> None:
    assert await answers(scene, raw + b"GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n") == [400]
