"""Attempts at getting out, as a program: `python3 -I probes.py`, its targets as JSON on stdin, what came of each on stdout.

Each attempt runs in a process of its own. It comes to `reached`, or to the name of the error that stopped it. Run without a
cage first, all of them must be able to reach what they are after; only then does it say something that they do not inside.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Targets = Mapping[str, Any]
Attempt = Callable[[Targets], object]

ATTEMPTS: dict[str, Attempt] = {}

LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"


def attempt(probe: Attempt) -> Attempt:
    ATTEMPTS[probe.__name__] = probe
    return probe


def call(number: int, *values: Any) -> int:
    longs = [ctypes.c_long(value) if isinstance(value, int) else value for value in values]
    result = LIBC.syscall(ctypes.c_long(number), *longs)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def number_of(x86_64: int, aarch64: int) -> int:
    return aarch64 if ARM else x86_64


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        found = file.read()
    if not found:
        raise OSError(errno.ENODATA, "nothing there")
    return found


@attempt
def read_the_gateways_state(targets: Targets) -> object:
    return read(targets["secret"])


@attempt
def read_another_workspace(targets: Targets) -> object:
    return read(targets["neighbour"])


@attempt
def list_the_gateways_state(targets: Targets) -> object:
    return os.listdir(os.path.dirname(targets["secret"]))


@attempt
def read_through_a_link(targets: Targets) -> object:
    os.symlink(targets["secret"], "link")
    try:
        return read("link")
    finally:
        os.unlink("link")


@attempt
def read_through_a_second_name(targets: Targets) -> object:
    os.link(targets["secret"], "name")
    try:
        return read("name")
    finally:
        os.unlink("name")


@attempt
def read_through_dots(targets: Targets) -> object:
    return read(os.path.join("..", *targets["secret"].split("/")[-2:]))


@attempt
def write_into_another_workspace(targets: Targets) -> object:
    with open(targets["neighbour"], "ab") as file:
        file.write(b"!")
    return True


@attempt
def create_in_another_workspace(targets: Targets) -> object:
    os.close(os.open(os.path.join(os.path.dirname(targets["neighbour"]), "new"), os.O_CREAT | os.O_WRONLY))
    return os.unlink(os.path.join(os.path.dirname(targets["neighbour"]), "new"))


@attempt
def make_a_folder_outside(targets: Targets) -> object:
    os.mkdir(os.path.join(os.path.dirname(targets["neighbour"]), "folder"))
    return os.rmdir(os.path.join(os.path.dirname(targets["neighbour"]), "folder"))


@attempt
def remove_a_file_outside(targets: Targets) -> object:
    return os.unlink(targets["expendable"])


@attempt
def move_a_file_out(targets: Targets) -> object:
    with open("mine", "wb"):
        pass
    out = os.path.join(os.path.dirname(targets["neighbour"]), "mine")
    os.rename("mine", out)
    return os.unlink(out)


@attempt
def cut_a_file_outside(targets: Targets) -> object:
    return os.truncate(targets["neighbour"], 1)


@attempt
def open_up_a_file_outside(targets: Targets) -> object:
    return os.chmod(targets["neighbour"], 0o666)


@attempt
def change_times_of_a_file_outside(targets: Targets) -> object:
    return os.utime(targets["neighbour"], (1, 1))


@attempt
def mark_a_file_outside(targets: Targets) -> object:
    return os.setxattr(targets["neighbour"], "user.mark", b"1")


@attempt
def watch_a_folder_outside(targets: Targets) -> object:
    watcher = LIBC.inotify_init()
    if LIBC.inotify_add_watch(watcher, os.fsencode(os.path.dirname(targets["secret"])), 0xFFF) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return True


@attempt
def leave_a_program_that_runs_as_its_owner(targets: Targets) -> object:
    with open("program", "wb") as file:
        os.fchmod(file.fileno(), 0o4755)
    return os.unlink("program")


@attempt
def create_a_program_that_runs_as_its_owner(targets: Targets) -> object:
    os.close(os.open("created", os.O_CREAT | os.O_WRONLY, 0o4755))
    return os.unlink("created")


@attempt
def create_one_through_a_pointer(targets: Targets) -> object:
    how = struct.pack("3Q", os.O_CREAT | os.O_WRONLY, 0o4755, 0)
    os.close(call(437, -100, b"pointed", how, len(how)))
    return os.unlink("pointed")


# ── network ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@attempt
def reach_tcp(targets: Targets) -> object:
    with socket.create_connection(("127.0.0.1", targets["tcp"]), timeout=10) as line:
        return line.recv(1) or os.abort()


@attempt
def listen_on_tcp(targets: Targets) -> object:
    with socket.create_server(("127.0.0.1", 0)):
        return True


@attempt
def ask_by_udp(targets: Targets) -> object:
    # What a question for a name looks like: a datagram, and one that comes back.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(10)
        line.sendto(b"?", ("127.0.0.1", targets["udp"]))
        return line.recv(1)


@attempt
def reach_a_socket_by_path(targets: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(targets["unix"])
        return line.recv(1)


@attempt
def reach_a_socket_in_the_own_folder(targets: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(targets["near"])
        return line.recv(1)


@attempt
def reach_an_abstract_socket(targets: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect("\0" + targets["abstract"])
        return line.recv(1)


@attempt
def send_from_a_pair_of_datagrams(targets: Targets) -> object:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        return one.sendto(b"x", targets["datagrams"])


@attempt
def talk_netlink(targets: Targets) -> object:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW):
        return True


@attempt
def talk_to_the_crypto_sockets(targets: Targets) -> object:
    with socket.socket(38, socket.SOCK_SEQPACKET):
        return True


@attempt
def make_a_raw_socket(targets: Targets) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP):
        return True


@attempt
def make_a_packet_socket(targets: Targets) -> object:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW):
        return True


@attempt
def make_a_ring(targets: Targets) -> object:
    return call(425, 4, (ctypes.c_char * 256)())


# ── other processes ─────────────────────────────────────────────────────────────────────────────────────────────────────


@attempt
def signal_the_gateway(targets: Targets) -> object:
    return os.kill(targets["victim"], signal.SIGUSR1)


@attempt
def signal_a_thread_of_the_gateway(targets: Targets) -> object:
    return call(number_of(234, 131), targets["victim"], targets["victim"], signal.SIGUSR1)


@attempt
def signal_the_gateway_by_descriptor(targets: Targets) -> object:
    return signal.pidfd_send_signal(os.pidfd_open(targets["victim"]), signal.SIGUSR1)


@attempt
def have_the_kernel_signal_the_gateway(targets: Targets) -> object:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    fcntl.fcntl(reader, 10, signal.SIGUSR2)
    fcntl.fcntl(reader, fcntl.F_SETOWN, targets["victim"])
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writer, b"x")
    # What the kernel refuses to deliver it refuses silently; the victim says on its line whether it heard something.
    with open(targets["heard"], "rb") as line:
        for _ in range(40):
            if line.read():
                return True
            time.sleep(0.05)
    raise OSError(errno.ETIMEDOUT, "nothing heard")


@attempt
def trace_the_gateway(targets: Targets) -> object:
    # PTRACE_SEIZE, which stops nobody, and which this process's end undoes.
    return call(number_of(101, 117), 0x4206, targets["victim"], 0, 0)


@attempt
def read_the_gateways_memory(targets: Targets) -> object:
    found = ctypes.create_string_buffer(8)
    near = struct.pack("QQ", ctypes.addressof(found), 8)
    far = struct.pack("QQ", targets["address"], 8)
    return call(number_of(310, 270), targets["victim"], near, 1, far, 1, 0)


@attempt
def read_the_gateways_memory_as_a_file(targets: Targets) -> object:
    with open(f"/proc/{targets['victim']}/mem", "rb", buffering=0) as memory:
        memory.seek(targets["address"])
        return memory.read(8)


@attempt
def read_the_gateways_environment(targets: Targets) -> object:
    return read(f"/proc/{targets['victim']}/environ")


@attempt
def read_the_gateways_command_line(targets: Targets) -> object:
    return read(f"/proc/{targets['victim']}/cmdline")


@attempt
def list_the_gateways_descriptors(targets: Targets) -> object:
    return os.listdir(f"/proc/{targets['victim']}/fd")


@attempt
def take_a_descriptor_of_the_gateway(targets: Targets) -> object:
    return call(438, os.pidfd_open(targets["victim"]), 0, 0)


@attempt
def enter_the_gateways_namespace(targets: Targets) -> object:
    return call(number_of(308, 268), os.open(f"/proc/{targets['victim']}/ns/uts", os.O_RDONLY), 0)


@attempt
def limit_the_gateway(targets: Targets) -> object:
    return resource.prlimit(targets["victim"], resource.RLIMIT_CORE, (0, 0))


@attempt
def slow_the_gateway_down(targets: Targets) -> object:
    return os.setpriority(os.PRIO_PROCESS, targets["victim"], 19)


@attempt
def slow_everything_of_the_user_down(targets: Targets) -> object:
    before = os.getpriority(os.PRIO_PROCESS, targets["victim"])
    os.setpriority(os.PRIO_USER, 0, 7 if before != 7 else 8)
    if os.getpriority(os.PRIO_PROCESS, targets["victim"]) == before:
        raise PermissionError
    return True


@attempt
def pin_the_gateway(targets: Targets) -> object:
    return os.sched_setaffinity(targets["victim"], os.sched_getaffinity(targets["victim"]))


# ── the kernel ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@attempt
def make_a_user_namespace(targets: Targets) -> object:
    return call(number_of(272, 97), 0x10000000)


@attempt
def clone_into_a_user_namespace(targets: Targets) -> object:
    child = call(number_of(56, 220), 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return os.waitpid(child, 0)


@attempt
def clone_with_the_newer_call(targets: Targets) -> object:
    child = call(435, struct.pack("8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64)
    if child == 0:
        os._exit(0)
    return os.waitpid(child, 0)


@attempt
def mount_something(targets: Targets) -> object:
    # In a namespace of its own if that can be had, so that nothing is left where it works.
    call(number_of(272, 97), 0x20000 if os.geteuid() == 0 else 0x10020000)
    return call(number_of(165, 40), b"none", b"/", 0, 0x44000, 0)


@attempt
def open_a_file_system(targets: Targets) -> object:
    call(number_of(272, 97), 0x20000 if os.geteuid() == 0 else 0x10020000)
    return call(430, b"tmpfs", 0)


@attempt
def keep_a_key(targets: Targets) -> object:
    return call(number_of(248, 217), b"user", b"probe", b"x", 1, -2)


@attempt
def join_a_keyring(targets: Targets) -> object:
    return call(number_of(250, 219), 1, 0)


@attempt
def handle_page_faults(targets: Targets) -> object:
    return call(number_of(323, 282), 1)


@attempt
def share_memory_that_nobody_counts(targets: Targets) -> object:
    made = call(number_of(29, 194), 0, 4096, 0o1600)
    return call(number_of(31, 195), made, 0, 0)


@attempt
def keep_a_file_in_memory(targets: Targets) -> object:
    return call(number_of(319, 279), b"probe", 0)


@attempt
def type_into_the_terminal(targets: Targets) -> object:
    # Not on a terminal, so that nothing is typed: the kernel says ENOTTY, and the cage has to be quicker.
    try:
        fcntl.ioctl(0, 0x5412, b"x")
    except OSError as error:
        if error.errno != errno.ENOTTY:
            raise
    return True


@attempt
def type_into_the_terminal_by_the_upper_half(targets: Targets) -> object:
    # The kernel looks at 32 bits of the request; a filter that compared 64 would let this one by.
    try:
        call(number_of(16, 29), 0, 0x1_0000_5412, b"x")
    except OSError as error:
        if error.errno != errno.ENOTTY:
            raise
    return True


@attempt
def write_to_a_disk(targets: Targets) -> object:
    return os.mknod("device", 0o060600, os.makedev(7, 0)) or os.unlink("device")


@attempt
def gain_by_a_program_of_root(targets: Targets) -> object:
    if LIBC.prctl(39, 0, 0, 0, 0) == 1:
        raise PermissionError
    return True


# ── the probing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def run(probe: Attempt, targets: Targets) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            probe(targets)
            outcome = "reached"
        except OSError as error:
            outcome = errno.errorcode.get(error.errno or 0, type(error).__name__)
        os.write(writer, outcome.encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answer:
        outcome = answer.read().decode()
    _, ended = os.waitpid(child, 0)
    return outcome or f"died of {ended}"


if __name__ == "__main__":
    given = json.load(sys.stdin)
    json.dump({name: run(ATTEMPTS[name], given) for name in given["attempts"]}, sys.stdout)
