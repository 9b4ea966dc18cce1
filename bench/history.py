"""The history of calls over a made log: telling it, filters, counts and pages; and what following it costs whoever calls.

`--calls` says how many calls the log has, and `--folder` where it is kept; 10,000,000 of them take some 30 GB and an hour.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from bench.figures import Pace, report, report_load, report_pairs, report_times, say
from bench.ledger import Ours
from bench.made_logs import BEGIN, END, identify_person, made_state
from bench.servers import work_folder
from gateway.adapters.storage.history.places import HISTORY
from gateway.adapters.storage.history.stored import StoredHistory, open_call_history
from gateway.adapters.storage.sqlite import DATABASE, dispose, open_for_reading, open_history
from gateway.runtime.ports import HistoryFilter

DAY_MS = 86_400_000
CALLERS = 50

FILTERS = {
    "day": HistoryFilter(END - DAY_MS, END),
    "month": HistoryFilter(BEGIN, END),
    "day/person": HistoryFilter(END - DAY_MS, END, principal_id=identify_person(3)),
    "month/person+outcome": HistoryFilter(BEGIN, END, principal_id=identify_person(1), outcome="timedOut"),
    "month/tool": HistoryFilter(BEGIN, END, tool="tool_07"),
    "month/rule": HistoryFilter(BEGIN, END, rule="workspace.write"),
    "month/rare": HistoryFilter(BEGIN, END, principal_id=identify_person(39), outcome="cancelled"),
    "month/none": HistoryFilter(BEGIN, END, tool="no_such_tool"),
    "month/text": HistoryFilter(BEGIN, END, text="tool_1"),
    "month/call": HistoryFilter(BEGIN, END, text="call_0000000"),
    "hour": HistoryFilter(END - 3_600_000, END),
}


async def measure(pace: Pace) -> None:
    """Make a log, tell it, ask of it; then call with and without a follower."""
    async with made_state(pace) as state:
        await _ask(state, pace)
    await _append(pace)


async def _ask(state: Path, pace: Pace) -> None:
    with dispose(open_for_reading(state / DATABASE)) as log, dispose(open_history(state / HISTORY)) as engine:
        history = StoredHistory(engine, log)
        # Whichever is asked first opens both databases and has its statements made, which a gateway has done before anybody asks.
        (first,) = await _time(lambda: history.page(FILTERS["hour"], None, 100), 1)
        report("history/first", first * 1000, "ms")
        for name, wanted in FILTERS.items():

            async def ask_page(wanted: HistoryFilter = wanted) -> object:
                return await history.page(wanted, None, 100)

            async def ask_count(wanted: HistoryFilter = wanted) -> object:
                return await history.count(wanted)

            for what, ask in (("page", ask_page), ("count", ask_count)):
                report_times(f"history/{what}/{name}", await _time(ask, max(pace.rounds * 4, 20)))
        report_load()
        history.close()


async def _time(ask: Callable[[], Awaitable[object]], times: int) -> list[float]:
    measured: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        await ask()
        measured.append(time.perf_counter() - began)
    return measured


async def _append(pace: Pace) -> None:
    """Calls that become durable in a second, beside as many without a history: with one that waits for a quiet moment, as the
    gateway's does, and with one that never waits, which is what a quiet moment has to make up for."""
    waiting: list[tuple[float, float]] = []
    always: list[tuple[float, float]] = []
    for number in range(pace.rounds):
        without = await _call(pace, None)
        waiting.append((await _call(pace, Ours.quiet_seconds), without))
        always.append((await _call(pace, lambda _ledger: math.inf), without))
        say(f"history: append, round {number + 1} of {pace.rounds}")
    report_pairs("history/append", "calls/s", waiting)
    report_pairs("history/append/never-waiting", "calls/s", always)


async def _call(pace: Pace, quiet_seconds: Callable[[Ours], float] | None) -> float:
    """`quiet_seconds` is what a history goes by; without it there is none."""
    async with AsyncExitStack() as held:
        folder = held.enter_context(work_folder())
        ledger = Ours(folder)
        held.push_async_callback(ledger.close)
        await ledger.prepare()
        if quiet_seconds is not None:
            reading = held.enter_context(dispose(open_for_reading(folder / DATABASE)))
            await held.enter_async_context(open_call_history(folder, reading, partial(quiet_seconds, ledger)))
        numbers, began = itertools.count(), time.perf_counter()
        done = 0

        async def call() -> None:
            nonlocal done
            while time.perf_counter() - began < pace.seconds:
                await ledger.call(next(numbers))
                done += 1

        await asyncio.gather(*(call() for _ in range(CALLERS)))
        return done / (time.perf_counter() - began)
