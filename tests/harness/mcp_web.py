"""MCP clients over HTTP: the SDK's own with its OAuth client, and one that takes each step by itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.harness.http import Browser, Reply
from tests.harness.person import Person

CALLBACK = "http://127.0.0.1:4321/callback"
VERIFIER = "v" * 43
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass
class KeptTokens:
    """The SDK's TokenStorage, in memory."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def origin_of(person: Person) -> str:
    """Where MCP clients connect."""
    return f"http://localhost:{person.gateway.port}"


@asynccontextmanager
async def connected(
    person: Person, *, mode: Literal["legacy", "auto"] = "legacy", kept: KeptTokens | None = None
) -> AsyncGenerator[Client]:
    """The SDK's client, let in by a person who is signed in on the console."""
    gone_to: list[str] = []

    async def open_browser(url: str) -> None:
        gone_to.append(url)

    async def come_back() -> AuthorizationCodeResult:
        location = await decide(person, await request_of(person.browser, gone_to[-1]))
        said = parse_qs(urlsplit(location).query)
        return AuthorizationCodeResult(code=said["code"][0], state=said["state"][0], iss=said["iss"][0])

    url = f"{origin_of(person)}/mcp"
    metadata = OAuthClientMetadata(client_name="The SDK", redirect_uris=[AnyUrl(CALLBACK)])
    provider = OAuthClientProvider(url, metadata, kept or KeptTokens(), open_browser, come_back)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30, trust_env=False) as web,
        Client(streamable_http_client(url, http_client=web), mode=mode) as client,
    ):
        yield client


async def request_of(browser: Browser, url: str) -> str:
    """The id of the request that an authorization address makes, which the console is opened with."""
    reply = await browser.get(url)
    assert reply.status == 302, reply.body
    location = urlsplit(reply.headers["Location"])
    assert location.path == "/connect", reply.headers["Location"]
    return parse_qs(location.query)["request"][0]


async def decide(person: Person, request: str, decision: str = "allow") -> str:
    """Decide on the console; the address that the browser goes on to."""
    reply = await person.browser.post(
        f"{person.gateway.console_origin}/connect/decide", {"request": request, "decision": decision}
    )
    assert reply.status == 200, reply.body
    return str(reply.json["location"])


@dataclass
class WebPeer:
    """A client that takes each step by itself, and may take a wrong one."""

    person: Person
    client_id: str = ""
    tokens: dict[str, Any] = field(default_factory=dict[str, Any])
    session: str = ""

    @property
    def origin(self) -> str:
        """Where it connects."""
        return origin_of(self.person)

    async def register(self, *redirects: str, name: str = "peer") -> Reply:
        """RFC 7591."""
        wanted = {"client_name": name, "redirect_uris": redirects or [CALLBACK], "token_endpoint_auth_method": "none"}
        reply = await Browser(self.person.gateway.port).post(f"{self.origin}/register", wanted, origin=None)
        if reply.status == 201:
            self.client_id = reply.json["client_id"]
        return reply

    def authorization(self, **changed: str) -> str:
        """The address that a person's browser is sent to."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
        wanted = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "state": "st",
            "resource": f"{self.origin}/mcp",
            **changed,
        }
        return f"{self.origin}/authorize?{urlencode(wanted)}"

    async def code(self) -> str:
        """Be let in; the code."""
        if not self.client_id:
            assert (await self.register()).status == 201
        location = await decide(self.person, await request_of(self.person.browser, self.authorization()))
        return parse_qs(urlsplit(location).query)["code"][0]

    async def redeem(self, **form: str) -> Reply:
        """The token endpoint, with what an honest client sends unless it is changed."""
        sent = {"grant_type": "authorization_code", "client_id": self.client_id, "redirect_uri": CALLBACK, **form}
        if "code" in sent:
            sent.setdefault("code_verifier", VERIFIER)
        browser = Browser(self.person.gateway.port)
        reply = await browser.post(f"{self.origin}/token", raw=urlencode(sent).encode(), headers=FORM, origin=None)
        if reply.status == 200:
            self.tokens = reply.json
        return reply

    async def come_in(self) -> WebPeer:
        """All of it, and the handshake."""
        assert (await self.redeem(code=await self.code())).status == 200
        return await self.greet()

    async def greet(self) -> WebPeer:
        """The handshake, which makes a session."""
        self.session = ""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "peer", "version": "0"}}
        reply = await self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert reply.status == 200, reply.body
        self.session = reply.headers["mcp-session-id"]
        assert (await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})).status == 202
        return self

    async def post(self, message: Any = None, *, raw: bytes | None = None, **options: Any) -> Reply:
        """One message to `/mcp`."""
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        if self.tokens:
            headers["Authorization"] = f"Bearer {self.tokens['access_token']}"
        if self.session:
            headers |= {"Mcp-Session-Id": self.session, "Mcp-Protocol-Version": "2025-11-25"}
        headers |= options.pop("headers", {})
        url = options.pop("url", f"{self.origin}/mcp")
        browser = Browser(self.person.gateway.port)
        if raw is not None:
            return await browser.request("POST", url, raw=raw, headers=headers, origin=options.pop("origin", None))
        return await browser.request("POST", url, body=message, headers=headers, origin=options.pop("origin", None))
