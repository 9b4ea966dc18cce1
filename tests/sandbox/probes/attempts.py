"""How an attempt is declared, and system calls by number."""

from __future__ import annotations

import ctypes
import errno
import platform
from collections.abc import Callable, Mapping
from typing import Any

Targets = Mapping[str, Any]
Attempt = Callable[[Targets], object]

ATTEMPTS: dict[str, Attempt] = {}

LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"


def attempt(probe: Attempt) -> Attempt:
    ATTEMPTS[probe.__name__] = probe
    return probe


def call(number: int, *values: Any) -> int:
    longs = [ctypes.c_long(value) if isinstance(value, int) else value for value in values]
    result = LIBC.syscall(ctypes.c_long(number), *longs)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def number_of(x86_64: int, aarch64: int) -> int:
    return aarch64 if ARM else x86_64


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        found = file.read()
    if not found:
        raise OSError(errno.ENODATA, "nothing there")
    return found
