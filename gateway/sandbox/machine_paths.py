"""Which files of the machine every job may read: its programs and libraries, and the few files without which those do not start.

Nobody's home, no /run, none of the secrets in /etc, nothing of the gateway's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

PROGRAMS: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")

_ESCAPED: Final = re.compile(rb"\\([0-3][0-7]{2})")
"""A blank and the like in the kernel's list of mounts."""

CONFIGURATION: Final = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/etc/timezone"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/locale.alias", "/etc/mime.types"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"),
)
"""Public on every machine: names of users, no passwords."""

NAMES: Final = ("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/services", "/etc/protocols", "/etc/gai.conf")
"""What finding a host by its name takes."""

FIGURES: Final = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/version", "/sys/devices/system/cpu")
"""Of the machine, where there is no /proc of the job's own."""

DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full")
RANDOM: Final = ("/dev/random", "/dev/urandom")


def overlap(one: Path, other: Path) -> bool:
    """Whether one of two folders holds the other, or they are the same."""
    return lies_in(one, other) or lies_in(other, one) or _is_shown_below(one, other, part=True)


def lies_in(inner: Path, outer: Path) -> bool:
    """Whether `inner` is `outer` or something in it, both without links. Also where the paths do not say so: a mount can show
    one folder at several places."""
    if inner.is_relative_to(outer):
        return True
    if _is_shown_below(outer, inner):
        return True
    found = _identify(outer)
    return found is not None and any(_identify(place) == found for place in (inner, *inner.parents))


def _is_shown_below(outer: Path, inner: Path, *, part: bool = False) -> bool:
    """Whether a mount below `outer` shows `inner`, or what that lies in; or with `part` something in it. A folder is given to a
    job with the mounts below it."""
    mounts = _read_mounts()
    below = [mount for mount in mounts if mount[0] != outer and mount[0].is_relative_to(outer)]
    homes = [mount for mount in mounts if inner.is_relative_to(mount[0])]
    if not below or not homes:
        return False
    # The innermost; of several at one place the last covers the others.
    point, device, root = max(reversed(homes), key=lambda mount: len(mount[0].parts))
    place = root / inner.relative_to(point)
    return any(shown == device and (place.is_relative_to(top) or (part and top.is_relative_to(place))) for _, shown, top in below)


def _read_mounts() -> Sequence[tuple[Path, str, Path]]:
    """Each mount: where it is, of which file system, and which folder of that. None where there is no such list (macOS)."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return ()
    fields = [[os.fsdecode(_ESCAPED.sub(_unescape, each)) for each in line.split(b" ")] for line in lines]
    return [(Path(each[4]), each[2], Path(each[3])) for each in fields]


def _unescape(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 8)])


def _identify(place: Path) -> tuple[int, int] | None:
    try:
        facts = place.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def exposes(private: Path) -> str | None:
    """The part of the machine that every job may read and that `private` lies in; None where it lies apart."""
    real = private.resolve()
    return next((place for place in PROGRAMS if lies_in(real, Path(place).resolve())), None)


def find_overlap(paths: Sequence[Path], private: Sequence[Path]) -> Path | None:
    """The first of `paths` that would show something of `private`."""
    hidden = [each.resolve() for each in private]
    return next((path for path in paths if any(overlap(path.resolve(), each) for each in hidden)), None)
