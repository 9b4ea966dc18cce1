"""Commands of the product in processes that need not import it again: one process imports it once and forks for each command.

Importing is four fifths of a gateway's start (0.7 of 0.9 s of processor time), and the suite starts some hundreds of them. A
forked process does what `python -m gateway` does, with its own environment, folder, descriptors and terminal. Commands are
executed where the environment says what the interpreter reads when it starts, and on systems that do not tell of the end of
somebody else's child.
"""

from __future__ import annotations

import asyncio
import atexit
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LINE_LIMIT = 1 << 16
"""Bytes, as asyncio has it."""
_READ_AT_START = ("PYTHON", "LD_", "LANG", "LC_")
"""How the names of variables begin that the interpreter reads before our code runs."""


def _can_fork(environment: Mapping[str, str]) -> bool:
    """Whether a forked process would be what an executed one is, and its end be known."""
    own = {name: value for name, value in environment.items() if name.startswith(_READ_AT_START)}
    return hasattr(os, "pidfd_open") and own == {"LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}


@dataclass
class ForkedProcess:
    """What of `asyncio.subprocess.Process` the tests use."""

    pid: int
    stdin: asyncio.StreamWriter | None
    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None
    returncode: int | None = None
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _following: asyncio.Task[None] | None = None

    async def wait(self) -> int:
        """Wait for its end. Returns the exit code, or the negative number of the signal that ended it."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    async def communicate(self, given: bytes | None = None) -> tuple[bytes, bytes]:
        """Write what is given, if it reads; all output and all errors, when it has ended."""
        if self.stdin is not None:
            self.stdin.write(given or b"")
            self.stdin.close()
        streams = [b"" if stream is None else await stream.read() for stream in (self.stdout, self.stderr)]
        await self.wait()
        return streams[0], streams[1]

    def send_signal(self, number: int) -> None:
        """Send a signal, while it runs."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def follow(self, status: asyncio.StreamReader) -> None:
        """Learn of the end from the server."""
        # Kept here, for the loop keeps its tasks only weakly.
        self._following = asyncio.create_task(self._follow(status))

    async def _follow(self, status: asyncio.StreamReader) -> None:
        # To its end, for a pipe that is read no further stays open.
        line = await status.read()
        self.returncode = int(line) if line else -signal.SIGKILL
        if self.stdin is not None:
            self.stdin.close()
        self._ended.set()


Process = asyncio.subprocess.Process | ForkedProcess


async def start(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    before: str = "",
    reads: bool = False,
    errors_apart: bool = False,
    limit: int = LINE_LIMIT,
) -> Process:
    """Run `countersign ARGUMENTS`, after the Python of `before`. It can be written to if it `reads`; a line of its output may
    have `limit` bytes. Errors go where the output goes unless they are kept apart."""
    if not _can_fork(env):
        return await asyncio.create_subprocess_exec(
            *_command(arguments, before),
            cwd=cwd,
            env=env,
            stdin=asyncio.subprocess.PIPE if reads else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE if errors_apart else asyncio.subprocess.STDOUT,
            limit=limit,
        )
    with ExitStack() as given:
        stdin, read_from = await _written(given) if reads else (None, _nothing(given))
        stdout, output = await _read(given, limit)
        stderr, errors = await _read(given, limit) if errors_apart else (None, output)
        pid, status = await _fork(_request(arguments, cwd, env, before), [read_from, output, errors])
    process = ForkedProcess(pid, stdin, stdout, stderr)
    process.follow(status)
    return process


async def start_at(
    terminal: int, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdout: int | None = None
) -> Process:
    """Run `countersign ARGUMENTS` at a terminal, a descriptor of its end for programs, but for the output if that goes to another
    descriptor."""
    if not _can_fork(env):
        return await asyncio.create_subprocess_exec(
            *_command(arguments),
            cwd=cwd,
            env=env,
            stdin=terminal,
            stdout=terminal if stdout is None else stdout,
            stderr=terminal,
            preexec_fn=_take_terminal,
        )
    pid, status = await _fork(
        {**_request(arguments, cwd, env, ""), "terminal": True}, [terminal, terminal if stdout is None else stdout, terminal]
    )
    process = ForkedProcess(pid, None, None, None)
    process.follow(status)
    return process


def _command(arguments: Sequence[str], before: str = "") -> list[str]:
    return [sys.executable, "-c", f"{before}\nfrom gateway.cli import main\nmain()", *arguments]


def _take_terminal() -> None:
    """Make the terminal at standard input the controlling one of a new session."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _request(arguments: Sequence[str], cwd: Path, env: Mapping[str, str], before: str) -> dict[str, Any]:
    return {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env), "before": before, "terminal": False}


async def _fork(request: dict[str, Any], streams: list[int]) -> tuple[int, asyncio.StreamReader]:
    """The new process's id, and what will tell its end."""
    with ExitStack() as given:
        status, told = await _read(given, LINE_LIMIT)
        socket.send_fds(_server(), [json.dumps(request).encode()], [*streams, told])
    return int(await status.readline()), status


async def _read(given: ExitStack, limit: int) -> tuple[asyncio.StreamReader, int]:
    """A pipe that is read here. Its other end is closed here when it has been `given`."""
    ours, theirs = os.pipe()
    given.callback(os.close, theirs)
    reader = asyncio.StreamReader(limit)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb", 0))
    return reader, theirs


def _nothing(given: ExitStack) -> int:
    """An input that ends at once."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    given.callback(os.close, descriptor)
    return descriptor


async def _written(given: ExitStack) -> tuple[asyncio.StreamWriter, int]:
    """As `_read`, written here. A pair of sockets, for which asyncio makes a writer."""
    ours, theirs = socket.socketpair()
    given.enter_context(theirs)
    _, writer = await asyncio.open_connection(sock=ours)
    return writer, theirs.fileno()


@cache
def _server() -> socket.socket:
    """The socket to this test process's own server, which ends when that is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.harness.fork_for_commands", str(theirs.fileno())],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)},
        pass_fds=[theirs.fileno()],
    )
    theirs.close()

    def end() -> None:
        ours.close()
        server.wait(timeout=30)

    atexit.register(end)
    return ours
