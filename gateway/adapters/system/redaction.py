"""Redaction of long results in processes of their own.

One search for one pattern holds the interpreter's lock from its beginning to its end: 0.1 s for each MiB of a text that is
made to be slow, and nobody else is served meanwhile, whichever thread it runs in. Looking through slices would not find what
reaches from one into the next, and some patterns reach as far as they like (the columns of a table, a key without its end).
"""

from __future__ import annotations

import asyncio
import marshal
import os
import sys
from collections.abc import Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import gateway
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolOutput
from gateway.core.redaction import weighs_more
from gateway.core.results import BoundedOutput, RedactedOutput, bound_output, redact_output

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from gateway.core.canonical import Json

_Answer: TypeAlias = "tuple[str, Json, int, int]"
"""Text, structure, how much was taken out, bytes that were cut."""

TEXT_IN_A_THREAD: Final = 256 * 1024
"""Characters of text that a thread looks through: a process takes longer to start."""

DATA_IN_A_THREAD: Final = 2 * TEXT_IN_A_THREAD
"""The same for data, which take long by their number: the longest search is one for a pattern in one of its strings."""

PROCESSES: Final = 2
"""At once. One person has one of them at most."""

SECONDS: Final = 300.0
"""What a process may take. The slowest text we know takes 2 s for each MiB, and 8 MiB are the most; on a machine that is full it
took more than 120."""

_BOOT: Final = (
    "import sys; from importlib.util import module_from_spec as make, spec_from_file_location as find; "
    "found = find('gateway', sys.argv[1] + '/__init__.py', submodule_search_locations=[sys.argv[1]]); "
    "sys.modules['gateway'] = package = make(found); found.loader.exec_module(package); "
    "from gateway.adapters.system.redaction import answer; answer()"
)
"""This very package, whichever is installed."""

_PACKAGE: Final = str(Path(gateway.__file__).resolve().parent)

_FAILED: Final = "the tool ran, but its result could not be looked through for credentials, so nothing of it is shown: "


class RedactionProcesses:
    """The Redactor of a running gateway."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._free = asyncio.Semaphore(PROCESSES)
        self._owners: dict[str, asyncio.Semaphore] = {}
        self._waiting: dict[str, int] = {}

    async def redact(self, output: ToolOutput, classes: Collection[str], owner: str) -> RedactedOutput:
        """See Redactor."""
        if len(output.text) <= TEXT_IN_A_THREAD and not weighs_more(output.structured, DATA_IN_A_THREAD):
            return await asyncio.to_thread(redact_output, BoundedOutput(output), classes)
        async with self._turn_of(owner):
            bounded = await asyncio.to_thread(bound_output, output)
            # An enum's member is no plain text, which is all that is written here.
            question = bounded.output.text, bounded.output.structured, bounded.beyond, sorted(map(str, classes))
            try:
                asked = await asyncio.to_thread(marshal.dumps, question)
            except ValueError:
                # Only a tool of the operator's own gives what is no JSON, and none of that is shown.
                return await asyncio.to_thread(redact_output, bounded, classes)
            answered = await self._ask(asked)
            text, structured, count, beyond = cast("_Answer", await asyncio.to_thread(marshal.loads, answered))
        return RedactedOutput(
            text=text,
            structured=structured,
            labels=output.labels,
            trust=output.trust,
            count=count,
            classes=tuple(sorted(classes)),
            attached=output.attached,
            own=output.own,
            beyond=beyond,
            dropped=bounded.dropped,
        )

    @asynccontextmanager
    async def _turn_of(self, owner: str) -> AsyncGenerator[None]:
        """While this lasts, no other output of that person is looked through, and of all people's no more than PROCESSES."""
        own = self._owners.setdefault(owner, asyncio.Semaphore())
        self._waiting[owner] = self._waiting.get(owner, 0) + 1
        try:
            async with own, self._free:
                yield
        finally:
            self._waiting[owner] -= 1
            if not self._waiting[owner]:
                del self._waiting[owner], self._owners[owner]

    async def _ask(self, question: bytes) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-B", "-c", _BOOT, _PACKAGE),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={},
                cwd="/",
            )
        except OSError as error:
            raise ToolFailed(f"{_FAILED}no process could be started ({error.strerror})") from None
        try:
            async with asyncio.timeout(self._seconds):
                answer, _ = await process.communicate(question)
        except TimeoutError:
            raise ToolFailed(f"{_FAILED}that took more than {self._seconds:g} seconds. Ask for less of it") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode != 0:
            raise ToolFailed(f"{_FAILED}the process that does so ended early. Ask for less of it")
        return answer


def answer() -> None:
    """What the process does: one question on standard input, its answer on standard output."""
    # Nobody's call may wait for the processor because of a long result.
    os.nice(5)
    text, structured, beyond, classes = marshal.loads(sys.stdin.buffer.read())  # noqa: S302 # the gateway wrote it, to this process alone
    redacted = redact_output(BoundedOutput(ToolOutput(text, structured), beyond), classes)
    sys.stdout.buffer.write(marshal.dumps((redacted.text, redacted.structured, redacted.count, redacted.beyond)))
