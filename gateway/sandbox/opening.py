"""Opening a path step by step, through no link, and holding on to a folder that was opened so.

Checking a path and then opening it leaves time in which another process can replace a directory by a link. So nothing is checked
first: each step is opened from the one before with `O_NOFOLLOW`. And a folder that is used for long is opened once: what is
put in its place later is never reached.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import weakref
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

_STEP: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_by_steps(root: int, parts: Sequence[str], flags: int, mode: int = 0o666) -> int:
    """Open `parts` below the directory `root`, anywhere that has `openat`. Raises OSError; the caller closes the descriptor."""
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW
    *folders, last = parts or (".",)
    here = root
    try:
        for folder in folders:
            below = os.open(folder, _STEP, dir_fd=here)
            if here != root:
                os.close(here)
            here = below
        return os.open(last, flags, mode, dir_fd=here)
    finally:
        if here != root:
            os.close(here)


def open_without_links(path: Path, flags: int) -> int:
    """Open an absolute path, no part of which may be a link. Raises OSError; the caller closes the descriptor."""
    if not path.is_absolute():
        raise NotADirectoryError(errno.ENOTDIR, "not an absolute path")
    root = os.open("/", _STEP)
    try:
        return open_by_steps(root, path.parts[1:], flags)
    finally:
        os.close(root)


class FolderIdentity(NamedTuple):
    """What tells a folder from every other one for as long as it is held open; its number may be given out again after that."""

    device: int
    inode: int


def identify(descriptor: int) -> FolderIdentity:
    """The identity of an open folder."""
    found = os.fstat(descriptor)
    return FolderIdentity(found.st_dev, found.st_ino)


class HeldFolder:
    """The folder that is at `path` now, held open until `close`. May be used by several threads.

    Links are followed now and never again. Where there is no folder now there is none later either: `identity` is None, and
    `borrowed` raises what kept it from being opened.
    """

    def __init__(self, path: Path) -> None:
        # On a loop of links this gives back a path that cannot be opened.
        self.path = Path(os.path.realpath(path))
        self.identity: FolderIdentity | None = None
        self._fault: int = errno.ENOENT
        self._lock = threading.Lock()
        try:
            self._descriptor = open_without_links(self.path, _STEP)
        except OSError as error:
            self._fault = error.errno or errno.EIO
            self._finish = None
        else:
            self.identity = identify(self._descriptor)
            self._finish = weakref.finalize(self, os.close, self._descriptor)

    @contextlib.contextmanager
    def borrowed(self) -> Generator[int]:
        """A descriptor of the folder for the length of the context; a close meanwhile does not take it away. Raises OSError."""
        with self._lock:
            if self._finish is None or not self._finish.alive:
                raise OSError(self._fault, os.strerror(self._fault))
            descriptor = os.dup(self._descriptor)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def is_in_place(self) -> bool:
        """Whether its path still leads to it: nobody moved it, deleted it or put another folder or a link there."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return False
        return self.identity == (found.st_dev, found.st_ino)

    def close(self) -> None:
        """Let go of it; once more does nothing."""
        with self._lock:
            if self._finish is not None:
                self._finish()
