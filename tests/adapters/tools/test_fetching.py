"""One GET, against servers that do as they please (security.md rows 50, 51, 53)."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gateway.adapters.tools.egress import Egress
from gateway.adapters.tools.fetching import Fetcher, FetchLimits, web_tools
from gateway.adapters.tools.registry import Registry
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Category, Trust
from tests.adapters.tools.conftest import Call, failure_of, make_context, spec_of
from tests.adapters.tools.test_egress import Names

QUICK = FetchLimits(sent=64 * 1024, inflated=256 * 1024, total=5.0, idle=2.0)


@dataclass(frozen=True)
class Visit:
    """One request as a server sees it."""

    path: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def wait_until_left(self) -> None:
        await self.reader.read()


Handler = Callable[[Visit], Awaitable[None]]


class Site:
    """A server on loopback that answers as its handler says and remembers the heads of its requests."""

    def __init__(self, handler: Handler | bytes, context: ssl.SSLContext | None) -> None:
        self.heads: list[str] = []
        self._left = asyncio.Event()
        self._visits: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._handler = handler
        self._context = context

    async def start(self, address: str, port: int) -> None:
        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._visits[asyncio.create_task(self._serve(reader, writer))] = writer

        self._server = await asyncio.start_server(begin, address, port, ssl=self._context)
        self.port: int = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for writer in self._visits.values():
            writer.transport.abort()
        async with asyncio.timeout(5):
            await asyncio.gather(*self._visits)

    async def wait_until_left(self) -> None:
        async with asyncio.timeout(5):
            await self._left.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            visit = Visit(head.split(" ", 2)[1], reader, writer)
            if isinstance(self._handler, bytes):
                await visit.send(self._handler)
            else:
                await self._handler(visit)
        writer.close()
        self._left.set()


Start = Callable[..., Awaitable[Site]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    sites: list[Site] = []

    async def begin(
        handler: Handler | bytes, *, address: str = "127.0.0.1", port: int = 0, context: ssl.SSLContext | None = None
    ) -> Site:
        site = Site(handler, context)
        await site.start(address, port)
        sites.append(site)
        return site

    yield begin
    for site in sites:
        await site.stop()


def page(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def redirect(location: str, *headers: str) -> bytes:
    return page(b"", f"Location: {location}", *headers, status="302 Found")


def fetcher_of(*sites: Site, limits: FetchLimits = QUICK) -> Fetcher:
    return Fetcher(Egress([f"127.0.0.1:{site.port}" for site in sites]), limits)


def url_of(site: Site, path: str = "/") -> str:
    return f"http://127.0.0.1:{site.port}{path}"


async def refusal_of(fetching: Awaitable[object]) -> str:
    with pytest.raises(ToolFailed) as caught:
        await fetching
    return caught.value.message


# ── plain fetching ──


async def test_a_page_comes_back_with_what_it_says_of_itself(start: Start) -> None:
    site = await start(page(b"hello", "Content-Type: text/plain; charset=utf-8"))
    found = await fetcher_of(site).get(url_of(site, "/a?b=c#d"))
    assert (found.status, found.media_type, found.charset, found.data) == (200, "text/plain", "utf-8", b"hello")
    assert (found.complete, found.redirects) == (True, 0)
    assert site.heads[0].startswith("GET /a?b=c HTTP/1.1\r\n")


async def test_nothing_of_the_machine_or_the_caller_goes_along(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No proxy and no netrc of the environment, no cookie that the site itself had set."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))

    async def answer(visit: Visit) -> None:
        await visit.send(page(b"end") if visit.path == "/end" else redirect("/end", "Set-Cookie: a=b; Path=/"))

    site = await start(answer)
    fetcher = fetcher_of(site)
    assert (await fetcher.get(url_of(site))).data == b"end"
    names = {line.split(":")[0].lower() for head in site.heads for line in head.split("\r\n")[1:] if line}
    assert names <= {"host", "user-agent", "accept", "accept-encoding", "connection"}


# ── where it may go ──


async def test_no_spelling_of_this_machine_reaches_a_server_on_it(start: Start) -> None:
    site = await start(page(b"secret"))
    fetcher = Fetcher(Egress(), QUICK)
    for host in ("127.0.0.1", "localhost", "[::1]", "127.1", "0x7f000001", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0"):
        await refusal_of(fetcher.get(f"http://{host}:{site.port}/"))
        await refusal_of(fetcher.get(f"http://{host}/"))
    assert site.heads == []


async def test_a_name_that_rebinds_is_connected_where_it_was_judged(start: Start) -> None:
    try:
        other = await start(page(b"other"), address="127.0.0.2")
    except OSError:
        pytest.skip("one loopback address only")
    site = await start(page(b"first"), port=other.port)
    names = Names(["127.0.0.1"], ["127.0.0.2"])
    fetcher = Fetcher(Egress([f"site.example:{site.port}"], lookup=names), QUICK)
    assert (await fetcher.get(f"http://site.example:{site.port}/")).data == b"first"
    assert names.asked == ["site.example"]
    assert other.heads == []
    assert f"Host: site.example:{site.port}" in site.heads[0]


async def test_a_name_that_turns_private_between_two_hops_is_refused_at_the_second(start: Start) -> None:
    site = await start(redirect("http://rebind.example/inner"))
    names = Names(["127.0.0.1"], ["127.0.0.1"])
    fetcher = Fetcher(Egress([f"site.example:{site.port}"], lookup=names), QUICK)
    assert "may not be fetched" in await refusal_of(fetcher.get(f"http://site.example:{site.port}/"))
    assert names.asked == ["site.example", "rebind.example"]
    assert len(site.heads) == 1


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1:{port}/",
        "//127.0.0.1:{port}/",
        "http://2130706433:{port}/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://１２７.０.０.１:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://a:b@127.0.0.1:{port}/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/",
        "http://[x",
        "http://\x7f/",
    ],
)
async def test_no_redirect_leads_where_a_first_request_could_not(start: Start, location: str) -> None:
    inner = await start(page(b"secret"))
    site = await start(redirect(location.format(port=inner.port)))
    await refusal_of(fetcher_of(site).get(url_of(site)))
    assert inner.heads == []


async def test_five_redirects_are_followed_and_a_sixth_is_not(start: Start) -> None:
    async def count_down(visit: Visit) -> None:
        left = int(visit.path.strip("/"))
        await visit.send(page(b"end") if left == 0 else redirect(str(left - 1)))

    site = await start(count_down)
    found = await fetcher_of(site).get(url_of(site, "/5"))
    assert (found.data, found.redirects, found.url) == (b"end", 5, url_of(site, "/0"))
    site.heads.clear()
    assert "one redirect too many" in await refusal_of(fetcher_of(site).get(url_of(site, "/6")))
    assert len(site.heads) == 6


async def test_a_redirect_without_a_place_is_the_page_itself(start: Start) -> None:
    site = await start(page(b"lost", status="302 Found"))
    assert (await fetcher_of(site).get(url_of(site))).status == 302


# ── how much and how long ──


async def test_an_endless_body_is_cut_and_left(start: Start) -> None:
    async def pour(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            await visit.send(b"x" * 10_000)

    site = await start(pour)
    found = await fetcher_of(site).get(url_of(site))
    assert (len(found.data), found.complete) == (QUICK.sent, False)
    await site.wait_until_left()


async def test_a_gigabyte_announced_is_not_waited_for(start: Start) -> None:
    async def pour(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n" + b"x" * 200_000)
        await visit.wait_until_left()

    site = await start(pour)
    found = await fetcher_of(site).get(url_of(site))
    assert (len(found.data), found.complete) == (QUICK.sent, False)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate"])
async def test_a_compression_bomb_is_cut(start: Start, encoding: str) -> None:
    bomb = zlib.compressobj(9, wbits={"gzip": 31, "deflate": 15, "raw deflate": -15}[encoding])
    body = b"".join(bomb.compress(b"\0" * 1_000_000) for _ in range(40)) + bomb.flush()
    assert len(body) < QUICK.sent
    site = await start(page(body, f"Content-Encoding: {encoding.removeprefix('raw ')}"))
    found = await fetcher_of(site).get(url_of(site))
    assert (len(found.data), found.complete) == (QUICK.inflated, False)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"hello")),
        ("GZIP", gzip.compress(b"hello")),
        ("x-gzip", gzip.compress(b"hello")),
        ("deflate", zlib.compress(b"hello")),
        ("deflate", zlib.compress(b"hello")[2:-4]),
        ("identity", b"hello"),
        ("gzip", gzip.compress(b"hello") + b"trailing"),
    ],
    ids=["gzip", "GZIP", "x-gzip", "zlib", "deflate", "identity", "gzip and more"],
)
async def test_compressed_pages_are_inflated(start: Start, encoding: str, body: bytes) -> None:
    site = await start(page(body, f"Content-Encoding: {encoding}"))
    found = await fetcher_of(site).get(url_of(site))
    assert (found.data, found.complete) == (b"hello", True)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"not gzip"),
        ("gzip", gzip.compress(b"x" * 500)[:-30] + b"\xff" * 30),
        ("deflate", b"\xff\xff\xff"),
        ("br", b"x"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x"))),
        ("\u00fc", b"x"),
    ],
    ids=lambda value: value if isinstance(value, str) else "body",
)
async def test_what_is_not_compressed_as_it_says_is_refused(start: Start, encoding: str, body: bytes) -> None:
    site = await start(page(body, f"Content-Encoding: {encoding}"))
    await refusal_of(fetcher_of(site).get(url_of(site)))


async def test_a_compressed_page_that_breaks_off_is_not_called_complete(start: Start) -> None:
    whole = gzip.compress(bytes(range(256)) * 20)
    site = await start(page(whole[:-20], "Content-Encoding: gzip"))
    found = await fetcher_of(site).get(url_of(site))
    assert found.complete is False


async def test_a_byte_now_and_then_meets_the_total_time(start: Start) -> None:
    async def trickle(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await visit.send(b"x")
            await asyncio.sleep(0.02)

    site = await start(trickle)
    fetcher = fetcher_of(site, limits=FetchLimits(total=0.2, idle=2.0))
    assert "took too long" in await refusal_of(fetcher.get(url_of(site)))
    await site.wait_until_left()


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"])
async def test_silence_meets_the_idle_time(start: Start, beginning: bytes) -> None:
    async def fall_silent(visit: Visit) -> None:
        await visit.send(beginning)
        await visit.wait_until_left()

    site = await start(fall_silent)
    fetcher = fetcher_of(site, limits=FetchLimits(total=10.0, idle=0.1))
    assert "took too long" in await refusal_of(fetcher.get(url_of(site)))


async def test_redirects_share_one_total_time(start: Start) -> None:
    async def dawdle(visit: Visit) -> None:
        await asyncio.sleep(0.08)
        await visit.send(redirect("/again"))

    site = await start(dawdle)
    fetcher = fetcher_of(site, limits=FetchLimits(total=0.2, idle=2.0, redirects=1_000))
    assert "took too long" in await refusal_of(fetcher.get(url_of(site)))


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nLong: " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"H%d: x\r\n" % number for number in range(1_000)) + b"\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 " + b"9" * 50 + b" OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\0" * 1_000,
        b"",
    ],
)
async def test_an_answer_that_is_none_is_the_tools_failure(start: Start, answer: bytes) -> None:
    site = await start(answer)
    await refusal_of(fetcher_of(site).get(url_of(site)))


async def test_more_than_was_announced_is_not_read(start: Start) -> None:
    site = await start(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef")
    # Depending on how the pieces arrive, the rest is dropped or the whole answer refused.
    with suppress(ToolFailed):
        assert (await fetcher_of(site).get(url_of(site))).data == b"abc"


async def test_a_server_that_is_not_there_cannot_be_reached(start: Start) -> None:
    site = await start(b"")
    await site.stop()
    assert "cannot be reached" in await refusal_of(fetcher_of(site).get(url_of(site)))


# ── over TLS ──


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key with its own certificate for `site.example`, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "site.example")])
    now = datetime.now(UTC) - timedelta(minutes=5)  # noqa: TID251 # certificates are dated by the wall clock
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("site.example")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


async def over_tls(start: Start, certificate: Path, handler: bytes) -> Site:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return await start(handler, context=context)


async def test_the_certificate_must_be_the_hosts_own(start: Start, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    site = await over_tls(start, certificate, page(b"safe"))
    names = Names(["127.0.0.1"])
    fetcher = Fetcher(Egress([f"site.example:{site.port}", f"other.example:{site.port}"], lookup=names), QUICK)
    assert (await fetcher.get(f"https://site.example:{site.port}/")).data == b"safe"
    assert "certificate" in await refusal_of(fetcher.get(f"https://other.example:{site.port}/"))


async def test_a_certificate_nobody_vouches_for_is_refused(start: Start, certificate: Path) -> None:
    site = await over_tls(start, certificate, page(b"x"))
    fetcher = Fetcher(Egress([f"site.example:{site.port}"], lookup=Names(["127.0.0.1"])), QUICK)
    assert "certificate" in await refusal_of(fetcher.get(f"https://site.example:{site.port}/"))
    assert site.heads == []


async def test_no_redirect_leads_from_https_down_to_http(
    start: Start, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    plain = await start(page(b"plain"))
    site = await over_tls(start, certificate, redirect(f"http://127.0.0.1:{plain.port}/"))
    egress = Egress([f"site.example:{site.port}", f"127.0.0.1:{plain.port}"], lookup=Names(["127.0.0.1"]))
    assert "from https down to http" in await refusal_of(Fetcher(egress, QUICK).get(f"https://site.example:{site.port}/"))
    assert plain.heads == []


# ── the tool ──


def registry_over(fetcher: Fetcher) -> Registry:
    registry = Registry()
    for tool in web_tools(fetcher):
        registry.add(tool, source="builtin")
    return registry


def test_the_tool_is_of_the_network_and_believes_nothing() -> None:
    (spec,) = registry_over(Fetcher(Egress())).specs()
    assert (spec.name, spec.category, spec.trust) == ("http_get", Category.NETWORK, Trust.UNTRUSTED)
    assert list(spec.param_schema["properties"]) == ["url"]


def test_the_policy_is_told_the_host_that_will_be_asked() -> None:
    registry = registry_over(Fetcher(Egress()))
    spec = spec_of(registry, "http_get")
    assert registry.facts(spec, {"url": "https://EXAMPLE.com./a"}).host == "example.com"
    with pytest.raises(ToolFailed):
        registry.facts(spec, {"url": "http://169.254.169.254/"})


async def test_a_page_is_given_as_text(start: Start, call: Call) -> None:
    markup = "<title>News</title><p>Caf\xe9</p><script>evil()</script><a href='/x'>more</a>".encode("latin-1")
    site = await start(page(markup, "Content-Type: text/html; charset=ISO-8859-1"))
    output = await call(registry_over(fetcher_of(site)), "http_get", url=url_of(site))
    assert output.text == f"{url_of(site)} answered 200, text/html\n\nNews\n\nCafé\n\nmore <{url_of(site, '/x')}>"
    assert output.structured == {
        "url": url_of(site),
        "status": 200,
        "mediaType": "text/html",
        "bytes": len(markup),
        "complete": True,
        "redirects": 0,
    }


@pytest.mark.parametrize(
    ("kind", "body", "shown"),
    [
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("application/problem+json", b"{}", "{}"),
        ("text/plain; charset=punycode", b"abc-", "abc-"),
        ("text/plain; charset=unicode_escape", b"\\u0041", "\\u0041"),
        ("text/plain; charset=nonsense", b"a\xff", "a\ufffd"),
        ("text/plain; charset=base64", b"YQ==", "YQ=="),
        ('text/plain; charset="\0"', b"a", "a"),
        ("text/plain", b"", "(no text)"),
    ],
)
async def test_text_of_any_kind_is_decoded_and_no_codec_runs_that_is_none(
    start: Start, call: Call, kind: str, body: bytes, shown: str
) -> None:
    site = await start(page(body, f"Content-Type: {kind}".replace("\0", "")))
    output = await call(registry_over(fetcher_of(site)), "http_get", url=url_of(site))
    assert output.text.split("\n\n", 1)[1] == shown


async def test_what_is_no_text_is_only_measured(start: Start, call: Call) -> None:
    site = await start(page(b"\x89PNG" * 10, "Content-Type: image/png"))
    output = await call(registry_over(fetcher_of(site)), "http_get", url=url_of(site))
    assert output.text == f"{url_of(site)} answered 200, image/png: 40 bytes that are not text"


async def test_an_error_page_is_an_answer_too(start: Start, call: Call) -> None:
    site = await start(page(b"nothing here", "Content-Type: text/plain", status="404 Not Found"))
    output = await call(registry_over(fetcher_of(site)), "http_get", url=url_of(site))
    assert output.text == f"{url_of(site)} answered 404, text/plain\n\nnothing here"


async def test_a_cut_page_says_so(start: Start, call: Call) -> None:
    site = await start(page(b"x" * 1_000, "Content-Type: text/plain"))
    fetcher = fetcher_of(site, limits=FetchLimits(sent=100))
    output = await call(registry_over(fetcher), "http_get", url=url_of(site))
    assert output.text.endswith("…[only the beginning; 100 bytes were read]")
    assert output.structured["complete"] is False


async def test_a_failure_is_in_words(start: Start, call: Call) -> None:
    site = await start(b"garbage\r\n\r\n")
    failed = await failure_of(call(registry_over(fetcher_of(site)), "http_get", url=url_of(site)))
    assert failed.message == f"{url_of(site)} gave no proper answer"


async def test_cancelling_closes_the_connection_at_once(start: Start) -> None:
    asked = asyncio.Event()

    async def wait(visit: Visit) -> None:
        asked.set()
        await visit.wait_until_left()

    site = await start(wait)
    registry, context = registry_over(fetcher_of(site, limits=FetchLimits())), make_context()
    task = asyncio.create_task(registry.execute(spec_of(registry, "http_get"), {"url": url_of(site)}, context))
    async with asyncio.timeout(5):
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert context.cancelled.is_set()
    await site.wait_until_left()
