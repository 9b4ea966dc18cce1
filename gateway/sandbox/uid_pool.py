"""The user that a job runs as: this process's own, or one of a pool of users that own nothing when this process is root.

Each running job has a user of its own then, so that jobs cannot reach each other and the kernel's limit on processes counts
one job alone. The users share a group, and that group gets write access to the job's folder.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import stat
import threading
from collections import deque
from collections.abc import Generator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from gateway.sandbox import process_tree
from gateway.sandbox.job import SandboxError
from gateway.sandbox.opening import open_by_steps

UIDS: Final = range(60601, 60665)
"""Below 65536, so that they exist in containers too; neither distributions nor systemd give these to anybody."""

GROUP: Final = 60600

DEEPEST: Final = 64
"""Folders in folders below a job's own that are lent to the group."""

MOST_SHARED: Final = 100_000
"""Files and folders that are lent to the group before one job begins, in a second or two. Nobody can cancel that, and a program
may have left a million of them; what jobs make is the group's already. The next job goes on with what is left."""

MOST_LOOKED_AT: Final = 1_000_000
"""Files and folders that are looked at for that, and steps taken to them, in some seconds more."""

PIECE: Final = 1_000
"""Entries of a folder that are looked at before another folder has its turn."""

_LISTED: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK

PRIVATE_UMASK: Final = 0o022
SHARED_UMASK: Final = 0o002


class JobUser(NamedTuple):
    """The numbers of a user and its group."""

    uid: int
    gid: int


class UidPool:
    """Assigns users to jobs. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_use: set[int] = set()
        self._told: set[Path] = set()

    def is_news(self, path: Path) -> bool:
        """Whether this is the first time that something is to be said about that folder."""
        with self._lock:
            before = len(self._told)
            self._told.add(path)
            return len(self._told) > before

    @contextlib.contextmanager
    def acquire(self) -> Generator[JobUser | None]:
        """A user for one job; None where the job keeps this process's own. Raises SandboxError when all are in use."""
        if os.geteuid() != 0:
            yield None
            return
        with self._lock:
            uid = next((each for each in UIDS if each not in self._in_use and _is_unused(each)), None)
            if uid is None:
                raise SandboxError("too many programs run at once; try again later")
            self._in_use.add(uid)
        try:
            yield JobUser(uid, GROUP)
        finally:
            with self._lock:
                self._in_use.discard(uid)


def is_closed_to_jobs(path: Path) -> bool:
    """Whether a folder or file that a job is to read, and not to change, lets in nobody that a job could be.

    A folder that it may change is shared with its group; what it only reads stays as it is.
    """
    if os.geteuid() != 0:
        return False
    found = path.stat()
    needed = 0o5 if stat.S_ISDIR(found.st_mode) else 0o4
    granted = found.st_mode | (found.st_mode >> 3 if found.st_gid == GROUP else 0)
    return granted & needed != needed


def _is_unused(uid: int) -> bool:
    """Whether it is nobody's account and runs no process, such as another gateway's."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return process_tree.threads_of(uid) == 0
    return False


def share_with_group(folder: int, group: int) -> bool:
    """Let `group` change everything in the open `folder`, and what comes new in it; a descriptor of the path will do.

    Gives whether that is all of it.

    Goes by descriptors and follows no link, so that nothing outside is changed even if another process moves files meanwhile.
    Files with a second name are left as they are: the other name may be somewhere else. So is what lies deeper than anybody
    puts it, for each level takes a step to open, and what comes after more than the limits above.
    """
    return _Sharing(folder, group).run()


class _Listing(NamedTuple):
    """A folder to list, by the names that lead to it, and how many of its entries were looked at already."""

    above: tuple[str, ...]
    name: str
    passed: int = 0


class _Sharing:
    """The folders that are still to be listed, breadth before depth and a piece of each at a time: however much a program left
    in one of them, or in the first, the others have their turn."""

    def __init__(self, folder: int, group: int) -> None:
        self._folder = folder
        self._group = group
        self._waiting = deque[_Listing]()
        self._looked_at = 0
        self._changed = 0
        self._is_whole = True

    def run(self) -> bool:
        """Share them until all are, or enough. Gives whether all are."""
        here = open_by_steps(self._folder, (), _LISTED)
        self._list(here, (), 0)
        while self._waiting and not self._is_enough():
            above, name, passed = self._waiting.popleft()
            parts = (*above, name)
            self._looked_at += len(parts)
            try:
                here = open_by_steps(self._folder, parts, _LISTED)
            except OSError:
                # It is gone, or not a folder any more.
                continue
            self._list(here, parts, passed)
        return self._is_whole and not self._waiting

    def _is_enough(self) -> bool:
        return max(self._changed, len(self._waiting)) >= MOST_SHARED or self._looked_at >= MOST_LOOKED_AT

    def _list(self, here: int, parts: tuple[str, ...], passed: int) -> None:
        """The next piece of an open folder, which is closed then; it grows with what is passed over, to do that seldom."""
        try:
            if passed == 0:
                self._changed += _add_group_access(here, self._group, 0o2770)
            end = passed + max(passed // 2, PIECE)
            with os.scandir(here) as entries:
                for entry in islice(entries, passed, end):
                    if self._is_enough():
                        self._is_whole = False
                        return
                    self._looked_at += 1
                    self._take(entry, here, parts)
                is_left = next(entries, None) is not None
        finally:
            os.close(here)
        if is_left:
            self._put_off(parts, end)

    def _put_off(self, parts: tuple[str, ...], passed: int) -> None:
        *above, name = parts or (".",)
        self._waiting.append(_Listing((*above,), name, passed))

    def _take(self, entry: os.DirEntry[str], here: int, parts: tuple[str, ...]) -> None:
        if entry.is_dir(follow_symlinks=False):
            if len(parts) < DEEPEST:
                self._waiting.append(_Listing(parts, entry.name))
            else:
                self._is_whole = False
        elif not _is_shared(entry, self._group):
            # Neither a link nor a pipe without a writer may hold this up.
            with contextlib.suppress(OSError):
                file = os.open(entry.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=here)
                try:
                    self._changed += _add_group_access(file, self._group, 0o660)
                finally:
                    os.close(file)


def _is_shared(entry: os.DirEntry[str], group: int) -> bool:
    """Whether there is nothing to do for a file; to look is much cheaper than to open it."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return True
    return not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or (found.st_gid == group and found.st_mode & 0o6660 == 0o660)


def _add_group_access(descriptor: int, group: int, mode: int) -> bool:
    """Whether there was anything to change."""
    found = os.fstat(descriptor)
    is_file = stat.S_ISREG(found.st_mode)
    if (is_file and found.st_nlink > 1) or not (is_file or stat.S_ISDIR(found.st_mode)):
        return False
    current = stat.S_IMODE(found.st_mode)
    # What anybody in the group can change must not run as its owner.
    wanted = (current & 0o1777 if is_file else current) | mode
    if found.st_gid != group:
        os.fchown(descriptor, -1, group)
    if wanted != current:
        os.fchmod(descriptor, wanted)
    return found.st_gid != group or wanted != current
