"""Being the only writer of a state folder, and noticing when it is no longer the same folder.

Two locks of the kernel, which frees them when the process dies, however it dies: one on the lock file, which every version takes,
and one on the folder itself, which stays when somebody deletes the file. Neither says what becomes of the files underneath, so
before each batch the writer looks whether they are still those that it opened. As long as the folder itself was not changed it is
enough to look at that.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from gateway.adapters.storage.beginning import unwritable
from gateway.adapters.storage.sqlite import LOCK
from gateway.core.errors import LedgerLocked, LedgerSuperseded

FileId = tuple[int, int]

SETTLED_NS: Final = 2_000_000_000
"""How old a folder's time of change must be to be believed, in nanoseconds: two changes within one tick of a file system's clock
leave the same time, and the coarsest ticks are of two seconds (FAT)."""


class HeldState:
    """A state folder that this process alone may write."""

    def __init__(self, folder: Path) -> None:
        self._known: dict[str, FileId] = {}
        self._folder = str(folder)
        self._unchanged: tuple[FileId, int] | None = None
        """What the folder looked like when the files in it were last known to be the same."""
        self.watch(LOCK)

    def watch(self, *names: str) -> None:
        """From now on these files must stay what they are."""
        for name in names:
            known = self._identify(name)
            if known is not None:
                self._known[name] = known
        self._unchanged = None

    def check(self) -> None:
        """Raises LedgerSuperseded when one of the files was removed or replaced."""
        now, folder = time.time_ns(), self._look_at_folder()
        if folder is not None and folder == self._unchanged:
            return
        for name, known in self._known.items():
            if self._identify(name) != known:
                raise LedgerSuperseded(
                    f"`{name}` was removed or replaced while the gateway ran, so nothing is recorded any more; stop the gateway,"
                    " and start it again to see what is left"
                )
        # Removing, renaming or making a file in a folder changes the folder's time.
        settled = folder is not None and now - folder[1] > SETTLED_NS
        self._unchanged = folder if settled else None

    def _look_at_folder(self) -> tuple[FileId, int] | None:
        try:
            found = os.stat(self._folder)
        except OSError:
            return None
        return (found.st_dev, found.st_ino), found.st_mtime_ns

    def _identify(self, name: str) -> FileId | None:
        try:
            found = os.stat(f"{self._folder}/{name}")
        except OSError:
            return None
        return found.st_dev, found.st_ino


@contextmanager
def hold_state(folder: Path) -> Generator[HeldState]:
    """Be the only writer while the context lasts. Raises LedgerLocked when another process is."""
    with ExitStack() as held:
        for path, flags in ((folder, os.O_RDONLY | os.O_DIRECTORY), (folder / LOCK, os.O_RDWR | os.O_CREAT)):
            try:
                handle = os.open(path, flags | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise unwritable(error) from None
            held.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LedgerLocked("another gateway is writing this state directory; stop it first") from None
        yield HeldState(folder)
