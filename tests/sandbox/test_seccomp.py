"""The filter, run instruction by instruction, for the architecture that this machine is not as well."""

from __future__ import annotations

import errno
import struct

import pytest

from gateway.sandbox.job import Mechanism
from gateway.sandbox.seccomp import assemble, rules_for
from gateway.sandbox.syscalls import AUDIT_ARCH, NEWEST, NUMBERS

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = REFUSE | errno.EPERM, REFUSE | errno.ENOSYS

MACHINES = sorted(NUMBERS)
OPEN_ANYWHERE = {"x86_64": (0, 1, 59, 231, 257), "aarch64": (63, 64, 221, 94, 56)}
"""read, write, execve, exit_group and openat."""


def ask(program: bytes, number: int, *arguments: int, arch: int) -> int:
    """What the kernel would be told of a call: a small machine for the five instructions that the filter has."""
    data = struct.pack("=IIQ6Q", number, arch, 0, *arguments, *([0] * (6 - len(arguments))))
    steps = list(struct.iter_unpack("=HBBI", program))
    held, at = 0, 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("=I", data, value)
            case 0x54:
                held &= value
            case 0x15:
                at += then if held == value else otherwise
            case 0x25:
                at += then if held > value else otherwise
            case 0x06:
                return value
            case _:
                raise AssertionError(f"no instruction {code:#x}")


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


class Filter:
    """A filter to ask by name."""

    def __init__(
        self, machine: str, mechanism: Mechanism, *, network: bool = False, shared: bool = False, landlock: int = 7
    ) -> None:
        self.program = assemble(rules_for(mechanism, network=network, shared=shared, landlock=landlock), machine)
        self.machine = machine

    def __call__(self, call: str, *arguments: int) -> int:
        return ask(self.program, NUMBERS[self.machine][call], *arguments, arch=AUDIT_ARCH[self.machine])


@pytest.mark.parametrize("mechanism", Mechanism)
def test_ordinary_calls_pass(machine: str, mechanism: Mechanism) -> None:
    filtering = Filter(machine, mechanism)

    for number in OPEN_ANYWHERE[machine]:
        assert ask(filtering.program, number, arch=AUDIT_ARCH[machine]) == ALLOW


@pytest.mark.requirement("000-31", "system calls that reach out of the sandbox are refused")
@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize("call", ["ptrace", "unshare", "setns", "mount", "bpf", "keyctl", "io_uring_setup", "process_vm_readv"])
def test_reaching_out_is_refused_whatever_its_arguments(machine: str, mechanism: Mechanism, call: str) -> None:
    assert Filter(machine, mechanism)(call) == Filter(machine, mechanism)(call, *[0xFFFFFFFF] * 6) == EPERM


@pytest.mark.parametrize("mechanism", Mechanism)
def test_calls_that_are_newer_than_the_filter_are_not_there(machine: str, mechanism: Mechanism) -> None:
    filtering = Filter(machine, mechanism)

    assert ask(filtering.program, NEWEST, arch=AUDIT_ARCH[machine]) == ALLOW
    # Also what x32 adds to every number.
    for number in (NEWEST + 1, 0x40000000, 0x40000000 | 41, 0xFFFFFFFF):
        assert ask(filtering.program, number, arch=AUDIT_ARCH[machine]) == ENOSYS


def test_another_entry_to_the_kernel_ends_the_process(machine: str) -> None:
    for arch in {0x40000003, 0x40000028, *AUDIT_ARCH.values()} - {AUDIT_ARCH[machine]}:
        assert ask(Filter(machine, Mechanism.LANDLOCK).program, 0, arch=arch) == KILL


@pytest.mark.parametrize("mechanism", Mechanism)
def test_processes_and_threads_can_be_made_and_namespaces_cannot(machine: str, mechanism: Mechanism) -> None:
    filtering = Filter(machine, mechanism)

    assert filtering("clone", 17) == ALLOW
    assert filtering("clone", 0x3D0F00) == ALLOW
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert filtering("clone", flag | 17) == EPERM
    assert filtering("clone3") == ENOSYS


@pytest.mark.parametrize("mechanism", Mechanism)
@pytest.mark.parametrize(
    ("family", "kind", "without", "granted"),
    [
        (2, 1, EPERM, ALLOW),
        (2, 2 | 0o2000000, EPERM, ALLOW),
        (10, 1, EPERM, ALLOW),
        (2, 3, EPERM, EPERM),
        (1, 1, EPERM, EPERM),
        (16, 3, EPERM, EPERM),
        (17, 3, EPERM, EPERM),
        (38, 5, EPERM, EPERM),
        (40, 1, EPERM, EPERM),
    ],
)
def test_a_grant_of_the_network_opens_internet_sockets_alone(
    machine: str, mechanism: Mechanism, family: int, kind: int, without: int, granted: int
) -> None:
    assert Filter(machine, mechanism)("socket", family, kind) == without
    assert Filter(machine, mechanism, network=True)("socket", family, kind) == granted


@pytest.mark.parametrize(
    ("family", "kind", "expected"), [(1, 1, ALLOW), (1, 5, ALLOW), (1, 0o2000001, ALLOW), (1, 2, EPERM), (2, 1, EPERM)]
)
def test_pairs_of_sockets_are_connected_ones(machine: str, family: int, kind: int, expected: int) -> None:
    assert Filter(machine, Mechanism.BUBBLEWRAP)("socketpair", family, kind) == expected


def test_typing_into_a_terminal_is_refused_by_the_half_that_the_kernel_reads(machine: str) -> None:
    filtering = Filter(machine, Mechanism.BUBBLEWRAP)

    assert filtering("ioctl", 1, 0x5401) == ALLOW
    assert filtering("ioctl", 1, 0x5412) == filtering("ioctl", 1, 0x1_0000_5412) == EPERM


@pytest.mark.parametrize(
    ("call", "before", "without"),
    [
        ("fchmod", (3,), 0o755),
        ("fchmodat", (3, 7), 0o1777),
        ("fchmodat2", (3, 7), 0o600),
        ("openat", (3, 7, 0o101), 0o644),
        ("mknodat", (3, 7), 0o100644),
    ],
)
def test_no_file_is_made_to_run_as_its_owner(machine: str, call: str, before: tuple[int, ...], without: int) -> None:
    filtering, shared = Filter(machine, Mechanism.BUBBLEWRAP), Filter(machine, Mechanism.BUBBLEWRAP, shared=True)

    assert filtering(call, *before, without) == shared(call, *before, without) == ALLOW
    assert filtering(call, *before, without | 0o4000) == shared(call, *before, without | 0o6000) == EPERM
    assert filtering(call, *before, without | 0o2000) == EPERM
    assert shared(call, *before, without | 0o2000) == ALLOW
    assert filtering("openat2") == shared("openat2") == ENOSYS


def test_without_a_process_namespace_a_job_changes_itself_alone(machine: str) -> None:
    filtering = Filter(machine, Mechanism.LANDLOCK)

    assert filtering("prlimit64", 0, 7) == ALLOW
    assert filtering("prlimit64", 4711, 7) == EPERM
    assert filtering("setpriority", 0, 0, 5) == ALLOW
    assert filtering("setpriority", 0, 4711, 5) == filtering("setpriority", 2, 0, 5) == EPERM
    assert filtering("ioprio_set", 1, 0) == ALLOW
    assert filtering("ioprio_set", 1, 4711) == filtering("ioprio_set", 3, 0) == EPERM
    assert filtering("utimensat", 5, 0) == ALLOW
    assert filtering("utimensat", 5, 0x7FFF0000) == filtering("utimensat", 5, 0x1_0000_0000) == EPERM
    assert Filter(machine, Mechanism.BUBBLEWRAP)("prlimit64", 4711, 7) == ALLOW


@pytest.mark.parametrize(
    ("version", "signals", "truncate"), [(1, EPERM, EPERM), (3, EPERM, ALLOW), (5, EPERM, ALLOW), (6, ALLOW, ALLOW)]
)
def test_what_an_older_landlock_does_not_see_the_filter_refuses(machine: str, version: int, signals: int, truncate: int) -> None:
    filtering = Filter(machine, Mechanism.LANDLOCK, landlock=version)

    assert filtering("kill", 4711, 9) == filtering("kill", 0xFFFFFFFF, 9) == filtering("tgkill", 1, 1, 9) == signals
    assert filtering("fcntl", 3, 8) == signals
    assert filtering("kill", 0, 15) == filtering("fcntl", 3, 2) == ALLOW
    assert filtering("truncate") == truncate


def test_both_architectures_know_the_same_calls_but_for_old_forms() -> None:
    one, other = (set(NUMBERS[machine]) for machine in MACHINES)

    assert {*one} ^ {*other} == {
        "chmod",
        "chown",
        "lchown",
        "utime",
        "utimes",
        "futimesat",
        "ioperm",
        "iopl",
        "creat",
        "mknod",
        "open",
    }
    for machine in MACHINES:
        assert len(set(NUMBERS[machine].values())) == len(NUMBERS[machine])
