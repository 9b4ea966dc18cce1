"""Starting the worker of a server and, where the server is a program, the server itself in the sandbox.

Everything here blocks. The two are joined by pipes that the gateway keeps no end of, so that nothing a server writes passes
through it.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

import gateway
from gateway.adapters.tools.mcp.fork_server import ForkedWorker, ForkServer
from gateway.sandbox.job import Cancellation, Job, JobEnd, JobLimits, JobResult, JobStreams, Sandbox, SandboxError

_BOOT: Final = (
    "import sys; from importlib.util import module_from_spec as make, spec_from_file_location as find; "
    "found = find('gateway', sys.argv[1] + '/__init__.py', submodule_search_locations=[sys.argv[1]]); "
    "sys.modules['gateway'] = package = make(found); found.loader.exec_module(package); "
    "from importlib import import_module; "
    "import_module('gateway.adapters.tools.mcp.worker.' + sys.argv[3]).main(int(sys.argv[2]))"
)
"""This very package, whichever is installed, and without its folder among those that are searched for libraries."""

_PACKAGE: Final = str(Path(gateway.__file__).resolve().parent)

_ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


def _command(program: str, descriptor: int) -> list[str]:
    return [sys.executable, "-I", "-c", _BOOT, _PACKAGE, str(descriptor), program]


FORK_SERVER: Final = ForkServer(partial(_command, "forking"), _ENVIRONMENT)
"""Of this process, used where the system has handles of processes (Linux)."""

LIMITS: Final = JobLimits(
    # Node reserves many times what it uses, and aborts where it cannot.
    memory_bytes=2 << 30,
    processes=128,
    open_files=1024,
    cpu_seconds=1 << 31,
    file_bytes=256 << 20,
    interval_seconds=2.0,
)
"""Of a server that is a program. It runs as long as the gateway does, so its time is not limited."""

WORKER_SECONDS: Final = 2.0
"""How long a worker may take to end by itself."""

KILLED_SECONDS: Final = 10.0
"""How long the system may take to end one that was killed."""


@dataclass(frozen=True, slots=True)
class ServerPipes:
    """The worker's ends of a server's three streams, and the server's."""

    worker: tuple[int, int, int]
    server: JobStreams

    @classmethod
    def make(cls) -> ServerPipes:
        """New pipes, inherited by nobody."""
        ends = [os.pipe2(os.O_CLOEXEC) for _ in range(3)]
        (read_in, write_in), (read_out, write_out), (read_err, write_err) = ends
        return cls((write_in, read_out, read_err), JobStreams(read_in, write_out, write_err))

    def close_workers(self) -> None:
        """Close the worker's ends in this process, once."""
        for descriptor in self.worker:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """A started worker and the gateway's end of the socket to it."""

    process: subprocess.Popen[bytes] | ForkedWorker
    socket: socket.socket

    def end(self) -> None:
        """Wait for its end a while, then end it."""
        self.socket.close()
        try:
            self.process.wait(WORKER_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(KILLED_SECONDS)


def start_worker(settings: dict[str, Any], pipes: ServerPipes | None) -> WorkerProcess:
    """Start the worker of one server and give it its settings. Closes the worker's ends of the pipes here. Raises OSError.

    Settings go through the socket: what holds secrets is in no argument and no variable.
    """
    ours, theirs = socket.socketpair()
    with contextlib.ExitStack() as stack:
        stack.callback(theirs.close)
        given: tuple[int, ...] = ()
        if pipes is not None:
            stack.callback(pipes.close_workers)
            given = pipes.worker
        try:
            process, streams = _fork(theirs.fileno(), given) if hasattr(os, "pidfd_open") else _spawn(theirs.fileno(), given)
            ours.sendall(orjson.dumps({**settings, **dict(zip(("stdin", "stdout", "stderr"), streams, strict=False))}) + b"\n")
        except OSError:
            ours.close()
            raise
    return WorkerProcess(process, ours)


def _fork(socket_end: int, pipes: Sequence[int]) -> tuple[ForkedWorker, Sequence[int]]:
    """The worker, and the numbers that the pipes have there."""
    return FORK_SERVER.start((socket_end, *pipes)), range(4, 4 + len(pipes))


def _spawn(socket_end: int, pipes: Sequence[int]) -> tuple[subprocess.Popen[bytes], Sequence[int]]:
    """The same with a process that loads everything itself."""
    process = subprocess.Popen(  # noqa: S603 # this process's own interpreter and program
        _command("run", socket_end),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT,
        cwd="/",
        pass_fds=(socket_end, *pipes),
        start_new_session=True,
    )
    return process, pipes


class CagedServer:
    """A server that is a program, in the sandbox, from `start` to `stop`. `ended` gets how it ended, in words."""

    def __init__(self, job: Job, sandbox: Sandbox) -> None:
        self._job = job
        self._sandbox = sandbox
        self._cancelled = Cancellation()
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[str] = self._loop.create_future()
        self._has_started = False

    def start(self) -> None:
        """Start it, in a thread of its own: the kernel ends the job with the thread that started it."""
        self._has_started = True
        threading.Thread(target=self._live, name="mcp-server", daemon=True).start()

    async def stop(self) -> None:
        """End it and all that it started. Returns when it is gone, or at once where it was never started."""
        if not self._has_started and not self.ended.done():
            self.ended.set_result("it was not started")
        self._cancelled.set()
        await asyncio.wait((self.ended,))

    def _live(self) -> None:
        said = "it could not be started"
        try:
            said = _word(self._sandbox.run(self._job, self._cancelled))
        except SandboxError as error:
            said = error.message
        except OSError:
            pass
        finally:
            self._tell(lambda: None if self.ended.done() else self.ended.set_result(said))

    def _tell(self, what: Callable[[], None]) -> None:
        # The loop may be closed already when the gateway is killed.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)


def server_job(
    words: tuple[str, ...],
    environment: dict[str, str],
    home: Path,
    grants: tuple[tuple[Path, ...], tuple[Path, ...]],
    streams: JobStreams,
    *,
    network: bool,
) -> Job:
    """The job that is a server. `grants` are what it may read and what it may also change, beside `home`."""
    readable, writable = grants
    return Job(
        command=words,
        environment=environment,
        folder=home,
        readable=readable,
        writable=writable,
        network=network,
        limits=LIMITS,
        timeout_seconds=math.inf,
        streams=streams,
    )


def _word(result: JobResult) -> str:
    match result.end:
        case JobEnd.OVER_LIMIT:
            return "it took more memory or disk than a server may and was stopped"
        case JobEnd.CANCELLED | JobEnd.TIMED_OUT:
            return "it was stopped"
        case JobEnd.EXITED if result.exit_code is not None:
            return f"it ended with exit code {result.exit_code}"
        case JobEnd.EXITED:
            return f"it was ended by signal {result.signal}"
