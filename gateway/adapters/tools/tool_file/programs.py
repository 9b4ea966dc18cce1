"""Tools that are programs: run in the sandbox, with three variables of environment, and answered by one JSON object.

A program that fails has still run: its exit code is a result like its output is, and the call closes `ok`. Only what keeps
it from running to its own end is a failure of the call: no sandbox, no time, a cancellation.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Final

import orjson

from gateway.adapters.tools.threads import WorkerThreads
from gateway.adapters.tools.tool_file.command import Command
from gateway.core.canonical import Json, digest
from gateway.core.effects import escape
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolOutput, ToolSpec
from gateway.core.vocabulary import Category, Reason, Recovery
from gateway.runtime.ports import ArgumentFault, ToolContext
from gateway.sandbox.job import OUTPUT_CAP, Job, JobEnd, JobLimits, JobResult, Sandbox, SandboxError, SandboxUnavailable
from gateway.sandbox.opening import FolderIdentity

INTERFACE: Final = "commands"
"""The interface that policies know these tools by."""

MAX_PROGRAMS: Final = 8
"""Programs at once; more wait in line, in which their time runs. Each may take a gigabyte of memory."""

OVERTIME: Final = 5.0
"""Seconds that the gateway waits longer than the sandbox does, so that a call that timed out has really ended when it says so:
half a second between SIGTERM and SIGKILL, the rest for a busy machine."""

ENVIRONMENT: Final[Mapping[str, str]] = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108 # the sandbox's own
"""All that a program sees of the outside. UTF-8, because in some other encodings a byte of a letter is a quote."""

RESULT_CAP: Final = 128 * 1024
"""Bytes of a whole result, so that nothing cuts it once more: JSON takes up to six characters for a byte of a stream."""

SIGNALLED: Final = 128
"""What shells add to the number of the signal that ended a program, to make an exit code of it."""


@dataclass(frozen=True, slots=True)
class CommandTool:
    """A program as a tool file describes it. `timeout` is in seconds; `folder` is the one place it may write to."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    command: Command
    folder: Path
    folder_given: str = ""
    """How the file wrote the folder; empty where it left it to the gateway."""
    category: Category = Category.EXECUTE
    summary: str = ""
    effects: tuple[str, ...] = ()
    network: bool = False
    readable: tuple[Path, ...] = ()
    timeout: float = 30.0
    recovery: Recovery = Recovery.UNSAFE

    def describe(self, source: str, unavailable: str | None) -> ToolSpec:
        """The definition as it is published. What the person reads always begins with the command itself."""
        return ToolSpec(
            name=self.name,
            description=self.description,
            interface_id=INTERFACE,
            # A digest of what runs: an approval of one command must not cover another that a file's next version puts there.
            method_name=f"{self.name}@{self._fingerprint()}",
            param_schema=self.parameters,
            category=self.category,
            source=source,
            summary=self.summary,
            effects=(self.command.shown, *self.effects, *self._reach()),
            recovery=self.recovery,
            result_cap=RESULT_CAP,
            timeout=self.timeout + OVERTIME,
            network=self.network,
            unavailable=unavailable,
            unavailable_because=Reason.SANDBOX_UNAVAILABLE,
        )

    def find_faults(self, arguments: Mapping[str, Json]) -> tuple[ArgumentFault, ...]:
        """What the schema lets pass and a command cannot take: an argument without a place in it would be shown for nothing."""
        known: Mapping[str, Json] = self.parameters.get("properties", {})
        strange = tuple(
            ArgumentFault(f"/{escape(name)}", f"is not a parameter; the parameters are {', '.join(known) or 'none'}")
            for name in arguments
            if name not in known
        )
        return strange or self.command.find_faults(arguments)

    def _reach(self) -> tuple[str, ...]:
        folder = escape(self.folder_given).replace("{", "{{").replace("}", "}}")
        return (
            *((f"Works in the folder {folder}",) if folder else ()),
            *(("May reach the network",) if self.network else ()),
        )

    def _fingerprint(self) -> str:
        runs = {
            "command": repr(self.command),
            "summary": self.summary,
            "effects": list(self.effects),
            "network": self.network,
            "folder": str(self.folder),
            "readable": [str(folder) for folder in self.readable],
            "timeout": str(self.timeout),
            # Left out where it is the default, so that grants from before there was such a key stay valid.
            **({} if self.recovery is Recovery.UNSAFE else {"recovery": self.recovery.value}),
        }
        return digest(runs)[:32]


@dataclass(frozen=True, slots=True)
class ProgramRunner:
    """Runs tools in a sandbox, or says why there is none."""

    sandbox: Sandbox | SandboxUnavailable
    limits: JobLimits = field(default_factory=JobLimits)
    threads: WorkerThreads = field(default_factory=lambda: WorkerThreads("program", MAX_PROGRAMS))
    """Their own, so that programs that take long keep no other tool waiting."""

    @property
    def unavailable(self) -> str | None:
        """Why no program can run here; None if they can."""
        return self.sandbox.reason if isinstance(self.sandbox, SandboxUnavailable) else None

    def run(
        self,
        tool: CommandTool,
        arguments: Mapping[str, Json],
        context: ToolContext,
        identities: Mapping[Path, FolderIdentity | None],
    ) -> ToolOutput:
        """Run it to its end, in a thread that may block. Raises ToolFailed when it could not get there.

        `identities` says of the tool's folders which ones they were at the start.
        """
        if isinstance(self.sandbox, SandboxUnavailable):
            raise ToolFailed(self.sandbox.reason, Reason.SANDBOX_UNAVAILABLE)
        job = Job(
            command=tool.command.vector(arguments),
            environment=dict(ENVIRONMENT),
            folder=tool.folder,
            readable=tool.readable,
            network=tool.network,
            # A program with more time may also use the CPU for that long.
            limits=replace(self.limits, cpu_seconds=max(self.limits.cpu_seconds, ceil(tool.timeout))),
            timeout_seconds=tool.timeout,
            identities=identities,
        )
        try:
            result = self.sandbox.run(job, context.cancelled)
        except SandboxError as error:
            raise ToolFailed(error.message, Reason.SANDBOX_UNAVAILABLE) from error
        match result.end:
            case JobEnd.EXITED:
                return make_output(tool.name, result)
            case JobEnd.TIMED_OUT:
                late = f"it did not finish within {tool.timeout:g} seconds and was stopped; it may have taken effect"
                raise ToolFailed(late, Reason.TOOL_TIMEOUT)
            case JobEnd.OVER_LIMIT:
                raise ToolFailed("it took more memory or disk than a tool may and was stopped")
            case JobEnd.CANCELLED:
                raise ToolFailed("cancelled while it ran")


def make_output(name: str, result: JobResult) -> ToolOutput:
    """A run as the model reads it and the records keep it; the exit code of a killed program is 128 and its signal."""
    stdout, stdout_readable = read_stream(result.stdout, result.stdout_omitted)
    stderr, stderr_readable = read_stream(result.stderr, result.stderr_omitted)
    run: dict[str, Json] = {
        "tool": name,
        "stdout": stdout,
        "stderr": stderr,
        "exit_code": result.exit_code if result.signal is None else SIGNALLED + result.signal,
        "duration_sec": round(result.duration_seconds, 3),
    }
    if unreadable := [stream for stream, good in (("stdout", stdout_readable), ("stderr", stderr_readable)) if not good]:
        # Outside the text, where no program can write it.
        run["not_utf8"] = unreadable
    return ToolOutput(orjson.dumps(run).decode(), run)


def read_stream(raw: bytes, omitted: int) -> tuple[str, bool]:
    """What a program wrote, as text with the mark of what is missing, and whether all of it was UTF-8."""
    kept = raw[:OUTPUT_CAP]
    omitted += len(raw) - len(kept)
    # A cut may leave the beginning of a character, which is no fault of the program's.
    decoder = getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(kept, final=not omitted)
    half = len(decoder.getstate()[0])
    readable = text.encode() == kept[: len(kept) - half]
    return (f"{text}…[truncated {omitted + half} bytes]" if omitted else text), readable
