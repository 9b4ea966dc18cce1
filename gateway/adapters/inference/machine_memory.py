"""How much memory this machine has for a model."""

from __future__ import annotations

import os
import re
from pathlib import Path


def available_memory() -> int | None:
    """Bytes that can be had without swapping: the kernel's own estimate, elsewhere all memory there is; None if unknown."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB$", Path("/proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
        return None if found is None else int(found[1]) * 1024
    except OSError:
        pass
    return total_memory()


def total_memory(limit: Path = Path("/sys/fs/cgroup/memory.max")) -> int | None:
    """Bytes of memory of this machine, or of this container if that is less; None if unknown."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None
    try:
        return min(installed, int(limit.read_text(encoding="ascii")))
    except (OSError, ValueError):
        # No container, or one that may have it all.
        return installed
