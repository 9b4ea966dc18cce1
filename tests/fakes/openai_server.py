"""A small OpenAI-compatible server: the scripted model as a Starlette app, and a way to run it on a free port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from gateway.adapters.inference.scripted import ScriptedBackend

CHAT = "/v1/chat/completions"


def openai_app(backend: ScriptedBackend, *, model: str = "scripted", key: str = "") -> Starlette:
    """`/v1/models` and `/v1/chat/completions` over a script; with a `key`, nothing without it."""

    def is_welcome(request: Request) -> bool:
        return not key or request.headers.get("authorization") == f"Bearer {key}"

    async def list_models(request: Request) -> Response:
        if not is_welcome(request):
            return JSONResponse({"error": {"message": "no key"}}, 401)
        return JSONResponse({"object": "list", "data": [{"id": model, "object": "model"}]})

    async def complete(request: Request) -> Response:
        if not is_welcome(request):
            return JSONResponse({"error": {"message": "no key"}}, 401)
        stack = contextlib.AsyncExitStack()
        answer = await stack.enter_async_context(backend.ask(CHAT, await request.body()))

        async def pieces() -> AsyncIterator[bytes]:
            async with stack:
                async for chunk in answer.chunks():
                    yield chunk

        return StreamingResponse(pieces(), status_code=answer.status, media_type=answer.content_type)

    return Starlette(routes=[Route("/v1/models", list_models), Route(CHAT, complete, methods=["POST"])])


@contextlib.asynccontextmanager
async def serving(app: Starlette) -> AsyncGenerator[str]:
    """The base URL of the app while it runs."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            async with asyncio.timeout(20):
                while not server.started:
                    await asyncio.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            server.force_exit = True
            await asyncio.wait({running})
