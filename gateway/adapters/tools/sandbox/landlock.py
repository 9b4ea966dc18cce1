"""The cage without namespaces: Landlock for files, TCP and signals, the filter for everything else, limits by the kernel.

For machines that let no ordinary user make namespaces. It is as tight for what a job can change or read, and less private: a
job sees that a file exists outside, how large it is, and it has no /tmp and no /proc of its own.
"""

from __future__ import annotations

import os
import platform
import threading
from dataclasses import dataclass, field
from typing import Any

from gateway.adapters.tools.sandbox import running, seccomp, tree, visible
from gateway.adapters.tools.sandbox.cage import Finished, Job, Mechanism
from gateway.adapters.tools.sandbox.kernel import READ, WRITE, Access
from gateway.adapters.tools.sandbox.limits import by_number, kernel_limits
from gateway.adapters.tools.sandbox.ordinary import LENT_UMASK, PRIVATE_UMASK, User
from gateway.adapters.tools.sandbox.running import Descriptors, Ground, Told


@dataclass(frozen=True, slots=True)
class LandlockCage:
    """Cages jobs with the kernel's Landlock of `version` and the filter."""

    version: int
    ground: Ground = field(default_factory=Ground)

    @property
    def mechanism(self) -> Mechanism:
        """Landlock."""
        return Mechanism.LANDLOCK

    def run(self, job: Job, cancelled: threading.Event) -> Finished:
        """Run `job` to its end; see `Cage.run`."""
        return running.run(job, cancelled, self.ground, plan=self._plan, read_status=read_status)

    def _plan(self, job: Job, given: Descriptors, folder: int, user: User | None) -> dict[str, Any]:
        # A user of its own has no other processes; the gateway's user has, and the kernel counts them all together.
        others = 0 if user else tree.threads_of(os.geteuid())
        rules = seccomp.rules_for(Mechanism.LANDLOCK, network=job.network, lent=user is not None, landlock=self.version)
        readable = [(given.open(path), READ) for path in job.readable]
        machine = visible.PROGRAMS + visible.CONFIGURATION + visible.FIGURES + (visible.NAMES if job.network else ())
        paths = [
            *((place, READ) for place in machine),
            *((place, Access.READ_FILE) for place in visible.RANDOM),
            *((place, Access.READ_FILE | Access.WRITE_FILE) for place in visible.DEVICES),
        ]
        return {
            "bubblewrap": False,
            "beyond": 0,
            "user": user and tuple(user),
            "umask": LENT_UMASK if user else PRIVATE_UMASK,
            "folder": folder,
            "limits": by_number(kernel_limits(job.limits, processes=job.limits.processes + others)),
            "landlock": {
                "version": self.version,
                "network": job.network,
                "paths": paths,
                "opened": [(folder, WRITE), *readable],
            },
            "filter": seccomp.assemble(rules, platform.machine()),
            "argv": job.words,
            "env": {os.fsencode(name): os.fsencode(value) for name, value in job.env.items()},
        }


def read_status(said: bytes) -> Told:
    """The wait status of the job itself."""
    if not said.startswith(b"="):
        return Told(None, None)
    code = os.waitstatus_to_exitcode(int(said[1:]))
    return Told(code, None) if code >= 0 else Told(None, -code)
