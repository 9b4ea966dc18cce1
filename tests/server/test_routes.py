"""The route table, row by row: every row is served, and each refuses requests without what it requires."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from gateway.core.ledger import InferenceRefused
from gateway.core.vocabulary import Reason
from gateway.runtime.ports import ModelPhase
from gateway.server.access import Permission, Site, Source
from gateway.server.routes import ROWS, Row
from tests.harness.http import Browser, Reply
from tests.server.conftest import METRICS_TOKEN, PATIENCE, Running, Turn, headers_of, serve

pytestmark = pytest.mark.asyncio(loop_scope="module")

STATE_CHANGING = [row for row in ROWS if row.source is Source.OWN_PAGES]
GUARDED = [row for row in ROWS if row.permission is not Permission.PUBLIC]
WITH_BODY = [row for row in ROWS if row.body is not None]

PROXIED = (
    {"X-Forwarded-For": "127.0.0.1"},
    {"X-Forwarded-Host": "gateway.test"},
    {"Forwarded": "for=127.0.0.1"},
    {"Via": "1.1 proxy"},
    {"X-Real-IP": "203.0.113.7"},
)
"""What proxies add to a request, each of them some of it."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def arrived(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Running, Turn]]:
    """One server for the whole table: a refused request must not change its state. Somebody is signed in on both origins."""
    async with serve(tmp_path_factory.mktemp("web")) as served:
        await served.arrive()
        yield served, await served.begin_turn()


@pytest.fixture
def running(arrived: tuple[Running, Turn]) -> Iterator[Running]:
    """The server. Every request of these tests is refused or only read, so nothing is recorded but refused inference."""
    served, _ = arrived
    recorded = len(served.ledger.entries)
    yield served
    assert [entry for entry in served.ledger.entries[recorded:] if not isinstance(entry, InferenceRefused)] == []


@pytest.fixture
def turn(arrived: tuple[Running, Turn]) -> Turn:
    """The open turn of the shell."""
    return arrived[1]


def name(row: Row) -> str:
    return f"{row.site.value} {row.method} {row.path}"


def url(running: Running, row: Row, site: Site | None = None) -> str:
    origin = running.parts.access.origins.of(site or row.site)
    return origin + row.path.replace("{name:path}", "missing").replace("{name}", "missing").replace("{id}", "x")


async def ask(running: Running, row: Row, browser: Browser | None = None, **options: Any) -> Reply:
    browser = browser or running.browser
    return await browser.request(row.method, url(running, row), **options)


@pytest.mark.parametrize("row", GUARDED, ids=name)
async def test_a_row_with_a_permission_refuses_requests_without_a_session(running: Running, row: Row) -> None:
    headers = {"X-Forwarded-For": "127.0.0.1"} if row.permission is Permission.PROBE else {}
    stranger = running.another_browser()
    reply = await ask(running, row, stranger, headers=headers, body={} if row.method == "POST" else None)
    expected = (403, "refused") if row.permission is Permission.PROBE else (401, None)
    assert reply.status == expected[0]
    code = reply.json["error"]["code"]
    assert code in ((expected[1],) if expected[1] else ("not_signed_in", "invalid_token"))


@pytest.mark.parametrize("row", GUARDED, ids=name)
async def test_a_row_with_a_permission_refuses_other_permissions(running: Running, row: Row) -> None:
    """A shell's cookie is not valid on the console, nor the other way round, and neither is valid for `/v1`."""
    mine = {
        Site.AGENT: running.browser.cookies["agent.localhost"]["countersign_agent"],
        Site.CONSOLE: running.browser.cookies["console.localhost"]["countersign_console"],
    }
    other = Site.CONSOLE if row.site is Site.AGENT else Site.AGENT
    stranger = running.another_browser()
    stranger.cookies[f"{row.site.value}.localhost"] = {
        f"countersign_{row.site.value}": mine[other],
        f"countersign_{other.value}": mine[other],
    }
    headers = {"Authorization": "Bearer guess", "X-Forwarded-For": "127.0.0.1"}
    reply = await ask(running, row, stranger, headers=headers, body={} if row.method == "POST" else None)
    assert reply.status in (401, 403)
    assert "error" in reply.json


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "http://agent.localhost", "other", "suffix", "upper", None])
@pytest.mark.parametrize("row", STATE_CHANGING, ids=name)
async def test_a_row_that_changes_state_refuses_other_origins(running: Running, row: Row, origin: str | None) -> None:
    """docs/SECURITY.md cases 36 and 42: with the right cookies, and the wrong page."""
    own = running.parts.access.origins.of(row.site)
    other = running.agent if row.site is Site.CONSOLE else running.console
    sent = {"other": other, "suffix": f"{own}.evil.test", "upper": own.upper()}.get(origin or "", origin)
    reply = await ask(running, row, body={}, origin=sent)
    assert (reply.status, reply.json["error"]["reason"]) == (403, "origin")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "same-origin, cross-site"])
@pytest.mark.parametrize("row", STATE_CHANGING, ids=name)
async def test_a_row_that_changes_state_checks_sec_fetch_site(running: Running, row: Row, site: str) -> None:
    reply = await ask(running, row, body={}, headers={"Sec-Fetch-Site": site})
    assert (reply.status, reply.json["error"]["reason"]) == (403, "origin")


@pytest.mark.parametrize(
    "host", ["evil.test", "127.0.0.1", "localhost", "agent.localhost.evil.test", "agent.localhost:1", "", "::1"]
)
@pytest.mark.parametrize("row", [row for row in ROWS if row.path in ("/", "/healthz", "/ws", "/signout", "/v1/models")], ids=name)
async def test_a_host_that_is_not_ours_is_misdirected(running: Running, row: Row, host: str) -> None:
    """docs/SECURITY.md case 27: a rebound name still says its own name."""
    reply = await ask(running, row, headers={"Host": host}, body={} if row.method == "POST" else None)
    assert reply.status in ((400, 421) if not host else (421,))
    if host:
        assert reply.json["error"]["code"] == "misdirected_request"


@pytest.mark.parametrize("row", ROWS, ids=name)
async def test_a_row_answers_on_its_own_origin_only(running: Running, row: Row) -> None:
    other = Site.CONSOLE if row.site is Site.AGENT else Site.AGENT
    if any((known.method, known.site, known.path) == (row.method, other, row.path) for known in ROWS):
        return
    reply = await running.browser.request(row.method, url(running, row, other), body={} if row.method == "POST" else None)
    assert reply.status in (404, 405)
    assert reply.json["error"]["code"] in ("not_found", "method_not_allowed")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
@pytest.mark.parametrize("row", [row for row in ROWS if row.path in ("/", "/authorize", "/signout", "/v1/models")], ids=name)
async def test_a_method_without_a_row_is_a_405_with_the_allowed_ones(running: Running, row: Row, method: str) -> None:
    reply = await running.browser.request(method, url(running, row))
    assert reply.status == 400 if method == "BREW" else 405
    if reply.status == 405:
        assert row.method in headers_of(reply)["allow"]


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", ""]
)
@pytest.mark.parametrize("row", WITH_BODY, ids=name)
async def test_a_body_of_another_type_is_not_read(running: Running, turn: Turn, row: Row, media_type: str) -> None:
    """The media types that a form can send without a preflight are refused."""
    reply = await ask(running, row, raw=b'{"a":1}', headers={"Content-Type": media_type, **turn.bearer})
    assert (reply.status, reply.json["error"]["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b'{"a":1,"a":2}',
        b'{"a":NaN}',
        b'{"a":9007199254740993}',
        b'{"a":"\\ud800"}',
        b"\xef\xbb\xbf{}",
        b"[" * 1000,
        b'{"a":' * 65 + b"1" + b"}" * 65,
        b'{"__proto__":{}}',
        b"[]",
        b"null",
    ],
    ids=["cut", "twice", "nan", "big", "surrogate", "bom", "open", "deep", "unknown", "array", "null"],
)
@pytest.mark.parametrize("row", [row for row in WITH_BODY if row.path != "/csp-report"], ids=name)
async def test_a_hostile_body_gets_a_typed_error_from_every_row(running: Running, turn: Turn, row: Row, raw: bytes) -> None:
    """docs/SECURITY.md cases 15 to 22."""
    reply = await ask(running, row, raw=raw, headers={"Content-Type": "application/json", **turn.bearer})
    assert reply.status == 400
    assert set(reply.json["error"]) >= {"code", "message"}


@pytest.mark.parametrize("framing", ["announced", "chunked"])
@pytest.mark.parametrize("row", WITH_BODY, ids=name)
async def test_a_body_beyond_the_limit_is_not_read_to_its_end(running: Running, turn: Turn, row: Row, framing: str) -> None:
    assert row.body is not None
    beyond = row.body.limit + 1
    cookies = running.browser.cookies[f"{row.site.value}.localhost"]
    origin = running.parts.access.origins.of(row.site)
    head = [
        f"POST {row.path} HTTP/1.1",
        f"Host: {origin.removeprefix('http://')}",
        f"Origin: {origin}",
        "Content-Type: application/json",
        f"Authorization: Bearer {turn.token}",
        "Cookie: " + "; ".join(f"{key}={value}" for key, value in cookies.items()),
        f"Content-Length: {beyond}" if framing == "announced" else "Transfer-Encoding: chunked",
        "\r\n",
    ]
    # The announced body is never sent: the answer comes without it.
    body = b"" if framing == "announced" else b"%x\r\n%b\r\n" % (beyond, b"x" * beyond)
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    try:
        async with asyncio.timeout(PATIENCE):
            writer.write("\r\n".join(head).encode() + body)
            assert (await reader.readline()).startswith(b"HTTP/1.1 413")
    finally:
        writer.close()


@pytest.mark.parametrize("path", ["/nothing", "/assets/../index.html", "/assets/%2e%2e/index.html", "/ws/x", "/v1/", "/signout/"])
async def test_a_path_without_a_row_is_not_found(running: Running, path: str) -> None:
    reply = await running.browser.get(f"{running.console}{path}")
    assert (reply.status, reply.json["error"]["code"]) == (404, "not_found")


# ── health ──


async def test_health_and_readiness_are_reported(running: Running) -> None:
    assert (await running.browser.get(f"{running.agent}/healthz")).json == {"status": "ok"}
    assert (await running.browser.get(f"{running.console}/readyz")).status == 200


async def test_readiness_names_each_missing_part(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never() -> bool:
        return False

    monkeypatch.setattr(running.ledger, "ready", never)
    monkeypatch.setattr(running.backend, "phase", ModelPhase.CRASHED)
    reply = await running.browser.get(f"{running.agent}/readyz")
    assert reply.status == 503
    assert [reason["part"] for reason in reply.json["reasons"]] == ["database", "model"]
    assert reply.json["reasons"][1]["state"] == "crashed"


async def test_tools_that_cannot_run_make_it_unready_and_each_reason_is_given_once(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolbox = running.gateway.ports.toolbox
    first, second, *rest = toolbox.specs()
    sandboxed = [
        replace(each, unavailable="there is no sandbox here", unavailable_because=Reason.SANDBOX_UNAVAILABLE)
        for each in (first, second)
    ]
    monkeypatch.setattr(toolbox, "specs", lambda: [*sandboxed, *rest])

    reply = await running.browser.get(f"{running.agent}/readyz")

    assert (reply.status, reply.json["reasons"]) == (503, [{"part": "tools", "message": "there is no sandbox here"}])


async def test_metrics_are_for_local_requests_and_for_the_metrics_token(running: Running) -> None:
    url = f"{running.console}/metrics"
    await running.browser.get(f"{running.agent}/healthz")
    here = await running.browser.get(url)
    assert here.status == 200
    assert b'countersign_http_requests_total{status="200",tag="health:read"}' in here.body
    foreign = {"Origin": "https://attacker.example"}, {"Sec-Fetch-Site": "same-origin"}
    for header in (*PROXIED, *foreign):
        assert (await running.browser.get(url, headers=header)).status == 403
    token = {"Authorization": f"Bearer {METRICS_TOKEN}", "X-Forwarded-For": "203.0.113.7"}
    assert (await running.browser.get(url, headers=token)).status == 200
    assert (await running.browser.get(url, headers={"Authorization": "Bearer guess"})).status == 403


async def test_policy_reports_are_counted_and_logged_as_data(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    report = b'{"csp-report":{"blocked-uri":"inline","script-sample":"x\\nFAKE LINE\\u001b[31m"}}'
    reply = await running.browser.post(
        f"{running.console}/csp-report", raw=report, origin=None, headers={"Content-Type": "application/csp-report"}
    )
    assert reply.status == 204
    (record,) = [record for record in caplog.records if "content policy report" in record.message]
    assert "\n" not in record.message
    assert "\x1b" not in record.message
    metrics = await running.browser.get(f"{running.console}/metrics")
    assert b'countersign_http_requests_total{status="204",tag="report:taken"} 1.0' in metrics.body
