"""Which mechanism this machine has: found out by running a program in it, never by looking whether one is installed."""

from __future__ import annotations

import errno
import platform
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gateway.sandbox import machine_paths, seccomp
from gateway.sandbox.bubblewrap import BubblewrapSandbox, find_programs
from gateway.sandbox.job import Job, Sandbox, SandboxError, SandboxPreference, SandboxUnavailable
from gateway.sandbox.kernel import landlock_version
from gateway.sandbox.landlock import LandlockSandbox
from gateway.sandbox.running import SandboxHost

PROBE_SECONDS: Final = 10.0

_PROBE: Final = ("true",)
_ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin"}

_INSTALL: Final = "install bubblewrap (on Debian and Ubuntu: apt-get install bubblewrap)"


def choose_sandbox(
    preference: SandboxPreference, *, private: Sequence[Path] = (), host: SandboxHost | None = None
) -> Sandbox | SandboxUnavailable:
    """The sandbox that the operator wants, tried out; or why there is none. Blocks for as long as a program takes to start.

    `private` are folders that no job may see, whatever folder it is given.
    """
    host = host or SandboxHost(private=tuple(private))
    if not sys.platform.startswith("linux") or not seccomp.knows(platform.machine()):
        return SandboxUnavailable("programs can be sandboxed on Linux on x86-64 or ARM64 only")
    for folder in host.private:
        if (place := machine_paths.exposes(folder)) is not None:
            return SandboxUnavailable(
                f"the gateway's own state lies within {place}, which every program must read; move it elsewhere"
            )
    match preference:
        case SandboxPreference.BUBBLEWRAP:
            return _try_bubblewrap(host)
        case SandboxPreference.LANDLOCK:
            return _try_landlock(host)
        case SandboxPreference.AUTO:
            first = _try_bubblewrap(host)
            if not isinstance(first, SandboxUnavailable):
                return first
            second = _try_landlock(host)
            return (
                second if not isinstance(second, SandboxUnavailable) else SandboxUnavailable(f"{first.reason}; {second.reason}")
            )


def _try_bubblewrap(host: SandboxHost) -> Sandbox | SandboxUnavailable:
    programs = find_programs()
    if isinstance(programs, str):
        return SandboxUnavailable(f"`{programs}` is not installed; {_INSTALL}")
    refused = "bubblewrap may make no namespaces here; allow unprivileged user namespaces, or the container's profile forbids it"
    return _try_out(BubblewrapSandbox(programs, host), refused)


def _try_landlock(host: SandboxHost) -> Sandbox | SandboxUnavailable:
    version = landlock_version()
    if version == 0:
        return SandboxUnavailable("this kernel has no Landlock, or it is not among the modules it was booted with (`lsm=`)")
    return _try_out(LandlockSandbox(version, host), "Landlock or seccomp is there, but refused to a program started here")


def _try_out(sandbox: Sandbox, refused: str) -> Sandbox | SandboxUnavailable:
    try:
        with tempfile.TemporaryDirectory(prefix="countersign-") as folder:
            # The folder for temporary files may be a link; a sandbox follows none.
            job = Job(_PROBE, _ENVIRONMENT, Path(folder).resolve(), timeout_seconds=PROBE_SECONDS)
            result = sandbox.run(job, threading.Event())
    except OSError as error:
        full = error.errno in (errno.EMFILE, errno.ENFILE)
        return SandboxUnavailable("no further file can be opened to try a sandbox; raise `ulimit -n`" if full else refused)
    except SandboxError:
        return SandboxUnavailable(refused)
    return sandbox if result.exit_code == 0 else SandboxUnavailable(refused)
