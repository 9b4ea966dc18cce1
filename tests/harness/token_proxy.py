"""A proxy that adds a token to each request, for programs that cannot be given one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import aiohttp
from aiohttp import web

_OWN = {"host", "content-length", "connection", "transfer-encoding"}


@asynccontextmanager
async def adding_token(port: int, token: str) -> AsyncGenerator[str]:
    """The address of `/mcp` behind the proxy. Host and Origin of the proxy become the gateway's; others are passed on."""

    async def forward(request: web.Request) -> web.StreamResponse:
        own = f"localhost:{request.transport.get_extra_info('sockname')[1]}" if request.transport is not None else ""
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OWN}
        headers |= {"Authorization": f"Bearer {token}", "Host": request.host.replace(own, f"localhost:{port}")}
        if "Origin" in headers:
            headers["Origin"] = headers["Origin"].replace(own, f"localhost:{port}")
        body = await request.read()
        async with (
            aiohttp.ClientSession(trust_env=False) as session,
            session.request(request.method, f"http://127.0.0.1:{port}/mcp", data=body, headers=headers) as upstream,
        ):
            answered = {name: value for name, value in upstream.headers.items() if name.lower() not in _OWN}
            response = web.StreamResponse(status=upstream.status, headers=answered)
            with suppress(ConnectionError, aiohttp.ClientError):
                await response.prepare(request)
                async for piece in upstream.content.iter_any():
                    await response.write(piece)
            return response

    app = web.Application()
    app.router.add_route("*", "/mcp", forward)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://localhost:{runner.addresses[0][1]}/mcp"
    finally:
        await runner.cleanup()
