"""Tool calls over the real WebSocket, the full chain on, beside the limit in the same rounds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from bench.callers import Callers, Cell, start_callers
from bench.figures import Pace, report, report_pairs, say
from bench.load import Load
from bench.servers import start_gateway, start_limit, work_folder

CALLERS = (1, 10, 50)
FIGURES: dict[str, tuple[str, Callable[[Cell], float]]] = {
    "rate": ("calls/s", lambda cell: cell.rate),
    "p50": ("ms", lambda cell: cell.p50),
    "p99": ("ms", lambda cell: cell.p99),
    "cpu": ("ms/call", lambda cell: cell.cpu),
}

Cells = dict[tuple[str, str], list[Cell]]


async def measure(pace: Pace) -> None:
    """Ours, the limit, that without its decision, which ours may remember, and that with a record; then what tools add."""
    with ExitStack() as folders:
        ours, forgetful, limit, undecided, recorded = (folders.enter_context(work_folder()) for _ in range(5))
        async with (
            start_gateway(ours) as gateway,
            start_gateway(forgetful, module="bench.forgetful_gateway") as other,
            start_limit(limit) as (limit_pid, limit_target),
            start_limit(undecided, "--undecided") as (undecided_pid, undecided_target),
            start_limit(recorded, "--recorded") as (recorded_pid, recorded_target),
            start_callers() as callers,
        ):
            most = max(CALLERS)
            await callers.open("ours", gateway.process.pid, gateway.target, most)
            await callers.open("forgetful", other.process.pid, other.target, most)
            await callers.open("limit", limit_pid, limit_target, most)
            await callers.open("undecided", undecided_pid, undecided_target, most)
            await callers.open("recorded", recorded_pid, recorded_target, most)
            cells: Cells = {}
            for number in range(pace.rounds):
                load = Load()
                await _go_round(callers, pace, cells)
                say(f"calls: round {number + 1} of {pace.rounds}; other work used {load.others():.2f} cores")
            _report(cells)


async def _go_round(callers: Callers, pace: Pace, cells: Cells) -> None:
    async def cell(key: tuple[str, str], name: str, count: int, tool: str = "echo", beside: str | None = None) -> None:
        cells.setdefault(key, []).append(await callers.drive(name, count, pace.seconds, tool, beside=beside))

    for count in CALLERS:
        for name in ("ours", "limit", "undecided", "recorded"):
            await cell((name, str(count)), name, count)
    await cell(("forgetful", "50"), "forgetful", 50)
    await cell(("ours", "page"), "ours", 1, "page")
    await cell(("ours", "thread"), "ours", 10, "echo_in_thread")
    await cell(("ours", "beside"), "ours", 10, beside="nap")
    await cell(("ours", "alone"), "ours", 10)


def _report(cells: Cells) -> None:
    def pairs(one: tuple[str, str], other: tuple[str, str], figure: Callable[[Cell], float]) -> list[tuple[float, float]]:
        return [(figure(mine), figure(least)) for mine, least in zip(cells[one], cells[other], strict=True)]

    for count in map(str, CALLERS):
        for name, (unit, figure) in FIGURES.items():
            report_pairs(f"calls/{name}/{count}", unit, pairs(("ours", count), ("limit", count), figure))
        for name in ("rate", "cpu"):
            unit, figure = FIGURES[name]
            report_pairs(f"calls/{name}/{count}/no-decision", unit, pairs(("ours", count), ("undecided", count), figure))
            report_pairs(f"calls/{name}/{count}/record-alone", unit, pairs(("recorded", count), ("undecided", count), figure))
    for name in ("ours", "limit"):
        spread = sorted(cell.p99 / cell.p50 for cell in cells[name, "50"])
        report(f"calls/spread/50/{name}", spread[len(spread) // 2], "p99/p50")
    report_pairs("calls/rate/50/not-durable", "calls/s", pairs(("ours", "50"), ("forgetful", "50"), lambda cell: cell.rate))
    report_pairs("calls/page/p50/1", "ms", pairs(("ours", "page"), ("ours", "1"), lambda cell: cell.p50))
    report_pairs("calls/thread/cpu/10", "ms/call", pairs(("ours", "thread"), ("ours", "alone"), lambda cell: cell.cpu))
    report_pairs("calls/beside-slow/rate/10", "calls/s", pairs(("ours", "beside"), ("ours", "alone"), lambda cell: cell.rate))
    busiest = max(cell.busy for every in cells.values() for cell in every)
    say(f"calls: the callers' own process used at most {busiest:.2f} of a core")
