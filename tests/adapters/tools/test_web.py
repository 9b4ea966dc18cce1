"""Fetching over TLS, and the tool that reads the web (docs/SECURITY.md cases 50, 53)."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gateway.adapters.tools.builtin.egress import Egress
from gateway.adapters.tools.builtin.fetching import Fetcher, FetchLimits
from gateway.adapters.tools.builtin.web import web_tools
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Category, Trust
from tests.adapters.tools.conftest import Call, catalog_of, failure_of, make_context, spec_of
from tests.adapters.tools.sites import QUICK, ServerRequest, Site, Start, fetcher_of, page, redirect, refusal_of, url_of
from tests.adapters.tools.test_egress import Names

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


async def test_a_certificate_that_no_authority_signed_is_refused(start: Start, certificate: Path) -> None:
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


def catalog_with(fetcher: Fetcher) -> ToolCatalog:
    return catalog_of(*web_tools(fetcher), source="builtin")


@pytest.mark.requirement("002-35", "what comes from the network is labelled untrusted")
def test_the_tool_is_of_the_network_and_believes_nothing() -> None:
    (spec,) = catalog_with(Fetcher(Egress())).specs()
    assert (spec.name, spec.category, spec.trust) == ("http_get", Category.NETWORK, Trust.UNTRUSTED)
    assert list(spec.param_schema["properties"]) == ["url"]


def test_the_policy_gets_the_host_that_will_be_asked() -> None:
    catalog = catalog_with(Fetcher(Egress()))
    spec = spec_of(catalog, "http_get")
    assert catalog.facts(spec, {"url": "https://EXAMPLE.com./a"}).host == "example.com"
    with pytest.raises(ToolFailed):
        catalog.facts(spec, {"url": "http://169.254.169.254/"})


async def test_a_page_is_given_as_text(start: Start, call: Call) -> None:
    markup = "<title>News</title><p>Caf\xe9</p><script>evil()</script><a href='/x'>more</a>".encode("latin-1")
    site = await start(page(markup, "Content-Type: text/html; charset=ISO-8859-1"))
    output = await call(catalog_with(fetcher_of(site)), "http_get", url=url_of(site))
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
    output = await call(catalog_with(fetcher_of(site)), "http_get", url=url_of(site))
    assert output.text.split("\n\n", 1)[1] == shown


async def test_what_is_no_text_is_only_measured(start: Start, call: Call) -> None:
    site = await start(page(b"\x89PNG" * 10, "Content-Type: image/png"))
    output = await call(catalog_with(fetcher_of(site)), "http_get", url=url_of(site))
    assert output.text == f"{url_of(site)} answered 200, image/png: 40 bytes that are not text"


async def test_an_error_page_is_an_answer_too(start: Start, call: Call) -> None:
    site = await start(page(b"nothing here", "Content-Type: text/plain", status="404 Not Found"))
    output = await call(catalog_with(fetcher_of(site)), "http_get", url=url_of(site))
    assert output.text == f"{url_of(site)} answered 404, text/plain\n\nnothing here"


async def test_a_cut_page_says_so(start: Start, call: Call) -> None:
    site = await start(page(b"x" * 1_000, "Content-Type: text/plain"))
    fetcher = fetcher_of(site, limits=FetchLimits(sent=100))
    output = await call(catalog_with(fetcher), "http_get", url=url_of(site))
    assert output.text.endswith("…[only the beginning; 100 bytes were read]")
    assert output.structured["complete"] is False


async def test_a_failure_is_in_words(start: Start, call: Call) -> None:
    site = await start(b"garbage\r\n\r\n")
    failed = await failure_of(call(catalog_with(fetcher_of(site)), "http_get", url=url_of(site)))
    assert failed.message == f"{url_of(site)} gave no proper answer"


async def test_cancelling_closes_the_connection_at_once(start: Start) -> None:
    asked = asyncio.Event()

    async def wait(visit: ServerRequest) -> None:
        asked.set()
        await visit.wait_until_left()

    site = await start(wait)
    catalog, context = catalog_with(fetcher_of(site, limits=FetchLimits())), make_context()
    task = asyncio.create_task(catalog.execute(spec_of(catalog, "http_get"), {"url": url_of(site)}, context))
    async with asyncio.timeout(5):
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert context.cancelled.is_set()
    await site.wait_until_left()
