"""The fork server's process: it loads what every worker needs once, then forks a worker for each request.

It reads nothing that a server wrote and is given no secret: a worker gets its settings over its own socket. It has one thread,
or a fork would not be safe. Linux only.
"""

from __future__ import annotations

import fcntl
import gc
import os
import resource
import select
import socket
from collections.abc import Sequence
from typing import Final, NoReturn

from gateway.adapters.tools.mcp.worker.run import main as work

MOST_GIVEN: Final = 4
"""Descriptors of one worker: its socket and the three of a server that is a program."""

_FIRST: Final = 3
_HIGH: Final = 256
_OPEN_FILES: Final = 512
"""One for each worker that runs, of which there are as many as sources."""


def main(descriptor: int) -> NoReturn:
    """Serve the gateway at `descriptor` until it lets go. The workers end with this process."""
    if len(os.listdir("/proc/self/task")) != 1:
        raise SystemExit("a library started a thread")
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    gc.collect()
    # What is there now is looked at by no collection, so that its pages stay shared.
    gc.freeze()
    control = socket.socket(fileno=descriptor)
    running: dict[int, int] = {}
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    control.send(b"ready")
    while True:
        for found, _ in waiting.poll():
            if found != control.fileno():
                # Only a worker that was not waited for keeps its number, so the number and this descriptor are let go together.
                waiting.unregister(found)
                os.waitpid(running.pop(found), 0)
                os.close(found)
                continue
            request, given, _, _ = socket.recv_fds(control, 16, MOST_GIVEN)
            if not request:
                os._exit(0)
            if (worker := _start(control, given)) is not None:
                handle, pid = worker
                running[handle] = pid
                waiting.register(handle, select.POLLIN)


def _start(control: socket.socket, given: Sequence[int]) -> tuple[int, int] | None:
    """Fork a worker with these descriptors and tell the gateway: a handle of the worker and its number."""
    try:
        pid = os.fork()
        if pid == 0:
            _become_worker(control, given)
        handle = os.pidfd_open(pid)
    except OSError as error:
        control.send(b"error %d" % (error.errno or 0))
        return None
    finally:
        for descriptor in given:
            os.close(descriptor)
    socket.send_fds(control, [b"%d" % pid], [handle])
    return handle, pid


def _become_worker(control: socket.socket, given: Sequence[int]) -> NoReturn:
    """Keep nothing that is open but the descriptors of this worker, which get the numbers from 3 on."""
    try:
        control.detach()
        os.setsid()
        moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH) for descriptor in given]
        os.closerange(_FIRST, _HIGH)
        for place, descriptor in enumerate(moved, start=_FIRST):
            os.dup2(descriptor, place, inheritable=False)
        os.closerange(_HIGH, _OPEN_FILES)
        work(_FIRST)
    finally:
        os._exit(1)
