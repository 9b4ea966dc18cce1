"""What else the machine is doing: rates measured beside other work are worth little, ratios and CPU per call still something."""

from __future__ import annotations

import os
import time

import psutil


class Load:
    """From its making on."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._busy = _busy_seconds()
        self._own = {process.pid: _used(process) for process in _family()}

    def others(self) -> float:
        """Cores that were used by processes that are not ours."""
        elapsed = time.perf_counter() - self._began
        own = sum(_used(process) - self._own.get(process.pid, 0.0) for process in _family())
        return max(0.0, (_busy_seconds() - self._busy - own) / elapsed)


def _family() -> list[psutil.Process]:
    me = psutil.Process(os.getpid())
    return [me, *me.children(recursive=True)]


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)
