"""Supervising a job: its output, its time, its processes, its end. Everything blocks."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Final

from gateway.sandbox import process_tree
from gateway.sandbox.job import GRACE_SECONDS, OUTPUT_CAP, Cancellation, JobEnd
from gateway.sandbox.monitoring import ResourceMonitor

TICK_SECONDS: Final = 0.05
"""How soon the end of a job is noticed that nothing else tells, and a cancellation by an event that wakes nobody."""

KILL_SECONDS: Final = 5.0
"""Seconds of repeated SIGKILL before the tree is abandoned; only a hung disk keeps a process that long."""

_CHUNK: Final = 1 << 16


@dataclass(slots=True)
class CappedStream:
    """The first bytes of a stream, and the count of the others."""

    kept: bytearray = field(default_factory=bytearray)
    omitted: int = 0

    def append(self, chunk: bytes) -> None:
        """Add what was read next."""
        space = OUTPUT_CAP - len(self.kept)
        self.kept += chunk[:space]
        self.omitted += max(0, len(chunk) - space)


class ProcessSupervisor:
    """One job while it runs: `wait` until it ends, then `close`.

    `status_output` is what came through the status pipe, which its creator closes. `skip` is how many generations
    between the launcher and the job belong to the sandbox; SIGTERM is not sent to those, because they would end at once.
    With an `output`, what the job writes goes there and is not kept.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        status: int,
        monitor: ResourceMonitor,
        cancelled: threading.Event,
        deadline: float,
        skip: int,
        output: Callable[[bytes], None] | None = None,
    ) -> None:
        self.out, self.err, self.status_output = CappedStream(), CappedStream(), bytearray()
        self._process = process
        self._monitor = monitor
        self._cancelled = cancelled
        self._deadline = deadline
        self._skip = skip
        self._selector = selectors.DefaultSelector()
        for source, stream in ((process.stdout, self.out), (process.stderr, self.err)):
            if source is None:
                continue  # the job has a descriptor of its starter's
            self._selector.register(source.fileno(), selectors.EVENT_READ, stream.append if output is None else output)
        self._selector.register(status, selectors.EVENT_READ, self.status_output.extend)

    def wait(self) -> JobEnd:
        """Wait until it ended by itself or was ended."""
        with self._wakened() as wakes:
            while self._selector.get_map() or self._process.poll() is None:
                self._read(self._seconds_to_look() if wakes else TICK_SECONDS)
                if (why := self._find_reason_to_stop()) is not None:
                    break
                if self._process.poll() is not None:
                    return JobEnd.EXITED
            else:
                return JobEnd.EXITED
        self._terminate()
        return why

    def close(self) -> None:
        """End it: when this returns, no process and no pipe of it is left."""
        self._kill()
        # What it still wrote is in the pipes; nobody is left to write more.
        deadline = time.monotonic() + KILL_SECONDS
        while self._selector.get_map() and time.monotonic() < deadline:
            self._read(TICK_SECONDS)
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    @contextlib.contextmanager
    def _wakened(self) -> Generator[bool]:
        """Within it, a cancellation and the end of the launcher's process wake `_read`; false where they cannot."""
        if not isinstance(self._cancelled, Cancellation) or not hasattr(os, "pidfd_open"):
            yield False
            return
        ended = os.pidfd_open(self._process.pid)
        wakers = (ended, self._cancelled.fileno())
        try:
            for waker in wakers:
                self._selector.register(waker, selectors.EVENT_READ, None)
            yield True
        finally:
            for waker in wakers:
                self._selector.unregister(waker)
            os.close(ended)

    def _seconds_to_look(self) -> float:
        left = max(0.0, self._deadline - time.monotonic())
        return min(left, self._monitor.seconds_to_next)

    def _find_reason_to_stop(self) -> JobEnd | None:
        if self._cancelled.is_set():
            return JobEnd.CANCELLED
        if time.monotonic() >= self._deadline:
            return JobEnd.TIMED_OUT
        if self._process.poll() is None and self._monitor.exceeds_limits(self._process.pid):
            return JobEnd.OVER_LIMIT
        return None

    def _terminate(self) -> None:
        """Ask all its processes to end, and continue to read what they write meanwhile."""
        deadline = time.monotonic() + GRACE_SECONDS
        process_tree.send(self._process.pid, signal.SIGTERM, skip=self._skip)
        # A process that was stopped handles no signal before it continues.
        process_tree.send(self._process.pid, signal.SIGCONT, skip=self._skip)
        while self._process.poll() is None and time.monotonic() < deadline:
            self._read(TICK_SECONDS)

    def _kill(self) -> None:
        """SIGKILL until nothing is left. The launcher's own process goes last: it is the parent of all orphans."""
        deadline = time.monotonic() + KILL_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            if not process_tree.freeze_and_kill(self._process.pid):
                # Either it is about to end, having nothing left to wait for, or it never came as far as a job.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(TICK_SECONDS)
                    break
                self._process.terminate()
            self._read(0)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(KILL_SECONDS)

    def _read(self, seconds: float) -> None:
        if not self._selector.get_map():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
            return
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                continue  # it only wakes
            if chunk := os.read(key.fd, _CHUNK):
                key.data(chunk)
            else:
                self._selector.unregister(key.fd)
