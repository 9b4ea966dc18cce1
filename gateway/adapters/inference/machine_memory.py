"""How much memory this machine has for a model."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_PARENT: Final = re.compile(r"^PPid:\s+(\d+)$", re.MULTILINE)
_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


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


def peak_of_largest_child(root: int, processes: Path = Path("/proc")) -> int | None:
    """Bytes that the largest process below `root` had in memory at its peak, weights that are mapped from their file included.

    None where there is no such process, or the system does not say.
    """
    parents: dict[int, int] = {}
    peaks: dict[int, int] = {}
    for status in processes.glob("[0-9]*/status"):
        try:
            said = status.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        number, parent, peak = int(status.parent.name), _PARENT.search(said), _PEAK.search(said)
        if parent is not None:
            parents[number] = int(parent[1])
        if peak is not None:
            peaks[number] = int(peak[1]) * 1024
    return max((peaks[number] for number in peaks if _is_below(number, root, parents)), default=None)


def _is_below(number: int, root: int, parents: Mapping[int, int]) -> bool:
    seen = {0}
    while number not in seen:
        seen.add(number)
        number = parents.get(number, 0)
        if number == root:
            return True
    return False
