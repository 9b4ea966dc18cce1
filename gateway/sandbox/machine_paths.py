"""Which files of the machine every job may read: its programs and libraries, and the few files without which those do not start.

Nobody's home, no /run, none of the secrets in /etc, nothing of the gateway's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

PROGRAMS: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")

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
    return lies_in(one, other) or lies_in(other, one)


def lies_in(inner: Path, outer: Path) -> bool:
    """Whether `inner` is `outer` or something in it, both without links. Also where the paths do not say so: a mount can show
    one folder at several places."""
    if inner.is_relative_to(outer):
        return True
    found = _identify(outer)
    return found is not None and any(_identify(place) == found for place in (inner, *inner.parents))


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
