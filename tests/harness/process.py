"""The real gateway as a child process: its own state, workspace and port; tests reach it only over its sockets."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness import preloaded

PATIENCE = 90.0
"""Seconds that the gateway may take to start on a busy machine; a bound, not a measurement."""

_LINK = re.compile(r"http\S+/enrol#t=(\S+)")
_READY = re.compile(r"^Countersign is ready", re.MULTILINE)


def free_port() -> int:
    """A free loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class GatewayProcess:
    """One gateway. `start` after `kill` uses the same state again."""

    home: Path
    port: int = field(default_factory=free_port)
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    command: Sequence[str] | None = None
    """Another program than `countersign serve`."""
    before: str = ""
    """Python that runs first in the gateway's process."""
    output: str = ""
    _process: preloaded.Process | None = None
    _reader: asyncio.Task[None] | None = None
    _said: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def agent_origin(self) -> str:
        """The origin of the shell."""
        return f"http://agent.localhost:{self.port}"

    @property
    def console_origin(self) -> str:
        """The origin of the console."""
        return f"http://console.localhost:{self.port}"

    @property
    def workspace(self) -> Path:
        """The tools' folder."""
        return self.home / "workspace"

    @property
    def state(self) -> Path:
        """The database's folder."""
        return self.home / "state"

    def environment(self) -> dict[str, str]:
        """The child's environment, without the test's own settings."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "COUNTERSIGN_PORT": str(self.port),
            "COUNTERSIGN_STATE": str(self.state),
            "COUNTERSIGN_WORKSPACE": str(self.workspace),
            "COUNTERSIGN_MODEL": "none",
            **self.settings,
        }

    async def start(self) -> None:
        """Start, and wait for the ready message."""
        self.output = ""
        if self.command is None:
            self._process = await preloaded.start(("serve",), cwd=self.home, env=self.environment(), before=self.before)
        else:
            self._process = await asyncio.create_subprocess_exec(
                *self.command,
                cwd=self.home,
                env=self.environment(),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
        self._reader = asyncio.create_task(self._read())
        await self.wait_for(_READY)

    async def wait_for(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """The first match of the output so far or to come. Fails with the output when the process ends or time is up."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    found = pattern.search(self.output)
                    if found is not None:
                        return found
                    if self._reader is not None and self._reader.done():
                        break
                    self._said.clear()
                    await self._said.wait()
        except TimeoutError:
            pass
        code = None if self._process is None else self._process.returncode
        raise AssertionError(f"the gateway did not print {pattern.pattern!r} (exit code {code}); its output:\n{self.output}")

    async def enrolment_token(self) -> str:
        """The token of the link that a first start prints."""
        return (await self.wait_for(_LINK)).group(1)

    async def run(self, *arguments: str) -> tuple[int, str]:
        """Another command of the same installation beside the running gateway: exit code and all output."""
        process = await preloaded.start(arguments, cwd=self.home, env=self.environment())
        async with asyncio.timeout(PATIENCE):
            output, _ = await process.communicate()
        return process.returncode or 0, output.decode()

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    @property
    def pid(self) -> int:
        """The child's process id."""
        assert self._process is not None
        return self._process.pid

    async def kill(self) -> None:
        """SIGKILL: no handler runs, as in a power cut."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        await self.wait()

    async def stop(self) -> int:
        """SIGTERM, and SIGKILL if it does not end. Returns the exit code."""
        if self._process is None:
            return 0
        if self._process.returncode is None:
            self._process.terminate()
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
        return await self.wait()

    async def wait(self) -> int:
        """Wait for the process to end. Returns the exit code."""
        if self._process is None:
            return 0
        async with asyncio.timeout(PATIENCE):
            code = await self._process.wait()
            if self._reader is not None:
                await self._reader
        return code

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            self.output += line.decode(errors="replace")
            self._said.set()
        self._said.set()
