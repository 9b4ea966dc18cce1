"""Servers that a test starts and that end with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from tests.adapters.tools.http_api.apis import ApiServer, SeenRequest

Answer = Callable[[SeenRequest], Awaitable[web.StreamResponse]]
Serve = Callable[..., Awaitable[ApiServer]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    servers: list[ApiServer] = []

    async def begin(answer: Answer | None = None) -> ApiServer:
        server = ApiServer(answer)
        await server.start()
        servers.append(server)
        return server

    yield begin
    for server in servers:
        await server.stop()
