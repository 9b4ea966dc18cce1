"""Whether this machine, or the container around this process, is short of memory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from gateway.adapters.inference.machine_memory import available_memory, total_memory

STALLED_PERCENT: Final = 10.0
"""Of the last ten seconds in which some process waited for memory: the kernel's own measure of being short of it (PSI)."""

LEAST_BYTES: Final = 256 << 20
LEAST_SHARE: Final = 0.05
"""What should be left, whichever is more: less, and the kernel begins to end processes."""

_PSI: Final = (Path("/proc/pressure/memory"), Path("/sys/fs/cgroup/memory.pressure"))
_GROUP: Final = Path("/sys/fs/cgroup")
_STALLED: Final = re.compile(r"^some avg10=([0-9.]+)", re.MULTILINE)
_CACHE: Final = re.compile(r"^(?:in)?active_file ([0-9]+)$", re.MULTILINE)


def describe_pressure(psi: tuple[Path, ...] = _PSI, group: Path = _GROUP) -> str | None:
    """In words what is short; None while all is well, or where the machine does not say."""
    for path in psi:
        found = _STALLED.search(_read(path))
        if found is not None and float(found[1]) >= STALLED_PERCENT:
            return f"processes wait for memory {float(found[1]):.0f} % of the time"
    total, left = total_memory(group / "memory.max"), left_memory(group)
    if total is None or left is None:
        return None
    least = max(LEAST_BYTES, int(total * LEAST_SHARE))
    return f"{left >> 20} MiB of memory are left, and {least >> 20} should be" if left < least else None


def left_memory(group: Path = _GROUP) -> int | None:
    """Bytes that can still be had, by the machine and by the control group; what only caches files counts as free."""
    here = available_memory()
    limit, used = _read(group / "memory.max").strip(), _read(group / "memory.current").strip()
    if not (limit.isdigit() and used.isdigit()):
        return here
    cached = sum(int(each) for each in _CACHE.findall(_read(group / "memory.stat")))
    grouped = max(0, int(limit) - int(used) + cached)
    return grouped if here is None else min(here, grouped)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
