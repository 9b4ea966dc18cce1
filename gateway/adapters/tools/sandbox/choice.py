"""Which cage this machine has: found out by running something in it, never by looking whether a program is installed."""

from __future__ import annotations

import platform
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gateway.adapters.tools.sandbox import seccomp, visible
from gateway.adapters.tools.sandbox.bubblewrap import BubblewrapCage, find_parts
from gateway.adapters.tools.sandbox.cage import Cage, Job, Preference, Unavailable
from gateway.adapters.tools.sandbox.kernel import landlock_version
from gateway.adapters.tools.sandbox.landlock import LandlockCage
from gateway.adapters.tools.sandbox.running import Ground
from gateway.core.errors import ToolFailed

PROBE_SECONDS: Final = 10.0

_PROBE: Final = ("true",)
_ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin"}

_INSTALL: Final = "install bubblewrap (on Debian and Ubuntu: apt-get install bubblewrap)"


def choose(preference: Preference, *, private: Sequence[Path] = (), ground: Ground | None = None) -> Cage | Unavailable:
    """The cage that the operator wants, tried out; or why there is none. Blocks for as long as a program takes to start.

    `private` are folders that no job may see, whatever folder it is given.
    """
    ground = ground or Ground(private=tuple(private))
    if not sys.platform.startswith("linux") or not seccomp.knows(platform.machine()):
        return Unavailable("programs can be caged on Linux on x86-64 or ARM64 only")
    for folder in ground.private:
        if (place := visible.exposes(folder)) is not None:
            return Unavailable(f"the gateway's own state lies within {place}, which every program must read; move it elsewhere")
    match preference:
        case Preference.BUBBLEWRAP:
            return _with_bubblewrap(ground)
        case Preference.LANDLOCK:
            return _with_landlock(ground)
        case Preference.AUTO:
            first = _with_bubblewrap(ground)
            if not isinstance(first, Unavailable):
                return first
            second = _with_landlock(ground)
            return second if not isinstance(second, Unavailable) else Unavailable(f"{first.reason}; {second.reason}")


def _with_bubblewrap(ground: Ground) -> Cage | Unavailable:
    parts = find_parts()
    if isinstance(parts, str):
        return Unavailable(f"`{parts}` is not installed; {_INSTALL}")
    refused = "bubblewrap may make no namespaces here; allow unprivileged user namespaces, or the container's profile forbids it"
    return _try_out(BubblewrapCage(parts, ground), refused)


def _with_landlock(ground: Ground) -> Cage | Unavailable:
    version = landlock_version()
    if version == 0:
        return Unavailable("this kernel has no Landlock, or it is not among the modules it was booted with (`lsm=`)")
    return _try_out(LandlockCage(version, ground), "Landlock or seccomp is there, but refused to a program started here")


def _try_out(cage: Cage, refused: str) -> Cage | Unavailable:
    try:
        with tempfile.TemporaryDirectory(prefix="countersign-") as folder:
            # Where temporary files are may be a link; the cage follows none.
            job = Job(_PROBE, _ENVIRONMENT, Path(folder).resolve(), timeout_seconds=PROBE_SECONDS)
            finished = cage.run(job, threading.Event())
    except (ToolFailed, OSError):
        return Unavailable(refused)
    return cage if finished.exit_code == 0 else Unavailable(refused)
