"""The processes that a test or a gateway has started."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psutil


def running_below(pid: int | None, words: str) -> list[psutil.Process]:
    """Those below a process, this one unless another is named, whose command line holds `words`. Another test's that has ended
    and that nobody has waited for yet runs no more; reading its command line fails."""
    return list(_running_below(psutil.Process(pid), words))


def _running_below(parent: psutil.Process, words: str) -> Iterator[psutil.Process]:
    for child in parent.children(recursive=True):
        # One may be inside the sandbox that another one keeps, and gone with it.
        with contextlib.suppress(psutil.NoSuchProcess):
            if words in " ".join(child.cmdline()):
                yield child
