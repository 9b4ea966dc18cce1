"""The cage of namespaces, built by bubblewrap: a file system of its own, of what the job may see and nothing else.

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

from gateway.adapters.tools.sandbox import running, seccomp, visible
from gateway.adapters.tools.sandbox.cage import Finished, Job, Mechanism
from gateway.adapters.tools.sandbox.limits import kernel_limits
from gateway.adapters.tools.sandbox.ordinary import LENT_UMASK, PRIVATE_UMASK, User
from gateway.adapters.tools.sandbox.running import Descriptors, Ground, Told

ISOLATION: Final = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--clearenv"),
)

_OWN_PROCESSES: Final = 2
"""Of bubblewrap itself in there, beside the job's."""

_STAGE: Final = "/tmp"  # noqa: S108 # the launcher's own, seen by nobody else

TMP_SHARE: Final = 4
"""The part of its memory that a job may put into its /tmp, and once more into its /dev/shm, which are memory too."""

_WHERE: Final = "/usr/local/bin:/usr/bin:/bin"
_ASK_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Parts:
    """The programs it takes, by path. `by_descriptor`: this bubblewrap binds what is already open, and no other."""

    bwrap: str
    prlimit: str
    env: str
    by_descriptor: bool


@dataclass(frozen=True, slots=True)
class BubblewrapCage:
    """Cages jobs with bubblewrap."""

    parts: Parts
    ground: Ground = field(default_factory=Ground)

    @property
    def mechanism(self) -> Mechanism:
        """Namespaces."""
        return Mechanism.BUBBLEWRAP

    def run(self, job: Job, cancelled: threading.Event) -> Finished:
        """Run `job` to its end; see `Cage.run`."""
        return running.run(job, cancelled, self.ground, plan=self._plan, read_status=read_status)

    def _plan(self, job: Job, given: Descriptors, folder: int, user: User | None) -> dict[str, Any]:
        opened = [folder, *(given.open(path) for path in job.readable)]
        rules = seccomp.rules_for(Mechanism.BUBBLEWRAP, network=job.network, lent=user is not None, landlock=0)
        program = given.hold(seccomp.assemble(rules, platform.machine()))
        options = (*ISOLATION, *self._describe(job, opened, staged=user is not None), "--seccomp", str(program))
        paper = given.hold(b"".join(os.fsencode(option) + b"\0" for option in options))
        limits = kernel_limits(job.limits, processes=job.limits.processes + _OWN_PROCESSES)
        inside = (
            *(self.parts.env, "-u", "PWD"),
            *(self.parts.prlimit, *(f"--{name}={amount}" for name, amount in limits.items()), "--"),
        )
        return {
            "bubblewrap": True,
            "beyond": 1,
            "user": user and tuple(user),
            "umask": LENT_UMASK if user else PRIVATE_UMASK,
            "stage": opened if user else [],
            "keep": [program, paper, *(opened if self.parts.by_descriptor and not user else ())],
            "argv": [os.fsencode(word) for word in (self.parts.bwrap, "--args", str(paper), "--json-status-fd")],
            "command": [*map(os.fsencode, inside), *job.words],
        }

    def _describe(self, job: Job, opened: list[int], *, staged: bool) -> Iterator[str]:
        """What is to be seen inside, in the order in which it is built."""
        if job.network:
            yield "--share-net"
        for name, value in job.env.items():
            yield from ("--setenv", name, value)
        for place in visible.PROGRAMS:
            if os.path.islink(place):
                yield from ("--symlink", os.readlink(place), place)
            else:
                yield from ("--ro-bind-try", place, place)
        for place in visible.CONFIGURATION + (visible.NAMES if job.network else ()):
            # The place itself may be a link, and what it leads to not be there.
            yield from ("--ro-bind-try", os.path.realpath(place), place)
        yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
        for place in ("/tmp", "/dev/shm"):  # noqa: S108 # its own, and gone with it
            yield from ("--size", str(job.limits.memory_bytes // TMP_SHARE), "--perms", "1777", "--tmpfs", place)
        for number, path in enumerate((job.folder, *job.readable)):
            kind = "--bind" if number == 0 else "--ro-bind"
            if staged:
                # Root opened it; the user that bubblewrap runs as may not even come near.
                yield from (kind, f"{_STAGE}/{number}", str(path))
            elif self.parts.by_descriptor:
                yield from (f"{kind}-fd", str(opened[number]), str(path))
            else:
                yield from (kind, str(path), str(path))
        yield from ("--remount-ro", "/", "--chdir", str(job.folder))


def find_parts() -> Parts | str:
    """The programs it takes, or the name of the first that is not there."""
    found: dict[str, str] = {}
    for name in ("bwrap", "prlimit", "env"):
        path = shutil.which(name, path=_WHERE)
        if path is None:
            return name
        found[name] = path
    asked = subprocess.run(  # noqa: S603 # from the system's own folders, with nothing of a request in it
        [found["bwrap"], "--help"], capture_output=True, check=False, env={}, timeout=_ASK_SECONDS
    )
    return Parts(**found, by_descriptor=b"--ro-bind-fd" in asked.stdout + asked.stderr)


def read_status(said: bytes) -> Told:
    """What bubblewrap tells of the end: nothing if it never started the job, else what a shell would see."""
    code: int | None = None
    for line in said.splitlines():
        if line.startswith(b"{"):
            code = json.loads(line).get("exit-code", code)
    if code is None:
        return Told(None, None)
    return Told(None, code - 128) if 128 < code <= 128 + 64 else Told(code, None)
