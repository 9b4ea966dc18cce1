"""A job, its limits and its result; and `Sandbox`, which runs one.

The types are separate from the mechanisms, so that a caller that describes a job need not know which mechanism will run it.
That depends on the operator and the machine.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from gateway.sandbox.opening import FolderIdentity

OUTPUT_CAP: Final = 8 * 1024
"""Bytes kept of stdout, and as many of stderr."""

GRACE_SECONDS: Final = 0.5
"""Between SIGTERM and SIGKILL."""

_MIB: Final = 1 << 20


class Mechanism(StrEnum):
    """What confines a job."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"


class SandboxPreference(StrEnum):
    """Which mechanism the operator wants; `auto` takes the strongest that works here."""

    AUTO = "auto"
    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"


class JobEnd(StrEnum):
    """How a job ended."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    OVER_LIMIT = "over_limit"
    """Stopped because the whole job, all its processes together, took more memory or disk than it may."""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What one job may take. The kernel counts memory, CPU, files and file size for each process on its own."""

    memory_bytes: int = 1024 * _MIB
    """Of each process, and by observation of all of them together."""
    processes: int = 64
    open_files: int = 256
    cpu_seconds: int = 60
    file_bytes: int = 64 * _MIB
    """Of the largest file that can be written."""
    interval_seconds: float = 0.1
    """Between two looks at what all processes take together."""


class JobStreams:
    """Open descriptors that a job gets as its stdin, stdout and stderr, in place of what is read and kept of them.

    They belong to the job from then on: whoever runs it closes them once it has them, and also where it is not started.
    """

    def __init__(self, stdin: int, stdout: int, stderr: int) -> None:
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self._open = [stdin, stdout, stderr]

    def close(self) -> None:
        """Close them in this process; once more does nothing."""
        while self._open:
            os.close(self._open.pop())


class Cancellation(threading.Event):
    """An event that also wakes who waits for a descriptor: whoever runs a job with it need not look again and again whether it is
    set. For jobs that run for hours; each takes two descriptors."""

    def __init__(self) -> None:
        super().__init__()
        self._read_end, self._write_end = os.pipe()
        weakref.finalize(self, _close_both, self._read_end, self._write_end)

    def fileno(self) -> int:
        """Readable as soon as it is set, and from then on."""
        return self._read_end

    def set(self) -> None:
        """Set it, for good."""
        if not self.is_set():
            super().set()
            os.write(self._write_end, b"!")


def _close_both(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run. `command[0]` is looked up on the PATH of `environment`, which is the whole environment.

    `folder` is where it starts and the only place it may write to beside those in `writable`; `readable` are further paths it
    may read. stdin is `stdin` and then its end. All paths are absolute.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: bool = False
    limits: JobLimits = field(default_factory=JobLimits)
    timeout_seconds: float = 30.0
    """Infinite for a job that runs until it is cancelled."""
    stdin: bytes = b""
    listening: bool = False
    """Whether it may listen on Unix sockets, in its folder. It connects to none, without `network` to nothing at all."""
    niceness: int = 5
    """Added to this process's own, up to 19."""
    output: Callable[[bytes], None] | None = None
    """Is given what the job writes to stdout and stderr, as it comes, in the thread that runs it; the result has none of it."""
    streams: JobStreams | None = None
    """What it has in place of `stdin` and of the streams of its result, which are empty then."""
    identities: Mapping[Path, FolderIdentity | None] = field(default_factory=dict[Path, "FolderIdentity | None"])
    """Which folder each of these paths must still lead to. The job is not started where another one is there, nor at None."""

    @property
    def encoded_command(self) -> list[bytes]:
        """`command` as bytes of UTF-8: that is the encoding that the program is set to, whatever the encoding of this process."""
        return [word.encode("utf-8", "surrogateescape") for word in self.command]


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a job. One of `exit_code` and `signal` is None; a command that is not there exits with 127.

    Streams hold their first `OUTPUT_CAP` bytes; the `omitted` counts say how many more there were.
    """

    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    stdout_omitted: int
    stderr_omitted: int
    duration_seconds: float
    end: JobEnd


class SandboxError(Exception):
    """A job was not started, because it could not be confined. `message` is a sentence that names no path of the machine."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class SandboxUnavailable:
    """No mechanism works on this machine; the message tells the operator why. No program runs without one."""

    reason: str


class Sandbox(Protocol):
    """Runs jobs, several at a time if asked from several threads."""

    @property
    def mechanism(self) -> Mechanism:
        """What confines the jobs."""
        ...

    def run(self, job: Job, cancelled: threading.Event) -> JobResult:
        """Run `job` to its end and leave no process of it; blocks, so call it in a worker thread.

        Setting `cancelled` ends it as the timeout does; a `Cancellation` is cheaper to wait for. Raises SandboxError when the
        job could not be confined; the program has then not been started.
        """
        ...
