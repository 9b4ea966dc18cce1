"""The same tool of one MCP server through this gateway and through three proxies, over stdio as clients start them.

What is compared is installed below `.work/proxies` when it is first needed. The client writes and reads the lines itself: an SDK
would take as long as some of the proxies.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import aiohttp

from bench.figures import Pace, median, percentile, report, say
from bench.servers import WORK, start_gateway, wait_for_port, work_folder
from bench.sources import PYTHON, SERVER
from tests.harness.process import GatewayProcess, free_port

CALLERS = (1, 10, 50)
CONNECTIONS = 2
ON_ONE_CONNECTION = 25
"""Ours takes 32 requests of one connection at a time, so fifty callers share two, whatever they call."""

OTHERS = WORK / "proxies"
PYTHON_PACKAGES = ("fastmcp==4.1.2", "intentplane[mcp]==0.5.3")
NODE_PACKAGES = ("supergateway@4.0.0",)
MEMORY = "/dev/shm"
"""Where a second gateway has its state: what it does more in a second is what the disk takes."""

SYNCS, PAGES = 40, 6 * 4096
TEXT = "x" * 400
WARM_UP = 0.3
PATIENCE = 60.0

RULES = """
@id("text") permit (principal, action, resource) when { context.params has text && context.approval_level == 0 };
"""
"""For intentplane, which judges by Cedar too."""


class Caller(Protocol):
    """A way to one tool."""

    async def call(self, tool: str) -> Mapping[str, Any]:
        """The result of one call."""
        ...


async def measure(pace: Pace) -> None:
    """Rounds over all ways in turn."""
    install()
    figures: dict[tuple[str, int], list[Cell]] = {}
    syncs: list[float] = []
    with work_folder() as home, tempfile.TemporaryDirectory(dir=MEMORY) as memory:
        async with AsyncExitStack() as stack:
            gateway = await stack.enter_async_context(countersign(home))
            in_memory = await stack.enter_async_context(countersign(Path(memory)))
            openers: dict[str, tuple[Callable[[], AbstractAsyncContextManager[Caller]], str]] = {
                "direct": (direct, "t0"),
                "countersign": (gateway, "many__t0"),
                "countersign-in-memory": (in_memory, "many__t0"),
                "fastmcp": (partial(fastmcp, home), "t0"),
                "intentplane": (partial(intentplane, home), "t0"),
                "supergateway": (supergateway, "t0"),
            }
            ways: dict[str, tuple[Sequence[Caller], str]] = {}
            for name, (opened, tool) in openers.items():
                ways[name] = [await stack.enter_async_context(opened()) for _ in range(CONNECTIONS)], tool
            for number in range(pace.rounds):
                for callers in CALLERS:
                    for name, way in ways.items():
                        cell = await drive(name, way, callers, pace.seconds)
                        figures.setdefault((name, callers), []).append(cell)
                    syncs.append(time_sync(home))
                say(f"proxies: round {number + 1} of {pace.rounds}")
    for (name, callers), cells in figures.items():
        ours = figures["countersign", callers]
        report(
            f"proxies/rate/{name}/{callers}",
            median(cell.rate for cell in cells),
            "calls/s",
            limit=median(cell.rate for cell in ours),
            ratio=median(mine.rate / cell.rate for mine, cell in zip(ours, cells, strict=True)),
        )
        report(f"proxies/p50/{name}/{callers}", median(cell.p50 for cell in cells), "ms")
    report("proxies/sync", median(syncs), "ms")


class Cell(NamedTuple):
    """Calls in a second, and the middle one's milliseconds."""

    rate: float
    p50: float


def time_sync(home: Path) -> float:
    """Milliseconds that six pages take to the disk of that folder; a call of ours waits for two commits of so many."""
    took: list[float] = []
    with (home / "synced").open("wb", buffering=0) as file:
        file.write(bytes(SYNCS * PAGES))
        os.fsync(file.fileno())
        for number in range(SYNCS):
            began = time.perf_counter()
            os.pwrite(file.fileno(), b"x" * PAGES, number * PAGES)
            os.fsync(file.fileno())
            took.append(time.perf_counter() - began)
    return percentile(took, 0.5) * 1e3


async def drive(name: str, way: tuple[Sequence[Caller], str], callers: int, seconds: float) -> Cell:
    """With one call under way for each caller."""
    connections, tool = way
    shared = connections if callers > ON_ONE_CONNECTION else connections[:1]
    took: list[float] = []
    until = time.perf_counter() + WARM_UP

    async def run(caller: Caller) -> None:
        while (began := time.perf_counter()) < until:
            result = await caller.call(tool)
            assert TEXT in json.dumps(result), (name, result)
            assert not result.get("isError"), (name, result)
            took.append(time.perf_counter() - began)

    async with asyncio.timeout(PATIENCE + seconds):
        await asyncio.gather(*(run(shared[number % len(shared)]) for number in range(callers)))
        took.clear()
        began = time.perf_counter()
        until = began + seconds
        await asyncio.gather(*(run(shared[number % len(shared)]) for number in range(callers)))
    return Cell(len(took) / (time.perf_counter() - began), percentile(took, 0.5) * 1e3)


# ── a client over stdio ──


@dataclass
class LineClient:
    """An MCP client over the two pipes of a process."""

    process: asyncio.subprocess.Process
    waiting: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict[int, "asyncio.Future[dict[str, Any]]"])
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        number = next(self.numbers)
        answer = self.waiting[number] = asyncio.get_running_loop().create_future()
        self.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return await answer

    def write(self, message: Mapping[str, Any]) -> None:
        """One line."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def call(self, tool: str) -> Mapping[str, Any]:
        """The result of one call."""
        answer = await self.ask("tools/call", {"name": tool, "arguments": {"text": TEXT}})
        return answer.get("result", answer)

    async def read(self) -> None:
        """Give each answer to whoever asked."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            if "method" not in message and (answer := self.waiting.pop(message["id"], None)) is not None:
                answer.set_result(message)


INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


@asynccontextmanager
async def over_stdio(command: Sequence[str], cwd: Path | None = None, **how: Any) -> AsyncGenerator[LineClient]:
    """A client of that program, after the greeting."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=nothing, cwd=cwd, limit=1 << 24, **how
    )
    client = LineClient(process)
    reading = asyncio.create_task(client.read())
    try:
        async with asyncio.timeout(PATIENCE):
            await client.ask("initialize", INITIALIZE)
            client.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
            await client.ask("tools/list", {})
        yield client
    finally:
        reading.cancel()
        if process.returncode is None:
            process.kill()
        await process.wait()


# ── the ways ──


def server_command() -> list[str]:
    """Five tools. As an argument, since ours is not shown this checkout."""
    return [PYTHON, "-S", "-c", SERVER.read_text(), "5"]


def direct() -> Any:
    """The server itself."""
    return over_stdio(server_command())


@asynccontextmanager
async def countersign(home: Path) -> AsyncGenerator[Callable[[], AbstractAsyncContextManager[Caller]]]:
    """A whole gateway with every check; gives what opens a `countersign mcp` in front of it."""
    settings = f'[sources.many]\nkind = "mcp"\ncommand = {json.dumps(server_command())}\ntools = {{ t0 = "read" }}\n'
    (home / "countersign.toml").write_text(settings)
    async with start_gateway(home) as gateway:
        await _wait_for_source(gateway.process)
        command = [sys.executable, "-m", "gateway", "mcp", "--state", str(gateway.process.state)]
        yield lambda: over_stdio(command, home, env=gateway.process.environment())


async def _wait_for_source(process: GatewayProcess) -> None:
    code, said = await process.run("sources", "test", "many")
    assert code == 0, said


def fastmcp(home: Path) -> Any:
    """Its proxy for a client's configuration."""
    command, *words = server_command()
    configuration = home / "fastmcp.json"
    configuration.write_text(json.dumps({"mcpServers": {"many": {"command": command, "args": words}}}))
    return over_stdio([str(OTHERS / "python/bin/fastmcp"), "run", "--no-banner", str(configuration)], home)


def intentplane(home: Path) -> Any:
    """Its proxy with the tool decided about by one Cedar rule and with receipts."""
    command, *words = server_command()
    (home / "rules.cedar").write_text(RULES)
    (home / "intentplane.toml").write_text(
        f'[mandate]\nprincipal = "ada"\n[[servers]]\nname = "many"\ncommand = {json.dumps(command)}\nargs = {json.dumps(words)}\n'
        '[[tools]]\nserver = "many"\ntool = "t0"\n[tools.params.text]\ntype = "string"\n'
        '[policy]\nfile = "rules.cedar"\n[defaults]\nreceipts = "receipts.jsonl"\n'
    )
    python = str(OTHERS / "python/bin/python")
    return over_stdio([python, "-m", "intentplane.proxy.server", "--config", str(home / "intentplane.toml")], home)


@dataclass
class HttpClient:
    """An MCP client over streamable HTTP."""

    session: aiohttp.ClientSession
    url: str
    headers: dict[str, str]

    async def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request; an empty one to a notification."""
        async with self.session.post(self.url, json=message, headers=self.headers) as response:
            if "mcp-session-id" in response.headers:
                self.headers["mcp-session-id"] = response.headers["mcp-session-id"]
            text = await response.text()
        lines = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")] or [text or "{}"]
        return json.loads(lines[-1])

    async def call(self, tool: str) -> Mapping[str, Any]:
        """The result of one call, asked for again where the server closed an idle connection just then."""
        params = {"name": tool, "arguments": {"text": TEXT}}
        message = {"jsonrpc": "2.0", "id": next(_NUMBERS), "method": "tools/call", "params": params}
        try:
            answer = await self.ask(message)
        except aiohttp.ServerDisconnectedError:
            answer = await self.ask(message)
        return answer.get("result", answer)


_NUMBERS = itertools.count(10)


@asynccontextmanager
async def supergateway() -> AsyncGenerator[HttpClient]:
    """It changes the transport and checks nothing; with sessions, since it starts a server for each request otherwise."""
    port = free_port()
    # It splits the command at spaces like a shell.
    server = f"{PYTHON} -S {SERVER} 5"
    options = ["--outputTransport", "streamableHttp", "--stateful", "--port", str(port), "--logLevel", "none"]
    nothing = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        str(OTHERS / "node_modules/.bin/supergateway"), "--stdio", server, *options, stdout=nothing, stderr=nothing
    )
    headers = {"accept": "application/json, text/event-stream"}
    try:
        await wait_for_port(port)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            client = HttpClient(session, f"http://127.0.0.1:{port}/mcp", headers)
            await client.ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE})
            await client.ask({"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def install() -> None:
    """Put the proxies beside the benchmark, once."""
    if not (OTHERS / "python").exists():
        say("proxies: installing what is compared")
        subprocess.run([sys.executable, "-m", "venv", str(OTHERS / "python")], check=True)  # fixed words
        subprocess.run([str(OTHERS / "python/bin/pip"), "install", "-q", *PYTHON_PACKAGES], check=True)
    if not (OTHERS / "node_modules").exists():
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(OTHERS), *NODE_PACKAGES],
            check=True,
            stdout=subprocess.DEVNULL,
        )
