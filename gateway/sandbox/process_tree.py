"""A process and all its descendants, found in /proc, also those that called setsid or forked twice.

Only descendants are looked for, so the search is complete only where orphans stay in the tree (under the first process of a
pid namespace, or a subreaper).
Used on both sides of the start of a job, so it imports the standard library alone and nothing of this package.
"""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class ProcessTable:
    """All processes of the machine as they were at `read_at`, and whose children they are."""

    __slots__ = ("_children", "read_at")

    def __init__(self) -> None:
        self.read_at = time.monotonic()
        """Before the first of them was looked at."""
        self._children: dict[int, list[int]] = {}
        for pid, parent, _ in _processes():
            self._children.setdefault(parent, []).append(pid)

    def descendants(self, root: int, *, skip: int = 0) -> list[int]:
        """All descendants of `root` that had not been waited for, parents before children; without `root` itself and without
        the first `skip` generations after it."""
        found: list[int] = []
        generation = [root]
        while generation := [child for pid in generation for child in self._children.get(pid, ())]:
            found += generation if skip <= 0 else []
            skip -= 1
        return found


def descendants(root: int, *, skip: int = 0) -> list[int]:
    """The same as they are now."""
    return ProcessTable().descendants(root, skip=skip)


def send(root: int, number: int, *, skip: int = 0) -> int:
    """Signal every descendant of `root` after those generations; returns how many there were."""
    found = descendants(root, skip=skip)
    for pid in found:
        # It may have ended meanwhile. A number is not used again before its parent has waited for it, and the parents
        # here are the tree's own.
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue
    return len(found)


def freeze_and_kill(root: int) -> int:
    """One pass at ending all descendants; returns how many there were. What forks fast needs several, each finds fewer."""
    send(root, signal.SIGSTOP)
    return send(root, signal.SIGKILL)


def anonymous_memory(pids: list[int]) -> int:
    """Bytes that these processes hold beside files; memory that they share counts once for each."""
    return sum(_read_kilobytes(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:")) for pid in pids) * 1024


def proportional_memory(pids: list[int]) -> int:
    """The same with shared memory split between those who share it: exact, and much more expensive to measure."""
    return sum(_read_kilobytes(f"/proc/{pid}/smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:")) for pid in pids) * 1024


def open_files(pids: list[int]) -> int:
    """How many descriptors these processes have open; one that they share counts once for each."""
    return sum(_count_descriptors(f"/proc/{pid}/fd") for pid in pids)


def sockets(pids: list[int]) -> int:
    """How many sockets they have open, each counted once."""
    return len({name for pid in pids for name in _read_links(f"/proc/{pid}/fd") if name.startswith("socket:")})


def threads_of(uid: int) -> int:
    """How many threads run as `uid`, which is what the kernel's limit on processes counts."""
    count = 0
    for pid, _, threads in _processes():
        try:
            if os.stat(f"/proc/{pid}").st_uid == uid:
                count += threads
        except OSError:
            continue
    return count


def _processes() -> Iterator[tuple[int, int, int]]:
    """Of every process its number, its parent's and how many threads it has."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            # After the name, which is in parentheses and may hold anything: state, parent, …, threads at number 20.
            fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
        except OSError:
            continue
        yield int(name), int(fields[1]), int(fields[17])


def _count_descriptors(folder: str) -> int:
    try:
        # Since Linux 6.2 the size of the folder, and before that none.
        return os.stat(folder).st_size or len(os.listdir(folder))
    except OSError:
        return 0


def _read_links(folder: str) -> Iterator[str]:
    try:
        numbers = os.listdir(folder)
    except OSError:
        return
    for number in numbers:
        try:
            yield os.readlink(f"{folder}/{number}")
        except OSError:
            continue


def _read_kilobytes(path: str, wanted: tuple[bytes, ...]) -> int:
    try:
        lines = _read(path).splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(wanted))


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()
