"""Running a job: what both mechanisms do alike, from opening its folder to telling how it ended.

Everything blocks and belongs into a worker thread. Jobs are started by `subprocess` and not by the event loop: uvloop forks,
which copies the page tables of the whole gateway while everything else waits.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import marshal
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeAlias

from gateway.adapters.tools.beneath import open_by_steps
from gateway.adapters.tools.sandbox import visible
from gateway.adapters.tools.sandbox.attendance import Attendance
from gateway.adapters.tools.sandbox.cage import Ended, Finished, Job
from gateway.adapters.tools.sandbox.limits import Watch
from gateway.adapters.tools.sandbox.ordinary import Ordinaries, User, lend
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Reason

_ADD_SEALS: Final = 1033
_EVERY_SEAL: Final = 0x1 | 0x2 | 0x4 | 0x8
"""F_ADD_SEALS, and F_SEAL_SEAL, _SHRINK, _GROW and _WRITE."""

_COMPLAINT: Final = 500

_MARSHAL: Final = 4
"""The version of the format that every Python has read since 3.4."""

_LAUNCHER: Final = Path(__file__).parent

BOOT: Final = "import sys; sys.path.append(sys.argv[1]); import launcher; launcher.main(int(sys.argv[2]))"
"""The launcher's folder comes after the standard library, and nothing else is there. Imported, it is compiled only once."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ground:
    """What cages stand on: folders that no job may come near, the interpreter of the launcher, the launcher's folder, and the
    users that jobs run as."""

    private: tuple[Path, ...] = ()
    interpreter: str = sys.executable
    launcher: Path = _LAUNCHER
    ordinaries: Ordinaries = field(default_factory=Ordinaries)


class Told(NamedTuple):
    """How the job itself ended, as the status pipe told it: two times None where it did not."""

    exit_code: int | None
    signal: int | None


class Descriptors:
    """Descriptors that live as long as one job; the launcher gets each under its number."""

    def __init__(self) -> None:
        self.passed: list[int] = []
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def open(self, path: Path) -> int:
        """`path` itself, reached through no link: somebody may be able to change where a link leads. Raises ToolFailed."""
        root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not path.is_absolute():
                raise NotADirectoryError
            descriptor = self.give(open_by_steps(root, path.parts[1:], os.O_PATH))
            if stat.S_ISLNK(os.fstat(descriptor).st_mode):
                raise NotADirectoryError
            return descriptor
        except OSError:
            _log.warning("%s is not there, or a link leads to it", path)
            raise _unusable("a folder that this tool needs is not there, or a link leads to it") from None
        finally:
            os.close(root)

    def hold(self, content: bytes) -> int:
        """A file in memory with `content`, to be read by whoever gets it and changed by nobody."""
        descriptor = self.give(os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        fcntl.fcntl(descriptor, _ADD_SEALS, _EVERY_SEAL)
        return descriptor

    def give(self, descriptor: int) -> int:
        """Hand it over."""
        self._open.callback(os.close, descriptor)
        self.passed.append(descriptor)
        return descriptor


PlanMaker: TypeAlias = Callable[[Job, Descriptors, int, User | None], dict[str, Any]]
"""Of a job, a place for descriptors, its open folder and the user to become: what the launcher is told."""


def run(
    job: Job, cancelled: threading.Event, ground: Ground, *, plan: PlanMaker, read_status: Callable[[bytes], Told]
) -> Finished:
    """Run `job` to its end and leave nothing of it. Raises ToolFailed when it could not be started inside a cage."""
    if visible.find_overlap((job.folder, *job.readable), ground.private):
        raise _unusable("the folder of this tool would show it the gateway's own state")
    with ground.ordinaries.borrow() as user, Descriptors() as given:
        folder = given.open(job.folder)
        if user is not None:
            try:
                lend(folder, user.group)
            except OSError as error:
                _log.warning("%s cannot be lent to group %d: %s", job.folder, user.group, error)
                raise _unusable("the folder of this tool cannot be made writable for it") from None
        told = plan(job, given, folder, user)
        return _start(told, job, given, ground, Watch(job.limits, folder), cancelled, read_status)


def _start(
    plan: dict[str, Any],
    job: Job,
    given: Descriptors,
    ground: Ground,
    watch: Watch,
    cancelled: threading.Event,
    read_status: Callable[[bytes], Told],
) -> Finished:
    began = time.monotonic()
    status, write_end = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            paper = given.hold(marshal.dumps({**plan, "status": write_end, "parent": os.getpid()}, _MARSHAL))
            stdin = given.hold(job.stdin) if job.stdin else subprocess.DEVNULL
            process = subprocess.Popen(  # noqa: S603 # the gateway's own interpreter and program
                [ground.interpreter, "-I", "-S", "-c", BOOT, ground.launcher, str(paper)],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={},
                cwd="/",
                pass_fds=(*given.passed, write_end),
                start_new_session=True,
            )
        except OSError as error:
            _log.warning("the launcher cannot be started: %s", error)
            raise _unusable("no program can be started now") from None
        finally:
            os.close(write_end)
        attendance = Attendance(process, status, watch, cancelled, began + job.timeout_seconds, plan["beyond"])
        try:
            ended = attendance.stay()
        finally:
            attendance.leave()
    finally:
        os.close(status)
    return _tell(attendance, ended, read_status, time.monotonic() - began)


def _tell(attendance: Attendance, ended: Ended, read_status: Callable[[bytes], Told], took: float) -> Finished:
    said, out, err = bytes(attendance.said), attendance.out, attendance.err
    outcome = Told(None, None) if said.startswith(b"!") else read_status(said)
    if outcome == (None, None):
        if ended is Ended.EXITED:
            complaint = (said[1:] or bytes(err.kept)).decode(errors="replace").strip()
            _log.warning("the cage could not be closed: %s", complaint[:_COMPLAINT] or "it ended without a word")
            raise _unusable("the cage around this tool could not be closed, so it was not started")
        outcome = Told(None, signal.SIGKILL)
    return Finished(*outcome, bytes(out.kept), bytes(err.kept), out.omitted, err.omitted, took, ended)


def _unusable(message: str) -> ToolFailed:
    return ToolFailed(message, Reason.SANDBOX_UNAVAILABLE)
