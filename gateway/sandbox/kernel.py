"""The system calls of the sandbox that Python has no function for. Linux only; each raises OSError.

Used on both sides of the start of a job, so it imports the standard library alone and nothing of this package.
"""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The numbers of calls newer than Linux 5.0 are the same on every architecture.
_OPEN_TREE = 428
_MOVE_MOUNT = 429
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2

_CLONE_NEWNS = 0x20000
_MS_REC = 0x4000
_MS_PRIVATE = 0x40000
_MS_NOSUID_NODEV_NOEXEC = 2 | 4 | 8
_OPEN_TREE_CLONE = 1
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_MOVE_MOUNT_F_EMPTY_PATH = 4
_AT_FDCWD = -100
_CAPABILITY_VERSION_3 = 0x20080522


_LIBC = ctypes.CDLL(None, use_errno=True)


class LandlockAccess:
    """What Landlock can allow beneath a path; bits of <linux/landlock.h>. Plain numbers, which are there at once."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


_A = LandlockAccess
READ = _A.EXECUTE | _A.READ_FILE | _A.READ_DIR
CHANGE = _A.WRITE_FILE | _A.TRUNCATE | _A.REFER | _A.REMOVE_DIR | _A.REMOVE_FILE
MAKE = _A.MAKE_DIR | _A.MAKE_REG | _A.MAKE_FIFO | _A.MAKE_SYM
WRITE = READ | CHANGE | MAKE
"""Everything in a folder but devices and sockets."""

_OF_FILES = _A.EXECUTE | _A.WRITE_FILE | _A.READ_FILE | _A.TRUNCATE | _A.IOCTL_DEV
"""What a rule about something else than a directory may hold."""

_NET = 1 | 2
"""LANDLOCK_ACCESS_NET_BIND_TCP and _CONNECT_TCP."""

_SCOPES = 1 | 2
"""LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET and _SIGNAL."""

FIRST_WITH_SCOPES = 6
"""The Landlock version, of Linux 6.12, that can restrict signals."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    # The kernel's is packed. Both fields stand at the same offsets here, and the kernel does not read the padding behind them.
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class _CapHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _call(number: int, what: str, *values: object) -> int:
    # Through `syscall`, whose arguments are longs; ctypes would pass plain integers as ints.
    longs = [ctypes.c_long(value) if isinstance(value, int) else value for value in values]
    return _check(_LIBC.syscall(ctypes.c_long(number), *longs), what)


def _prctl(what: str, option: int, *values: object) -> None:
    longs = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in values]
    longs += [ctypes.c_ulong(0)] * (4 - len(longs))
    _check(_LIBC.prctl(option, *longs), what)


def die_with_parent(number: int) -> None:
    """Get signal `number` when the thread that started this process ends."""
    _prctl("pdeathsig", _PR_SET_PDEATHSIG, number)


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own."""
    _prctl("subreaper", _PR_SET_CHILD_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """From here on, no set-user-id program gives this process or its children more rights."""
    _prctl("no_new_privs", _PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Hold none, and pass none on to the program that comes next."""
    _prctl("ambient capabilities", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header, nothing = _CapHeader(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    _check(_LIBC.capset(ctypes.byref(header), nothing), "capset")


def install_filter(program: bytes) -> None:
    """Restrict this process and its children by a seccomp program. Needs `forbid_new_privileges` before it."""
    _prctl("seccomp", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(_Program(len(program) // 8, program)))


def landlock_version() -> int:
    """Which Landlock the kernel has; 0 for none, and where a container's own filter hides it."""
    try:
        return _call(_LANDLOCK_CREATE_RULESET, "landlock", 0, 0, 1)
    except OSError:
        return 0


def confine(version: int, granted: Iterable[tuple[int, int]], *, network: bool) -> None:
    """Restrict this process and its children to `granted`, pairs of an open path and a `LandlockAccess`, as far as `version` can.

    TCP is closed unless `network`, abstract sockets and signals to the outside always.
    """
    handled = (1 << _count_rights(version)) - 1
    ruleset = _Ruleset(handled, 0 if network or version < 4 else _NET, _SCOPES if version >= FIRST_WITH_SCOPES else 0)
    # An older kernel refuses a structure with members that it does not know.
    size = 24 if version >= FIRST_WITH_SCOPES else 16 if version >= 4 else 8
    descriptor = _call(_LANDLOCK_CREATE_RULESET, "landlock ruleset", ctypes.byref(ruleset), size, 0)
    try:
        for path, access in granted:
            rule = _Beneath(access & handled, path)
            _call(_LANDLOCK_ADD_RULE, "landlock rule", descriptor, 1, ctypes.byref(rule), 0)
        _call(_LANDLOCK_RESTRICT_SELF, "landlock", descriptor, 0)
    finally:
        os.close(descriptor)


def _count_rights(version: int) -> int:
    # Version 4 added rights for the network, none for files.
    return {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)


def for_a_file(access: int) -> int:
    """The part of `access` that a rule about a single file may hold."""
    return access & _OF_FILES


def detach(path: int) -> int:
    """A copy of the mounts beneath an open path that belongs to no tree yet. Needs root."""
    return _call(_OPEN_TREE, "open_tree", path, b"", _OPEN_TREE_CLONE | _AT_EMPTY_PATH | _AT_RECURSIVE | os.O_CLOEXEC)


def attach(mount: int, target: bytes) -> None:
    """Mount what `detach` gave at `target`."""
    _call(_MOVE_MOUNT, "move_mount", mount, b"", _AT_FDCWD, target, _MOVE_MOUNT_F_EMPTY_PATH)


def unshare_mounts() -> None:
    """Use a copy of the mount table from here on that no other process uses. Needs root."""
    _check(_LIBC.unshare(_CLONE_NEWNS), "unshare")
    _check(_LIBC.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None), "mount private")


def mount_memory(target: bytes, options: bytes) -> None:
    """A new empty file system in memory over `target`. Needs root."""
    _check(_LIBC.mount(b"tmpfs", target, b"tmpfs", ctypes.c_ulong(_MS_NOSUID_NODEV_NOEXEC), options), "mount tmpfs")
