"""`countersign agent` as a child process, at a pseudo-terminal or away from one, and a scripted model for it to talk to."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import termios
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway.adapters.inference.scripted import Reply, ScriptedBackend, in_order
from tests.fakes.openai_server import openai_app, serving
from tests.harness import preloaded
from tests.harness.preloaded import Process
from tests.harness.process import free_port

PATIENCE = 40.0
"""Seconds for anything to happen on a busy machine; a bound, not a measurement."""

SETTINGS = {"COUNTERSIGN_TOOLS_MODULES": '["tests.harness.effect_tools"]'}


@dataclass
class AgentCommand:
    """The command with its working folder and its model's URL."""

    home: Path
    model: str
    backend: ScriptedBackend
    port: int = field(default_factory=free_port)
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    """Additional environment variables."""

    @property
    def console_origin(self) -> str:
        """The origin of the console."""
        return f"http://console.localhost:{self.port}"

    @property
    def agent_origin(self) -> str:
        """The origin of `/v1`."""
        return f"http://agent.localhost:{self.port}"

    def effects(self) -> list[str]:
        """The effects that the tools recorded, oldest first."""
        path = self.home / "effects"
        return [line.split(" ", 2)[2] for line in path.read_text().splitlines()] if path.exists() else []

    async def wait_for_requests(self, times: int) -> None:
        """Wait until the model got this many requests."""
        async with asyncio.timeout(PATIENCE):
            while len(self.backend.asked) < times:
                await asyncio.sleep(0.02)

    async def wait_for_effects(self, times: int) -> None:
        """Wait until the tools have recorded this many effects."""
        async with asyncio.timeout(PATIENCE):
            while len(self.effects()) < times:
                await asyncio.sleep(0.02)

    def environment(self) -> dict[str, str]:
        """The child's environment, without the test's own settings."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            # What is read here is read without colours, but where they are what is tested.
            "NO_COLOR": "1",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "COUNTERSIGN_PORT": str(self.port),
            "EFFECTS": str(self.home / "effects"),
            **SETTINGS,
            # The model plays what a test wrote for it. One on a URL is not tried first.
            **({"COUNTERSIGN_MODEL_TIER": "native"} if "://" in self.model else {}),
            **self.extra,
        }

    async def run(self, *arguments: str, given: bytes | None = None) -> tuple[int, str, str]:
        """Run without a terminal: exit code, standard output, standard error."""
        process = await self.start(*arguments, reads=given is not None)
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate(given)
        return process.returncode or 0, out.decode(), err.decode()

    async def start(self, *arguments: str, reads: bool = False) -> Process:
        """Start without a terminal, with a pipe for standard input if it `reads`; returns the process."""
        return await preloaded.start(
            self.command(*arguments), cwd=self.home, env=self.environment(), reads=reads, errors_apart=True
        )

    def command(self, *arguments: str) -> list[str]:
        """What follows `countersign`: `agent MODEL …`, or another command."""
        if arguments and arguments[0] in ("audit", "enrol"):
            return [*arguments]
        return ["agent", self.model, *arguments]

    @contextlib.asynccontextmanager
    async def open_terminal(self, *arguments: str, out: int | None = None) -> AsyncGenerator[TerminalSession]:
        """Run at a pseudo-terminal. `out` redirects standard output."""
        master, slave = os.openpty()
        given = _modes(master)
        process = await preloaded.start_at(slave, self.command(*arguments), cwd=self.home, env=self.environment(), stdout=out)
        os.close(slave)
        os.set_blocking(master, False)
        sitting = TerminalSession(process, master, given)
        loop = asyncio.get_running_loop()
        loop.add_reader(master, sitting.read)
        try:
            yield sitting
        finally:
            loop.remove_reader(master)
            if process.returncode is None:
                process.kill()
            await process.wait()
            os.close(master)


def _modes(terminal: int) -> list[object]:
    return termios.tcgetattr(terminal)[:4]


@dataclass
class TerminalSession:
    """A person at the terminal."""

    process: Process
    _master: int
    given: list[object]
    """The terminal's attributes before the program began."""
    output: str = ""
    _seen: int = 0
    _said: asyncio.Event = field(default_factory=asyncio.Event)

    def read(self) -> None:
        """Read the output that is available."""
        try:
            self.output += os.read(self._master, 65_536).decode(errors="replace").replace("\r\n", "\n")
        except OSError:
            # The other side has closed it.
            asyncio.get_running_loop().remove_reader(self._master)
        self._said.set()

    def type(self, text: str) -> None:
        """Type it; "\\n" is the return key and "\\x03" Ctrl-C."""
        os.write(self._master, text.encode())

    async def expect(self, pattern: str) -> re.Match[str]:
        """Wait for the pattern in the output after the last match."""
        try:
            async with asyncio.timeout(PATIENCE):
                while (found := re.compile(pattern).search(self.output, self._seen)) is None:
                    self._said.clear()
                    if self.process.returncode is not None and not self._said.is_set():
                        break
                    await self._said.wait()
        except TimeoutError:
            found = None
        assert found is not None, f"no {pattern!r} in:\n{self.output}"
        self._seen = found.end()
        return found

    def modes(self) -> list[object]:
        """The terminal's attributes."""
        return _modes(self._master)

    def interrupt(self) -> None:
        """What Ctrl-C does where the terminal's own handling is out of the way."""
        self.process.send_signal(signal.SIGINT)

    async def wait(self) -> int:
        """Wait for the process to end; returns the exit code."""
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


def call(tool: str, **arguments: object) -> Reply:
    """A model's reply that is one call."""
    return Reply(calls=((tool, arguments),))


@contextlib.asynccontextmanager
async def agent_command(home: Path, *replies: Reply) -> AsyncGenerator[AgentCommand]:
    """A command whose model gives these replies."""
    backend = ScriptedBackend(in_order(*replies))
    async with serving(openai_app(backend)) as url:
        yield AgentCommand(home, url, backend)


def lines_of(output: str) -> Sequence[str]:
    """The lines, without the last line break."""
    return output.rstrip("\n").split("\n")
