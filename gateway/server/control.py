"""The local control socket: what the operator's command line asks of a gateway that is running.

A unix socket in the state folder, readable by its owner alone: whoever can open it could as well read the database and the
signing key, so it needs no other credential. One JSON line in, one JSON line out.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import cast

import orjson

from gateway.core.canonical import Json, parse
from gateway.core.errors import GatewayError

LINE_LIMIT = 64 * 1024
SECONDS = 10.0

Answerer = Callable[[Mapping[str, Json]], Awaitable[Json]]

_log = logging.getLogger(__name__)


class ControlSocket:
    """Listens for commands. `answers` maps a command to what does it; errors of ours travel as code and message."""

    def __init__(self, path: Path, answers: Mapping[str, Answerer]) -> None:
        self._path = path
        self._answers = answers
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen. A socket file left behind by a killed process is replaced; the database lock keeps live ones apart."""
        self._path.unlink(missing_ok=True)
        # The folder is 0700; the umask closes the moment between bind and chmod for folders that are not.
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._serve, path=self._path, limit=LINE_LIMIT)
        finally:
            os.umask(before)

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                writer.write(orjson.dumps(await self._answer(await reader.readline())) + b"\n")
                await writer.drain()
        except (TimeoutError, OSError, ValueError):
            _log.debug("a control connection went away")
        finally:
            writer.close()

    async def _answer(self, line: bytes) -> Json:
        try:
            message = parse(line)
            if not isinstance(message, dict):
                return {"error": {"code": "invalid_request", "message": "a command is a JSON object"}}
            asked = cast("Mapping[str, Json]", message)
            answer = self._answers.get(str(asked.get("command", "")))
            if answer is None:
                return {"error": {"code": "unknown_command", "message": "this gateway knows no such command"}}
            return {"result": await answer(asked)}
        except GatewayError as error:
            return {"error": {"code": error.code, "message": error.message}}


async def ask_gateway(path: Path, command: Mapping[str, Json]) -> Json | None:
    """The running gateway's result, None when none is running there. Raises GatewayError with its message."""
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=LINE_LIMIT)
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    try:
        async with asyncio.timeout(SECONDS):
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
