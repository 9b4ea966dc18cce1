"""The model server in the sandbox that programs run in: its weights to read, one folder to write, one socket to answer on.

It runs code that was not written for hostile weights or prompts, so it gets nothing that it could be made to give away: no
network, no file of the gateway's, no other process, and where the gateway is root, a user of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import os
import stat
import sys
import threading
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self, cast

from gateway.adapters.inference.engine import Launch
from gateway.adapters.inference.machine_memory import total_memory
from gateway.adapters.inference.sidecar_process import NOT_STARTED, BoundedLog
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.sandbox import machine_paths
from gateway.sandbox.choice import choose_sandbox
from gateway.sandbox.job import (
    Cancellation,
    Job,
    JobEnd,
    JobLimits,
    Sandbox,
    SandboxError,
    SandboxPreference,
    SandboxUnavailable,
)

_LAUNCHER: Final = Path(__file__).with_name("xllama_launcher.py")

_ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "OMP_WAIT_POLICY": "passive"}  # noqa: S108 # the sandbox's own

_ENDLESS_SECONDS: Final = 1 << 31
"""Of CPU time: 68 years."""

_UNKNOWN_MEMORY: Final = 1 << 40

_log = logging.getLogger(__name__)


def choose_confinement(preference: SandboxPreference, state: Path) -> Sandbox:
    """The sandbox for the model server, tried out. Blocks. Raises Misconfigured where there is none.

    `state` is the gateway's own folder, of which the server gets one folder for itself.
    """
    found = choose_sandbox(preference)
    place = machine_paths.exposes(state)
    if place is not None:
        found = SandboxUnavailable(f"the gateway's own state lies within {place}, which it must read; move it elsewhere")
    if isinstance(found, SandboxUnavailable):
        raise Misconfigured(
            f"the model server cannot be confined here: {found.reason}. Set COUNTERSIGN_MODEL_SANDBOX=off to run it all the "
            "same, with all the gateway's own rights, or COUNTERSIGN_MODEL_URL to use a server of yours"
        )
    return found


def confined_job(order: Mapping[str, Json], launch: Launch, log: BoundedLog) -> Job:
    """The job that carries out an engine's order for a confined launch.

    Its limits keep nothing that fits into the machine from running: weights are mapped, and may be loaded once more.
    """
    memory = max(total_memory() or _UNKNOWN_MEMORY, 2 * launch.weights.stat().st_size)
    if "command" in order:
        command = tuple(cast("list[str]", order["command"]))
        program = Path(command[0]).resolve()
        command, given = (str(program), *command[1:]), b""
        # Builds of llama.cpp have their libraries beside the program or in `lib`.
        places = [program.parent, program.parent.parent / "lib"] if program.parent.name == "bin" else [program.parent]
    else:
        # Not the virtual environment's: the links of one would have to be there too.
        command = (os.path.realpath(sys.executable), "-I", "-S", "-B", str(_LAUNCHER.resolve()))
        found = find_spec("xllamacpp")
        package = Path(found.origin or "").resolve().parent if found is not None else Path("/nonexistent")
        given = json.dumps({**order, "path": str(package.parent)}).encode() + b"\n"
        places = [Path(sys.base_prefix).resolve(), package, package.with_name(f"{package.name}.libs"), _LAUNCHER.resolve()]
    return Job(
        command=command,
        environment=_ENVIRONMENT,
        folder=launch.folder,
        readable=(launch.weights, *(place for place in places if place.exists() and machine_paths.exposes(place) is None)),
        limits=JobLimits(
            memory_bytes=memory,
            processes=256,
            open_files=1024,
            cpu_seconds=_ENDLESS_SECONDS,
            file_bytes=1 << 30,
            interval_seconds=2.0,
        ),
        timeout_seconds=math.inf,
        stdin=given,
        listening=True,
        niceness=0,
        output=log.append,
    )


class ConfinedProcess:
    """A run of the server in the sandbox. `exited` gets the exit code, negative for a signal; see SidecarProcess."""

    def __init__(self, job: Job, sandbox: Sandbox) -> None:
        self._job = job
        self._sandbox = sandbox
        self._cancelled = Cancellation()
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = self._loop.create_future()

    def start(self) -> None:
        """Start it; a start that fails shows as exit code `NOT_STARTED`."""
        # Its own, because the kernel ends the job with the thread that started it.
        threading.Thread(target=self._live, name="sidecar", daemon=True).start()

    async def stop(self) -> None:
        """End it and all that it started. Returns when it is gone."""
        self._cancelled.set()
        await self.exited

    def _live(self) -> None:
        code = NOT_STARTED
        try:
            result = self._sandbox.run(self._job, self._cancelled)
            code = result.exit_code if result.exit_code is not None else -(result.signal or 0)
            if result.end is JobEnd.OVER_LIMIT:
                _log.warning("the model server took more memory than there is, or filled the disk, and was stopped")
        except (SandboxError, OSError) as error:
            _log.warning("the model server was not started: %s", error)
        finally:
            self._tell(lambda: None if self.exited.done() else self.exited.set_result(code))

    def _tell(self, what: Callable[[], None]) -> None:
        # The loop may be closed already when the gateway is killed.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)


class PinnedSocket:
    """The socket that a confined server made, by descriptor: nothing that the server puts at its path later is connected to.

    `path` can be connected to from the start, and refuses until `pin` has found the socket.
    """

    def __init__(self, made: Path) -> None:
        self._made = made
        self._descriptor = os.open("/dev/null", os.O_PATH | os.O_CLOEXEC)
        self._is_pinned = False

    @property
    def path(self) -> Path:
        """What to connect to. Always short enough for an address, whatever the length of the real path."""
        return Path(f"/proc/self/fd/{self._descriptor}")

    def pin(self) -> None:
        """Keep the socket that is there now, if there is one; the first one stays."""
        if self._is_pinned:
            return
        try:
            found = os.open(self._made, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if stat.S_ISSOCK(os.fstat(found).st_mode):
                os.dup2(found, self._descriptor, inheritable=False)
                self._is_pinned = True
        finally:
            os.close(found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
