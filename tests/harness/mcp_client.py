"""MCP clients of `countersign mcp`: the SDK's own, and one that writes any bytes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal

import orjson
from mcp import Client
from mcp.client.session import MessageHandlerFnT
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.harness.preloaded import Process, start
from tests.harness.process import PATIENCE, GatewayProcess

COMMAND = (sys.executable, "-m", "gateway", "mcp")
LIMIT = 8 * 1024 * 1024
"""Bytes of one line."""


@asynccontextmanager
async def offered(
    gateway: GatewayProcess,
    *options: str,
    mode: Literal["legacy", "auto"] = "legacy",
    hear: MessageHandlerFnT | None = None,
    notes: Path | None = None,
) -> AsyncGenerator[Client]:
    """The SDK's client, connected to the program that an MCP client starts. `notes` is a file for its standard error."""
    program = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], *options], env=gateway.environment(), cwd=str(gateway.home)
    )
    with TemporaryFile("w+") if notes is None else notes.open("w+") as errors:
        async with Client(stdio_client(program, errlog=errors), mode=mode, message_handler=hear) as client:
            yield client


@dataclass
class LinePeer:
    """A program that speaks lines with the gateway and keeps to no rule."""

    process: Process
    seen: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @classmethod
    async def start(cls, gateway: GatewayProcess, *options: str) -> LinePeer:
        """Start the command beside a gateway."""
        environment = gateway.environment()
        return cls(await start(("mcp", *options), cwd=gateway.home, env=environment, reads=True, errors_apart=True, limit=LIMIT))

    async def greet(self) -> LinePeer:
        """Do the handshake."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "peer", "version": "0"}}
        assert "result" in await self.ask("hello", "initialize", params)
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    async def write(self, data: bytes) -> None:
        """Any bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    async def send(self, message: object) -> None:
        """One message."""
        await self.write(orjson.dumps(message) + b"\n")

    async def request(self, request_id: object, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a request."""
        await self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params or {})})

    async def ask(self, request_id: object, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        await self.request(request_id, method, params)
        return await self.answer(request_id)

    async def call(self, request_id: object, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and wait for the answer."""
        return await self.ask(request_id, "tools/call", {"name": tool, "arguments": arguments})

    async def answer(self, request_id: object) -> dict[str, Any]:
        """The first answer with that id; it is taken."""

        def is_it(message: dict[str, Any]) -> bool:
            return "method" not in message and message.get("id") == request_id

        return await self._take(is_it)

    async def notification(self, method: str) -> dict[str, Any]:
        """The params of the first such notification; it is taken."""
        message = await self._take(lambda message: message.get("method") == method)
        return message.get("params") or {}

    async def _take(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while True:
                for message in self.seen:
                    if is_it(message):
                        self.seen.remove(message)
                        return message
                line = await self.process.stdout.readline()
                assert line, f"closed; it said {await self.notes()}"
                self.seen.append(orjson.loads(line))

    async def ended(self) -> int:
        """The exit code, after the program has ended by itself."""
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    async def notes(self) -> str:
        """Everything on standard error, once the program has ended."""
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE):
            return (await self.process.stderr.read()).decode()

    async def hang_up(self) -> int:
        """Close its input, wait for its end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return await self.ended()

    async def kill(self) -> None:
        """SIGKILL."""
        if self.process.returncode is None:
            self.process.kill()
        await self.ended()
