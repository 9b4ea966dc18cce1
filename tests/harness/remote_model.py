"""A model server elsewhere, as the gateway sees one behind a URL: it streams one word and then goes on until it is left."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.fakes.openai_server import CHAT, serving
from tests.harness.http import Reply
from tests.scenarios.conftest import Scene

NAME = "elsewhere"
FIRST = b'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'
ASKED = {"messages": [{"role": "user", "content": "hello"}], "stream": True}


@dataclass
class RemoteModel:
    """What it was asked, and whether the gateway has left it."""

    url: str = ""
    asked: list[bytes] = field(default_factory=list[bytes])
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def id(self) -> str:
        """What the gateway calls it."""
        return f"remote:{urlsplit(self.url).netloc}:{NAME}"

    @classmethod
    @contextlib.asynccontextmanager
    async def serving(cls) -> AsyncGenerator[RemoteModel]:
        """Serve while the context lasts."""
        model = cls()
        routes = [Route("/v1/models", model._list), Route(CHAT, model._complete, methods=["POST"])]
        async with serving(Starlette(routes=routes)) as model.url:
            yield model

    async def ask(self, scene: Scene, token: str) -> Reply:
        """A whole request through the gateway; for those that are refused."""
        url = f"{scene.gateway.agent_origin}{CHAT}"
        return await scene.ada.browser.post(url, ASKED, headers={"Authorization": f"Bearer {token}"})

    @contextlib.asynccontextmanager
    async def streaming(
        self, scene: Scene, token: str, asked: Mapping[str, Any] = ASKED
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """A request whose answer has begun."""
        host = scene.gateway.agent_origin.removeprefix("http://")
        headers = {"Host": host, "Authorization": f"Bearer {token}"}
        async with (
            asyncio.timeout(60),
            aiohttp.ClientSession() as client,
            client.post(f"http://127.0.0.1:{scene.gateway.port}{CHAT}", json=asked, headers=headers) as response,
        ):
            assert await response.content.readuntil(b"\n\n") == FIRST
            yield response

    async def _list(self, _request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": NAME, "object": "model"}]})

    async def _complete(self, request: Request) -> Response:
        self.asked.append(await request.body())

        async def pieces() -> AsyncIterator[bytes]:
            try:
                yield FIRST
                await asyncio.Event().wait()
            finally:
                self.closed.set()

        return StreamingResponse(pieces(), media_type="text/event-stream")
