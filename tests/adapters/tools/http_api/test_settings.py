"""What an operator may say about an API."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.adapters.tools.http_api.places import read_base
from gateway.adapters.tools.http_api.sending import guard
from gateway.core.errors import ToolFailed
from tests.adapters.tools.http_api.apis import settings_of

CALL = {"name": "a", "method": "GET", "path": "/", "description": "d"}

WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "give an OpenAPI document or at least one call"),
    ({"document": "{}", "document_url": "https://api.example.com/x"}, "give one of"),
    ({"calls": [CALL], "operations": ["a"]}, "there is none"),
    ({"document": "{}", "base_url": "http://api.example.com"}, "not encrypted"),
    ({"document": "{}", "base_url": "ftp://api.example.com"}, "without login or query"),
    ({"document": "{}", "base_url": "https://user:pw@api.example.com"}, "without login or query"),
    ({"document": "{}", "base_url": "https://api.example.com?x=1"}, "without login or query"),
    ({"document": "{}", "base_url": "https://api.example.com/#a"}, "without login or query"),
    ({"document": "{}", "base_url": "https://api.example.com/a/../b"}, "as a part of its path"),
    ({"document": "{}", "base_url": "https://api.example.com:99999"}, "a port that there is not"),
    ({"document": "{}", "base_url": "https://api.example.com/{x}"}, "without login or query"),
    ({"document": "{}", "base_url": "https://api.example.com\r\nX: y"}, "without login or query"),
    ({"document_url": "https://other.example/openapi.json"}, "must have the scheme, host and port"),
    ({"document_url": "https://user:pw@api.example.com/"}, "must have the scheme, host and port"),
    ({"document_url": "https://api.example.com@evil.example/"}, "must have the scheme, host and port"),
    ({"document": "{}", "headers": {"Host": "x"}}, "the gateway's own"),
    ({"document": "{}", "headers": {"content-length": "1"}}, "the gateway's own"),
    ({"document": "{}", "headers": {"a b": "x"}}, "a header's name"),
    ({"document": "{}", "headers": {"A": "x\r\nB: y"}}, "on one line"),
    ({"document": "{}", "headers": {"A": "x", "a": "y"}}, "named twice"),
    ({"document": "{}", "timeout": 0}, "greater than 0"),
    ({"document": "{}", "unknown": 1}, "Extra inputs"),
    ({"calls": [{**CALL, "method": "TRACE"}]}, "Input should be 'GET'"),
    ({"calls": [{**CALL, "parameters": [{"name": "b", "in": "body", "schema": {}}] * 2}]}, "one body, not two"),
    ({"calls": [{**CALL, "parameters": [{"name": "c", "in": "cookie", "schema": {}}]}]}, "Input should be 'path'"),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_settings_that_cannot_work_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        settings_of(**given)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "url", "loopback"),
    [
        ("https://API.example.com/", "https://api.example.com", False),
        ("https://api.example.com:443/v1/", "https://api.example.com/v1", False),
        ("https://api.example.com:8443", "https://api.example.com:8443", False),
        ("http://localhost:8000", "http://localhost:8000", True),
        ("http://app.localhost", "http://app.localhost", True),
        ("http://[::1]:80/a", "http://[::1]/a", True),
        ("http://127.0.0.1:8000/a%20b", "http://127.0.0.1:8000/a%20b", True),
        ("https://localhost.example.com", "https://localhost.example.com", False),
    ],
)
def test_a_base_url_has_one_form(text: str, url: str, *, loopback: bool) -> None:
    assert (read_base(text).url, read_base(text).loopback) == (url, loopback)


@pytest.mark.parametrize(
    ("base", "private", "allowed"),
    [
        ("https://93.184.216.34", False, True),
        ("https://93.184.216.34:8443", False, True),
        ("http://127.0.0.1:8000", False, True),
        ("https://10.0.0.7", False, False),
        ("https://10.0.0.7", True, True),
        ("https://169.254.169.254", False, False),
    ],
)
def test_an_address_that_is_not_public_needs_the_operators_word(base: str, *, private: bool, allowed: bool) -> None:
    place = read_base(base)
    if allowed:
        guard(place, private=private).inspect(place.url)
    else:
        with pytest.raises(ToolFailed, match="may not be fetched"):
            guard(place, private=private).inspect(place.url)


def test_the_guard_of_one_api_lets_through_no_other() -> None:
    egress = guard(read_base("http://127.0.0.1:8000"), private=False)
    for url in ("http://127.0.0.1:8001/", "http://127.0.0.2:8000/", "http://localhost:8000x/", "http://10.0.0.1/"):
        with pytest.raises(ToolFailed):
            egress.inspect(url)
