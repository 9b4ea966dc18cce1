"""Servers that do not mean well, over real connections: what reaches the result, and what never leaves."""

from __future__ import annotations

import asyncio
import gzip
import socket
import zlib
from typing import Any

import pytest
from aiohttp import web

from gateway.adapters.tools.builtin.egress import Egress
from gateway.adapters.tools.builtin.fetching import FetchLimits
from gateway.adapters.tools.http_api import driver as driver_module
from gateway.adapters.tools.offer import SourceAway
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Reason
from tests.adapters.tools.conftest import make_context
from tests.adapters.tools.http_api.apis import SECRETS, SeenRequest, document_of, open_api, settings_of, shown_again
from tests.adapters.tools.http_api.conftest import Serve
from tests.adapters.tools.http_api.lying import DOCUMENT, HEADERS, JSON, api_at
from tests.adapters.tools.sites import ServerRequest, Start, page, redirect
from tests.adapters.tools.test_egress import Names


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test reaches soon."""

    def small(**given: Any) -> FetchLimits:
        return FetchLimits(**{"sent": 64 * 1024, "inflated": 256 * 1024, **given})

    monkeypatch.setattr(driver_module, "FetchLimits", small)


# ── what is sent ──


async def test_what_arrives_is_what_was_shown(serve: Serve) -> None:
    server = await serve()
    parameters: list[dict[str, Any]] = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "q", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
    ]
    operation: dict[str, Any] = {
        "operationId": "it",
        "parameters": parameters,
        "requestBody": {"content": {"application/json": {}}},
    }
    api = await open_api(
        settings_of(
            base_url=server.url, document=document_of(("post", "/a:b/{id}", operation)), headers={**HEADERS, "accept": "x/y"}
        )
    )
    arguments: dict[str, Any] = {
        "id": "é ?#%2e",
        "q": ["a&b=c", "", "+ ~'"],
        "X_Trace": 'a "b"; c',
        "body": {"é": ["\u202e\n", None, 1e20, {}]},
    }
    await api.call("it", **arguments)
    lines = await api.lines("it", **arguments)
    assert lines == shown_again(server, server.seen[0])
    assert lines[0] == f"POST {server.url}/a:b/%C3%A9%20%3F%23%252e?q=a%26b%3Dc&q=&q=%2B%20~%27"
    assert "Authorization: Bearer ${secret:TOKEN}" in lines


# ── credentials ──


async def test_secrets_are_sent_shown_by_name_and_taken_out_of_what_comes_back(serve: Serve) -> None:
    async def echo(seen: SeenRequest) -> web.StreamResponse:
        told = {"sent": seen.headers["Authorization"], seen.headers["Authorization"]: ["x" + SECRETS["TOKEN"] + "y"]}
        return web.json_response(told, headers={"X-Request-Id": SECRETS["TOKEN"]})

    server = await serve(echo)
    api = await open_api(settings_of(base_url=server.url, document=DOCUMENT, headers=HEADERS))
    assert "Authorization: Bearer ${secret:TOKEN}" in await api.lines("post", body={})
    output = await api.call("post", body={})
    assert server.seen[0].headers["Authorization"] == "Bearer s3cr3t-t0ken-value"
    assert SECRETS["TOKEN"] not in output.text
    assert output.structured["body"] == {"sent": "Bearer ${secret:TOKEN}", "Bearer ${secret:TOKEN}": ["x${secret:TOKEN}y"]}
    assert output.structured["headers"] == {"x-request-id": "${secret:TOKEN}"}


async def test_only_the_operators_headers_are_filled(serve: Serve) -> None:
    server = await serve()
    operation: dict[str, Any] = {
        "operationId": "post",
        "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
        "requestBody": {"content": {"application/json; a=${secret:TOKEN}": {}, "text/plain; charset=UTF-8": {}}},
    }
    document = document_of(("post", "/it/$secret:TOKEN", operation))
    api = await open_api(settings_of(base_url=server.url, document=document, headers={"X-Key": "${secret:TOKEN}"}))
    await api.call("post", q="${secret:TOKEN}", body="${secret:TOKEN}")
    (seen,) = server.seen
    assert seen.headers["X-Key"] == SECRETS["TOKEN"]
    others = {name: value for name, value in seen.headers.items() if name != "X-Key"}
    assert SECRETS["TOKEN"] not in f"{seen.target} {others} {seen.body!r}"
    assert seen.headers["Content-Type"] == "text/plain; charset=UTF-8"


async def test_a_secret_that_is_gone_or_broken_sends_nothing(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = await serve()
    api = await open_api(settings_of(base_url=server.url, document=DOCUMENT, headers={"X-Key": "${secret:GONE}"}))
    with pytest.raises(ToolFailed, match="no such secret"):
        await api.call("get")
    monkeypatch.setitem(SECRETS, "GONE", "a\r\nX-Admin: yes")
    with pytest.raises(ToolFailed, match="more than one line") as caught:
        await api.call("get")
    assert "Admin" not in caught.value.message
    assert server.seen == []


# ── redirects ──


async def test_a_redirect_within_the_server_is_followed_for_what_only_reads(start: Start) -> None:
    async def lead(visit: ServerRequest) -> None:
        await visit.send(redirect("/there?x=1") if visit.path == "/it" else page(b'{"id": 1}', JSON))

    site = await start(lead)
    api = await api_at(site)
    assert (await api.result("get"))["body"] == {"id": 1}
    assert [head.split(" ")[1] for head in site.heads] == ["/it", "/there?x=1"]
    assert all("Bearer s3cr3t-t0ken-value" in head for head in site.heads)


async def test_a_redirect_of_anything_else_is_told_and_not_followed(start: Start) -> None:
    site = await start(redirect("/there"))
    api = await api_at(site)
    assert await api.result("post", body={}) == {"status": 302, "headers": {"location": "/there"}, "body": None}
    assert len(site.heads) == 1


async def test_a_redirect_elsewhere_is_told_and_nobody_else_is_asked(start: Start) -> None:
    other = await start(page(b"stolen"))
    site = await start(b"")
    places = [
        *(f"http://127.0.0.1:{other.port}/", f"http://localhost:{site.port}/", f"http://127.1:{site.port}/"),
        *(f"http://user@127.0.0.1:{site.port}/", f"https://127.0.0.1:{site.port}/", f"http://[::ffff:127.0.0.1]:{site.port}/"),
        *(
            "http://169.254.169.254/latest/meta-data/",
            "//evil.example/",
            "file:///etc/passwd",
            "http://[::1",
            "gopher://x/",
        ),
    ]
    for place in places:
        leading = await start(redirect(place))
        result = await (await api_at(leading)).result("get")
        assert (result["status"], result["headers"]["location"]) == (302, place)
        assert len(leading.heads) == 1
    assert other.heads == []
    assert site.heads == []


async def test_redirects_without_end_are_given_up(start: Start) -> None:
    site = await start(redirect("/it"))
    api = await api_at(site)
    with pytest.raises(ToolFailed, match="more often than is followed"):
        await api.call("get")
    assert len(site.heads) == 6


# ── too much, too slow, broken ──


async def test_an_endless_body_is_cut_and_says_so(start: Start) -> None:
    async def pour(visit: ServerRequest) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            await visit.send(b"x" * 4096)

    site = await start(pour)
    result = await (await api_at(site)).result("get")
    assert (len(result["body"]), result["complete"]) == (64 * 1024, False)
    await site.wait_until_left()


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_compressed_bomb_is_cut_as_it_unfolds(start: Start, encoding: str) -> None:
    bomb = (gzip.compress if encoding == "gzip" else zlib.compress)(b"0" * 30_000_000)
    api = await api_at(await start(page(bomb, f"Content-Encoding: {encoding}", JSON)))
    result = await api.result("get")
    assert (len(result["body"]), result["complete"]) == (256 * 1024, False)


async def test_a_server_that_never_answers_is_given_up_in_time(start: Start) -> None:
    async def wait(visit: ServerRequest) -> None:
        await visit.wait_until_left()

    api = await api_at(await start(wait), timeout=0.3)
    for name, words in (("get", "did not answer within 0.3 seconds"), ("post", "seconds; it may have taken effect")):
        with pytest.raises(ToolFailed, match=words) as caught:
            await api.call(name)
        assert caught.value.reason == Reason.TOOL_TIMEOUT


async def test_a_server_that_answers_drop_by_drop_is_given_up_in_time(start: Start) -> None:
    async def drip(visit: ServerRequest) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            await visit.send(b"x")
            await asyncio.sleep(0.05)

    with pytest.raises(ToolFailed, match="did not answer within"):
        await (await api_at(await start(drip), timeout=0.3)).call("get")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 9999 What\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"\x00\x01\x02",
        b"",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nabc",
    ],
    ids=lambda answer: repr(answer[:40]),
)
async def test_an_answer_that_is_none_is_one_line(start: Start, answer: bytes) -> None:
    api = await api_at(await start(answer))
    for name in ("get", "post"):
        with pytest.raises(ToolFailed) as caught:
            await api.call(name)
        assert "\n" not in caught.value.message
        assert SECRETS["TOKEN"] not in caught.value.message
        assert caught.value.message.endswith("; it may have taken effect") is (name == "post")


async def test_nobody_there_means_that_nothing_was_sent() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        api = await open_api(settings_of(base_url=f"http://127.0.0.1:{held.getsockname()[1]}", document=DOCUMENT))
        with pytest.raises(SourceAway, match="cannot be reached"):
            await api.call("post", body={})


async def test_a_cancelled_call_ends_its_connection(start: Start) -> None:
    asked = asyncio.Event()

    async def wait(visit: ServerRequest) -> None:
        asked.set()
        await visit.wait_until_left()

    site = await start(wait)
    api = await api_at(site)
    call = asyncio.create_task(api.driver.call(api.tool("get"), {}, make_context()))
    async with asyncio.timeout(5):
        await asked.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await site.wait_until_left()


# ── where it may go at all ──


async def test_a_name_that_leads_to_this_machine_is_not_asked(start: Start) -> None:
    site = await start(page(b"inside"))
    for address in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"):
        settings = settings_of(base_url=f"https://api.example.com:{site.port}", document=DOCUMENT)
        egress = Egress(lookup=Names([address]), ports=frozenset({site.port}))
        with pytest.raises(ToolFailed, match="may not be fetched"):
            await (await open_api(settings, egress)).call("get")
    assert site.heads == []


async def test_the_environment_names_no_proxy(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = await start(page(b"proxied"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    site = await start(page(b'{"id": 1}', JSON))
    assert (await (await api_at(site)).result("get"))["body"] == {"id": 1}
    assert proxy.heads == []


async def test_no_cookie_is_kept(start: Start) -> None:
    site = await start(page(b'{"id": 1}', JSON, "Set-Cookie: session=1; Path=/"))
    api = await api_at(site)
    await api.call("get")
    await api.call("get")
    assert not any("cookie" in head.lower() for head in site.heads)


# ── a document that the server itself has ──


async def test_a_document_is_fetched_from_the_server_with_its_credentials(start: Start) -> None:
    site = await start(page(DOCUMENT.replace("Test", f"Test {SECRETS['TOKEN']}").encode(), JSON))
    base = f"http://127.0.0.1:{site.port}"
    api = await open_api(settings_of(base_url=base, document_url=f"{base}/openapi.json", headers=HEADERS))
    assert [tool.name for tool in api.offer.tools] == ["get", "post", "head"]
    assert "Bearer s3cr3t-t0ken-value" in site.heads[0]
    assert api.offer.identity == f"{base} Test ${{secret:TOKEN}}"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (page(b"x", status="404 Not Found"), "answered with status 404"),
        (page(b"<html>", "Content-Type: text/html"), "no OpenAPI document"),
        (page(b"{}", JSON), "has no `openapi`"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "broke off"),
        (b"nonsense\r\n\r\n", "no proper answer"),
        (redirect("http://169.254.169.254/"), "answered with status 302"),
        (page(gzip.compress(b" " * 20_000_000), "Content-Encoding: gzip"), "has more than 16 MiB"),
    ],
)
async def test_a_server_without_a_document_is_away(start: Start, answer: bytes, words: str) -> None:
    site = await start(answer)
    base = f"http://127.0.0.1:{site.port}"
    with pytest.raises(SourceAway) as caught:
        await open_api(settings_of(base_url=base, document_url=f"{base}/openapi.json"))
    assert words in caught.value.message
