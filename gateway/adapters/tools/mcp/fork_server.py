"""Workers that are forked from one process which has loaded what all of them need: the SDK takes a second and 70 MB.

The process is there as long as a worker is. It has no secret and reads nothing of a server; what a worker inherits is the code
that it would have loaded itself. Everything here blocks, and may be called by any thread.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final
from weakref import WeakSet

READY_SECONDS: Final = 60.0
"""For loading the SDK, on a machine with other work."""

FORK_SECONDS: Final = 10.0
END_SECONDS: Final = 2.0

_LONGEST: Final = 64


class ForkedWorker:
    """A worker, as `subprocess.Popen` shows one. It is named by a handle, so that its number may go to another process."""

    def __init__(self, pid: int, handle: int, released: Callable[[ForkedWorker], None]) -> None:
        self.pid = pid
        self._handle: int | None = handle
        self._released = released
        self._using = threading.Lock()

    def wait(self, timeout: float) -> None:
        """Return when it has ended. Raises TimeoutExpired."""
        handle = self._handle
        if handle is None:
            return
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(timeout * 1000):
            raise subprocess.TimeoutExpired("worker", timeout)
        self._let_go()

    def kill(self) -> None:
        """End it; nothing where it has ended."""
        with self._using, suppress(ProcessLookupError):
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def __del__(self) -> None:
        # Of a start that was given up: the worker ends with its socket.
        if self._handle is not None:
            os.close(self._handle)

    def _let_go(self) -> None:
        with self._using:
            handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)
            self._released(self)


class ForkServer:
    """Starts workers."""

    def __init__(self, command: Callable[[int], Sequence[str]], environment: dict[str, str]) -> None:
        """`command` for a process that serves at that descriptor."""
        self._command = command
        self._environment = environment
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._workers: WeakSet[ForkedWorker] = WeakSet()

    @property
    def pid(self) -> int | None:
        """Of the process that forks, while there is one."""
        process = self._process
        return None if process is None else process.pid

    def start(self, descriptors: Sequence[int]) -> ForkedWorker:
        """A worker that has these descriptors from 3 on, and no others. Raises OSError."""
        with self._lock:
            if self._control is None:
                self._control = self._launch()
            try:
                socket.send_fds(self._control, [b"fork"], descriptors)
                said, given, _, _ = socket.recv_fds(self._control, _LONGEST, 1)
            except OSError:
                self._stop()
                raise
            if not given:
                if said.startswith(b"error "):
                    raise OSError(int(said.removeprefix(b"error ")), "a worker cannot be forked")
                # It is gone, and its workers with it.
                self._stop()
                _require_said(b"")
            worker = ForkedWorker(int(said), given[0], self._release)
            self._workers.add(worker)
            return worker

    def _launch(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 # this process's own interpreter and program
                    self._command(theirs.fileno()),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=self._environment,
                    cwd="/",
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            ours.settimeout(READY_SECONDS)
            _require_said(ours.recv(_LONGEST))
            ours.settimeout(FORK_SECONDS)
        except OSError:
            ours.close()
            self._stop()
            raise
        return ours

    def _release(self, worker: ForkedWorker) -> None:
        with self._lock:
            self._workers.discard(worker)
            if not self._workers:
                self._stop()

    def _stop(self) -> None:
        control, self._control = self._control, None
        process, self._process = self._process, None
        self._workers = WeakSet()
        if control is not None:
            control.close()
        if process is not None:
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _require_said(said: bytes) -> None:
    if not said:
        raise OSError(errno.ECHILD, "the process that starts workers ended")
