"""A remote MCP server that wants a sign-in and the authorization server that it believes, on one port of loopback.

It does what the specifications say, checks what it gets, and remembers it. `answers` puts another answer in the place of a
path's own; the members below change a part of what it says.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

Answer = Callable[[Request], Awaitable[Response]]

RESOURCE = "/.well-known/oauth-protected-resource/mcp"
SERVER = "/.well-known/oauth-authorization-server"


@dataclass
class Asked:
    """One request as it came."""

    path: str
    authorization: str
    fields: Mapping[str, str]


@dataclass
class OAuthSite:
    """One person uses it, who agrees to everything."""

    port: int = 0
    seconds: int | None = 3600
    rotates: bool = True
    challenge: str | None = None
    client_secret: str | None = None
    resource: dict[str, Any] = field(default_factory=dict[str, Any])
    server: dict[str, Any] = field(default_factory=dict[str, Any])
    token: dict[str, Any] = field(default_factory=dict[str, Any])
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    asked: list[Asked] = field(default_factory=list[Asked])
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    access: set[str] = field(default_factory=set[str])
    refresh: set[str] = field(default_factory=set[str])
    scope_wanted: str = ""
    lists: int = 0
    _codes: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    _made: int = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/mcp"

    def times(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(asked.path == path for asked in self.asked)

    def of(self, path: str) -> list[Asked]:
        """The requests for a path."""
        return [asked for asked in self.asked if asked.path == path]

    def resource_document(self) -> dict[str, Any]:
        return {"resource": self.url, "authorization_servers": [self.origin], **self.resource}

    def server_document(self) -> dict[str, Any]:
        return {
            "issuer": self.origin,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "registration_endpoint": f"{self.origin}/register",
            "revocation_endpoint": f"{self.origin}/revoke",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
            **self.server,
        }

    # ── what each path does ──

    async def handle(self, request: Request) -> Response:
        path = request.url.path
        body = await request.body()
        typed = request.headers.get("content-type", "")
        fields = dict(parse_qsl(body.decode() if "urlencoded" in typed else request.url.query))
        self.asked.append(Asked(path, request.headers.get("authorization", ""), fields))
        if (answer := self.answers.get(path)) is not None:
            return await answer(request)
        match path:
            case "/mcp":
                return self._serve(request, body)
            case "/.well-known/oauth-protected-resource/mcp":
                return JSONResponse(self.resource_document())
            case "/.well-known/oauth-authorization-server":
                return JSONResponse(self.server_document())
            case "/register":
                return self._register(json.loads(body))
            case "/authorize":
                return self._authorize(fields)
            case "/token":
                return self._give(fields, request.headers.get("authorization", ""))
            case "/revoke":
                self.refresh.discard(fields["token"])
                self.access.clear()
                return Response(status_code=200)
            case _:
                return Response(status_code=404)

    def _serve(self, request: Request, body: bytes) -> Response:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or token not in self.access:
            said = self.challenge or f'Bearer realm="x, y", resource_metadata="{self.origin}{RESOURCE}"'
            return Response(status_code=401, headers={"www-authenticate": said})
        if request.method != "POST":
            return Response(status_code=405)
        message = json.loads(body)
        number, params = message.get("id"), message.get("params", {})
        result: dict[str, Any]
        match message.get("method"):
            case "initialize":
                info = {"name": "remote", "version": "3"}
                result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                self.lists += 1
                hints = {"readOnlyHint": True}
                result = {"tools": [{"name": "look", "inputSchema": {"type": "object"}, "annotations": hints}]}
            case "tools/call" if self.scope_wanted:
                said = f'Bearer error="insufficient_scope", scope="{self.scope_wanted}"'
                return Response(status_code=403, headers={"www-authenticate": said})
            case "tools/call":
                self.calls.append(params)
                result = {"content": [{"type": "text", "text": f"looked with Bearer {token}"}]}
            case "server/discover":
                error = {"code": -32601, "message": "Method not found"}
                return JSONResponse({"jsonrpc": "2.0", "id": number, "error": error}, 404)
            case _:
                return Response(status_code=202)
        return JSONResponse({"jsonrpc": "2.0", "id": number, "result": result})

    def _register(self, wanted: dict[str, Any]) -> Response:
        assert wanted["grant_types"] == ["authorization_code", "refresh_token"]
        return JSONResponse({**wanted, "client_id": "client-1"}, 201)

    def _authorize(self, fields: Mapping[str, str]) -> Response:
        assert (fields["response_type"], fields["code_challenge_method"]) == ("code", "S256")
        assert fields["resource"] == self.resource_document()["resource"]
        code = self._make("code")
        self._codes[code] = fields
        answer = {"code": code, "state": fields["state"], "iss": self.server_document()["issuer"]}
        return RedirectResponse(f"{fields['redirect_uri']}?{urlencode(answer)}", 302)

    def _give(self, fields: Mapping[str, str], authorization: str) -> Response:
        if self.client_secret is not None:
            expected = base64.b64encode(f"client-1:{self.client_secret}".encode()).decode()
            if authorization != f"Basic {expected}":
                return JSONResponse({"error": "invalid_client"}, 401)
        elif fields.get("client_id") != "client-1":
            return JSONResponse({"error": "invalid_client"}, 401)
        if fields["grant_type"] == "refresh_token":
            if fields["refresh_token"] not in self.refresh:
                return JSONResponse({"error": "invalid_grant"}, 400)
            if self.rotates:
                self.refresh.discard(fields["refresh_token"])
        else:
            begun = self._codes.pop(fields["code"], None)
            digest = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
            proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if begun is None or proof != begun["code_challenge"] or fields["redirect_uri"] != begun["redirect_uri"]:
                return JSONResponse({"error": "invalid_grant"}, 400)
        given: dict[str, Any] = {"access_token": self._make("access"), "token_type": "Bearer"}
        self.access.add(given["access_token"])
        if self.seconds is not None:
            given["expires_in"] = self.seconds
        if self.rotates or fields["grant_type"] != "refresh_token":
            given["refresh_token"] = self._make("refresh")
            self.refresh.add(given["refresh_token"])
        return JSONResponse({**given, **self.token})

    def _make(self, kind: str) -> str:
        self._made += 1
        return f"{kind}-{self._made}-of-{self.port}"

    # ── the person ──

    async def agree(self, location: str) -> dict[str, str]:
        """What a person's browser does with the address of the authorization server: the parameters that it comes back with."""
        async with aiohttp.ClientSession() as browser, browser.get(location, allow_redirects=False) as answer:
            assert answer.status == 302, await answer.text()
            came_back = answer.headers["location"]
        return {"callback": came_back.partition("?")[0], **{k: v[0] for k, v in parse_qs(urlsplit(came_back).query).items()}}


def html(_request: Request) -> Awaitable[Response]:
    """An answer for `answers` that is a page."""
    return _at_once(HTMLResponse("<h1>Sorry</h1>"))


def saying(status: int, value: object) -> Answer:
    """An answer for `answers` that is always this JSON."""
    return lambda _: _at_once(JSONResponse(value, status))


def leading_to(location: str) -> Answer:
    """An answer for `answers` that redirects."""
    return lambda _: _at_once(RedirectResponse(location, 302))


async def _at_once(response: Response) -> Response:
    return response


@contextlib.asynccontextmanager
async def serve_oauth(site: OAuthSite) -> AsyncGenerator[OAuthSite]:
    """The site, served in this process until it is left."""
    app = Starlette(routes=[Route("/{path:path}", site.handle, methods=["GET", "POST", "DELETE"])])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(10):
        while not server.started:
            await asyncio.sleep(0.005)
    site.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.should_exit = server.force_exit = True
        await serving
