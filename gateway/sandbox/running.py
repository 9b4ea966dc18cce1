"""Running a job: what both mechanisms share, from opening its folder to its result.

Every function blocks, so call it in a worker thread. Jobs are started by `subprocess` and not by the event loop: uvloop forks,
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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeAlias

from gateway.sandbox import machine_paths
from gateway.sandbox.job import Job, JobEnd, JobResult, SandboxError
from gateway.sandbox.monitoring import ResourceMonitor
from gateway.sandbox.opening import FolderIdentity, identify, open_without_links
from gateway.sandbox.supervisor import ProcessSupervisor
from gateway.sandbox.uid_pool import JobUser, UidPool, share_with_group

_ADD_SEALS: Final = 1033
_EVERY_SEAL: Final = 0x1 | 0x2 | 0x4 | 0x8
"""F_ADD_SEALS, and F_SEAL_SEAL, _SHRINK, _GROW and _WRITE."""

_MAX_COMPLAINT: Final = 500
"""Characters of a launcher's error message that are logged."""

_MARSHAL: Final = 4
"""The version of the format that every Python has read since 3.4."""

_LAUNCHER: Final = Path(__file__).parent

BOOT: Final = "import sys; sys.path.append(sys.argv[1]); import launcher; launcher.main(int(sys.argv[2]))"
"""The launcher's folder comes after the standard library, and nothing else is there. Imported, it is compiled only once."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SandboxHost:
    """What a sandbox needs of the machine: folders that no job may see (`private`), the interpreter that runs the launcher,
    the launcher's folder, and the users that jobs run as."""

    private: tuple[Path, ...] = ()
    interpreter: str = sys.executable
    launcher: Path = _LAUNCHER
    uids: UidPool = field(default_factory=UidPool)


class ExitStatus(NamedTuple):
    """How the job itself ended, as the status pipe reported it: two times None where it did not."""

    exit_code: int | None
    signal: int | None


class JobDescriptors:
    """File descriptors that are open as long as one job; the launcher inherits each under its number."""

    def __init__(self, identities: Mapping[Path, FolderIdentity | None]) -> None:
        self.passed: list[int] = []
        self._identities = identities
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def open(self, path: Path) -> int:
        """`path` itself, reached through no link: somebody may be able to change where a link leads. Raises SandboxError."""
        try:
            descriptor = self.add(open_without_links(path, os.O_PATH))
            if stat.S_ISLNK(os.fstat(descriptor).st_mode):
                raise NotADirectoryError
        except OSError:
            _log.warning("%s is not there, or a link leads to it", path)
            raise SandboxError("a folder that this program needs is not there, or a link leads to it") from None
        if path in self._identities and self._identities[path] != identify(descriptor):
            _log.warning("%s is another folder than it was", path)
            raise SandboxError(
                "a folder of this program was moved or replaced after the gateway started; "
                "put it back, or start the gateway again"
            )
        return descriptor

    def add_file(self, content: bytes) -> int:
        """A file in memory with `content`, which its receiver can read and nobody can change."""
        descriptor = self.add(os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        fcntl.fcntl(descriptor, _ADD_SEALS, _EVERY_SEAL)
        return descriptor

    def add(self, descriptor: int) -> int:
        """Pass an open descriptor on, and close it at the end."""
        self._open.callback(os.close, descriptor)
        self.passed.append(descriptor)
        return descriptor


PlanBuilder: TypeAlias = Callable[[Job, JobDescriptors, int, JobUser | None], dict[str, Any]]
"""From a job, a place for descriptors, its open folder and the user to become: the plan that the launcher carries out."""


def run(
    job: Job,
    cancelled: threading.Event,
    host: SandboxHost,
    *,
    build_plan: PlanBuilder,
    read_status: Callable[[bytes], ExitStatus],
) -> JobResult:
    """Run `job` to its end and leave nothing of it. Raises SandboxError when it could not be confined."""
    try:
        if machine_paths.find_overlap((job.folder, *job.writable, *job.readable), host.private):
            raise SandboxError("the folder of this program would show it the gateway's own state")
        with host.uids.acquire() as user, JobDescriptors(job.identities) as descriptors:
            folder = descriptors.open(job.folder)
            if user is not None:
                for path in (job.folder, *job.writable):
                    _share(folder if path == job.folder else descriptors.open(path), path, user, host.uids)
            plan = build_plan(job, descriptors, folder, user)
            return _start(plan, job, descriptors, host, ResourceMonitor(job.limits, folder), cancelled, read_status)
    finally:
        if job.streams is not None:
            job.streams.close()


def _share(folder: int, path: Path, user: JobUser, uids: UidPool) -> None:
    try:
        if not share_with_group(folder, user.gid) and uids.is_news(path):
            _log.warning(
                "%s has more files, or folders in folders, than are lent to programs at once, so that they may be unable to read"
                " or change the rest; `chgrp -R %d` and `chmod -R g+rwX` lend all of it",
                path,
                user.gid,
            )
    except OSError as error:
        _log.warning("%s cannot be shared with group %d: %s", path, user.gid, error)
        raise SandboxError("the folder of this program cannot be made writable for it") from None


def _start(
    plan: dict[str, Any],
    job: Job,
    descriptors: JobDescriptors,
    host: SandboxHost,
    monitor: ResourceMonitor,
    cancelled: threading.Event,
    read_status: Callable[[bytes], ExitStatus],
) -> JobResult:
    began = time.monotonic()
    status, write_end = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            plan_file = descriptors.add_file(marshal.dumps({**plan, "status": write_end, "parent": os.getpid()}, _MARSHAL))
            stdin = descriptors.add_file(job.stdin) if job.stdin else subprocess.DEVNULL
            given = job.streams
            process = subprocess.Popen(  # noqa: S603 # this process's own interpreter and program
                [host.interpreter, "-I", "-S", "-c", BOOT, host.launcher, str(plan_file)],
                stdin=stdin if given is None else given.stdin,
                stdout=subprocess.PIPE if given is None else given.stdout,
                stderr=subprocess.PIPE if given is None else given.stderr,
                env={},
                cwd="/",
                pass_fds=(*descriptors.passed, write_end),
                start_new_session=True,
            )
        except OSError as error:
            _log.warning("the launcher cannot be started: %s", error)
            raise SandboxError("no program can be started now") from None
        finally:
            os.close(write_end)
        if given is not None:
            # Whoever reads at the other ends must see the end of what the job writes.
            given.close()
        supervisor = ProcessSupervisor(process, status, monitor, cancelled, began + job.timeout_seconds, plan["skip"], job.output)
        try:
            end = supervisor.wait()
        finally:
            supervisor.close()
    finally:
        os.close(status)
    return _read_result(supervisor, end, read_status, time.monotonic() - began)


def _read_result(
    supervisor: ProcessSupervisor, end: JobEnd, read_status: Callable[[bytes], ExitStatus], duration: float
) -> JobResult:
    reported, out, err = bytes(supervisor.status_output), supervisor.out, supervisor.err
    outcome = ExitStatus(None, None) if reported.startswith(b"!") else read_status(reported)
    if outcome == (None, None):
        if end is JobEnd.EXITED:
            complaint = (reported[1:] or bytes(err.kept)).decode(errors="replace").strip()
            _log.warning("a job could not be confined: %s", complaint[:_MAX_COMPLAINT] or "the launcher ended without a report")
            raise SandboxError("the sandbox for this program could not be made, so it was not started")
        outcome = ExitStatus(None, signal.SIGKILL)
    return JobResult(*outcome, bytes(out.kept), bytes(err.kept), out.omitted, err.omitted, duration, end)
