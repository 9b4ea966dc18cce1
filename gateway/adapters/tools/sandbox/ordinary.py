"""Who a job runs as: the gateway's own user, or one of a few that own nothing when the gateway is root.

Each job that runs has a number of its own then, so that jobs cannot reach each other and the kernel's limit on processes
counts one job alone. They share a group, and the work folder is lent to that group.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import stat
import threading
from collections.abc import Generator
from typing import Final, NamedTuple

from gateway.adapters.tools.sandbox import tree
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Reason

USERS: Final = range(60601, 60665)
"""Below 65536, so that they exist in containers too; neither distributions nor systemd give these to anybody."""

GROUP: Final = 60600

PRIVATE_UMASK: Final = 0o022
LENT_UMASK: Final = 0o002


class User(NamedTuple):
    """Numbers of a user and its group."""

    number: int
    group: int


class Ordinaries:
    """Hands out users. Safe to ask from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: set[int] = set()

    @contextlib.contextmanager
    def borrow(self) -> Generator[User | None]:
        """A user for one job; None where the job stays who the gateway is. Raises ToolFailed when all are busy."""
        if os.geteuid() != 0:
            yield None
            return
        with self._lock:
            number = next((each for each in USERS if each not in self._taken and _is_nobody(each)), None)
            if number is None:
                raise ToolFailed("too many programs run at once; try again later", Reason.SANDBOX_UNAVAILABLE)
            self._taken.add(number)
        try:
            yield User(number, GROUP)
        finally:
            with self._lock:
                self._taken.discard(number)


def _is_nobody(number: int) -> bool:
    """Not somebody's account, and no process of it left, of another gateway for instance."""
    try:
        pwd.getpwuid(number)
    except KeyError:
        return tree.threads_of(number) == 0
    return False


def lend(folder: int, group: int) -> None:
    """Let `group` change everything in the open `folder`, and what comes new in it; a descriptor of the path will do.

    Walks by descriptors and follows no link, so that nothing outside is touched, whoever moves things about meanwhile. Files
    with a second name are left as they are: the other name may be somewhere else.
    """
    for _, _, files, here in os.fwalk(".", dir_fd=folder, follow_symlinks=False):
        _open_up(here, group, 0o2770)
        for name in files:
            # Neither a link nor a pipe without a writer may hold this up.
            with contextlib.suppress(OSError):
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=here)
                try:
                    _open_up(file, group, 0o660)
                finally:
                    os.close(file)


def _open_up(descriptor: int, group: int, mode: int) -> None:
    found = os.fstat(descriptor)
    is_file = stat.S_ISREG(found.st_mode)
    if (is_file and found.st_nlink > 1) or not (is_file or stat.S_ISDIR(found.st_mode)):
        return
    has = stat.S_IMODE(found.st_mode)
    # What anybody in the group can change must not run as its owner.
    wanted = (has & 0o1777 if is_file else has) | mode
    if found.st_gid != group:
        os.fchown(descriptor, -1, group)
    if wanted != has:
        os.fchmod(descriptor, wanted)
