"""The machine's own figures, from the standard library and `/proc`; None where a system does not report them."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True, slots=True)
class MachineStatus:
    """Sizes in bytes, uptime in seconds, load as processes that want to run, averaged over one minute."""

    processors: int
    load: float
    memory_total: int | None
    memory_available: int | None
    disk_total: int
    disk_free: int
    uptime: int | None


def read_status(folder: int) -> MachineStatus:
    """The figures now, the disk's for the file system that holds the open `folder`."""
    disk = shutil.disk_usage(folder)
    total, available = _read_memory()
    return MachineStatus(
        processors=os.cpu_count() or 1,
        load=round(os.getloadavg()[0], 2),
        memory_total=total,
        memory_available=available,
        disk_total=disk.total,
        disk_free=disk.free,
        uptime=_read_uptime(),
    )


def _read_memory() -> tuple[int | None, int | None]:
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text(encoding="ascii").splitlines())
        total, available = (int(lines[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
        return total, available
    except (OSError, KeyError, ValueError):
        # macOS: the total is known to sysconf, what is available is not.
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), None
        except (AttributeError, OSError, ValueError):
            return None, None


def _read_uptime() -> int | None:
    # Linux' clock counts suspended time too; macOS calls the one that does CLOCK_MONOTONIC_RAW.
    for clock in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC_RAW"):
        if hasattr(time, clock):
            return int(time.clock_gettime(getattr(time, clock)))
    return None
