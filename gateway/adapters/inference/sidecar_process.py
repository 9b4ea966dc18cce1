"""One run of the sidecar's process, from its start to its last log line.

A thread of its own starts it and waits for it. Not the event loop: uvloop forks, which copies the page tables of the whole
gateway of a large process. And not a pool's thread: the kernel's parent-death signal is tied to the thread that started the
process, so that thread has to live exactly as long.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from gateway.core.canonical import Json

LAUNCHER: Final = (sys.executable, "-I", "-B", str(Path(__file__).with_name("xllama_launcher.py")))

TERM_SECONDS: Final = 2.0
"""Between SIGTERM and SIGKILL."""

LOG_BYTES: Final = 1 << 20
"""Per log file; there are two, the current and the one before."""

NOT_STARTED: Final = 127
"""A shell's exit code for a command that cannot be found."""

_PIPE_CHUNK: Final = 1 << 14


class BoundedLog:
    """A file that starts anew when it is full; what was in it is kept once, as `NAME.1`."""

    def __init__(self, path: Path, limit: int = LOG_BYTES) -> None:
        self._path = path
        self._limit = limit

    def take(self, pipe: IO[bytes]) -> None:
        """Write what comes out of a pipe until it ends. A full disk loses log lines, nothing else."""
        while chunk := os.read(pipe.fileno(), _PIPE_CHUNK):
            self.append(chunk)

    def append(self, chunk: bytes) -> None:
        """Write what came next, if the disk takes it."""
        with contextlib.suppress(OSError):
            self._write(chunk)

    def _write(self, chunk: bytes) -> None:
        with self._path.open("ab") as file:
            is_full = file.tell() + len(chunk) > self._limit
            if not is_full:
                file.write(chunk)
        if is_full:
            os.replace(self._path, self._path.with_name(self._path.name + ".1"))
            self._path.write_bytes(chunk)


class SidecarProcess:
    """A running process and its group. `exited` gets the exit code, negative for a signal."""

    def __init__(
        self,
        order: Mapping[str, Json],
        *,
        environment: Mapping[str, str],
        folder: Path,
        log: BoundedLog,
        command: Sequence[str] = LAUNCHER,
    ) -> None:
        self._order = json.dumps({**order, "parent": os.getpid()}).encode() + b"\n"
        self._command = command
        self._environment = environment
        self._folder = folder
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._guard = threading.Lock()
        self._pid: int | None = None
        self._is_over = False
        self.exited: asyncio.Future[int] = self._loop.create_future()

    def start(self) -> None:
        """Start it; a start that fails shows as exit code `NOT_STARTED`."""
        threading.Thread(target=self._live, name="sidecar", daemon=True).start()

    async def stop(self) -> None:
        """SIGTERM to the group, two seconds, SIGKILL. Returns when it is gone; one that was not started yet never will be."""
        with self._guard:
            self._is_over = True
        self._signal(signal.SIGTERM)
        done, _ = await asyncio.wait({self.exited}, timeout=TERM_SECONDS)
        if not done:
            self._signal(signal.SIGKILL)
            await self.exited

    def _live(self) -> None:
        code = NOT_STARTED
        try:
            with self._guard:
                process = None if self._is_over else self._spawn()
                self._pid = None if process is None else process.pid
            if process is not None:
                code = self._attend(process)
        except OSError:
            pass
        finally:
            self._tell(lambda: None if self.exited.done() else self.exited.set_result(code))

    def _spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our launcher; the order goes through its standard input
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self._environment,
            cwd=self._folder,
            start_new_session=True,
        )

    def _attend(self, process: subprocess.Popen[bytes]) -> int:
        assert process.stdin is not None
        assert process.stdout is not None
        pump = threading.Thread(target=self._log.take, args=(process.stdout,), name="sidecar-log", daemon=True)
        pump.start()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(self._order)
            process.stdin.flush()
        # Without reaping yet: while the dead leader keeps its number, the group cannot be anybody else's. macOS has no `waitid`
        # before Python 3.13; a number is not given out again that soon.
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        with self._guard:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
            self._pid = None
        pump.join()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        return code

    def _signal(self, number: signal.Signals) -> None:
        with self._guard:
            if self._pid is not None:
                # macOS answers EPERM for a group of which only the unreaped leader is left.
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._pid, number)

    def _tell(self, what: Callable[[], None]) -> None:
        # The loop may be closed already when the gateway is killed.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)
