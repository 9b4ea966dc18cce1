"""A source whose tools run in this process or are started by it: what built-in ones, modules and tool files share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gateway.adapters.tools.declaration import FactFinder
from gateway.adapters.tools.outputs import hide_failure, read_output
from gateway.adapters.tools.source import SourceHealth
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.model import CallFacts, ToolOutput, ToolSpec
from gateway.core.preview import Preview
from gateway.core.vocabulary import Reason
from gateway.runtime.ports import ArgumentFault, ToolContext

ToolRunner: TypeAlias = Callable[[Mapping[str, Json], ToolContext], Awaitable[Any]]
FaultFinder: TypeAlias = Callable[[Mapping[str, Json]], Sequence[ArgumentFault]]

LATE_GRACE = 10.0
"""Seconds a call that was cancelled is still followed, so that a result that arrives late can be recorded."""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A definition with what runs it; `find_faults` may refuse more than the schema does."""

    spec: ToolSpec
    run: ToolRunner
    facts: FactFinder | None = None
    find_faults: FaultFinder = lambda _: ()
    preview: Callable[[Mapping[str, Json]], Awaitable[Preview | None]] | None = None


class LocalSource:
    """A ToolSource over the entries that `load` gives. `load` raises Misconfigured; `health` is what a started source says.

    `release` lets go of what `load` has opened, once nothing of the source runs.
    """

    def __init__(
        self,
        name: str,
        load: Callable[[], Sequence[ToolEntry]],
        *,
        health: Callable[[], SourceHealth] = SourceHealth,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._load = load
        self._health = health
        self._release = release
        self._down: str | None = "it was not started"
        self._specs: tuple[ToolSpec, ...] = ()
        self._entries: dict[str, ToolEntry] = {}
        self._running: dict[asyncio.Task[Any], ToolContext] = {}

    @property
    def name(self) -> str:
        """See ToolSource."""
        return self._name

    async def start(self) -> None:
        """Load the entries, which does not wait."""
        self.load()

    def load(self) -> None:
        """The same outside an event loop."""
        try:
            entries = self._load()
        except Misconfigured as error:
            self._down = error.message
            raise
        # All of them, so that the catalog finds two of one name.
        self._specs = tuple(entry.spec for entry in entries)
        self._entries = {entry.spec.name: entry for entry in entries}
        self._down = None

    async def health(self) -> SourceHealth:
        """Down before the start and after the end, otherwise what the kind of source says."""
        return self._health() if self._down is None else SourceHealth(self._down)

    def specs(self) -> Sequence[ToolSpec]:
        """In the order in which they were loaded."""
        return self._specs

    def find_faults(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """What the function's own types or the command refuse."""
        return self._find(spec).find_faults(arguments)

    def facts(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> CallFacts:
        """What the tool's author says about the call."""
        finder = self._find(spec).facts
        return CallFacts() if finder is None else finder(arguments)

    async def preview(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Preview | None:
        """What the tool's author shows of the call."""
        preview = self._find(spec).preview
        return None if preview is None else await preview(arguments)

    async def call(self, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Run the entry. Closing the source cancels the task that asks, so that should do nothing else."""
        entry = self._find(spec)
        if self._down is not None:
            raise ToolFailed(self._down, Reason.SOURCE_UNAVAILABLE)
        if spec.unavailable is not None:
            raise ToolFailed(spec.unavailable, spec.unavailable_because)
        asking = asyncio.current_task()
        assert asking is not None, "a coroutine runs in a task"
        self._running[asking] = context
        try:
            return read_output(await _run(entry, arguments, context))
        except asyncio.CancelledError:
            context.cancelled.set()
            raise
        finally:
            del self._running[asking]

    async def close(self) -> None:
        """Cancel what runs and wait for its end; a function in a thread that never looks is left behind after a while."""
        self._down = "it was closed"
        running = dict(self._running)
        for task, context in running.items():
            context.cancelled.set()
            task.cancel()
        if running:
            await asyncio.wait(running)
        self._release()

    def _find(self, spec: ToolSpec) -> ToolEntry:
        entry = self._entries.get(spec.name)
        if entry is None or entry.spec.digest != spec.digest:
            raise ToolFailed(f"`{escape(spec.name)}` is no tool of {self._name}", Reason.SOURCE_UNAVAILABLE)
        return entry


async def _run(entry: ToolEntry, arguments: Mapping[str, Json], context: ToolContext) -> Any:
    try:
        return await entry.run(arguments, context)
    except (SystemExit, KeyboardInterrupt) as error:
        # They would leave the task and stop the event loop.
        raise hide_failure(entry.spec, error) from error


def in_thread(run: Callable[[Mapping[str, Json], ToolContext], Any], threads: WorkerThreads) -> ToolRunner:
    """A runner for a function that blocks, in one of `threads`. The function should look at `context.cancelled`."""

    async def run_in_thread(arguments: Mapping[str, Json], context: ToolContext) -> Any:
        def work() -> Any:
            context.place.is_waiting = False
            # It may have been cancelled while it was queued, and is then not started.
            if context.cancelled.is_set():
                raise ToolFailed("cancelled before it began")
            return run(arguments, context)

        context.place.is_waiting = True
        future = threads.submit(work, context.principal.id)
        try:
            await asyncio.wait((future,))
        except asyncio.CancelledError:
            context.cancelled.set()
            await asyncio.wait((future,), timeout=LATE_GRACE)
            if not future.done():
                raise
        return future.result()

    return run_in_thread
