"""The gateway under test: `countersign serve` as a child process on a folder of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.core.errors import Misconfigured
from gateway.settings import PREFIX

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 20.0

_AGENT: Final = re.compile(r"^ *web shell +(\S+)$", re.MULTILINE)
_LINK: Final = re.compile(r"^ *(http\S+)/enrol#t=(\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GatewayChild:
    """A gateway that is ready, and the token with which its first person enrols."""

    agent: str
    console: str
    token: str


@contextlib.asynccontextmanager
async def running_gateway(folder: Path, policy: Path | None) -> AsyncGenerator[GatewayChild]:
    """Start one in `folder`, on a free port, with the stub model and nothing of the caller's settings; stop it at the end.
    `policy` is a whole path, None the shipped one.

    Raises Misconfigured with what it said when it does not start.
    """
    chosen = () if policy is None else ("--policy", str(policy))
    process = await asyncio.create_subprocess_exec(
        *_countersign("serve", "--port", "0", "--model", "stub", "--state", "state", "--workspace", "workspace", *chosen),
        cwd=folder,
        env=_environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield await _greeting_of(process)
    finally:
        # One whose output ended is ending by itself. A signal would look first whether it did, and take its status from under the
        # loop's watcher, which then says so on standard error.
        if process.stdout is not None and not process.stdout.at_eof():
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()


async def check_record(folder: Path) -> str:
    """The first line of `countersign audit verify` over the stopped gateway's state. Raises Misconfigured when it fails."""
    process = await asyncio.create_subprocess_exec(
        *_countersign("audit", "verify", "--state", "state"),
        cwd=folder,
        env=_environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(START_SECONDS):
        said, _ = await process.communicate()
    lines = said.decode(errors="replace").strip().splitlines() or [""]
    if process.returncode != 0:
        raise Misconfigured(f"`countersign audit verify` ended with {process.returncode}: {lines[0]}")
    return lines[0]


def _countersign(*arguments: str) -> list[str]:
    """A command of this installation."""
    return [sys.executable, "-m", "gateway", *arguments]


def _environment() -> dict[str, str]:
    """Without the caller's own settings, which may name other policies and models."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}


async def _greeting_of(process: asyncio.subprocess.Process) -> GatewayChild:
    assert process.stdout is not None
    said = ""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START_SECONDS):
            while line := await process.stdout.readline():
                said += line.decode(errors="replace")
                if (link := _LINK.search(said)) is not None and (agent := _AGENT.search(said)) is not None:
                    return GatewayChild(agent[1], link[1], link[2])
    raise Misconfigured(f"the gateway did not start; it said: {said.strip() or 'nothing'}")
