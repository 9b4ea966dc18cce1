"""Being the only writer of a state folder, and noticing when it is no longer the same folder.

Two locks of the kernel, which frees them when the process dies, however it dies: one on the lock file, which every version takes,
and one on the folder itself, which stays when somebody deletes the file. Neither says what becomes of the files underneath, so
before each batch the writer looks whether they are still those that it opened.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gateway.adapters.storage.sqlite import LOCK
from gateway.core.errors import LedgerLocked, LedgerSuperseded, LedgerUnavailable

FileId = tuple[int, int]


class HeldState:
    """A state folder that this process alone may write."""

    def __init__(self, folder: Path) -> None:
        self._known: dict[str, FileId] = {}
        self._folder = str(folder)
        self.watch(LOCK)

    def watch(self, *names: str) -> None:
        """From now on these files must stay what they are."""
        for name in names:
            known = self._identify(name)
            if known is not None:
                self._known[name] = known

    def check(self) -> None:
        """Raises LedgerSuperseded when one of the files was removed or replaced."""
        for name, known in self._known.items():
            if self._identify(name) != known:
                raise LedgerSuperseded(
                    f"`{name}` was removed or replaced while the gateway ran, so nothing is recorded any more; stop the gateway,"
                    " and start it again to see what is left"
                )

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
                raise LedgerUnavailable(f"the state directory cannot be written: {error.strerror}") from None
            held.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LedgerLocked("another gateway is writing this state directory; stop it first") from None
        yield HeldState(folder)
