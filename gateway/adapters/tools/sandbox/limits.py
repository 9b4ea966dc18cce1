"""Limits, as the kernel is told of them and as the gateway looks after those that the kernel has no limit for."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from typing import Final

from gateway.adapters.tools.sandbox import tree
from gateway.adapters.tools.sandbox.cage import Limits

ADDRESSES_FOR_MEMORY: Final = 4
"""Address space a process may reserve, in times of its memory: run times reserve much more than they use."""

WATCH_SECONDS: Final = 0.1

SPARE_DISK: Final = 256 << 20
"""Bytes that jobs leave on the disk they write to; the gateway's records may be on the same one."""

_NOTICEABLE: Final = 16 << 20
"""A job that found the disk nearly full is stopped only when it takes some of what was left."""


def kernel_limits(limits: Limits, *, processes: int) -> dict[str, int]:
    """By the names of prlimit(1), which are those of the resource module in lower case; `processes` as the kernel counts them."""
    return {
        "as": limits.memory_bytes * ADDRESSES_FOR_MEMORY,
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


@dataclass(slots=True)
class Watch:
    """Looks now and then at what a job takes as a whole. `folder` is a descriptor of the folder it writes to."""

    limits: Limits
    folder: int
    _free: int = 0
    _next: float = 0.0

    def __post_init__(self) -> None:
        self._free = self._free_disk()
        self._next = time.monotonic() + WATCH_SECONDS

    def sees_too_much(self, root: int) -> bool:
        """Whether the descendants of `root` go beyond what one job may have; looks at most ten times a second."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + WATCH_SECONDS
        return self._fills_disk() or self._fills_memory(root)

    def _fills_disk(self) -> bool:
        free = self._free_disk()
        return free < SPARE_DISK and self._free - free > _NOTICEABLE

    def _fills_memory(self, root: int) -> bool:
        pids = tree.descendants(root)
        # The exact figure walks every page, so it is asked for only where the rough one, which is never lower, is too high.
        most = self.limits.memory_bytes
        return tree.anonymous_memory(pids) > most and (tree.proportional_memory(pids) or most + 1) > most

    def _free_disk(self) -> int:
        disk = os.fstatvfs(self.folder)
        return disk.f_bavail * disk.f_frsize
