"""From a source to its authorization server, whoever lies on the way. Nothing is asked that nobody may ask."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.requests import Request
from starlette.responses import Response

from gateway.adapters.tools.builtin.egress import AddressRow
from gateway.adapters.tools.builtin.fetching import FetchLimits
from gateway.adapters.tools.oauth import exchange
from gateway.adapters.tools.oauth.places import SignInPlaces, read_origin
from gateway.core.errors import ToolFailed
from tests.adapters.tools.oauth.conftest import CALLBACK, Signing
from tests.harness.oauth_site import RESOURCE, SERVER, OAuthSite, html, leading_to, saying, serve_oauth

SMALL = FetchLimits(sent=64 * 1024, inflated=64 * 1024, total=20, idle=20, redirects=0)
IMPATIENT = replace(SMALL, total=0.5, idle=0.4)
"""Only for who never answers: a busy machine may take that long for an answer that comes."""


async def test_the_browser_is_sent_with_all_that_binds_its_answer(signing: Signing) -> None:
    prepared = await signing.prepare("state-7")
    where = urlsplit(prepared.location)
    sent = {name: values for name, values in parse_qs(where.query).items() if name != "code_challenge"}
    assert f"{where.scheme}://{where.netloc}{where.path}" == f"{signing.site.origin}/authorize"
    assert sent == {
        "response_type": ["code"],
        "client_id": ["client-1"],
        "redirect_uri": [CALLBACK],
        "state": ["state-7"],
        "code_challenge_method": ["S256"],
        "resource": [signing.site.url],
    }
    assert prepared.server == signing.site.origin
    assert "verifier" not in repr(prepared)


async def test_two_attempts_share_no_proof(signing: Signing) -> None:
    one, other = await signing.prepare(), await signing.prepare()
    challenges = {parse_qs(urlsplit(each.location).query)["code_challenge"][0] for each in (one, other)}
    assert len(challenges) == 2


async def test_the_document_that_the_source_names_is_asked_first(signing: Signing) -> None:
    place = f"{signing.site.origin}/about"
    signing.site.answers["/about"] = saying(200, signing.site.resource_document())
    signing.tokens.challenged(f'Basic realm="a", Bearer error="invalid_token", resource_metadata="{place}", scope="read now"')
    prepared = await signing.prepare()
    assert signing.site.times(RESOURCE) == 0
    assert parse_qs(urlsplit(prepared.location).query)["scope"] == ["read now"]


async def test_a_server_of_before_rfc_9728_is_its_own_authorization_server(signing: Signing) -> None:
    signing.site.answers[RESOURCE] = saying(404, {})
    await signing.sign_in()
    assert signing.site.times("/.well-known/oauth-protected-resource") == 1


async def test_openid_discovery_is_asked_where_rfc_8414_has_nothing(signing: Signing) -> None:
    signing.site.server = {"issuer": f"{signing.site.origin}/tenant", "scopes_supported": ["openid", "offline_access"]}
    signing.site.resource = {"authorization_servers": [f"{signing.site.origin}/tenant"]}
    document = saying(200, signing.site.server_document())
    signing.site.answers["/tenant/.well-known/openid-configuration"] = document
    prepared = await signing.prepare()
    asked = [each.path for each in signing.site.asked if ".well-known" in each.path][1:]
    assert asked == [f"{SERVER}/tenant", "/.well-known/openid-configuration/tenant", "/tenant/.well-known/openid-configuration"]
    assert parse_qs(urlsplit(prepared.location).query)["scope"] == ["offline_access"]


LIES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "resource of another": ({"resource": "https://bank.example/mcp"}, {}, "is about https://bank.example/mcp"),
    "resource beside it": ({"resource": "{origin}/mc"}, {}, "which is not the source"),
    "resource with dots": ({"resource": "{origin}/x/../mcp"}, {}, "which is not the source"),
    "no server": ({"authorization_servers": []}, {}, "names no authorization server"),
    "private server": ({"authorization_servers": ["https://10.0.0.8"]}, {}, "10.0.0.8"),
    "metadata service": ({"authorization_servers": ["http://169.254.169.254"]}, {}, "is not encrypted"),
    "loopback of another port": ({"authorization_servers": ["https://127.0.0.1:1"]}, {}, "may not be fetched"),
    "unusual port": ({"authorization_servers": ["https://login.example:22"]}, {}, "its port is unusual"),
    "plain http": ({"authorization_servers": ["http://login.example"]}, {}, "is not encrypted"),
    "a file": ({"authorization_servers": ["file:///etc/passwd"]}, {}, "no address that can be used"),
    "a login in it": ({"authorization_servers": ["https://a:b@login.example"]}, {}, "no address that can be used"),
    "lying issuer": ({}, {"issuer": "https://accounts.example"}, "says that it is https://accounts.example"),
    "no PKCE": ({}, {"code_challenge_methods_supported": ["plain"]}, "does not offer PKCE with S256"),
    "nothing about PKCE": ({}, {"code_challenge_methods_supported": None}, "code_challenge_methods_supported"),
    "no codes": ({}, {"response_types_supported": ["token"]}, "gives no codes"),
    "authorization over http": ({}, {"authorization_endpoint": "http://login.example/a"}, "authorization endpoint at"),
    "authorization by script": ({}, {"authorization_endpoint": "javascript:alert(1)"}, "no address that can be used"),
    "authorization with a fragment": ({}, {"authorization_endpoint": "{origin}/a#b"}, "no address that can be used"),
    "token over http": ({}, {"token_endpoint": "http://login.example/t"}, "token endpoint at"),
    "registration inside": ({}, {"registration_endpoint": "https://192.168.0.1/r"}, "may not be fetched"),
    "no registration": ({}, {"registration_endpoint": None}, f"register one there with the redirect URI {CALLBACK}"),
    "unknown way to identify": ({}, {"token_endpoint_auth_methods_supported": ["tls_client_auth"]}, "identify itself"),
    "no token endpoint": ({}, {"token_endpoint": None}, "`token_endpoint`"),
    "text in place of a list": ({"authorization_servers": "{origin}"}, {}, "`authorization_servers`"),
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_document_that_lies_is_refused_in_one_sentence(signing: Signing, lie: str) -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        return value.replace("{origin}", signing.site.origin) if isinstance(value, str) else value

    resource, server, said = LIES[lie]
    signing.site.resource = {name: filled(value) for name, value in resource.items()}
    signing.site.server = {name: filled(value) for name, value in server.items()}
    message = await signing.refusal()
    assert said in message
    assert "\n" not in message
    assert signing.site.times("/register") == 0


async def test_a_document_of_another_origin_is_not_asked_for(signing: Signing) -> None:
    async with serve_oauth(OAuthSite()) as other:
        signing.tokens.challenged(f'Bearer resource_metadata="{other.origin}{RESOURCE}"')
        assert "which is not its own" in await signing.refusal()
        assert other.asked == []


NAMED = "https://tools.example.com:8443"
LED: dict[str, tuple[str, bool]] = {
    "93.184.215.14": ("", False),
    "10.9.8.7": ("Private-Use", False),
    "10.9.8.7, which is allowed": ("", True),
    "169.254.169.254": ("Cloud metadata", False),
    "169.254.169.254, though private networks are allowed": ("leads to this machine", True),
    "127.0.0.1": ("Loopback", False),
    "::ffff:127.0.0.1, though private networks are allowed": ("leads to this machine", True),
}


@pytest.mark.parametrize("how", LED)
async def test_case_334_the_name_of_a_source_leads_its_sign_in_no_further_than_its_calls(how: str) -> None:
    said, private = LED[how]
    address = how.partition(",")[0]

    async def look_up(_host: str, port: int) -> list[AddressRow]:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port, 0, 0)[: 4 if ":" in address else 2])]

    # Naming it a second time, as the authorization server or at another port, says nothing of where it may lead.
    for named in (None, NAMED, "https://tools.example.com"):
        issuer = None if named is None else read_origin(named, "it")
        places = SignInPlaces(read_origin(NAMED, "it"), issuer, look_up, private=private)
        guard = places.guard()
        destination = places.locate(f"{named or NAMED}/token", "the token endpoint", guard)
        with pytest.raises(ToolFailed, match=said) if said else contextlib.nullcontext():
            assert [str(each.ip) for each in await guard.locate(destination)] == [address]


async def test_case_334_an_authorization_server_that_is_named_leads_to_no_address_of_this_machine() -> None:
    async def look_up(_host: str, port: int) -> list[AddressRow]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    places = SignInPlaces(read_origin(NAMED, "it"), read_origin("https://login.example.com", "it"), look_up)
    guard = places.guard()
    with pytest.raises(ToolFailed, match="its name leads to this machine"):
        await guard.locate(places.locate("https://login.example.com/token", "the token endpoint", guard))


async def test_an_authorization_server_on_this_machine_is_asked_only_where_the_operator_named_it(signing: Signing) -> None:
    async with serve_oauth(OAuthSite()) as other:
        signing.site.resource = {"authorization_servers": [other.origin]}
        assert "is not encrypted" in await signing.refusal()
        assert other.asked == []
        signing.settings["issuer"] = other.origin
        assert (await signing.prepare()).location.startswith(f"{other.origin}/authorize?")


async def test_the_operators_authorization_server_is_not_exchanged_for_the_sources(signing: Signing) -> None:
    signing.settings |= {"issuer": "https://login.example", "client_id": "me", "client_secret": "${secret:S}"}
    assert "does not name https://login.example as its authorization server" in await signing.refusal()


async def test_a_source_over_plain_http_gets_no_sign_in(signing: Signing) -> None:
    signing.url = "http://tools.example/mcp"
    assert await signing.refusal() == "the source at http://tools.example/mcp is not encrypted"


BROKEN = {
    "a page": (html, "it is no JSON"),
    "a redirect": (leading_to("http://169.254.169.254/latest"), "redirects, which is not followed"),
    "a fault": (saying(500, {}), "status 500"),
    "too much": (saying(200, {"resource": "x" * 100_000}), "sent more than 64 KB"),
    "deep": (saying(200, {"a": [[[[[["deep"]]]]]]}), "`resource`"),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("path", [RESOURCE, SERVER, "/register"])
async def test_an_answer_that_is_no_document_is_refused_in_one_sentence(
    signing: Signing, monkeypatch: pytest.MonkeyPatch, how: str, path: str
) -> None:
    monkeypatch.setattr(exchange, "LIMITS", SMALL)
    answer, said = BROKEN[how]
    signing.site.answers[path] = answer
    message = await signing.refusal()
    if path == "/register" and how in ("a page", "a redirect", "too much", "deep"):
        said = {"deep": "client_id", "too much": "sent more than"}.get(how, said)
    if path == SERVER and how == "deep":
        said = "`issuer`"
    assert said in message
    assert len(message) < 400


async def test_a_server_that_never_answers_is_given_up(signing: Signing, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait(request: Request) -> Response:
        while not await request.is_disconnected():
            await asyncio.sleep(0.02)
        return Response()

    monkeypatch.setattr(exchange, "LIMITS", IMPATIENT)
    signing.site.answers[SERVER] = wait
    assert "did not answer within 0.5 seconds" in await signing.refusal()


async def test_a_registration_for_another_redirect_is_refused(signing: Signing) -> None:
    signing.site.answers["/register"] = saying(201, {"client_id": "c", "redirect_uris": ["https://evil.example"]})
    assert "registered another redirect URI" in await signing.refusal()


async def test_a_refused_registration_says_what_the_server_said(signing: Signing) -> None:
    signing.site.answers["/register"] = saying(403, {"error": "access_\u202edenied"})
    assert "refused to register this gateway: access_\\u202edenied" in await signing.refusal()
