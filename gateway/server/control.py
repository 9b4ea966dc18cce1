"""The local control socket: commands of the operator's command line to a running gateway.

A unix socket in the state folder, readable by its owner only: a process that can open it can also read the database and the
signing key, so it needs no other credential. One JSON line in, one JSON line out; a few commands keep the connection and go on
in lines of their own.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import cast

import orjson

from gateway.core.canonical import Json, parse
from gateway.core.errors import GatewayError, InvalidRequest, Misconfigured

SOCKET_NAME = "control.sock"
"""In the state folder."""

LINE_LIMIT = 16 * 1024 * 1024
"""Bytes: a list of thousands of tools, or an API's whole description."""

SECONDS = 10.0
"""For a command to arrive."""

ANSWER_SECONDS = 90.0
"""For its answer: a source may need a minute until it says what it offers."""

Answerer = Callable[[Mapping[str, Json]], Awaitable[Json]]
Server = Callable[[Mapping[str, Json], asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Serves a connection, from the answer to its command on, until it ends."""

_log = logging.getLogger(__name__)


class ControlSocket:
    """Listens for commands. `answers` maps each command to its function; errors of the tree are sent as code and message.
    `servers` are the commands that keep their connection."""

    def __init__(self, path: Path, answers: Mapping[str, Answerer], servers: Mapping[str, Server] | None = None) -> None:
        self._path = path
        self._answers = answers
        self._servers = servers or {}
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen. The socket file of a killed process is replaced; the database lock prevents two running gateways.

        Raises Misconfigured where there can be no socket.
        """
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise Misconfigured(f"`{self._path.name}` in the state folder is in the way ({error.strerror}); remove it") from None
        # The folder is 0700. Where it is not, the umask protects the socket between bind and chmod.
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._serve, path=self._path, limit=LINE_LIMIT)
        finally:
            os.umask(before)

    async def stop(self) -> None:
        """Stop listening, and end the connections that are still served."""
        if self._server is not None:
            self._server.close()
            for task in tuple(self._serving):
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)
            await self._server.wait_closed()
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                asked = _read_command(await reader.readline())
            server = None if isinstance(asked, GatewayError) else self._servers.get(_name(asked))
            if server is not None and not isinstance(asked, GatewayError):
                await self._keep(server(asked, reader, writer))
                return
            async with asyncio.timeout(ANSWER_SECONDS):
                writer.write(orjson.dumps(await self._answer(asked)) + b"\n")
                await writer.drain()
        except (TimeoutError, OSError, ValueError):
            _log.debug("a control connection went away")
        finally:
            writer.close()

    async def _keep(self, serving: Awaitable[None]) -> None:
        task = asyncio.ensure_future(serving)
        self._serving.add(task)
        try:
            await asyncio.wait((task,))
        finally:
            self._serving.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a control connection failed", exc_info=error)

    async def _answer(self, asked: Mapping[str, Json] | GatewayError) -> Json:
        try:
            if isinstance(asked, GatewayError):
                raise asked
            answer = self._answers.get(_name(asked))
            if answer is None:
                return {"error": {"code": "unknown_command", "message": "this gateway knows no such command"}}
            return {"result": await answer(asked)}
        except GatewayError as error:
            return {"error": {"code": error.code, "message": error.message}}


def _read_command(line: bytes) -> Mapping[str, Json] | GatewayError:
    try:
        message = parse(line)
    except GatewayError as error:
        return error
    if not isinstance(message, dict):
        return InvalidRequest("a command is a JSON object")
    return cast("Mapping[str, Json]", message)


def _name(asked: Mapping[str, Json]) -> str:
    return str(asked.get("command", ""))


async def ask_gateway(path: Path, command: Mapping[str, Json]) -> Json | None:
    """The running gateway's result; None when no gateway is running there. Raises GatewayError with its message."""
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=LINE_LIMIT)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
        return None
    except OSError as error:
        if error.errno is None or error.errno == errno.ENAMETOOLONG:
            # No gateway can listen at a path that is too long for a socket.
            return None
        raise GatewayError(f"the running gateway cannot be reached: {error.strerror}") from None
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            writer.write(orjson.dumps(command) + b"\n")
            await writer.drain()
            answer = parse(await reader.readline())
    except (TimeoutError, OSError):
        raise GatewayError("the running gateway did not answer") from None
    finally:
        writer.close()
    if "error" in answer:
        raise GatewayError(answer["error"]["message"])
    return answer["result"]
