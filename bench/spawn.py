"""Running a program in each sandbox from a small and from a large process, as tools are run: in a thread, off the event loop.

uvloop starts programs by fork, which copies the page tables of the whole gateway; Python's `subprocess` does not. The last
figure is uvloop's own way with a bare bubblewrap, to show what is avoided.

Run as a module, `python -m bench.spawn MEGABYTES`, this is the parent: one way a line on stdin, milliseconds on stdout.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path

import uvloop

from bench.figures import Pace, median, report, report_pairs, say
from gateway.sandbox.choice import choose_sandbox
from gateway.sandbox.job import Job, Mechanism, Sandbox, SandboxPreference, SandboxUnavailable

SMALL, LARGE = 30, 300
FOLDER = "countersign-bench-spawn"

SPAWNS = 20
"""Per cell."""

PROGRAM = (
    *("bwrap", "--unshare-all", "--die-with-parent"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "/bin/true"),
)


async def measure(pace: Pace) -> None:
    """Rounds over both sizes and both ways."""
    if shutil.which("bwrap") is None:
        say("spawn: bubblewrap is not installed here")
        return
    pipe = asyncio.subprocess.PIPE
    parents = {
        size: await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.spawn", str(size), stdin=pipe, stdout=pipe)
        for size in (SMALL, LARGE)
    }
    times: dict[tuple[int, str], list[float]] = {}
    try:
        for number in range(pace.rounds):
            for way in (*Mechanism, "uvloop"):
                for size, parent in parents.items():
                    times.setdefault((size, way), []).append(await _ask(parent, way))
            say(f"spawn: round {number + 1} of {pace.rounds}")
    finally:
        for parent in parents.values():
            parent.kill()
            await parent.wait()
    for way in (*Mechanism, "uvloop"):
        report(f"spawn/{way}/small", median(times[SMALL, way]), "ms")
        report_pairs(f"spawn/{way}/large", "ms", list(zip(times[LARGE, way], times[SMALL, way], strict=True)))


async def _ask(parent: asyncio.subprocess.Process, way: str) -> float:
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(way.encode() + b"\n")
    return float(await parent.stdout.readline())


# ── the parent ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _spawn(way: str) -> None:
    if way == "uvloop":
        process = await asyncio.create_subprocess_exec(*PROGRAM)
        code = await process.wait()
    else:
        code = await asyncio.to_thread(_run_sandboxed, way)
    if code != 0:
        raise RuntimeError(f"{way}: `true` ended with {code}")


def _run_sandboxed(way: str) -> int | None:
    job = Job(("true",), {"PATH": "/usr/bin:/bin"}, Path(tempfile.gettempdir()).resolve() / FOLDER)
    job.folder.mkdir(exist_ok=True)
    return _sandbox(way).run(job, threading.Event()).exit_code


@cache
def _sandbox(way: str) -> Sandbox:
    sandbox = choose_sandbox(SandboxPreference(way))
    assert not isinstance(sandbox, SandboxUnavailable), sandbox.reason
    return sandbox


async def _obey(megabytes: int) -> None:
    # Written to, so that the pages are there. An interpreter with these imports weighs some 30 MB itself.
    ballast = bytearray(b"\1" * (max(0, megabytes - SMALL) * 1_000_000))
    while way := await asyncio.to_thread(sys.stdin.readline):
        took: list[float] = []
        for _ in range(SPAWNS):
            began = time.perf_counter()
            await _spawn(way.strip())
            took.append((time.perf_counter() - began) * 1e3)
        print(median(took), flush=True)
    del ballast


if __name__ == "__main__":
    uvloop.run(_obey(int(sys.argv[1])))
