"""From starting the process to the first answered tool call."""

from __future__ import annotations

import time
from pathlib import Path

from bench.figures import Pace, report_pairs, say
from bench.lanes import Lane, Run
from bench.servers import Gateway, start_gateway, start_limit, work_folder


async def measure(pace: Pace) -> None:
    """A gateway that has been set up before, with its person signed in; beside it the limit, which has nothing to load."""
    pairs: list[tuple[float, float]] = []
    with work_folder() as home:
        async with start_gateway(home) as gateway:
            pass
        for number in range(pace.rounds):
            with work_folder() as limit:
                pairs.append((await _start_ours(gateway), await _start_limit(limit)))
            say(f"start: round {number + 1} of {pace.rounds}")
    report_pairs("start/first-call", "s", pairs)


async def _start_ours(gateway: Gateway) -> float:
    began = time.perf_counter()
    try:
        await gateway.process.start()
        await _call_once(await Lane.connect(gateway.target))
        return time.perf_counter() - began
    finally:
        await gateway.process.stop()


async def _start_limit(home: Path) -> float:
    began = time.perf_counter()
    async with start_limit(home) as (_, target):
        await _call_once(await Lane.connect(target))
        return time.perf_counter() - began


async def _call_once(lane: Lane) -> None:
    run = Run(until=time.perf_counter())
    await lane.drive(run, "echo", "first")
    assert run.wrong is None, run.wrong
