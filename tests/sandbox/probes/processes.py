"""Attempts at other processes."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import resource
import signal
import struct
import time

from .attempts import Targets, attempt, call, number_of, read


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
