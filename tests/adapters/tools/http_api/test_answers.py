"""What an API answered, as the result that a model reads."""

from __future__ import annotations

import hashlib

import orjson
import pytest

from tests.adapters.tools.http_api.lying import JSON, api_at
from tests.adapters.tools.sites import Start, page


async def test_an_answer_is_its_status_its_useful_headers_and_its_body(start: Start) -> None:
    headers = ("Set-Cookie: a=b", "Server: x", "ETag: w1", "X-RateLimit-Remaining: 7", "Link: </it?page=2>; rel=next")
    api = await api_at(await start(page(b'{"id": 7}', JSON, *headers)))
    output = await api.call("get")
    assert output.structured == {
        "status": 200,
        "headers": {"etag": "w1", "x-ratelimit-remaining": "7", "link": "</it?page=2>; rel=next"},
        "mediaType": "application/json",
        "body": {"id": 7},
    }
    assert orjson.loads(output.text) == output.structured


@pytest.mark.parametrize("status", ["400 Bad Request", "404 Not Found", "429 Too Many Requests", "503 Service Unavailable"])
async def test_an_error_status_is_a_result(start: Start, status: str) -> None:
    api = await api_at(await start(page(b'{"message": "no"}', JSON, "Retry-After: 9", status=status)))
    result = await api.result("get")
    assert (result["status"], result["body"], result["headers"]) == (int(status[:3]), {"message": "no"}, {"retry-after": "9"})


async def test_an_answer_that_the_document_does_not_know_says_so(start: Start) -> None:
    api = await api_at(await start(page(b'{"id": "seven", "name": 7}', JSON)))
    result = await api.result("get")
    assert result["body"] == {"id": "seven", "name": 7}
    assert sorted(result["mismatch"]) == ["/id must be integer, not string", "/name must be string, not number"]


async def test_html_instead_of_json_is_said(start: Start) -> None:
    api = await api_at(await start(page(b"<title>Sign in</title>", "Content-Type: text/html")))
    result = await api.result("get")
    assert (result["mediaType"], result["body"]) == ("text/html", "<title>Sign in</title>")
    assert result["mismatch"] == ["/ is text/html, and the document says application/json"]


@pytest.mark.parametrize("body", [b"{", b'{"a": 1, "a": 2}', b'{"id": 99999999999999999999}', b"\xff", b"NaN", b"[" * 10_000])
async def test_json_that_is_none_is_text_and_said(start: Start, body: bytes) -> None:
    api = await api_at(await start(page(body, JSON)))
    result = await api.result("get")
    assert result["body"] == body.decode("utf-8", "replace")
    assert result["mismatch"][0].startswith("the body is no JSON that can be relied on")


async def test_what_is_no_text_is_told_by_its_size_and_digest(start: Start) -> None:
    body = bytes(range(256))
    api = await api_at(await start(page(body, "Content-Type: image/png")))
    result = await api.result("get")
    assert (result["mediaType"], result["body"]) == ("image/png", {"bytes": 256, "sha256": hashlib.sha256(body).hexdigest()})


PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)


@pytest.mark.parametrize(
    ("body", "attached"),
    [(PNG, True), (PNG + b"s3cr3t-t0ken-value", False), (b"<svg xmlns='http://www.w3.org/2000/svg'/>", False)],
    ids=["an image", "an image with the secret of the request", "a document that calls itself one"],
)
async def test_an_image_comes_along_and_nothing_that_only_says_so(start: Start, body: bytes, attached: bool) -> None:
    api = await api_at(await start(page(body, "Content-Type: image/png")))
    output = await api.call("get")
    assert output.attached == ((body,) if attached else ())
    assert "s3cr3t" not in output.text


async def test_hidden_characters_in_headers_are_spelt_out(start: Start) -> None:
    api = await api_at(await start(page(b"", "ETag: \x1b[31m\xe2\x80\xaeabc")))
    etag = (await api.result("get"))["headers"]["etag"]
    assert "\x1b" not in etag
    assert "\u202e" not in etag


async def test_a_text_is_handed_on_as_it_is_and_labelled_nothing_else(start: Start) -> None:
    api = await api_at(await start(page("\x1b[31mred\u202e\0".encode(), "Content-Type: text/plain")))
    assert (await api.result("get"))["body"] == "\x1b[31mred\u202e\ufffd"


async def test_an_answer_without_a_body_says_so(start: Start) -> None:
    api = await api_at(await start(page(b"", status="204 No Content")))
    assert await api.result("post") == {"status": 204, "body": None}
    assert await api.result("head") == {"status": 204}
