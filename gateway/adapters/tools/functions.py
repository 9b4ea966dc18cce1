"""Typed Python functions as entries of a source."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from gateway.adapters.tools.declaration import AnyTool
from gateway.adapters.tools.local import ToolEntry, in_thread
from gateway.adapters.tools.schemas import read_signature
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core.canonical import Json
from gateway.core.preview import Preview
from gateway.runtime.ports import ASKED_BY, ToolContext

MAX_THREADS = 32
"""Blocking functions at once; as many as `asyncio.to_thread` would allow on a large machine."""


PREVIEWS: Final = "previews"
"""Whose threads previews have that nobody asked for: they too leave room for calls."""


def tool_threads() -> WorkerThreads:
    """The threads that all functions of a gateway share."""
    return WorkerThreads("tool", MAX_THREADS)


def read_function(tool: AnyTool, source: str, threads: WorkerThreads) -> ToolEntry:
    """A declared function as an entry: on the loop if it is a coroutine function, otherwise in one of `threads`.

    Raises Misconfigured, naming the tool, for one whose signature cannot be published.
    """
    signature = read_signature(tool.function)

    def bind(arguments: Mapping[str, Json], context: ToolContext) -> Callable[[], Any]:
        given = signature.read(arguments)
        if signature.context_name is not None:
            given[signature.context_name] = context
        return partial(tool.function, **given)

    async def run_on_loop(arguments: Mapping[str, Json], context: ToolContext) -> Any:
        return await bind(arguments, context)()

    def run_blocking(arguments: Mapping[str, Json], context: ToolContext) -> Any:
        return bind(arguments, context)()

    run = run_on_loop if inspect.iscoroutinefunction(tool.function) else in_thread(run_blocking, threads)

    async def preview(arguments: Mapping[str, Json]) -> Preview | None:
        previewer = tool.preview
        if previewer is None:
            return None
        return await threads.submit(lambda: previewer(arguments), f"{PREVIEWS} of {ASKED_BY.get()}")

    return ToolEntry(tool.describe(signature, source), run, tool.facts, signature.find_faults, preview)
