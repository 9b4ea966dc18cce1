"""Files that an operator names, read without trusting what is behind the name: a pipe never ends, and a device is never over."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file, of a longer one its first `most` bytes and one more. Raises OSError, also for a pipe, a
    socket, a device or a folder, which it does not wait for."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "It is no regular file")
        return file.read(most + 1)
