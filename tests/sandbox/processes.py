"""Finding the processes of a job by a mark on their command line."""

from __future__ import annotations

import os
import time
from pathlib import Path

WAIT_SECONDS = 20.0


def alive(mark: str) -> list[int]:
    """Processes anywhere on the machine that have `mark` as a whole argument of their command line."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark.encode() in Path("/proc", name, "cmdline").read_bytes().split(b"\0"):
                found.append(int(name))
        except OSError:
            continue
    return found


def wait_until_gone(mark: str) -> list[int]:
    deadline = time.monotonic() + WAIT_SECONDS
    while (left := alive(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def wait_for(mark: str, count: int) -> list[int]:
    deadline = time.monotonic() + WAIT_SECONDS
    while len(found := alive(mark)) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def seconds(number: int) -> str:
    """A time to sleep for that no other test sleeps for: a mark on the command line."""
    return f"{1000 + number}.{os.getpid()}"
