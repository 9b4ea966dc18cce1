"""The headers of every answer, the two web apps, and the answers after failures."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from starlette.requests import Request

from gateway.core.errors import IllegalStep, LedgerUnavailable
from gateway.server.assets import WebApp
from tests.server.conftest import PATIENCE, Running, headers_of

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'; report-uri /csp-report"
)


@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/nothing", "/assets/shell-abc123.js", "/login", "/v1/models", "/signout", "/ws"]
)
@pytest.mark.parametrize("site", ["agent", "console"])
async def test_every_answer_carries_the_policy(running: Running, site: str, path: str) -> None:
    """Pages, files, redirects and errors alike."""
    origin = running.agent if site == "agent" else running.console
    headers = headers_of(await running.browser.get(f"{origin}{path}"))
    assert headers["content-security-policy"] == POLICY
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers
    passkeys = "(self)" if site == "console" else "()"
    assert f"publickey-credentials-get={passkeys}" in headers["permissions-policy"]


async def test_an_answer_to_a_foreign_host_carries_the_policy_too(running: Running) -> None:
    headers = headers_of(await running.browser.get(f"{running.agent}/", headers={"Host": "evil.test"}))
    assert headers["content-security-policy"] == POLICY
    assert "publickey-credentials-get=()" in headers["permissions-policy"]


@pytest.mark.parametrize(
    ("host", "path", "status"),
    [("127.0.0.1:1", "/", 421), ("localhost", "/c/cnv_1", 421), (None, "/nothing", 404), (None, "/no/such/page", 404)],
)
async def test_a_person_at_a_wrong_address_is_shown_the_two_right_ones(
    running: Running, host: str | None, path: str, status: int
) -> None:
    headers = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", **({} if host is None else {"Host": host})}
    reply = await running.browser.get(f"{running.agent}{path}", headers=headers)
    assert reply.status == status
    assert headers_of(reply)["content-type"] == "text/html; charset=utf-8"
    page = reply.body.decode()
    assert f'href="{running.agent}/"' in page
    assert f'href="{running.console}/"' in page
    # Nothing of the request is in it, no script may run, and the one style is named by its hash.
    assert "cnv_1" not in page
    assert "script" not in headers_of(reply)["content-security-policy"]
    assert headers_of(reply)["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert headers_of(reply)["x-frame-options"] == "DENY"


@pytest.mark.parametrize(("method", "accept"), [("GET", "*/*"), ("GET", ""), ("POST", "text/html")])
async def test_a_program_at_a_wrong_address_gets_the_error_as_json(running: Running, method: str, accept: str) -> None:
    reply = await running.browser.request(method, f"{running.agent}/", headers={"Host": "evil.test", "Accept": accept})
    assert (reply.status, reply.json["error"]["code"]) == (421, "misdirected_request")


async def test_pages_and_json_are_stored_nowhere_and_hashed_files_forever(running: Running) -> None:
    for path in ("/", "/approvals/apr_1", "/healthz", "/nothing"):
        assert headers_of(await running.browser.get(f"{running.console}{path}"))["cache-control"] == "no-store"
    asset = await running.browser.get(f"{running.console}/assets/console-abc123.js")
    assert headers_of(asset)["cache-control"] == "public, max-age=31536000, immutable"
    missing = await running.browser.get(f"{running.console}/assets/console-zzz.js")
    assert headers_of(missing)["cache-control"] == "no-store"


# ── the two web apps ──


@pytest.mark.parametrize(
    ("site", "paths"),
    [
        ("agent", ["/", "/c/cnv_1"]),
        ("console", ["/", "/authorize?state=x", "/approvals", "/approvals/apr_1"]),
    ],
)
async def test_every_path_in_the_apps_table_gives_its_page(running: Running, site: str, paths: list[str]) -> None:
    origin, title = (running.agent, "shell") if site == "agent" else (running.console, "console")
    for path in paths:
        reply = await running.browser.get(f"{origin}{path}")
        assert reply.status == 200
        assert f"<title>{title}</title>".encode() in reply.body
        assert headers_of(reply)["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", ["/audit", "/approvals/apr_1/more", "/approvals/", "/c/cnv_1", "/pages.json", "/preloads.json"])
async def test_a_path_that_is_not_in_the_apps_table_is_not_found(running: Running, path: str) -> None:
    assert (await running.browser.get(f"{running.console}{path}")).status == 404


async def test_a_page_names_what_it_will_load_before_its_script_runs(running: Running) -> None:
    links = headers_of(await running.browser.get(f"{running.console}/approvals"))["link"]
    assert links == "</assets/Inbox-a1.js>; rel=modulepreload, </assets/Inbox-b2.css>; rel=preload; as=style; crossorigin"
    assert "link" not in headers_of(await running.browser.get(f"{running.console}/"))


async def test_an_app_that_is_not_built_answers_so_at_its_first_address(tmp_path: Path) -> None:
    assert WebApp.load(tmp_path / "nothing").paths == ("/",)


async def test_neither_origin_serves_the_others_files(running: Running) -> None:
    assert (await running.browser.get(f"{running.agent}/assets/shell-abc123.js")).status == 200
    assert (await running.browser.get(f"{running.agent}/assets/console-abc123.js")).status == 404
    assert (await running.browser.get(f"{running.console}/assets/shell-abc123.js")).status == 404


@pytest.mark.parametrize(
    "path",
    ["/index.html", "/.vite/manifest.json", "/assets/", "/assets", "/assets/.", "/assets//shell-abc123.js", "/assets/x.gz"],
)
async def test_a_path_that_is_no_asset_is_not_found(running: Running, path: str) -> None:
    assert (await running.browser.get(f"{running.agent}{path}")).status == 404


async def test_a_file_beside_the_page_is_served_by_its_exact_name(running: Running) -> None:
    reply = await running.browser.get(f"{running.agent}/icon.svg")
    assert (reply.status, headers_of(reply)["content-type"]) == (200, "image/svg+xml")


async def test_a_compressed_file_is_sent_to_clients_that_accept_it(running: Running) -> None:
    url = f"{running.agent}/assets/shell-abc123.js"
    # RFC 9110, section 12.5.3: a weight of 0 is a refusal.
    for refusal in ("identity", "br, gzip;q=0", "gzip; q=0.0"):
        plain = await running.browser.get(url, headers={"Accept-Encoding": refusal})
        assert plain.body == b"console.log('shell')"
        assert "content-encoding" not in headers_of(plain)
        assert headers_of(plain)["vary"] == "accept-encoding"
    head = await running.browser.request("HEAD", url, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert headers_of(head)["content-encoding"] == "gzip"
    assert head.body == b""


def test_a_link_out_of_the_build_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "dist" / "assets").mkdir(parents=True)
    (tmp_path / "dist" / "assets" / "leak.js").symlink_to(tmp_path / "secret")
    request = Request({"type": "http", "headers": []})
    assert WebApp.load(tmp_path / "dist").asset(request, "leak.js").status_code == 404


async def test_an_app_that_is_not_built_names_the_build_command(tmp_path: Path, running: Running) -> None:
    app = WebApp.load(tmp_path / "absent")
    object.__setattr__(running.parts, "shell", app)
    reply = await running.browser.get(f"{running.agent}/")
    assert (reply.status, reply.json["error"]["code"]) == (503, "web_app_missing")


# ── failures ──


async def test_a_full_disk_is_a_typed_error_and_nothing_happened(running: Running) -> None:
    """docs/SECURITY.md case 59."""
    await running.enrol()
    running.ledger.failure = LedgerUnavailable("the ledger cannot be written: disk full")
    reply = await running.browser.post(f"{running.console}/signout")
    assert (reply.status, reply.json["error"]["code"]) == (503, "ledger_unavailable")
    running.ledger.failure = None
    assert (await running.browser.post(f"{running.console}/signout")).status == 204


@pytest.mark.parametrize("error", [RuntimeError("/srv/secret/path"), KeyError("x")])
async def test_an_internal_error_is_sent_without_details(
    running: Running, error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def break_down(*_: object) -> None:
        raise error

    monkeypatch.setattr(running.ledger, "enrolment", break_down)
    reply = await running.browser.post(f"{running.console}/enrol/options", {"token": "x"})
    assert reply.status == 500
    assert reply.json == {"error": {"code": "internal_error", "message": "internal error"}}
    assert any(record.exc_info for record in caplog.records)


async def test_a_step_that_came_second_is_refused_and_not_explained(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    async def come_second(*_: object) -> None:
        raise IllegalStep("it ends twice")

    monkeypatch.setattr(running.ledger, "enrolment", come_second)
    reply = await running.browser.post(f"{running.console}/enrol/options", {"token": "x"})
    assert (reply.status, reply.json["error"]["reason"]) == (409, "changed")
    assert "twice" not in reply.json["error"]["message"]


# ── connections ──


def _handshake(host: str, path: str) -> bytes:
    head = (
        f"GET {path} HTTP/1.1",
        f"Host: {host}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "\r\n",
    )
    return "\r\n".join(head).encode()


async def _shake_hands(running: Running, host: str, path: str) -> bytes:
    return await _talk(running, _handshake(host, path), until_closed=False)


@pytest.mark.parametrize("site", ["agent", "console"])
async def test_each_origin_has_its_own_socket(running: Running, site: str) -> None:
    origin = running.agent if site == "agent" else running.console
    assert (await _shake_hands(running, origin.removeprefix("http://"), "/ws")).startswith(b"HTTP/1.1 101")
    assert running.sockets == [site]


async def test_a_handshake_for_another_host_or_path_reaches_no_socket(running: Running) -> None:
    assert (await _shake_hands(running, "evil.test", "/ws")).startswith(b"HTTP/1.1 421")
    assert (await _shake_hands(running, running.agent.removeprefix("http://"), "/")).startswith(b"HTTP/1.1 404")
    assert running.sockets == []


async def _talk(running: Running, *sent: bytes, until_closed: bool = True) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    try:
        async with asyncio.timeout(PATIENCE):
            for part in sent:
                writer.write(part)
                await writer.drain()
            return await reader.read() if until_closed else await reader.readuntil(b"\r\n")
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
    ],
    ids=["two hosts", "no host", "http/1.0"],
)
async def test_a_request_without_one_host_is_misdirected(running: Running, sent: bytes) -> None:
    assert (await _talk(running, sent)).startswith((b"HTTP/1.1 421", b"HTTP/1.0 421", b"HTTP/1.1 400"))


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET /\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT evil.test:443 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 40_000 + b"\r\n\r\n",
        b"GET /" + b"y" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["tls", "not ascii", "connect", "bad target", "smuggling", "large header", "long target"],
)
async def test_input_that_is_not_http_is_refused_and_the_server_continues(running: Running, sent: bytes) -> None:
    answer = await _talk(running, sent)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b'"code":"bad_request"' in answer
    assert b"Traceback" not in answer
    assert (await running.browser.get(f"{running.agent}/healthz")).status == 200


async def test_headers_that_do_not_come_in_time_close_the_connection(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/SECURITY.md case 26: uvicorn alone waits for unfinished headers without limit."""
    monkeypatch.setattr("gateway.server.listener.HEADER_SECONDS", 0.05)
    assert await _talk(running) == b""
    assert await _talk(running, b"GET / HTTP/1.1\r\nHost: x\r\n") == b""


async def test_the_second_request_of_a_connection_has_a_deadline_too(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.server.listener.HEADER_SECONDS", 0.2)
    host = running.agent.removeprefix("http://").encode()
    first = b"GET /healthz HTTP/1.1\r\nHost: %b\r\n\r\n" % host
    answer = await _talk(running, first + b"GET /healthz HTTP/1.1\r\nHost: ")
    assert answer.count(b"HTTP/1.1 200") == 1


async def test_a_body_that_does_not_come_in_time_is_a_408(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.server.access.BODY_SECONDS", 0.05)
    host, origin = running.console.removeprefix("http://").encode(), running.console.encode()
    head = b"POST /signin/options HTTP/1.1\r\nHost: %b\r\nOrigin: %b\r\nContent-Type: application/json\r\n" % (host, origin)
    answer = await _talk(running, head + b"Content-Length: 2\r\n\r\n{", until_closed=False)
    assert answer.startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    ("sent", "answered", "further"),
    [
        (b"POST /signout HTTP/1.1\r\nHost: %b\r\nContent-Length: 9\r\n\r\n", b"HTTP/1.1 405", b"x"),
        (b"GET /healthz HTTP/1.1\r\nHost: %b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"HTTP/1.1 200", b"X: y\r\n"),
        (b"GET /healthz HTTP/1.1\r\nHost: %b\r\n\r\n", b"HTTP/1.1 200", b"\r\n"),
        (
            b"GET /ws HTTP/1.1\r\nHost: %b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 9\r\n\r\nx",
            b"HTTP/1.1 400",
            b"",
        ),
    ],
    ids=["a body nobody wants", "trailers without end", "empty lines", "a handshake with a body"],
)
async def test_case_26_a_connection_is_not_kept_by_bytes_that_ask_nothing(
    running: Running, monkeypatch: pytest.MonkeyPatch, sent: bytes, answered: bytes, further: bytes
) -> None:
    """uvicorn alone would keep each of them for good."""
    monkeypatch.setattr("gateway.server.listener.HEADER_SECONDS", 0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    async with asyncio.timeout(PATIENCE):
        writer.write(sent % running.agent.removeprefix("http://").encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(answered)
        writer.write(further)
        with contextlib.suppress(ConnectionResetError):
            await reader.read()
    writer.close()


async def test_a_deadline_of_requests_ends_no_socket(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.server.listener.HEADER_SECONDS", 0.05)
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(_handshake(running.agent.removeprefix("http://"), "/ws"))
    async with asyncio.timeout(PATIENCE):
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.15):
            await reader.read()
    writer.close()
