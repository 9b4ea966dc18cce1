"""The sandbox of namespaces, built by bubblewrap: a file system of its own, of what the job may see and nothing else.

Its own user, process, network, IPC, host name and control group namespaces, no way to make further ones, no capabilities, a
/tmp and a /proc of its own. The limits are set inside, by prlimit(1): outside, processes of the same user would count too.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.sandbox import machine_paths, running, seccomp
from gateway.sandbox.job import Job, JobResult, Mechanism
from gateway.sandbox.monitoring import kernel_limits
from gateway.sandbox.running import ExitStatus, JobDescriptors, SandboxHost
from gateway.sandbox.uid_pool import PRIVATE_UMASK, SHARED_UMASK, JobUser

ISOLATION: Final = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--clearenv"),
)

_OWN_PROCESSES: Final = 2
"""Of bubblewrap itself inside the namespace, beside the job's."""

_STAGING: Final = "/tmp"  # noqa: S108 # the launcher's own, seen by nobody else

TMP_SHARE: Final = 4
"""The part of its memory that a job may put into its /tmp, and once more into its /dev/shm, which are memory too."""

TMP_MOST: Final = 256 << 20
"""Bytes of each, however much memory a job may have."""

_SEARCH_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_HELP_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class BubblewrapPrograms:
    """The programs that it needs, by path. `by_descriptor`: this bubblewrap can bind what is already open."""

    bwrap: str
    prlimit: str
    env: str
    by_descriptor: bool


@dataclass(frozen=True, slots=True)
class BubblewrapSandbox:
    """Runs jobs in bubblewrap."""

    programs: BubblewrapPrograms
    host: SandboxHost = field(default_factory=SandboxHost)

    @property
    def mechanism(self) -> Mechanism:
        """Namespaces."""
        return Mechanism.BUBBLEWRAP

    def run(self, job: Job, cancelled: threading.Event) -> JobResult:
        """Run `job` to its end; see `Sandbox.run`."""
        return running.run(job, cancelled, self.host, build_plan=self._build_plan, read_status=read_status)

    def _build_plan(self, job: Job, descriptors: JobDescriptors, folder: int, user: JobUser | None) -> dict[str, Any]:
        opened = [folder, *(descriptors.open(path) for path in (*job.writable, *job.readable))]
        rules = seccomp.rules_for(
            Mechanism.BUBBLEWRAP, network=job.network, listening=job.listening, shared=user is not None, landlock=0
        )
        seccomp_file = descriptors.add_file(seccomp.assemble(rules, platform.machine()))
        options = (*ISOLATION, *self._mounts(job, opened, staged=user is not None), "--seccomp", str(seccomp_file))
        options_file = descriptors.add_file(b"".join(os.fsencode(option) + b"\0" for option in options))
        limits = kernel_limits(job.limits, processes=job.limits.processes + _OWN_PROCESSES)
        wrapper = (
            *(self.programs.env, "-u", "PWD"),
            *(self.programs.prlimit, *(f"--{name}={amount}" for name, amount in limits.items()), "--"),
        )
        return {
            "bubblewrap": True,
            "skip": 1,
            "user": user and tuple(user),
            "niceness": job.niceness,
            "umask": SHARED_UMASK if user else PRIVATE_UMASK,
            "staged": opened if user else [],
            "keep": [seccomp_file, options_file, *(opened if self.programs.by_descriptor and not user else ())],
            "argv": [os.fsencode(word) for word in (self.programs.bwrap, "--args", str(options_file), "--json-status-fd")],
            "command": [*map(os.fsencode, wrapper), *job.encoded_command],
        }

    def _mounts(self, job: Job, opened: list[int], *, staged: bool) -> Iterator[str]:
        """The options that say what the job sees, in the order in which it is built."""
        if job.network:
            yield "--share-net"
        for name, value in job.environment.items():
            yield from ("--setenv", name, value)
        for place in machine_paths.PROGRAMS:
            if os.path.islink(place):
                yield from ("--symlink", os.readlink(place), place)
            else:
                yield from ("--ro-bind-try", place, place)
        for place in machine_paths.CONFIGURATION + (machine_paths.NAMES if job.network else ()):
            # The place itself may be a link, and what it leads to not be there.
            yield from ("--ro-bind-try", os.path.realpath(place), place)
        yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
        for place in ("/tmp", "/dev/shm"):  # noqa: S108 # its own, and gone with it
            yield from ("--size", str(min(TMP_MOST, job.limits.memory_bytes // TMP_SHARE)), "--perms", "1777", "--tmpfs", place)
        places = enumerate((job.folder, *job.writable, *job.readable))
        # Outer folders first: what is mounted later hides what lies beneath it.
        for number, path in sorted(places, key=lambda place: len(place[1].parts)):
            kind = "--bind" if number <= len(job.writable) else "--ro-bind"
            if staged:
                # Root opened it; the user that bubblewrap runs as may not reach its path.
                yield from (kind, f"{_STAGING}/{number}", str(path))
            elif self.programs.by_descriptor:
                yield from (f"{kind}-fd", str(opened[number]), str(path))
            else:
                yield from (kind, str(path), str(path))
        yield from ("--remount-ro", "/", "--chdir", str(job.folder))


def find_programs() -> BubblewrapPrograms | str:
    """The programs that it needs, or the name of the first that is not there."""
    found: dict[str, str] = {}
    for name in ("bwrap", "prlimit", "env"):
        path = shutil.which(name, path=_SEARCH_PATH)
        if path is None:
            return name
        found[name] = path
    help_text = subprocess.run(  # noqa: S603 # from the system's own folders, with nothing of a request in it
        [found["bwrap"], "--help"], capture_output=True, check=False, env={}, timeout=_HELP_SECONDS
    )
    return BubblewrapPrograms(**found, by_descriptor=b"--ro-bind-fd" in help_text.stdout + help_text.stderr)


def read_status(reported: bytes) -> ExitStatus:
    """The exit status that bubblewrap reports: none if it never started the job, else what a shell would see."""
    code: int | None = None
    for line in reported.splitlines():
        if line.startswith(b"{"):
            code = json.loads(line).get("exit-code", code)
    if code is None:
        return ExitStatus(None, None)
    return ExitStatus(None, code - 128) if 128 < code <= 128 + 64 else ExitStatus(code, None)
