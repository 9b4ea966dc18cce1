"""Servers at an address: a real one, and ones that do what HTTP lets a server do."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import httpx2
import pytest

from gateway.adapters.tools.mcp.settings import McpServerSettings
from gateway.adapters.tools.mcp.worker import http
from gateway.adapters.tools.mcp.worker.http import BearerToken
from gateway.adapters.tools.mcp.worker.watching import Meter, Watch
from gateway.adapters.tools.offer import SourceAway
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured, ToolFailed
from tests.adapters.tools.mcp.conftest import Drive
from tests.adapters.tools.mcp.servers import NODE, PACKAGES, PATIENCE
from tests.adapters.tools.sites import ServerRequest, Site, Start, page, redirect

JSON = "Content-Type: application/json"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

Answer = Callable[[ServerRequest, dict[str, Json]], Awaitable[None]]


@pytest.fixture
async def everything() -> AsyncIterator[str]:
    """The address of the everything server; it takes port 0 for one that is free, and does not say which it was given."""
    port = await _free_port()
    process = await asyncio.create_subprocess_exec(
        *(NODE, PACKAGES / "server-everything/dist/index.js", "streamableHttp"),
        env={"PATH": os.defpath, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE):
        while b"listening" not in await process.stderr.readline():
            pass
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    await process.wait()


async def _free_port() -> int:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


def answering(answer: Answer) -> Callable[[ServerRequest], Awaitable[None]]:
    """A server that does the first steps as it should, and what follows by `answer`."""

    async def handle(request: ServerRequest) -> None:
        body = await read_body(request)
        if body is None:
            await request.send(page(b"", status="405 Method Not Allowed"))
            return
        match body.get("method"):
            case "server/discover":
                await send_json(request, error(body, -32601, "Method not found"), "404 Not Found")
            case "initialize":
                info = {"name": "site", "version": "2"}
                told: Json = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
                await send_json(request, result(body, told))
            case "tools/list":
                await send_json(request, result(body, {"tools": [{"name": "act", "inputSchema": {"type": "object"}}]}))
            case "tools/call":
                await answer(request, body)
            case _:
                await request.send(page(b"", status="202 Accepted"))

    return handle


async def read_body(request: ServerRequest) -> dict[str, Json] | None:
    """The JSON of a POST; the head was read before, and nothing but one message follows it."""
    try:
        async with asyncio.timeout(0.5):
            raw = b""
            while True:
                raw += await request.reader.read(1 << 16)
                try:
                    return json.loads(raw)
                except ValueError:
                    if not raw:
                        return None
    except TimeoutError:
        return None


def result(body: dict[str, Json], value: Json) -> Json:
    return {"jsonrpc": "2.0", "id": body["id"], "result": value}


def error(body: dict[str, Json], code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": body["id"], "error": {"code": code, "message": message}}


async def send_json(request: ServerRequest, value: Json, status: str = "200 OK") -> None:
    await request.send(page(json.dumps(value).encode(), JSON, "Connection: close", status=status))


async def test_a_real_server_over_http_is_driven_like_one_that_is_a_program(drive: Drive, everything: str) -> None:
    driven = drive({"url": everything, "type": "http"})
    offer = await driven.open()

    assert offer.identity == f"mcp-servers/everything at {everything}"
    assert (await driven.call("echo", message="hello")).text == "Echo: hello"
    assert driven.tool("echo").network
    assert driven.driver.facts(driven.tool("echo"), {}).host == "127.0.0.1"
    assert driven.tool("echo").effects == (f"Sends these arguments to {everything}",)
    with pytest.raises(ToolFailed, match=r"refused|nvalid"):
        await driven.call("get-sum", a="x", b="y")


async def test_secrets_go_into_the_headers_and_proxies_of_the_environment_are_not_asked(
    drive: Drive, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def echo(request: ServerRequest, body: dict[str, Json]) -> None:
        await send_json(request, result(body, {"content": [{"type": "text", "text": "you sent Bearer k-123456"}]}))

    proxy, site = await start(page(b"")), await start(answering(echo))
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
    settings = {"url": f"http://127.0.0.1:{site.port}/mcp", "headers": {"Authorization": "Bearer ${secret:KEY}"}}
    driven = drive(settings, secrets={"KEY": "k-123456"})
    await driven.open()

    assert (await driven.call("act")).text == "you sent Bearer [secret]"
    assert all("authorization: bearer k-123456" in head.lower() for head in site.heads)
    assert all("accept-encoding: identity" in head.lower() for head in site.heads)
    assert proxy.heads == []


async def test_a_redirect_to_another_host_is_not_followed_and_gets_no_secret(drive: Drive, start: Start) -> None:
    other = await start(page(b""))
    site = await start(redirect(f"http://127.0.0.1:{other.port}/mcp").replace(b"302 Found", b"307 Temporary Redirect"))
    driven = drive(
        {"url": f"http://127.0.0.1:{site.port}/mcp", "headers": {"X-Key": "${secret:KEY}"}}, secrets={"KEY": "k-12345"}
    )

    with pytest.raises(SourceAway, match="not followed"):
        await driven.open()
    assert other.heads == []


async def test_a_server_that_is_not_there_says_so_and_a_later_call_did_surely_not_run(drive: Drive, start: Start) -> None:
    async def answer(request: ServerRequest, body: dict[str, Json]) -> None:
        await send_json(request, result(body, {"content": []}))

    nobody = drive({"url": f"http://127.0.0.1:{await _free_port()}/mcp"})
    with pytest.raises(SourceAway, match="the server cannot be reached"):
        await nobody.open()

    site = await start(answering(answer))
    driven = drive({"url": f"http://127.0.0.1:{site.port}/mcp"})
    await driven.open()
    await site.stop()
    with pytest.raises(SourceAway, match="the server cannot be reached"):
        await driven.call("act")


async def test_a_server_that_wants_other_credentials_says_so(drive: Drive, start: Start) -> None:
    site = await start(page(b"no", status="401 Unauthorized"))

    with pytest.raises(SourceAway, match="the server answers 401: it does not accept these `headers`"):
        await drive({"url": f"http://127.0.0.1:{site.port}/mcp", "headers": {"X-Key": "k"}}).open()


async def _compressed(request: ServerRequest, body: dict[str, Json]) -> None:
    packed = gzip.compress(json.dumps(result(body, {"content": []})).encode())
    await request.send(page(packed, JSON, "Content-Encoding: gzip"))


async def _breaks_off(request: ServerRequest, body: dict[str, Json]) -> None:
    await request.send(page(json.dumps(result(body, {"content": []})).encode(), JSON)[:-5])


async def _huge(request: ServerRequest, __: dict[str, Json]) -> None:
    await request.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    for _ in range(200):
        await request.send(b"x" * (1 << 20))


async def _endless_event(request: ServerRequest, __: dict[str, Json]) -> None:
    await request.send(EVENTS + b"data: ")
    for _ in range(200):
        await request.send(b"x" * (1 << 20))


async def _flood(request: ServerRequest, __: dict[str, Json]) -> None:
    told = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
    event = b"data: " + json.dumps(told).encode() + b"\n\n"
    await request.send(EVENTS)
    for _ in range(100):
        await request.send(event * 1000)


async def _silent(request: ServerRequest, __: dict[str, Json]) -> None:
    await request.wait_until_left()


async def _not_json(request: ServerRequest, __: dict[str, Json]) -> None:
    await request.send(page(b"<html>", "Content-Type: text/html"))


async def _lies_that_nothing_ran(request: ServerRequest, body: dict[str, Json]) -> None:
    await send_json(request, error(body, -32090, "the server cannot be reached"), "502 Bad Gateway")


FAILING: dict[str, tuple[Answer, str]] = {
    "compressed": (_compressed, "the server compressed its answer, which was not asked for; the call may have run"),
    "broken off": (_breaks_off, "the server sent an answer that cannot be read; the call may have run"),
    "silent": (_silent, "it did not answer within 1 seconds; it may have taken effect"),
    "no JSON": (_not_json, "the server refused: Unexpected content type: text/html"),
    "lying": (_lies_that_nothing_ran, "the server refused: the server cannot be reached"),
}
ENDING: dict[str, tuple[Answer, str]] = {
    "huge": (_huge, "it sent an answer of more than 8 MB; the call may have run"),
    "endless": (_endless_event, "it sent an answer of more than 8 MB; the call may have run"),
    "flood": (_flood, "it sent more than 2000 messages, faster than 500 a second; the call may have run"),
}


async def _by_argument(request: ServerRequest, body: dict[str, Json]) -> None:
    answer, _ = {**FAILING, **ENDING}[body["params"]["arguments"]["how"]]
    await answer(request, body)


async def test_an_answer_that_is_none_fails_its_call_in_one_line(drive: Drive, start: Start) -> None:
    site = await start(answering(_by_argument))
    driven = drive({"url": f"http://127.0.0.1:{site.port}/mcp", "timeout": 1.0})
    await driven.open()

    for how, (_, message) in FAILING.items():
        with pytest.raises(ToolFailed) as caught:
            await driven.call("act", how=how)
        assert caught.value.message == message
    assert driven.listener.losses == []


@pytest.mark.parametrize("how", ENDING)
async def test_an_answer_without_an_end_ends_the_connection_with_a_sentence(drive: Drive, start: Start, how: str) -> None:
    site = await start(answering(_by_argument))
    driven = drive({"url": f"http://127.0.0.1:{site.port}/mcp"})
    await driven.open()

    with pytest.raises(ToolFailed) as caught:
        await driven.call("act", how=how)

    assert caught.value.message == ENDING[how][1]


async def test_a_header_that_no_request_can_have_is_told_without_its_value(drive: Drive) -> None:
    driven = drive({"url": "http://127.0.0.1:9/mcp", "headers": {"X-Key": "${secret:KEY}"}}, secrets={"KEY": "two\r\nlines"})

    with pytest.raises(Misconfigured) as caught:
        await driven.open()
    assert caught.value.message == "the value of `X-Key` holds a character that no header can have"


async def test_case_324_a_server_that_ends_its_streams_at_once_is_not_asked_for_them_without_end(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "STREAM_SECONDS", 600.0)
    site = await start(page(b"retry: 0\nid: 1\ndata: \n\n", "Content-Type: text/event-stream", "Connection: close"))
    transport = http.OneServer(BearerToken(None), Watch(), has_headers=False, private=False)

    async def ask(method: str) -> None:
        await (await transport.handle_async_request(httpx2.Request(method, f"http://127.0.0.1:{site.port}/mcp"))).aread()

    for _ in range(http.STREAMS_AT_ONCE):
        async with asyncio.timeout(PATIENCE):
            await ask("GET")
    once_more = asyncio.create_task(ask("GET"))
    # What is sent to it goes at once.
    async with asyncio.timeout(PATIENCE):
        await ask("POST")
    assert [head.partition(" ")[0] for head in site.heads] == ["GET"] * http.STREAMS_AT_ONCE + ["POST"]
    once_more.cancel()
    await transport.aclose()


@dataclass
class Pauses:
    """What stands in the place of `asyncio` in the module under test: who sleeps there goes on when the test says so."""

    begun: asyncio.Queue[float] = field(default_factory=asyncio.Queue[float])
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def sleep(self, seconds: float) -> None:
        self.begun.put_nowait(seconds)
        await self.over.wait()


@contextlib.asynccontextmanager
async def asking_for_streams(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[tuple[Site, Pauses, Watch, Callable[[], asyncio.Task[None]]]]:
    """A transport that has asked for all the streams that it may ask for at once, and a way to ask for one more."""
    pauses, watch = Pauses(), Watch()
    monkeypatch.setattr(http, "STREAM_SECONDS", 600.0)
    monkeypatch.setattr(http, "asyncio", pauses)
    site = await start(page(b"retry: 0\nid: 1\ndata: \n\n", "Content-Type: text/event-stream", "Connection: close"))
    transport = http.OneServer(BearerToken(None), watch, has_headers=False, private=False)
    asking: list[asyncio.Task[None]] = []

    async def ask() -> None:
        await (await transport.handle_async_request(httpx2.Request("GET", f"http://127.0.0.1:{site.port}/mcp"))).aread()

    def begin() -> asyncio.Task[None]:
        asking.append(asyncio.create_task(ask()))
        return asking[-1]

    async with asyncio.timeout(PATIENCE):
        for _ in range(http.STREAMS_AT_ONCE):
            await begin()
        yield site, pauses, watch, begin
        for task in asking:
            task.cancel()
        await asyncio.wait(asking)
    await transport.aclose()


async def test_case_324_all_streams_of_a_connection_have_their_turn_one_after_the_other(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_for_streams(start, monkeypatch) as (site, pauses, watch, ask):
        waiting = [ask() for _ in range(10)]
        seconds = [await pauses.begun.get() for _ in waiting]
        assert [round(each / http.STREAM_SECONDS) for each in seconds] == list(range(1, 11))
        assert len(site.heads) == http.STREAMS_AT_ONCE
        pauses.over.set()
        await asyncio.gather(*waiting)
        assert len(site.heads) == http.STREAMS_AT_ONCE + len(waiting)
        assert watch.why == ""


async def test_case_324_a_server_that_leaves_many_requests_for_its_streams_waiting_is_let_go(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_for_streams(start, monkeypatch) as (site, pauses, watch, ask):
        for _ in range(http.MOST_WAITING):
            ask()
            await pauses.begun.get()
        assert not watch.is_over
        ask()
        await watch.broken.wait()
        assert watch.why == "it ended its streams of events so fast that more than 50 wait to be asked for again"
        assert len(site.heads) == http.STREAMS_AT_ONCE


def test_what_may_come_comes_back_with_the_time() -> None:
    soon, never = Meter(2, 1e12), Meter(2, 1e-12)
    assert [soon.wait_for() for _ in range(50)] == [0.0] * 50
    assert [round(never.wait_for() * 1e-12) for _ in range(5)] == [0, 0, 1, 2, 3]


async def test_with_another_query_it_is_another_server(drive: Drive, start: Start) -> None:
    site = await start(answering(_not_json))
    url = f"http://127.0.0.1:{site.port}/mcp"
    offers = {asked: await drive({"url": f"{url}{asked}"}).open() for asked in ("", "?project=first", "?project=second")}
    pins = {offer.pin(offer.tools[0]) for offer in offers.values()}
    assert len(pins) == len(offers)
    # What was decided before a query counted still holds where there is none.
    assert offers[""].identity == f"site at {url}"
    # A query may hold a key.
    assert all("project" not in f"{offer.identity} {offer.tools[0]}" for offer in offers.values())


def test_settings_do_not_show_their_headers() -> None:
    settings = McpServerSettings.model_validate(
        {"url": "https://tools.example.com/mcp?x=1", "headers": {"Authorization": "Bearer abc"}}
    )

    assert "abc" not in repr(settings)
    assert settings.place == "https://tools.example.com/mcp"
