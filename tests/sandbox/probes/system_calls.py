"""Attempts at system calls that no job needs."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import struct

from .attempts import LIBC, Targets, attempt, call, number_of


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
def put_a_message_into_a_queue_of_the_gateway(targets: Targets) -> object:
    return call(number_of(69, 189), targets["queue"], struct.pack("q4s", 1, b"mine"), 4, os.O_NONBLOCK)


@attempt
def take_a_message_out_of_a_queue_of_the_gateway(targets: Targets) -> object:
    return call(number_of(70, 188), targets["full"], bytes(64), 4, 0, os.O_NONBLOCK)


@attempt
def set_a_semaphore_of_the_gateway(targets: Targets) -> object:
    return call(number_of(66, 191), targets["semaphore"], 0, 16, 1)


@attempt
def change_shared_memory_of_the_gateway(targets: Targets) -> object:
    # IPC_STAT: IPC_RMID would take the target away.
    return call(number_of(31, 195), targets["segment"], 2, bytes(256))


@attempt
def have_others_wait_for_a_file(targets: Targets) -> object:
    with open("leased", "wb"):
        pass
    held = os.open("leased", os.O_RDONLY)
    try:
        return fcntl.fcntl(held, 1024, fcntl.F_RDLCK)
    finally:
        os.unlink("leased")


@attempt
def have_the_kernel_hold_much_in_a_socket(targets: Targets) -> object:
    one, other = socket.socketpair()
    with one, other:
        return one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)


@attempt
def keep_a_file_in_memory(targets: Targets) -> object:
    return call(number_of(319, 279), b"probe", 0)


@attempt
def type_into_the_terminal(targets: Targets) -> object:
    # Not on a terminal, so that nothing is typed: the kernel says ENOTTY, and the sandbox has to be quicker.
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
