"""`python -m bench [subject …] [--rounds N] [--seconds S]`."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path

from bench import (
    calls,
    dashboard,
    history,
    idle,
    ledger,
    long_log,
    mcp_calls,
    openapi,
    policy,
    proxies,
    shell,
    sources,
    spawn,
    sse,
    start,
    verify,
)
from bench.figures import Pace, say

SUBJECTS: dict[str, Callable[[Pace], Coroutine[None, None, None]]] = {
    "calls": calls.measure,
    "idle": idle.measure,
    "sse": sse.measure,
    "start": start.measure,
    "spawn": spawn.measure,
    "ledger": ledger.measure,
    "verify": verify.measure,
    "openapi": openapi.measure,
    "mcp": mcp_calls.measure,
    "sources": sources.measure,
    "proxies": proxies.measure,
    "shell": shell.measure,
    "history": history.measure,
    "dashboard": dashboard.measure,
    "long": long_log.measure,
    "policy": policy.measure,
}


def main() -> None:
    """Measure what was asked for, one after another: two at once would measure each other."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the gateway against the limit.")
    parser.add_argument("subjects", nargs="*", metavar="subject", help=f"any of {', '.join(SUBJECTS)}; all when none is named")
    parser.add_argument("--rounds", type=int, default=5, help="rounds over all contenders (default 5)")
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds per cell (default 2)")
    parser.add_argument("--calls", type=int, default=300_000, help="calls of a made log (default 300,000)")
    parser.add_argument("--folder", type=Path, help="where a made log is kept for another time (default: it is thrown away)")
    asked = parser.parse_args()
    unknown = sorted(set(asked.subjects) - SUBJECTS.keys())
    if unknown:
        parser.error(f"there is no subject `{unknown[0]}`; there are {', '.join(SUBJECTS)}")
    for name in asked.subjects or SUBJECTS:
        say(f"{name} …")
        asyncio.run(SUBJECTS[name](Pace(asked.rounds, asked.seconds, asked.calls, asked.folder)))


if __name__ == "__main__":
    main()
