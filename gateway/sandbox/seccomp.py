"""The filter over system calls: what no job needs, whatever else confines it.

It closes what namespaces and Landlock leave open: sockets other than TCP, io_uring, which bypasses this filter, the
calls that reach into another process, those that build namespaces and mounts, and those that no kernel had when this was
written. Refused calls answer EPERM, so that a program can continue or report what it lacks.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gateway.sandbox.job import Mechanism
from gateway.sandbox.kernel import FIRST_WITH_SCOPES
from gateway.sandbox.syscalls import AUDIT_ARCH, NEWEST, NUMBERS

_LOAD: Final = 0x20
"""BPF_LD | BPF_W | BPF_ABS; this and the next ones are the instructions that the filter is made of."""
_JUMP_EQUAL: Final = 0x15
_JUMP_GREATER: Final = 0x25
_AND: Final = 0x54
_RETURN: Final = 0x06

_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_REFUSE: Final = 0x00050000

_AT_NUMBER: Final = 0
_AT_ARCH: Final = 4
_AT_ARGUMENTS: Final = 16

_WHOLE: Final = 0xFFFFFFFF

AF_UNIX: Final = 1
AF_INET: Final = 2
AF_INET6: Final = 10
STREAM: Final = 1
DATAGRAM: Final = 2
PACKETS: Final = 5
_TYPE: Final = 0xF
"""A socket's type without the flags that share its argument."""

_NEW_NAMESPACES: Final = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
"""CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID and _NEWNET."""

_TERMINAL_INPUT: Final = (0x5412, 0x541C)
"""TIOCSTI, which types into a terminal, and TIOCLINUX, which pastes into one."""

_SEND_BUFFERS: Final = (7, 32)
"""SO_SNDBUF and SO_SNDBUFFORCE, on whatever level: others have little by these numbers."""

_LEASES: Final = (1024, 1026)
"""F_SETLEASE and F_NOTIFY."""

_FLAGS_OF_FILES: Final = (0x40086602, 0x40046602, 0x40087602, 0x401C5820)
"""FS_IOC_SETFLAGS, its 32-bit form, FS_IOC_SETVERSION and FS_IOC_FSSETXATTR."""

_OWNER_OF_SIGNALS: Final = (0x8901, 0x8902)
"""FIOSETOWN and SIOCSPGRP: which process the kernel signals about a descriptor."""


@dataclass(frozen=True, slots=True)
class ArgumentTest:
    """Whether argument number `argument`, masked, is one of `values`. Its low 32 bits, which are all that the kernel reads of
    most, or its high ones: those count where it is a pointer."""

    argument: int
    values: tuple[int, ...]
    mask: int = _WHOLE
    high: bool = False


@dataclass(frozen=True, slots=True)
class SyscallRule:
    """Refuse `calls` with `code`: always, or only where `when` holds, or only where `unless` does not."""

    calls: tuple[str, ...]
    code: int = errno.EPERM
    when: ArgumentTest | None = None
    unless: ArgumentTest | None = None


_ALWAYS: Final = (
    SyscallRule(
        ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise", "process_mrelease")
    ),
    SyscallRule(("move_pages", "migrate_pages", "perf_event_open", "bpf", "userfaultfd")),
    SyscallRule(("io_uring_setup", "io_uring_enter", "io_uring_register")),
    SyscallRule(("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "mount_setattr")),
    SyscallRule(("open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick")),
    SyscallRule(("keyctl", "add_key", "request_key")),
    SyscallRule(("name_to_handle_at", "open_by_handle_at", "fanotify_init")),
    SyscallRule(("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "iopl", "ioperm", "vhangup")),
    SyscallRule(("reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "sethostname", "setdomainname")),
    SyscallRule(("settimeofday", "clock_settime", "adjtimex", "clock_adjtime")),
    # Memory that no limit counts while nobody has mapped it.
    SyscallRule(("shmget", "shmat", "msgget", "semget", "mq_open", "memfd_secret")),
    # Nothing has to be opened first to use these: a number, which can be guessed, or a name is enough, and without an IPC
    # namespace it is another program's.
    SyscallRule(("shmctl", "msgctl", "msgrcv", "msgsnd", "semctl", "semop", "semtimedop", "mq_unlink")),
    # Whoever opens a file that is leased waits for its holder, up to 45 seconds.
    SyscallRule(("fcntl",), when=ArgumentTest(1, _LEASES)),
    # As if the kernel had none: programs then take a file.
    SyscallRule(("memfd_create",), errno.ENOSYS),
    # A filter cannot look behind the pointer that carries clone3's flags; libc falls back to clone.
    SyscallRule(("clone3",), errno.ENOSYS),
    *(SyscallRule(("clone",), when=ArgumentTest(0, (flag,), mask=flag)) for flag in _NEW_NAMESPACES),
    SyscallRule(("ioctl",), when=ArgumentTest(1, _TERMINAL_INPUT)),
    # Connected when created, and only to each other: a datagram pair could still be sent to any address.
    SyscallRule(("socketpair",), unless=ArgumentTest(0, (AF_UNIX,))),
    SyscallRule(("socketpair",), unless=ArgumentTest(1, (STREAM, PACKETS), mask=_TYPE)),
    # What a socket holds of what nobody reads is counted for each as one that was left as it is.
    SyscallRule(("setsockopt",), when=ArgumentTest(2, _SEND_BUFFERS)),
)

_WITHOUT_NETWORK: Final = (SyscallRule(("socket", "connect", "bind", "listen", "accept", "accept4")),)

_LISTENING: Final = (
    # A socket that connects nowhere, and no datagrams, which need no connection.
    SyscallRule(("connect",)),
    SyscallRule(("socket",), unless=ArgumentTest(0, (AF_UNIX,))),
    SyscallRule(("socket",), unless=ArgumentTest(1, (STREAM,), mask=_TYPE)),
)

_WITH_NETWORK: Final = (
    # Not even then the sockets of this machine's services, nor raw packets.
    SyscallRule(("socket",), unless=ArgumentTest(0, (AF_INET, AF_INET6))),
    SyscallRule(("socket",), unless=ArgumentTest(1, (STREAM, DATAGRAM), mask=_TYPE)),
)

_BESIDE_OTHERS: Final = (
    # Without a pid namespace these reach every process of the same user; the job keeps them for itself alone.
    SyscallRule(
        ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"), unless=ArgumentTest(0, (0,))
    ),
    SyscallRule(("setpriority",), unless=ArgumentTest(0, (0,))),
    SyscallRule(("setpriority", "ioprio_set"), unless=ArgumentTest(1, (0,))),
    SyscallRule(("ioprio_set",), unless=ArgumentTest(0, (1,))),
    # Landlock says nothing about mode, owner, times and attributes of a path; it checks a descriptor when that is opened.
    SyscallRule(("chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utime", "utimes", "futimesat")),
    SyscallRule(("utimensat",), unless=ArgumentTest(1, (0,))),
    SyscallRule(("utimensat",), unless=ArgumentTest(1, (0,), high=True)),
    SyscallRule(("setxattr", "lsetxattr", "removexattr", "lremovexattr", "inotify_add_watch")),
)

_OWN_AND_ONLY_READ: Final = (
    # A descriptor that was opened for reading is enough for these, if the file is the job's user's own.
    SyscallRule(("fchmod", "fchown", "fsetxattr", "fremovexattr", "utimensat")),
    SyscallRule(("ioctl",), when=ArgumentTest(1, _FLAGS_OF_FILES)),
)

_BEFORE_TRUNCATE: Final = (SyscallRule(("truncate",)),)
"""Landlock's versions 1 and 2 do not see it."""

_BEFORE_SCOPES: Final = (
    # Any number may be somebody else's process; its own group is all that is left.
    SyscallRule(("kill",), unless=ArgumentTest(0, (0,))),
    SyscallRule(("tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal")),
    # F_SETOWN, F_SETSIG and F_SETOWN_EX
    SyscallRule(("fcntl",), when=ArgumentTest(1, (8, 10, 15))),
    SyscallRule(("ioctl",), when=ArgumentTest(1, _OWNER_OF_SIGNALS)),
)


_AS_OWNER: Final = 0o4000
_AS_GROUP: Final = 0o2000

_MODES: Final = (
    *((call, 1) for call in ("chmod", "fchmod", "creat", "mknod")),
    *((call, 2) for call in ("fchmodat", "fchmodat2", "open", "mknodat")),
    ("openat", 3),
)
"""Calls that set a mode, and which of their arguments it is. libc passes 0 where a call creates nothing."""


def _without_bit(bit: int) -> Iterator[SyscallRule]:
    return (SyscallRule((call,), when=ArgumentTest(argument, (bit,), mask=bit)) for call, argument in _MODES)


_NOTHING_AS_OWNER: Final = (
    # A program left in the work folder would run as this process's user for everybody else on the machine.
    *_without_bit(_AS_OWNER),
    # The mode is behind a pointer; libc and other callers fall back to openat.
    SyscallRule(("openat2",), errno.ENOSYS),
)

_NOTHING_AS_GROUP: Final = tuple(_without_bit(_AS_GROUP))
"""Not where the folder is shared with a group: there it is the mark of folders, and the group has no rights elsewhere."""


def rules_for(
    mechanism: Mechanism, *, network: bool, shared: bool, landlock: int, listening: bool = False, owning: bool = False
) -> tuple[SyscallRule, ...]:
    """What is refused beside which mechanism, `landlock` being the kernel's version of it; `shared` says that the job runs as
    a user of its own, and that its folder is shared with a group; `owning` that some of what it may only read can be its
    user's own. A job with `network` does not listen on Unix sockets."""
    rules = _ALWAYS + _NOTHING_AS_OWNER + (() if shared else _NOTHING_AS_GROUP)
    rules += _WITH_NETWORK if network else _LISTENING if listening else _WITHOUT_NETWORK
    if mechanism is Mechanism.LANDLOCK:
        rules += _BESIDE_OTHERS
        rules += _OWN_AND_ONLY_READ if owning else ()
        rules += _BEFORE_TRUNCATE if landlock < 3 else ()
        rules += _BEFORE_SCOPES if landlock < FIRST_WITH_SCOPES else ()
    return rules


def knows(machine: str) -> bool:
    """Whether there is a filter for this architecture."""
    return machine in AUDIT_ARCH


def assemble(rules: Iterable[SyscallRule], machine: str) -> bytes:
    """The program that the kernel takes, for `machine` as `uname` names it."""
    numbers = NUMBERS[machine]
    program = [
        _step(_LOAD, _AT_ARCH),
        # The 32-bit entry counts its calls differently; nothing here needs it.
        _step(_JUMP_EQUAL, AUDIT_ARCH[machine], then=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _AT_NUMBER),
        # Also every number of the x32 entry, which carries a bit far above.
        _step(_JUMP_GREATER, NEWEST, otherwise=1),
        _step(_RETURN, _REFUSE | errno.ENOSYS),
    ]
    for rule in rules:
        for call in rule.calls:
            if call in numbers:
                program += _refuse(numbers[call], rule)
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _refuse(number: int, rule: SyscallRule) -> list[bytes]:
    body = [*_test_argument(rule), _step(_RETURN, _REFUSE | rule.code)]
    return [_step(_LOAD, _AT_NUMBER), _step(_JUMP_EQUAL, number, otherwise=len(body)), *body]


def _test_argument(rule: SyscallRule) -> list[bytes]:
    """Fall through where the rule refuses, jump over its refusal where it does not."""
    test = rule.when or rule.unless
    if test is None:
        return []
    last = len(test.values) - 1
    if rule.unless is not None:
        looks = [_step(_JUMP_EQUAL, value, then=last - at + 1) for at, value in enumerate(test.values)]
    else:
        looks = [
            _step(_JUMP_EQUAL, value, then=last - at, otherwise=0 if at < last else 1) for at, value in enumerate(test.values)
        ]
    return [_step(_LOAD, _AT_ARGUMENTS + 8 * test.argument + (4 if test.high else 0)), _step(_AND, test.mask), *looks]


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)
