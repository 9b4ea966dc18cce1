"""Files that a command writes: whole or not at all, and never in the place of a device."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import click

from gateway.core.errors import Misconfigured

OUTPUT: Final = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
"""The path of a file to write; `-` is standard output."""

_STANDARD: Final = Path("-")


@contextmanager
def open_output(path: Path) -> Generator[IO[bytes]]:
    """For writing. A file takes the place of an earlier one when all of it is written, and is gone after any error; a device or a
    pipe, such as `/dev/stdout`, is written to where it is. Raises Misconfigured where it cannot be written, as on a full disk.
    """
    try:
        if path == _STANDARD:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
        else:
            yield from _write_whole(path.resolve())
    except BrokenPipeError:
        # Whoever reads has enough; click ends the process for that.
        raise
    except OSError as error:
        named = "standard output" if path == _STANDARD else f"`{path}`"
        raise Misconfigured(f"{named} cannot be written: {error.strerror}") from None


@contextmanager
def open_changeable_output(path: Path) -> Generator[IO[bytes]]:
    """As `open_output`, and what was written can be read and changed until the end. What is for a pipe or a device waits in a
    temporary file."""
    with open_output(path) as output:
        if path != _STANDARD and output.readable():
            yield output
            return
        with tempfile.TemporaryFile() as waiting:
            yield waiting
            waiting.seek(0)
            shutil.copyfileobj(waiting, output)


def _write_whole(path: Path) -> Generator[IO[bytes]]:
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
