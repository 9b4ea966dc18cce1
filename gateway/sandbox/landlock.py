"""The sandbox without namespaces: Landlock for files, TCP and signals, the filter for everything else, limits by the kernel.

For machines that let no ordinary user make namespaces. It restricts what a job can change or read as much, but hides less: a
job sees that a file exists outside, how large it is, and it has no /tmp and no /proc of its own.
"""

from __future__ import annotations

import os
import platform
import threading
from dataclasses import dataclass, field
from typing import Any

from gateway.sandbox import machine_paths, process_tree, running, seccomp
from gateway.sandbox.job import Job, JobResult, Mechanism
from gateway.sandbox.kernel import READ, WRITE, LandlockAccess
from gateway.sandbox.monitoring import by_number, kernel_limits
from gateway.sandbox.running import ExitStatus, JobDescriptors, SandboxHost
from gateway.sandbox.uid_pool import PRIVATE_UMASK, SHARED_UMASK, JobUser


@dataclass(frozen=True, slots=True)
class LandlockSandbox:
    """Runs jobs under the kernel's Landlock of `version` and the filter."""

    version: int
    host: SandboxHost = field(default_factory=SandboxHost)

    @property
    def mechanism(self) -> Mechanism:
        """Landlock."""
        return Mechanism.LANDLOCK

    def run(self, job: Job, cancelled: threading.Event) -> JobResult:
        """Run `job` to its end; see `Sandbox.run`."""
        return running.run(job, cancelled, self.host, build_plan=self._build_plan, read_status=read_status)

    def _build_plan(self, job: Job, descriptors: JobDescriptors, folder: int, user: JobUser | None) -> dict[str, Any]:
        # A user of its own has no other processes; the gateway's user has, and the kernel counts them all together.
        others = 0 if user else process_tree.threads_of(os.geteuid())
        rules = seccomp.rules_for(
            Mechanism.LANDLOCK,
            network=job.network,
            listening=job.listening,
            shared=user is not None,
            landlock=self.version,
            owning=bool(job.readable) or (user is None and _owns_programs()),
        )
        readable = [(descriptors.open(path), READ) for path in job.readable]
        writable = [(descriptors.open(path), WRITE) for path in job.writable]
        machine = (
            machine_paths.PROGRAMS
            + machine_paths.CONFIGURATION
            + machine_paths.FIGURES
            + (machine_paths.NAMES if job.network else ())
        )
        paths = [
            *((place, READ) for place in machine),
            *((place, LandlockAccess.READ_FILE) for place in machine_paths.RANDOM),
            *((place, LandlockAccess.READ_FILE | LandlockAccess.WRITE_FILE) for place in machine_paths.DEVICES),
        ]
        return {
            "bubblewrap": False,
            "skip": 0,
            "user": user and tuple(user),
            "umask": SHARED_UMASK if user else PRIVATE_UMASK,
            "niceness": job.niceness,
            "folder": folder,
            "limits": by_number(kernel_limits(job.limits, processes=job.limits.processes + others)),
            "landlock": {
                "version": self.version,
                "network": job.network,
                "paths": paths,
                "opened": [(folder, WRITE | (LandlockAccess.MAKE_SOCK if job.listening else 0)), *writable, *readable],
            },
            "filter": seccomp.assemble(rules, platform.machine()),
            "argv": job.encoded_command,
            "env": {os.fsencode(name): os.fsencode(value) for name, value in job.environment.items()},
        }


def _owns_programs() -> bool:
    """Whether the machine's programs are this user's own, as those of a package manager can be."""
    places = [place for place in machine_paths.PROGRAMS if os.path.exists(place)]
    return any(os.stat(place).st_uid == os.geteuid() for place in places)


def read_status(reported: bytes) -> ExitStatus:
    """The wait status of the job itself."""
    if not reported.startswith(b"="):
        return ExitStatus(None, None)
    code = os.waitstatus_to_exitcode(int(reported[1:]))
    return ExitStatus(code, None) if code >= 0 else ExitStatus(None, -code)
