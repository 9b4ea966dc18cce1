"""A folder of trajectories, one file for each rollout, readable by its owner only: they hold what people said."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from gateway.agent.trajectory import Trajectory, from_json, to_json
from gateway.core.errors import MalformedTrajectory, Misconfigured

SUFFIX: Final = ".atraj"

MAX_BYTES: Final = 256 << 20
"""A rollout that fills a context of 128 thousand tokens a hundred times has some 100 MB."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


class TrajectoryFolder:
    """Where rollouts are kept. All methods block."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder if it is not there. Raises Misconfigured."""
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Misconfigured(f"the trajectory folder `{folder.name}` cannot be made: {error.strerror}") from None

    def write(self, trajectory: Trajectory) -> Path:
        """Keep it under its id, in place of an earlier state of it; whole or not at all. Raises Misconfigured."""
        if not _NAME.fullmatch(trajectory.id):
            raise Misconfigured("a trajectory's id becomes the name of a file: letters, digits, `-` and `_`")
        path = self._folder / f"{trajectory.id}{SUFFIX}"
        try:
            write_whole(path, [to_json(trajectory)])
        except OSError as error:
            raise Misconfigured(f"the trajectory cannot be written: {error.strerror}") from None
        return path


def read_trajectories(folder: Path) -> Iterator[tuple[Path, Trajectory | MalformedTrajectory]]:
    """Every `.atraj` of a folder in the order of their names; for one that does not read, why. Raises Misconfigured."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    except OSError as error:
        raise Misconfigured(f"the folder `{folder.name}` cannot be read: {error.strerror}") from None
    for path in paths:
        try:
            yield path, from_json(_read(path))
        except MalformedTrajectory as error:
            yield path, error


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file that only its owner can read, so that a reader finds the old one or the new one. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    finally:
        # Gone already when all went well.
        with contextlib.suppress(OSError):
            os.unlink(name)


def _read(path: Path) -> bytes:
    try:
        # Opening a pipe of that name would block.
        if not path.is_file():
            raise MalformedTrajectory("not a file")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise MalformedTrajectory(f"cannot be read: {error.strerror}") from None
    if len(raw) > MAX_BYTES:
        raise MalformedTrajectory(f"longer than {MAX_BYTES >> 20} MiB")
    return raw
