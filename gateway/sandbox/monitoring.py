"""The limits of a job: those that the kernel enforces, and those that are observed because the kernel has none."""

from __future__ import annotations

import os
import resource
import threading
import time
from dataclasses import dataclass
from functools import cache
from typing import Final

from gateway.sandbox import process_tree
from gateway.sandbox.job import JobLimits
from gateway.sandbox.process_tree import ProcessTable

ADDRESS_SPACE_FACTOR: Final = 4
"""Address space a process may reserve, as a multiple of its memory: language run times reserve much more than they use."""

SPARE_DISK: Final = 256 << 20
"""Bytes that jobs leave on the disk they write to; the gateway's records may be on the same one."""

_OWN_SHARE: Final = 16 << 20
"""A job that found the disk nearly full is stopped only when it takes some of what was left."""


SOCKET_BYTES: Final = 212_992
"""What the kernel holds at most for one socket that nobody reads, unless it was set otherwise: memory of no process, which no
limit counts. A job cannot raise it for its own."""

_SOCKET_SETTING: Final = "/proc/sys/net/core/wmem_default"


def kernel_limits(limits: JobLimits, *, processes: int) -> dict[str, int]:
    """By the names of prlimit(1), which are those of the resource module in lower case; `processes` as the kernel counts them."""
    return {
        "as": limits.memory_bytes * ADDRESS_SPACE_FACTOR,
        "data": limits.memory_bytes,
        "nproc": processes,
        "nofile": limits.open_files,
        "cpu": limits.cpu_seconds,
        "fsize": limits.file_bytes,
        "core": 0,
        "memlock": 0,
        "msgqueue": 0,
        "sigpending": limits.processes,
    }


def by_number(named: dict[str, int]) -> list[tuple[int, int]]:
    """The same by the numbers that setrlimit takes."""
    return [(getattr(resource, f"RLIMIT_{name.upper()}"), amount) for name, amount in named.items()]


class SharedTable:
    """One table of processes for all who watch a job: reading it costs as much as the whole machine has processes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._table: ProcessTable | None = None

    def at_most(self, seconds: float) -> ProcessTable:
        """A table that is no older than that. One thread reads, the others wait for it."""
        with self._lock:
            if self._table is None or time.monotonic() - self._table.read_at > seconds:
                self._table = ProcessTable()
            return self._table


_SHARED: Final = SharedTable()

_STALE_SHARE: Final = 0.5
"""Of the interval of a job, how old the table may be in which its processes are looked up."""


def _estimate_memory(pids: list[int]) -> int:
    """What they hold at most: as if nothing of it were shared, and every file a socket."""
    return process_tree.anonymous_memory(pids) + process_tree.open_files(pids) * bytes_of_a_socket()


@cache
def bytes_of_a_socket() -> int:
    """`SOCKET_BYTES`, or what this machine says."""
    try:
        with open(_SOCKET_SETTING, "rb") as file:
            return int(file.read())
    except (OSError, ValueError):
        return SOCKET_BYTES


@dataclass(slots=True)
class ResourceMonitor:
    """Measures at intervals what a job takes as a whole. `folder` is a descriptor of the folder it writes to."""

    limits: JobLimits
    folder: int
    _free: int = 0
    _next: float = 0.0

    def __post_init__(self) -> None:
        self._free = self._free_disk()
        self._next = time.monotonic() + self.limits.interval_seconds

    def exceeds_limits(self, root: int) -> bool:
        """Whether the descendants of `root` go beyond what one job may have; measures at intervals."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self.limits.interval_seconds
        return self._fills_disk() or self._fills_memory(root)

    def _fills_disk(self) -> bool:
        free = self._free_disk()
        return free < SPARE_DISK and self._free - free > _OWN_SHARE

    @property
    def seconds_to_next(self) -> float:
        """Until it has to be asked again."""
        return max(0.0, self._next - time.monotonic())

    def _fills_memory(self, root: int) -> bool:
        most = self.limits.memory_bytes
        table = _SHARED.at_most(self.limits.interval_seconds * _STALE_SHARE)
        if _estimate_memory(table.descendants(root)) <= most:
            return False
        # A number in that table may be another's process by now, and no job is ended for another's memory.
        pids = process_tree.descendants(root)
        # The exact figure walks every page, so it is asked for only where the rough one, which is never lower, is too high.
        if _estimate_memory(pids) <= most:
            return False
        return (process_tree.proportional_memory(pids) or most + 1) + process_tree.sockets(pids) * bytes_of_a_socket() > most

    def _free_disk(self) -> int:
        disk = os.fstatvfs(self.folder)
        return disk.f_bavail * disk.f_frsize
