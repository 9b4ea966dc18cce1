"""The callers, in a process of their own so that they do not share the server's interpreter lock.

Run as a module it takes one JSON command a line on stdin and answers each with one on stdout; `Callers` is the other end.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

import psutil
import uvloop

from bench.figures import percentile
from bench.lanes import TIME_LIMIT, Lane, Run, Target

WARM_UP = 0.2
"""Seconds before each cell that count for nothing but CPU per call."""

TEXT = "x" * 400


@dataclass(frozen=True)
class Cell:
    """What one cell gave. Rates in calls per second, times in milliseconds."""

    rate: float
    p50: float
    p99: float
    cpu: float
    """Of the server, milliseconds per call."""
    busy: float
    """Of the callers' own process, share of one core."""


class Callers:
    """The process and what it is asked to do."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._servers: dict[str, psutil.Process] = {}

    async def open(self, name: str, pid: int, target: Target, lanes: int) -> None:
        """Connect `lanes` more callers to a server, under a name for later."""
        self._servers[name] = psutil.Process(pid)
        await self._ask({"do": "open", "name": name, "target": asdict(target), "lanes": lanes})

    async def drive(self, name: str, callers: int, seconds: float, tool: str = "echo", *, beside: str | None = None) -> Cell:
        """Have that many callers call `tool` as fast as answers come; `beside`, one more calls that other tool meanwhile."""
        server = self._servers[name]
        before = server.cpu_times()
        answer = await self._ask(
            {"do": "drive", "name": name, "callers": callers, "seconds": seconds, "tool": tool, "beside": beside}
        )
        after = server.cpu_times()
        spent = after.user + after.system - before.user - before.system
        return Cell(answer["rate"], answer["p50"], answer["p99"], spent / answer["calls"] * 1e3, answer["busy"])

    async def begin_turns(self, name: str) -> None:
        """Each caller of that server begins another turn."""
        await self._ask({"do": "begin", "name": name})

    async def listen(self, name: str, notification: str) -> None:
        """From now on each caller of that server notes when it is told that."""
        await self._ask({"do": "listen", "name": name, "notification": notification})

    async def heard(self, name: str) -> float:
        """When the last of them was told, by the monotonic clock, which all processes of a machine share."""
        return float((await self._ask({"do": "heard", "name": name}))["last"])

    async def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError("the callers are gone; see above")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


@asynccontextmanager
async def start_callers() -> AsyncGenerator[Callers]:
    """The process, until the context ends."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.callers", stdin=pipe, stdout=pipe)
    try:
        yield Callers(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


# ── in the process ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def _drive(lanes: list[Lane], command: dict[str, Any]) -> dict[str, Any]:
    count, tool, beside = int(command["callers"]), str(command["tool"]), command["beside"]
    callers = lanes[:count]

    async def run(seconds: float) -> tuple[Run, float]:
        began = time.perf_counter()
        cell = Run(began + seconds)
        await asyncio.gather(*(lane.drive(cell, tool, TEXT) for lane in callers))
        if cell.wrong is not None:
            raise RuntimeError(f"a call did not succeed: {cell.wrong.decode()[:500]}")
        return cell, time.perf_counter() - began

    other: asyncio.Task[None] | None = None
    if beside is not None:
        until = time.perf_counter() + WARM_UP + command["seconds"]
        other = asyncio.create_task(lanes[count].drive(Run(until), beside, TEXT))
    warm, _ = await run(WARM_UP)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cell, elapsed = await run(command["seconds"])
    spent = resource.getrusage(resource.RUSAGE_SELF)
    if other is not None:
        await other
    ordered = sorted(cell.latencies)
    return {
        "rate": cell.calls / elapsed,
        "p50": percentile(ordered, 0.5) * 1e3,
        "p99": percentile(ordered, 0.99) * 1e3,
        "calls": cell.calls + warm.calls,
        "busy": (spent.ru_utime + spent.ru_stime - used.ru_utime - used.ru_stime) / elapsed,
    }


async def _obey() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    lanes: dict[str, list[Lane]] = {}
    told: list[asyncio.Future[float]] = []
    while line := await reader.readline():
        command = json.loads(line)
        own = lanes.setdefault(command["name"], [])
        try:
            answer: dict[str, Any] = {}
            match command["do"]:
                case "open":
                    target = Target(**command["target"])
                    own += [await Lane.connect(target) for _ in range(command["lanes"])]
                case "begin":
                    for lane in own:
                        await lane.begin()
                case "listen":
                    told = [lane.listen(command["notification"]) for lane in own]
                case "heard":
                    async with asyncio.timeout(TIME_LIMIT):
                        answer["last"] = max(await asyncio.gather(*told))
                case _:
                    answer = await _drive(own, command)
        except (OSError, RuntimeError, TimeoutError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    uvloop.run(_obey())
