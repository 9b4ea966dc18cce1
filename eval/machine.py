"""Where a figure was measured. No name of the machine: nobody needs it."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import psutil


def describe() -> str:
    """`2 × AMD EPYC, 23 GiB, Linux x86_64`."""
    memory = psutil.virtual_memory().total / 2**30
    return f"{os.cpu_count()} × {_processor()}, {memory:.0f} GiB, {platform.system()} {platform.machine()}"


def memory_of_servers() -> int:
    """Bytes in use by this process's children, the model server among them."""
    total = 0
    for child in psutil.Process().children(recursive=True):
        try:
            total += child.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or "unknown processor"
