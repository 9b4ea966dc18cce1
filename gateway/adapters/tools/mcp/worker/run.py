"""The worker's process from its first line to its last: little memory, low priority, and an end with the gateway's."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import resource
import threading
import time
from typing import Any, Final, NoReturn, cast

import mcp_types as types
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from gateway.adapters.tools.mcp.wire import MAX_WHY, RequestFailure
from gateway.adapters.tools.mcp.worker.errors_log import ErrorLog
from gateway.adapters.tools.mcp.worker.http import BearerToken, open_http
from gateway.adapters.tools.mcp.worker.inert import inert_line
from gateway.adapters.tools.mcp.worker.lines import GatewayLines, Masker
from gateway.adapters.tools.mcp.worker.session import ServerSession, word_error
from gateway.adapters.tools.mcp.worker.stdio import StdioTransport
from gateway.adapters.tools.mcp.worker.watching import Watch

ADDRESS_SPACE: Final = 1 << 30
"""Bytes. It starts with some 100 MB; one message of the largest size takes a few hundred more."""

OPEN_FILES: Final = 128
NICENESS: Final = 5
"""As for programs of tools."""

PARENT_SECONDS: Final = 2.0
CLOSE_SECONDS: Final = 1.0

_VERSION: Final = "1"


def main(descriptor: int) -> NoReturn:
    """Serve the gateway at `descriptor` until it lets go or the server ends."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(NICENESS)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    gc.freeze()
    asyncio.run(_serve(descriptor))
    # Whatever the SDK still has open ends with the process.
    os._exit(0)


def _end_with(parent: int) -> None:
    """The gateway may be killed while this process is busy; the socket's end would not be seen then."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(0)


async def _serve(descriptor: int) -> None:
    gateway = await GatewayLines.at(descriptor)
    settings = await gateway.read()
    if settings is None:
        return
    gateway.masker = Masker(settings["secrets"])
    watch, log, bearer = Watch(elicits=settings["elicits"]), None, BearerToken(settings.get("bearer"))
    if settings["kind"] == "stdio":
        transport: Any = StdioTransport(settings["stdin"], settings["stdout"], watch)
        log = ErrorLog(settings["stderr"], settings["log"], gateway.masker)
        log.start()
    else:
        transport = open_http(settings["url"], settings["headers"], bearer, watch, private=settings["private"])
    work = asyncio.create_task(_drive(transport, gateway, watch, bearer, settings))
    broken = asyncio.create_task(watch.broken.wait())
    await asyncio.wait((work, broken), return_when=asyncio.FIRST_COMPLETED)
    why, how = (watch.why, None) if watch.broken.is_set() else _word_end(work, watch, settings)
    if log is not None:
        why = await log.add_last_line(why)
    ended = watch.ended.is_set() and not watch.broken.is_set()
    gateway.tell(tell="gone", why=why[:MAX_WHY], ended=ended, **watch.tell_more(how))
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await gateway.drained()
            # Leaving the client ends a session over HTTP.
            await asyncio.wait((work,))
    os._exit(0)


async def _drive(transport: Any, gateway: GatewayLines, watch: Watch, bearer: BearerToken, settings: dict[str, Any]) -> None:
    changed: list[ServerSession] = []

    async def notice(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            for session in changed:
                session.note_change()

    async def elicit(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
        for session in changed:
            return await session.elicit(context, params)
        return types.ErrorData(code=types.INVALID_REQUEST, message="nothing was called yet")

    client = Client(
        transport,
        read_timeout_seconds=settings["start_timeout"],
        message_handler=notice,
        # Without it the client does not say that it could ask anybody.
        elicitation_callback=elicit if watch.elicits else None,
        client_info=types.Implementation(name="countersign", version=_VERSION),
        cache=None,
    )
    async with contextlib.AsyncExitStack() as stack:
        async with asyncio.timeout(settings["start_timeout"]):
            await stack.enter_async_context(client)
        plain = transport.plain if isinstance(transport, StdioTransport) else None
        session = ServerSession(client, gateway, watch, bearer, settings["timeout"], plain)
        changed.append(session)
        serving = asyncio.create_task(session.obey())
        # The SDK notices the end of the server's messages in a task of its own and tells nobody.
        ended = asyncio.create_task(watch.ended.wait())
        await asyncio.wait((serving, ended), return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()


def _word_end(work: asyncio.Task[None], watch: Watch, settings: dict[str, Any]) -> tuple[str, RequestFailure | None]:
    """Why it ended; with how, where that was the failure of a request."""
    match _innermost(None if work.cancelled() or not work.done() else work.exception()):
        case None:
            return "the server ended its connection" if watch.ended.is_set() else "it was told to end", None
        case TimeoutError():
            return f"the server did not answer within {settings['start_timeout']:g} seconds of its start", None
        case MCPError() as error:
            return word_error(error, watch, settings["start_timeout"])
        case ValidationError():
            return "the server's first answer is not as the protocol says", None
        case error:
            return f"the connection failed ({inert_line(type(error).__name__, 60)})", None


def _innermost(error: BaseException | None) -> BaseException | None:
    """The first error of a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
