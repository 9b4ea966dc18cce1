"""The origin of MCP clients that speak HTTP: `/mcp`, and the authorization server's endpoints that programs call.

A third host beside the agent's and the console's, so that no cookie of either is sent to it, and none is read here. What a person
decides, they decide on the console. The SDK is imported with the first request.
"""

from __future__ import annotations

import asyncio
import importlib
from dataclasses import dataclass
from typing import Protocol, cast
from urllib.parse import urlsplit

from starlette.types import Receive, Scope, Send

from gateway.runtime.client_grants import ClientGrants
from gateway.runtime.clients import Clients
from gateway.runtime.gateway import Gateway
from gateway.runtime.ports import CookieSigner
from gateway.server.responses import FOREIGN_ORIGIN, STOPPING, refuse

_SDK_SIDE = "gateway.server.mcp.http_endpoints"


@dataclass(frozen=True, slots=True)
class ClientSiteParts:
    """What the site is made of."""

    gateway: Gateway
    clients: Clients
    signer: CookieSigner
    origin: str
    console_origin: str

    @property
    def grants(self) -> ClientGrants:
        """Who acts for whom."""
        return self.clients.grants

    @property
    def resource(self) -> str:
        """The audience of every token, as RFC 8707 writes it."""
        return f"{self.origin}/mcp"


class _Endpoints(Protocol):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...
    async def drain(self) -> None: ...


class ClientSite:
    """An ASGI app."""

    def __init__(self, parts: ClientSiteParts) -> None:
        self._parts = parts
        self._app: _Endpoints | None = None
        self._loading = asyncio.Lock()

    async def drain(self) -> None:
        """End every stream as soon as the requests of its grant are answered."""
        if self._app is not None:
            await self._app.drain()

    @property
    def origin(self) -> str:
        """Where it is served."""
        return self._parts.origin

    @property
    def host(self) -> str:
        """`host[:port]`, the required Host header."""
        return urlsplit(self._parts.origin).netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI. Pages of other origins are turned away whatever they ask for (DNS rebinding is, by Host, before this)."""
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if scope["type"] != "http" or any(origin != self._parts.origin for origin in origins):
            await refuse(FOREIGN_ORIGIN)(scope, receive, send)
            return
        if not self._parts.gateway.admission.is_open:
            await refuse(STOPPING)(scope, receive, send)
            return
        app = await self._load()
        await app(scope, receive, send)

    async def _load(self) -> _Endpoints:
        async with self._loading:
            app = self._app
            if app is None:
                endpoints = await asyncio.to_thread(importlib.import_module, _SDK_SIDE)
                app = self._app = cast("_Endpoints", endpoints.HttpEndpoints(self._parts))
            return app
