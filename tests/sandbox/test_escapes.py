"""Nobody gets out, whatever holds them in: every attempt first succeeds without a sandbox and then fails in each."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.conftest import (
    ENVIRONMENT,
    NOBODY_ELSE,
    ROOT,
    VARIANTS,
    TrialHost,
    Variant,
    find_python,
    make_host,
    run_as,
)
from tests.sandbox.probes import START
from tests.sandbox.probes.attempts import LIBC
from tests.sandbox.probes.run import ATTEMPTS

SHARED_USER = {"slow_everything_of_the_user_down"}
"""Reaches all of the user's processes on the machine; tried in the open only as a user who is nobody else."""

ROOTS_ALONE = {
    "make_a_raw_socket",
    "make_a_packet_socket",
    "write_to_a_disk",
    "enter_the_gateways_namespace",
}
"""What an ordinary user cannot do anyway; shown for a gateway that is root."""

UP_TO_THE_MACHINE = {
    "make_a_ring",
    "talk_to_the_crypto_sockets",
    "make_a_user_namespace",
    "clone_into_a_user_namespace",
    "clone_with_the_newer_call",
    "mount_something",
    "open_a_file_system",
    "keep_a_key",
    "join_a_keyring",
    "handle_page_faults",
    "mark_a_file_outside",
    "mark_what_may_only_be_read",
    "trace_the_gateway",
    "read_the_gateways_memory",
    "read_the_gateways_memory_as_a_file",
    "take_a_descriptor_of_the_gateway",
}
"""What kernels and distributions may have closed for everybody, here or elsewhere."""

VICTIM = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1 & (1 << 64) - 1), 0, 0, 0)
buffer = ctypes.create_string_buffer(b"treasure")
heard = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.signal(signal.SIGUSR2, lambda *_: os.write(heard, b"!"))
libc = ctypes.CDLL(None)
message = (1).to_bytes(8, sys.byteorder) + b"hers"
queue, full = libc.msgget(0, 0o600), libc.msgget(0, 0o600)
semaphore, segment = libc.semget(0, 1, 0o600), libc.shmget(0, 4096, 0o600)
for _ in range(4):
    libc.msgsnd(full, message, 4, 0)
print(ctypes.addressof(buffer), queue, full, semaphore, segment, flush=True)
while True:
    signal.pause()
"""


@contextlib.contextmanager
def surroundings(host: TrialHost) -> Generator[dict[str, Any]]:
    """Somebody to attack: a process of the gateway's, and everything it listens on."""
    heard = host.work / "heard"
    with contextlib.ExitStack() as stack:
        victim = stack.enter_context(
            subprocess.Popen(
                [find_python(), "-I", "-c", VICTIM, str(heard)],
                stdout=subprocess.PIPE,
                env={**ENVIRONMENT, "SECRET": "x"},
                **run_as(host.gateway),
            )
        )
        stack.callback(victim.kill)
        assert victim.stdout is not None
        address, queue, full, semaphore, segment = map(int, victim.stdout.readline().split())
        for remove, number in ((LIBC.msgctl, queue), (LIBC.msgctl, full), (LIBC.shmctl, segment)):
            stack.callback(remove, number, 0, None)
        stack.callback(LIBC.semctl, semaphore, 0, 0)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        unix = stack.enter_context(listen_at(str(host.state / "control.sock")))
        near = stack.enter_context(listen_at(str(host.work / "near.sock")))
        name = f"countersign-probe-{os.getpid()}-{victim.pid}"
        abstract = stack.enter_context(listen_at("\0" + name))
        datagrams = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        datagrams.bind(str(host.state / "datagrams.sock"))
        if ROOT:
            host.own()
        for line in (tcp, unix, near, abstract):
            serve(stack, greet, line)
        serve(stack, echo, udp)
        yield {
            "secret": str(host.state / "secret"),
            "neighbour": str(host.neighbour / "file"),
            "expendable": str(host.neighbour / "expendable"),
            "heard": str(heard),
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "unix": str(host.state / "control.sock"),
            "near": "near.sock",
            "abstract": name,
            "datagrams": str(host.state / "datagrams.sock"),
            "victim": victim.pid,
            "address": address,
            "queue": queue,
            "full": full,
            "semaphore": semaphore,
            "segment": segment,
            "readable": str(host.shown / "file"),
        }


def listen_at(path: str) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.bind(path)
    line.listen()
    return line


def greet(line: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            caller, _ = line.accept()
            with caller:
                caller.sendall(b"!")


def echo(line: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while (received := line.recvfrom(16))[0]:
            line.sendto(*received)


def serve(stack: contextlib.ExitStack, serving: Callable[[socket.socket], None], line: socket.socket) -> None:
    """Answer on `line` in a thread that ends with the stack."""
    thread = threading.Thread(target=serving, args=(line,))
    thread.start()

    def stop() -> None:
        # Wakes whoever waits on it, which closing would not; a datagram socket says that it was connected to nobody.
        with contextlib.suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
        thread.join(10)

    stack.callback(stop)


@cache
def outcomes(variant: Variant) -> tuple[dict[str, str], dict[str, str]]:
    """What came of every attempt in the open and in the sandbox."""
    host = make_host(variant)
    try:
        with surroundings(host) as targets:
            shown = sorted(set(ATTEMPTS) - (SHARED_USER if host.gateway != NOBODY_ELSE else set()))
            ready(host, targets)
            outside = host.outside([find_python(), "-I", "-c", START], given=json.dumps({**targets, "attempts": shown}).encode())
            assert outside.returncode == 0, outside.stderr
            ready(host, targets)
            inside = host.run(
                *(find_python(), "-I", "-c", START),
                stdin=json.dumps({**targets, "attempts": sorted(ATTEMPTS)}).encode(),
                readable=(host.shown,),
            )
            assert inside.exit_code == 0, inside
            return json.loads(outside.stdout), json.loads(inside.stdout)
    finally:
        shutil.rmtree(host.root)


def ready(host: TrialHost, targets: dict[str, Any]) -> None:
    """Put back what an attempt that succeeded took away."""
    Path(targets["expendable"]).write_bytes(b"x")
    Path(targets["neighbour"]).write_bytes(b"somebody else's")
    Path(targets["neighbour"]).chmod(0o600)
    Path(targets["readable"]).chmod(0o644)
    Path(targets["heard"]).write_bytes(b"")
    if ROOT:
        host.own()


@pytest.mark.requirement("000-31", "each way out that works without the sandbox fails in it")
@pytest.mark.parametrize("name", sorted(ATTEMPTS))
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_sandbox_refuses_what_works_without_it(variant: Variant, name: str) -> None:
    outside, inside = outcomes(variant)

    assert inside[name] != "reached"
    assert not inside[name].startswith("died")
    if name in outside and name not in UP_TO_THE_MACHINE and (variant.by_root or name not in ROOTS_ALONE):
        assert outside[name] == "reached"


@pytest.mark.parametrize(
    "name", ["trace_the_gateway", "keep_a_key", "make_a_ring", "make_a_user_namespace", "handle_page_faults"]
)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_what_a_machine_may_have_closed_itself_is_closed_by_the_filter_too(variant: Variant, name: str) -> None:
    _, inside = outcomes(variant)

    # The filter's own word. A machine that lacks the call says something else, and does not get to say it.
    assert inside[name] == "EPERM"
