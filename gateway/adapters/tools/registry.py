"""The Toolbox: which tools there are, whether arguments fit them, and running one so that nothing but ToolFailed comes out."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import orjson
from pydantic_core import PydanticSerializationError, to_jsonable_python

from gateway.adapters.tools.declaration import AnyTool, FactFinder
from gateway.adapters.tools.schemas import Validator, read_signature
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core import effects
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.errors import MalformedJson, Misconfigured, ToolFailed
from gateway.core.local_tools import LOCAL_NAMES
from gateway.core.model import CallFacts, ToolOutput, ToolSpec
from gateway.core.vocabulary import Reason
from gateway.runtime.ports import ArgumentFault, ToolContext

_log = logging.getLogger(__name__)

Runner: TypeAlias = Callable[[Mapping[str, Json], ToolContext], Awaitable[Any]]
FaultFinder: TypeAlias = Callable[[Mapping[str, Json]], Sequence[ArgumentFault]]

MAX_THREADS = 32
"""Blocking tools at once; as many as `asyncio.to_thread` would allow on a large machine."""

LATE_PATIENCE = 10.0
"""Seconds a call that was cancelled is still followed, so that a result that arrives late can be recorded."""

MAX_FAILURE_TEXT = 2_000
"""Characters of a tool's own failure message."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class _Entry:
    spec: ToolSpec
    run: Runner
    facts: FactFinder | None
    find_faults: FaultFinder


class Registry:
    """A Toolbox over functions. Tools are added while the gateway starts; afterwards it only reads."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._validators: dict[str, Validator] = {}
        self._threads = WorkerThreads("tool", MAX_THREADS)

    def add(self, tool: AnyTool, *, source: str) -> None:
        """Publish a declared function. Raises Misconfigured, naming the tool, for one that cannot be."""
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

        run = run_on_loop if inspect.iscoroutinefunction(tool.function) else in_thread(run_blocking, self._threads)
        self.register(tool.describe(signature, source), run, facts=tool.facts, find_faults=signature.find_faults)

    def register(
        self,
        spec: ToolSpec,
        run: Runner,
        *,
        facts: FactFinder | None = None,
        find_faults: FaultFinder = lambda _: (),
    ) -> None:
        """Publish a definition with what runs it; `find_faults` may refuse more than the schema does."""
        name = effects.escape(spec.name)
        if _NAME.fullmatch(spec.name) is None:
            raise Misconfigured(f"tool `{name}`: a name is a letter or `_`, then at most 63 letters, digits or `_`")
        if spec.name.lower() in LOCAL_NAMES:
            raise Misconfigured(f"tool `{name}`: this name belongs to the agent loop")
        if (other := self.find_alike(spec.name)) is not None:
            spelt = "" if other.name == spec.name else f" as `{other.name}`"
            raise Misconfigured(f"tool `{name}` of {spec.source} is already published{spelt} by {other.source}")
        if not spec.description.strip():
            raise Misconfigured(f"tool `{name}` has no description, so no model can know when to call it")
        known: Mapping[str, Json] = spec.param_schema.get("properties", {})
        try:
            validator = Validator(spec.param_schema)
            strange = [used for text in (spec.summary, *spec.effects) for used in effects.names_in(text) if used not in known]
        except Misconfigured as error:
            raise Misconfigured(f"tool `{name}`: {error.message}") from None
        if strange:
            raise Misconfigured(f"tool `{name}`: its summary or effects name `{strange[0]}`, which is no parameter")
        self._validators[spec.digest] = validator
        self._entries[spec.name] = _Entry(spec, run, facts, find_faults)

    # ── the port ──

    def specs(self) -> Sequence[ToolSpec]:
        """All tools, in the order in which they were added."""
        return tuple(entry.spec for entry in self._entries.values())

    def find(self, name: str) -> ToolSpec | None:
        """The tool of that name."""
        entry = self._entries.get(name)
        return None if entry is None else entry.spec

    def find_alike(self, name: str) -> ToolSpec | None:
        """The tool of that name, large letters and small ones being the same: neither people nor models tell them apart."""
        return next((entry.spec for known, entry in self._entries.items() if known.lower() == name.lower()), None)

    def find_faults(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """Every fault of the arguments, first against the schema, then against the function's own types."""
        validator = self._validators.get(spec.digest)
        if validator is None:
            validator = self._validators[spec.digest] = Validator(spec.param_schema)
        return validator.find_faults(arguments) or self._current(spec).find_faults(arguments)

    def facts(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> CallFacts:
        """What the policy may know about this call."""
        finder = self._current(spec).facts
        if finder is None:
            return CallFacts()
        try:
            return finder(arguments)
        except ToolFailed:
            raise
        except Exception as error:
            raise _failure(spec, error) from error

    async def execute(self, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Run the tool once. When the awaiting task is cancelled, a function in a thread is told and followed a while."""
        entry = self._current(spec)
        if spec.unavailable is not None:
            raise ToolFailed(spec.unavailable, spec.unavailable_because)
        try:
            return _read_output(await entry.run(arguments, context))
        except asyncio.CancelledError:
            context.cancelled.set()
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise ToolFailed("the tool gave up") from None
        except ToolFailed as error:
            raise ToolFailed(_encodable(error.message)[:MAX_FAILURE_TEXT], error.reason) from error
        # SystemExit would otherwise stop the event loop, and with it the gateway.
        except (Exception, SystemExit) as error:
            raise _failure(spec, error) from error

    # ── inside ──

    def _current(self, spec: ToolSpec) -> _Entry:
        entry = self._entries.get(spec.name)
        if entry is None or entry.spec.digest != spec.digest:
            raise ToolFailed(f"`{effects.escape(spec.name)}` is not the tool it was", Reason.SOURCE_UNAVAILABLE)
        return entry


def in_thread(run: Callable[[Mapping[str, Json], ToolContext], Any], threads: WorkerThreads) -> Runner:
    """A runner for a function that blocks, in one of `threads`. The function should look at `context.cancelled`."""

    async def run_there(arguments: Mapping[str, Json], context: ToolContext) -> Any:
        def work() -> Any:
            # It may have stood in line: what nobody waits for any more is not begun.
            if context.cancelled.is_set():
                raise ToolFailed("cancelled before it began")
            return run(arguments, context)

        future = threads.submit(work)
        try:
            await asyncio.wait((future,))
        except asyncio.CancelledError:
            context.cancelled.set()
            await asyncio.wait((future,), timeout=LATE_PATIENCE)
            if not future.done():
                raise
        return future.result()

    return run_there


def _read_output(value: Any) -> ToolOutput:
    match value:
        case None:
            return ToolOutput("done")
        case str():
            return ToolOutput(_encodable(value))
        case ToolOutput():
            return ToolOutput(_encodable(value.text), _jsonable(value.structured), tuple(value.labels))
        case _:
            structured = _jsonable(value)
            return ToolOutput(orjson.dumps(structured).decode(), structured)


def _jsonable(value: Any) -> Json:
    if value is None:
        return None
    try:
        jsonable = to_jsonable_python(value, inf_nan_mode="constants")
        # Hashed later on; better refused here, where it is still the tool's failure. NaN is asked for apart, because
        # orjson under the canonical form writes it as null.
        json.dumps(jsonable, allow_nan=False)
        canonical_bytes(jsonable)
    except (PydanticSerializationError, MalformedJson, ValueError):
        raise ToolFailed("the tool gave back something that is not JSON") from None
    return jsonable


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _failure(spec: ToolSpec, error: BaseException) -> ToolFailed:
    """Only the class of an unforeseen error is told: its text may hold paths, addresses or secrets."""
    _log.error("tool %s failed", spec.name, exc_info=error)
    return ToolFailed(f"the tool failed ({type(error).__name__})")
