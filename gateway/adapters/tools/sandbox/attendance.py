"""Staying with a job: its output, its time, its tree, its end. Everything blocks."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import Final

from gateway.adapters.tools.sandbox import tree
from gateway.adapters.tools.sandbox.cage import GRACE_SECONDS, OUTPUT_CAP, Ended
from gateway.adapters.tools.sandbox.limits import Watch

TICK_SECONDS: Final = 0.05
"""How soon a cancel is noticed."""

KILL_SECONDS: Final = 5.0
"""Until a tree that gets SIGKILL again and again is given up; only a hung disk keeps a process that long."""

_CHUNK: Final = 1 << 16


@dataclass(slots=True)
class Stream:
    """The first bytes of a stream, and the count of the others."""

    kept: bytearray = field(default_factory=bytearray)
    omitted: int = 0

    def take(self, chunk: bytes) -> None:
        """What was read next."""
        room = OUTPUT_CAP - len(self.kept)
        self.kept += chunk[:room]
        self.omitted += max(0, len(chunk) - room)


class Attendance:
    """One job while it runs. `said` is what came through the status pipe, which is closed by whoever made it; `beyond` is how
    many generations between the launcher and the job belong to the cage, and are not asked to end: that would be at once."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        status: int,
        watch: Watch,
        cancelled: threading.Event,
        deadline: float,
        beyond: int,
    ) -> None:
        self.out, self.err, self.said = Stream(), Stream(), bytearray()
        self._process = process
        self._watch = watch
        self._cancelled = cancelled
        self._deadline = deadline
        self._beyond = beyond
        self._selector = selectors.DefaultSelector()
        assert process.stdout is not None
        assert process.stderr is not None
        for source, sink in ((process.stdout.fileno(), self.out.take), (process.stderr.fileno(), self.err.take)):
            self._selector.register(source, selectors.EVENT_READ, sink)
        self._selector.register(status, selectors.EVENT_READ, self.said.extend)

    def stay(self) -> Ended:
        """Until it ended by itself or was made to."""
        while self._selector.get_map() or self._process.poll() is None:
            self._read(TICK_SECONDS)
            if (why := self._must_end()) is not None:
                self._end()
                return why
            if self._process.poll() is not None:
                break
        return Ended.EXITED

    def leave(self) -> None:
        """Nothing of it is left when this returns: no process, no pipe."""
        self._kill()
        # What it still wrote is in the pipes; nobody is left to write more.
        quiet = time.monotonic() + KILL_SECONDS
        while self._selector.get_map() and time.monotonic() < quiet:
            self._read(TICK_SECONDS)
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _must_end(self) -> Ended | None:
        if self._cancelled.is_set():
            return Ended.CANCELLED
        if time.monotonic() >= self._deadline:
            return Ended.TIMED_OUT
        if self._process.poll() is None and self._watch.sees_too_much(self._process.pid):
            return Ended.OVER_LIMIT
        return None

    def _end(self) -> None:
        """Ask the whole tree to end, and go on reading meanwhile what it has to say."""
        patience = time.monotonic() + GRACE_SECONDS
        tree.send(self._process.pid, signal.SIGTERM, beyond=self._beyond)
        # A process that was stopped hears nothing before it goes on.
        tree.send(self._process.pid, signal.SIGCONT, beyond=self._beyond)
        while self._process.poll() is None and time.monotonic() < patience:
            self._read(TICK_SECONDS)

    def _kill(self) -> None:
        """SIGKILL until nothing is left. The launcher's own process goes last: it is the parent of what loses its own."""
        patience = time.monotonic() + KILL_SECONDS
        while self._process.poll() is None and time.monotonic() < patience:
            if not tree.freeze_and_kill(self._process.pid):
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
            if chunk := os.read(key.fd, _CHUNK):
                key.data(chunk)
            else:
                self._selector.unregister(key.fd)
