"""The servers that are measured: the real gateway with quotas for many calls, and the limit."""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bench.lanes import Target
from tests.harness.person import Person
from tests.harness.process import GatewayProcess, free_port
from tests.harness.unlimited import copy_policy_without_quotas

ROOT = Path(__file__).parents[1]
WORK = Path(__file__).parent / ".work"
"""Beside the code and not in /tmp, which on many machines is memory: there a commit costs nothing."""

MOST_FILES = 4_000
"""Open at once, for a thousand sockets to each of two servers."""


@dataclass(frozen=True)
class Gateway:
    """A running gateway with one person signed in."""

    process: GatewayProcess
    person: Person

    @property
    def target(self) -> Target:
        """Where its agent socket is."""
        origin = self.process.agent_origin
        jar = self.person.browser.cookies[urlsplit(origin).hostname or ""]
        cookie = "; ".join(f"{name}={value}" for name, value in jar.items())
        return Target(self.process.port, urlsplit(origin).netloc, origin, cookie, begins_turns=True)


@contextmanager
def work_folder() -> Generator[Path]:
    """An empty folder on this checkout's disk."""
    WORK.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        yield Path(folder)


def prepare_gateway(home: Path, **settings: str) -> GatewayProcess:
    """A gateway with the tools and quotas of a benchmark, not started yet."""
    chosen: Mapping[str, str] = {
        "COUNTERSIGN_POLICY": str(copy_policy_without_quotas(home / "policy")),
        "COUNTERSIGN_TOOLS_MODULES": '["bench.tools"]',
        "COUNTERSIGN_LOG_LEVEL": "warning",
        "COUNTERSIGN_SOCKETS_PER_SESSION": "4096",
        **settings,
    }
    return GatewayProcess(home, settings=chosen)


@asynccontextmanager
async def start_gateway(home: Path, module: str | None = None, **settings: str) -> AsyncGenerator[Gateway]:
    """The gateway, or a module that runs one, with a person who has enrolled and opened the shell."""
    process = prepare_gateway(home, **settings)
    if module is not None:
        process.command = (sys.executable, "-m", module)
    try:
        await process.start()
        yield Gateway(process, await Person.at(process).arrive())
    finally:
        await process.stop()


@asynccontextmanager
async def start_limit(home: Path, *options: str) -> AsyncGenerator[tuple[int, Target]]:
    """The limit server: its process id and where it is."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.limit_server", str(port), str(home), *options, cwd=ROOT
    )
    try:
        await wait_for_port(port)
        yield process.pid, Target(port, f"127.0.0.1:{port}", f"http://127.0.0.1:{port}", "", begins_turns=False)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def wait_for_port(port: int) -> None:
    """Return once somebody listens there."""
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return


def raise_file_limit() -> None:
    """Room for thousands of sockets, here and in what this process starts; the usual soft limit is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
