"""A gateway with forty MCP servers of fifty tools each: what a turn costs, how long the start takes, and what it weighs."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from bench.figures import Pace, median, report, say
from bench.lanes import Lane
from bench.servers import Gateway, start_gateway, work_folder

SOURCES, TOOLS = 40, 50
CATEGORIES = ("read", "write", "destructive", "network", "execute")
LABELS = ("label:internal", "label:confidential", "label:high")
SERVER = Path(__file__).with_name("many_tools_server.py")
PYTHON = str(Path(sys.base_prefix) / "bin" / "python3")
"""Not that of the environment in this checkout, which lies beside the state of the gateway that is measured."""

TURNS = 20
PATIENCE = 100.0


async def measure(pace: Pace) -> None:
    """Processor time of the gateway's own process for each kind of turn; the rest on the wall clock."""
    with work_folder() as home:
        (home / "countersign.toml").write_text("\n".join(map(_declare, range(SOURCES))))
        async with start_gateway(home) as gateway:
            lane = await Lane.connect(gateway.target)
            await _wait_for_all(lane)
            await gateway.process.stop()
            starts = [await _measure_start(gateway) for _ in range(min(2, pace.rounds))]
            report("sources/start/own-tools", median(start[0] for start in starts), "s")
            report("sources/start/all-tools", median(start[1] for start in starts), "s")
            report("sources/start/cpu", median(start[2] for start in starts), "s of all processes")
            await gateway.process.start()
            lane = await Lane.connect(gateway.target)
            await _wait_for_all(lane)
            _weigh(gateway)
            await _measure_turns(gateway, pace)


def _declare(number: int) -> str:
    # As an argument: of a file in this checkout all of that would be shown to the server, and the state is in it.
    command = [PYTHON, "-S", "-c", SERVER.read_text(), str(TOOLS)]
    tools = {f"t{tool}": CATEGORIES[tool % len(CATEGORIES)] for tool in range(TOOLS)}
    label = f'labels = ["{LABELS[number]}"]\n' if number < len(LABELS) else ""
    return (
        f'[sources.source-{number}]\nkind = "mcp"\ncommand = {json.dumps(command)}\n'
        f"{label}"
        f"tools = {{ {', '.join(f'{tool} = {json.dumps(category)}' for tool, category in tools.items())} }}\n"
    )


async def _wait_for_all(lane: Lane) -> None:
    async with asyncio.timeout(PATIENCE):
        while _callable((await _begin(lane))[1]) < SOURCES * TOOLS:  # noqa: ASYNC110 # nobody tells this client
            await asyncio.sleep(0.2)


def _callable(snapshot: dict[str, Any]) -> int:
    return sum(tool["permission"] != "forbidden" and tool["source"].startswith("mcp:") for tool in snapshot["tools"])


async def _begin(lane: Lane, conversation: str | None = None) -> tuple[str, dict[str, Any]]:
    if conversation is None:
        conversation = str((await lane.request("conversations/open", {}))["conversation"]["id"])
    return conversation, (await lane.request("turns/begin", {"conversationId": conversation}))["snapshot"]


async def _measure_start(gateway: Gateway) -> tuple[float, float, float]:
    began = time.perf_counter()
    await gateway.process.start()
    try:
        lane = await Lane.connect(gateway.target)
        first = time.perf_counter() - began
        await _wait_for_all(lane)
        return first, time.perf_counter() - began, sum(_used(each) for each in _family(gateway.process.pid))
    finally:
        await gateway.process.stop()


def _weigh(gateway: Gateway) -> None:
    own, *others = _family(gateway.process.pid)
    workers = [each for each in others if "gateway.adapters" in " ".join(each.cmdline())]
    report("sources/pss/gateway", _pss([own]), "MB")
    report(f"sources/pss/workers/{len(workers)}", _pss(workers), "MB")
    say(f"sources: {len(others) - len(workers)} further processes (servers and their sandboxes)")


def _family(pid: int) -> list[psutil.Process]:
    own = psutil.Process(pid)
    return [own, *own.children(recursive=True)]


def _pss(processes: Sequence[psutil.Process]) -> float:
    return sum(each.memory_full_info().pss for each in processes) / 1e6


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


# ── turns ──


def _loop_milliseconds(pid: int) -> float:
    """Processor time of the first thread, which runs the event loop. Others watch the sandboxes of forty servers meanwhile."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6


def _all_milliseconds(pid: int) -> float:
    """Of all threads."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e6


async def _spend(gateway: Gateway, work: Any) -> float:
    before = _loop_milliseconds(gateway.process.pid)
    await work
    return _loop_milliseconds(gateway.process.pid) - before


async def _measure_turns(gateway: Gateway, pace: Pace) -> None:
    unchanged: list[float] = []
    walls: list[float] = []
    threads: list[float] = []
    changed: list[float] = []
    lane = await Lane.connect(gateway.target)
    conversation, _ = await _begin(lane)
    for number in range(pace.rounds):
        before, every = _loop_milliseconds(gateway.process.pid), _all_milliseconds(gateway.process.pid)
        began = time.perf_counter()
        for _ in range(TURNS):
            await _begin(lane, conversation)
        walls.append((time.perf_counter() - began) / TURNS * 1e3)
        threads.append((_all_milliseconds(gateway.process.pid) - every) / TURNS)
        unchanged.append((_loop_milliseconds(gateway.process.pid) - before) / TURNS)
        code, said = await gateway.process.run("sources", "pin", f"source-{SOURCES - 1}", "t0", ("write", "read")[number % 2])
        assert code == 0, said
        changed.append(await _spend(gateway, _begin(lane, conversation)))
        say(f"sources: round {number + 1} of {pace.rounds}: {unchanged[-1]:.1f} ms unchanged, {changed[-1]:.1f} ms changed")
    report("sources/turn/unchanged", median(unchanged), "ms of processor")
    report("sources/turn/unchanged/all-threads", median(threads), "ms of processor")
    report("sources/turn/unchanged/wall", median(walls), "ms")
    report("sources/turn/changed", median(changed), "ms of processor")
    for number, label in enumerate(LABELS):
        lane = await Lane.connect(gateway.target)
        conversation, begun = await _begin(lane)
        await _call(lane, conversation, begun, f"source_{number}__t0")
        report(f"sources/turn/first-at-{label}", await _spend(gateway, _begin(lane, conversation)), "ms of processor")


async def _call(lane: Lane, conversation: str, begun: dict[str, Any], tool: str) -> None:
    """Let a result with a label into the conversation, and taint with it."""
    params = {
        "conversationId": conversation,
        "turnId": begun["turnId"],
        "snapshotId": begun["id"],
        "snapshotDigest": begun["digest"],
        "call": {"id": f"c-{tool}", "name": tool, "arguments": {"text": "x"}},
    }
    result = await lane.request("tools/invoke", params)
    assert result["outcome"] == "ok", result
