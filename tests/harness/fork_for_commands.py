"""The process that imports the product once and forks for each command: the other side of `preloaded`.

Read from one socket of whole messages: a command with its folder and environment, and four descriptors, of its three standard
streams and of a pipe that is told the new process's id, and then how it ended.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import gateway
from gateway.cli import main

_OWN_PROGRAMS = ("__main__", "launcher", "xllama_launcher")
_LARGEST = 1 << 20


def import_product() -> None:
    """All of it, for what a command imports later would be imported by each."""
    for module in pkgutil.walk_packages(gateway.__path__, "gateway."):
        if module.name.rpartition(".")[2] not in _OWN_PROGRAMS:
            importlib.import_module(module.name)
    threads = len(os.listdir("/proc/self/task"))
    assert threads == 1, f"{threads} threads: a forked process would have the locks of all and only one of them"
    gc.collect()
    gc.freeze()


def serve(connection: socket.socket) -> dict[str, Any]:
    """Fork for each message. Returns in the new processes only, with what they shall run."""
    running: dict[int, tuple[int, int]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not connection:
                    selector.unregister(key.fileobj)
                    _report(*running.pop(key.fd), key.fd)
                    continue
                message, descriptors, _, _ = socket.recv_fds(connection, _LARGEST, 4)
                if not message:
                    _end(running)
                pid = os.fork()
                if pid == 0:
                    # Objects that still held these numbers would close whatever gets them next.
                    selector.close()
                    connection.detach()
                    request = json.loads(message)
                    _become(request, descriptors[:3])
                    return request
                for descriptor in descriptors[:3]:
                    os.close(descriptor)
                os.write(descriptors[3], b"%d\n" % pid)
                handle = os.pidfd_open(pid)
                running[handle] = (pid, descriptors[3])
                selector.register(handle, selectors.EVENT_READ)


def _report(pid: int, told: int, handle: int) -> None:
    """Say how a process ended."""
    _, status = os.waitpid(pid, 0)
    # Of a test that waits no more.
    with suppress(BrokenPipeError):
        os.write(told, b"%d\n" % os.waitstatus_to_exitcode(status))
    os.close(told)
    os.close(handle)


def _end(running: dict[int, tuple[int, int]]) -> NoReturn:
    """The tests have ended: so does what they left behind."""
    for pid, _ in running.values():
        os.kill(pid, signal.SIGKILL)
    sys.exit(0)


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Take the place that an executed process would have: descriptors, terminal, environment, folder and signals."""
    # Above all that will be closed or replaced.
    high = [os.dup2(stream, 200 + at, inheritable=False) for at, stream in enumerate(streams)]
    os.closerange(3, 200)
    if request["terminal"]:
        os.login_tty(os.dup(high[0]))
    for at, stream in enumerate(high):
        os.dup2(stream, at)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["countersign", *request["arguments"]]
    _open_streams()


def _open_streams() -> None:
    """Text streams as the interpreter makes them in this locale (PEP 538, PEP 540)."""
    text, buffered = partial(os.fdopen, encoding="utf-8", closefd=False), 1 if os.isatty(1) else -1
    sys.stdin = sys.__stdin__ = text(0, errors="surrogateescape")
    sys.stdout = sys.__stdout__ = text(1, "w", errors="surrogateescape", buffering=buffered)
    sys.stderr = sys.__stderr__ = text(2, "w", errors="backslashreplace", buffering=1)


if __name__ == "__main__":
    # Ctrl-C at the tests is for the tests to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import_product()
    wanted = serve(socket.socket(fileno=int(sys.argv[1])))
    exec(wanted["before"], {"__name__": "__main__"})
    main()
