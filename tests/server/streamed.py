"""Streamed answers of a scripted model, as tests of `/v1` ask for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from gateway.core.ledger import InferenceFinished
from tests.server.conftest import PATIENCE, ScriptedStream, Turn

EVENTS = (
    b'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n',
    b'data: {"choices":[{"delta":{"content":"lo \\"completion_tokens\\": 999"}}]}\n\n',
    b'data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19}}\n\n',
    b"data: [DONE]\n\n",
)
ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "hello"}], "stream": True}


def script(turn: Turn, *chunks: bytes | Exception | None, status: int = 200, content_type: str = "text/event-stream") -> None:
    turn.running.backend.stream = ScriptedStream(status, content_type)
    for chunk in chunks:
        turn.running.backend.stream.queue.put_nowait(chunk)


def finished(turn: Turn) -> list[InferenceFinished]:
    return [entry for entry in turn.running.ledger.entries if isinstance(entry, InferenceFinished)]


@asynccontextmanager
async def streaming(turn: Turn) -> AsyncGenerator[aiohttp.ClientResponse]:
    """A request whose answer has begun and goes on until a test ends it."""
    script(turn, EVENTS[0])
    async with again(turn) as response:
        yield response


@asynccontextmanager
async def again(turn: Turn) -> AsyncGenerator[aiohttp.ClientResponse]:
    """The same request, once its answer has begun."""
    url = f"http://127.0.0.1:{turn.running.port}/v1/chat/completions"
    headers = {"Host": turn.running.agent.removeprefix("http://"), **turn.bearer}
    async with (
        asyncio.timeout(PATIENCE),
        aiohttp.ClientSession() as client,
        client.post(url, json=ASKED, headers=headers) as response,
    ):
        assert await response.content.readuntil(b"\n\n") == EVENTS[0]
        yield response


async def recorded(turn: Turn) -> InferenceFinished:
    """The entry of the one request, once it is there."""
    async with asyncio.timeout(PATIENCE):
        while not finished(turn):
            await asyncio.sleep(0)
    (entry,) = finished(turn)
    return entry
