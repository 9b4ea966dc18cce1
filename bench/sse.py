"""Streams through `/v1`, beside the same streams straight from where they come: what the gateway adds and what it costs.

First from a source that costs nothing, so that the gateway is what is measured; then, where the default model is on this
machine, from the real sidecar.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import psutil

from bench.event_source import MODEL
from bench.figures import Pace, median, report, report_pairs, say
from bench.servers import Gateway, start_gateway, wait_for_port, work_folder
from gateway.adapters.inference.catalog import load_catalog, models_folder
from gateway.adapters.inference.confinement import ConfinedProcess, PinnedSocket, choose_confinement, confined_job
from gateway.adapters.inference.engine import Launch, WheelEngine, default_threads
from gateway.adapters.inference.fetch import is_present, weights_path
from gateway.adapters.inference.sidecar_process import BoundedLog
from gateway.core.errors import GatewayError
from gateway.sandbox.job import SandboxPreference
from tests.harness.person import Turn
from tests.harness.process import free_port

BURST = 2_000
"""Tokens of a stream whose rate is measured."""

FIRSTS = 20
"""Short streams per round whose first token is timed."""

REAL_TOKENS = 96
EVENT = b"data: {"
"""How an event begins; `data:` alone occurs in our security headers too."""

SETTLING = 0.3
"""Seconds between two requests to the sidecar, which looks some 40 ms later that the one before is over."""

PROMPT = "List the months of the year, one per line."


@dataclass(frozen=True)
class Endpoint:
    """Where to ask. `model` is the name that this endpoint knows."""

    port: int
    host: str
    key: str
    model: str


@dataclass(frozen=True)
class Stream:
    """One stream: seconds to its first event, seconds in all, events."""

    first: float
    whole: float
    tokens: int


Pairs = list[tuple[float, float]]


async def measure(pace: Pace) -> None:
    """The scripted source, then the real sidecar if there is one."""
    port = free_port()
    source = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.event_source", str(port))
    try:
        await wait_for_port(port)
        await _compare(pace, Endpoint(port, f"127.0.0.1:{port}", "", MODEL), "sse")
    finally:
        source.kill()
        await source.wait()
    try:
        entry = load_catalog(models_folder(os.environ)).find("default")
    except GatewayError as error:
        say(f"sse: no real model: {error.message}")
        return
    if not is_present(entry, models_folder(os.environ)):
        say("sse: the default model is not on this machine; only the scripted source was measured")
        return
    async with _start_sidecar(weights_path(entry, models_folder(os.environ)), entry.id) as endpoint:
        await _compare_real(pace, endpoint)


async def _compare(pace: Pace, direct: Endpoint, name: str) -> None:
    async with _through(direct) as (gateway, endpoint):
        server = psutil.Process(gateway.process.pid)
        rates: Pairs = []
        firsts: Pairs = []
        costs: list[float] = []
        for number in range(pace.rounds + 1):
            before = server.cpu_times()
            mine = await _ask_on(endpoint, pace.seconds)
            after = server.cpu_times()
            least = await _ask_on(direct, pace.seconds)
            first = [(await _ask(endpoint, 1), await _ask(direct, 1)) for _ in range(FIRSTS)]
            if number == 0:
                continue  # warming up
            costs.append((after.user + after.system - before.user - before.system) / mine.tokens * 1e6)
            rates.append((mine.tokens / mine.whole, least.tokens / least.whole))
            firsts.append((median(one.first for one, _ in first) * 1e3, median(other.first for _, other in first) * 1e3))
            say(f"{name}: round {number} of {pace.rounds}")
        report_pairs(f"{name}/rate", "tokens/s", rates)
        report_pairs(f"{name}/first-token", "ms", firsts)
        report(f"{name}/first-token/added", median(one - other for one, other in firsts), "ms")
        report(f"{name}/cpu", median(costs), "us/token")


async def _compare_real(pace: Pace, direct: Endpoint) -> None:
    async with _through(direct) as (_gateway, endpoint):
        rates: Pairs = []
        firsts: Pairs = []
        for number in range(pace.rounds + 1):
            mine = await _ask(endpoint, REAL_TOKENS)
            await asyncio.sleep(SETTLING)
            least = await _ask(direct, REAL_TOKENS)
            await asyncio.sleep(SETTLING)
            if number == 0:
                continue
            rates.append((mine.tokens / (mine.whole - mine.first), least.tokens / (least.whole - least.first)))
            firsts.append((mine.first * 1e3, least.first * 1e3))
            say(f"sse/real: round {number} of {pace.rounds}")
        report_pairs("sse/real/rate", "tokens/s", rates)
        report_pairs("sse/real/first-token", "ms", firsts)
        report("sse/real/first-token/added", median(one - other for one, other in firsts), "ms")


@asynccontextmanager
async def _through(direct: Endpoint) -> AsyncGenerator[tuple[Gateway, Endpoint]]:
    """A gateway before that endpoint, and its own endpoint: `/v1` with a token."""
    with work_folder() as home:
        settings = {
            "COUNTERSIGN_MODEL_URL": f"http://127.0.0.1:{direct.port}/v1",
            "COUNTERSIGN_MODEL_NAME": direct.model,
            "COUNTERSIGN_MODEL_TIER": "native",
            "COUNTERSIGN_MODEL_KEY": direct.key,
        }
        async with start_gateway(home, **settings) as gateway:
            turn = await Turn.begin(await gateway.person.agent())
            (model,) = (await turn.socket.call("session/describe"))["models"]
            asked = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"], "modelId": model["id"]}
            token = (await turn.socket.call("inference/token", asked))["token"]
            yield gateway, Endpoint(gateway.process.port, gateway.target.host, token, model["id"])


async def _ask_on(endpoint: Endpoint, seconds: float) -> Stream:
    """Long streams one after another, together as one."""
    streams: list[Stream] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        streams.append(await _ask(endpoint, BURST))
    return Stream(streams[0].first, sum(stream.whole for stream in streams), sum(stream.tokens for stream in streams))


async def _ask(endpoint: Endpoint, tokens: int) -> Stream:
    asked = {
        "model": endpoint.model,
        "messages": [{"role": "user", "content": PROMPT}],
        "stream": True,
        "max_tokens": tokens,
        "temperature": 0,
    }
    body = orjson.dumps(asked)
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: {endpoint.host}\r\nAuthorization: Bearer {endpoint.key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    async with asyncio.timeout(120):
        reader, writer = await asyncio.open_connection("127.0.0.1", endpoint.port)
        began = time.perf_counter()
        writer.write(head.encode() + body)
        received, first = bytearray(), 0.0
        while b"[DONE]" not in received[-64:]:
            piece = await reader.read(1 << 16)
            if not piece:
                raise RuntimeError(f"the stream broke off: {bytes(received[:500])!r}")
            received += piece
            if not first and EVENT in received:
                first = time.perf_counter() - began
        whole = time.perf_counter() - began
        writer.close()
    return Stream(first, whole, received.count(EVENT))


@asynccontextmanager
async def _start_sidecar(weights: Path, alias: str) -> AsyncGenerator[Endpoint]:
    """The sidecar in its sandbox, as the gateway starts it. A relay gives its socket a port, so that it can be asked beside the
    gateway too; both ways to it lead through the relay."""
    with work_folder() as folder:
        own = folder / "inference" / "run"
        own.mkdir(parents=True)
        launch = Launch(
            weights=weights,
            alias=alias,
            folder=own,
            key=secrets.token_urlsafe(32),
            socket=own / "sidecar.sock",
            port=None,
            context_tokens=4096,
            threads=default_threads(),
            repack=True,
            origins=(),
            confined=True,
        )
        sandbox = await asyncio.to_thread(choose_confinement, SandboxPreference.AUTO, folder)
        job = confined_job(WheelEngine().order(launch), launch, BoundedLog(folder / "sidecar.log"))
        with PinnedSocket(own / "sidecar.sock") as pinned:
            child = ConfinedProcess(job, sandbox)
            child.start()
            try:
                async with _relay_to(pinned) as port:
                    endpoint = Endpoint(port, f"127.0.0.1:{port}", launch.key, alias)
                    await _wait_for_weights(endpoint)
                    yield endpoint
            finally:
                await child.stop()


@asynccontextmanager
async def _relay_to(pinned: PinnedSocket) -> AsyncGenerator[int]:
    """A port whose connections are passed on to the pinned socket, whole and unread."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pinned.pin()
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(str(pinned.path))
        except OSError:
            # The server is not there yet.
            writer.close()
            return
        await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def _wait_for_weights(endpoint: Endpoint) -> None:
    async with asyncio.timeout(120):
        while True:
            try:
                await _ask(endpoint, 1)
            except (RuntimeError, ConnectionError):
                await asyncio.sleep(0.2)
            else:
                return
