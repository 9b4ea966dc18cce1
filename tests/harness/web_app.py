"""A site of our own on this machine, while a test needs it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def posted_to(path: str, answer: Callable[[web.Request], Awaitable[web.StreamResponse]], port: int) -> AsyncGenerator[None]:
    """What is posted to this path of a loopback port is answered, while the context lasts."""
    app = web.Application()
    app.router.add_post(path, answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield
    finally:
        await runner.cleanup()
