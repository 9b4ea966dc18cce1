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
from collections.abc import Generator
from pathlib import Path
from typing import Final, NamedTuple

from gateway.sandbox import process_tree
from gateway.sandbox.job import SandboxError

UIDS: Final = range(60601, 60665)
"""Below 65536, so that they exist in containers too; neither distributions nor systemd give these to anybody."""

GROUP: Final = 60600

DEEPEST: Final = 64
"""Folders in folders below a job's own that are lent to the group."""

MOST_SHARED: Final = 100_000
"""Files below a job's own folder that are looked at before it begins, in a second or two. Nobody can cancel that, and a program
may have left a million of them; what jobs make is the group's already."""

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


def share_with_group(folder: int, group: int) -> None:
    """Let `group` change everything in the open `folder`, and what comes new in it; a descriptor of the path will do.

    Walks by descriptors and follows no link, so that nothing outside is changed even if another process moves files meanwhile.
    Files with a second name are left as they are: the other name may be somewhere else. So is what lies deeper than anybody
    puts it, for each level takes a descriptor, and a program could nest folders until there are none left; and what comes after
    more files than anybody works with.
    """
    left = MOST_SHARED
    for path, folders, files, here in os.fwalk(".", dir_fd=folder, follow_symlinks=False):
        if path.count(os.sep) >= DEEPEST:
            folders.clear()
        _add_group_access(here, group, 0o2770)
        left -= len(folders)
        for name in files[: max(left, 0)]:
            if _is_shared(name, here, group):
                continue
            # Neither a link nor a pipe without a writer may hold this up.
            with contextlib.suppress(OSError):
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=here)
                try:
                    _add_group_access(file, group, 0o660)
                finally:
                    os.close(file)
        left -= len(files)
        if left < 0:
            return


def _is_shared(name: str, folder: int, group: int) -> bool:
    """Whether there is nothing to do for a file; to look is much cheaper than to open it."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return True
    return not stat.S_ISREG(found.st_mode) or (found.st_gid == group and found.st_mode & 0o6660 == 0o660)


def _add_group_access(descriptor: int, group: int, mode: int) -> None:
    found = os.fstat(descriptor)
    is_file = stat.S_ISREG(found.st_mode)
    if (is_file and found.st_nlink > 1) or not (is_file or stat.S_ISDIR(found.st_mode)):
        return
    current = stat.S_IMODE(found.st_mode)
    # What anybody in the group can change must not run as its owner.
    wanted = (current & 0o1777 if is_file else current) | mode
    if found.st_gid != group:
        os.fchown(descriptor, -1, group)
    if wanted != current:
        os.fchmod(descriptor, wanted)
