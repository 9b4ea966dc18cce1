"""What a cage is: the place where a tool's program runs, with nothing but what the job names.

The types stand apart from the mechanisms, so that whoever describes a job need not know which mechanism will run it. That is
the operator's choice and the machine's, never the request's.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

OUTPUT_CAP: Final = 8 * 1024
"""Bytes kept of stdout, and as many of stderr."""

GRACE_SECONDS: Final = 0.5
"""Between SIGTERM and SIGKILL."""

_MIB: Final = 1 << 20


class Mechanism(StrEnum):
    """What holds a job in."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"


class Preference(StrEnum):
    """Which mechanism the operator wants; `auto` takes the strongest that works here."""

    AUTO = "auto"
    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"


class Ended(StrEnum):
    """How a job came to its end."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    OVER_LIMIT = "over_limit"
    """Stopped because the whole job, all its processes together, took more memory or disk than it may."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may take. The kernel counts memory, CPU, files and file size for each process on its own."""

    memory_bytes: int = 1024 * _MIB
    """Of each process, and by observation of all of them together."""
    processes: int = 64
    open_files: int = 256
    cpu_seconds: int = 60
    file_bytes: int = 64 * _MIB
    """Of the largest file that can be written."""


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run. `argv[0]` is looked up on the PATH of `env`; `env` is the whole environment.

    `folder` is where it starts and the only place it may write to; `readable` are further paths it may read. stdin is `stdin`
    and then its end. All paths are absolute.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    folder: Path
    readable: tuple[Path, ...] = ()
    network: bool = False
    limits: Limits = field(default_factory=Limits)
    timeout_seconds: float = 30.0
    stdin: bytes = b""

    @property
    def words(self) -> list[bytes]:
        """`argv` as the program reads it, which is told that all text is UTF-8, whatever the gateway itself was told."""
        return [word.encode("utf-8", "surrogateescape") for word in self.argv]


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a job. One of `exit_code` and `signal` is None; a command that is not there exits with 127.

    Streams hold their first `OUTPUT_CAP` bytes; the `omitted` counts say how many more there were.
    """

    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    stdout_omitted: int
    stderr_omitted: int
    duration_seconds: float
    ended: Ended


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No cage, and why, in words for the operator. Nothing is run without one."""

    reason: str


class Cage(Protocol):
    """Runs jobs, several at a time if asked from several threads."""

    @property
    def mechanism(self) -> Mechanism:
        """What holds the jobs in."""
        ...

    def run(self, job: Job, cancelled: threading.Event) -> Finished:
        """Run `job` to its end and leave nothing of it behind; blocks, so it belongs into a worker thread.

        Setting `cancelled` ends it as the timeout does. Raises ToolFailed with reason `sandboxUnavailable` when the cage could
        not be closed around it; the program has then not been started.
        """
        ...
