"""Python modules as sources: those of installed packages, found by entry point, and those that the operator names."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import cast

from gateway.adapters.tools.declaration import AnyTool, Tool
from gateway.adapters.tools.functions import read_function
from gateway.adapters.tools.local import LocalSource, ToolEntry
from gateway.adapters.tools.outputs import FAILURES
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core.canonical import digest, digest_of_bytes
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.model import ToolSpec

GROUP = "countersign.tools"

WORDS_SHOWN = 200
"""Characters of an error's own words, two lines of a terminal."""

FINGERPRINT = 32
"""Hex digits of the digest in a method's name; as many as for programs."""


def installed_sources(threads: WorkerThreads) -> list[LocalSource]:
    """A source for each entry point of `countersign.tools`, in the order of their names.

    An entry point names a module, a list of tools or one tool. Starting a source raises Misconfigured, naming the entry
    point, when it cannot be used.
    """
    return [
        _installed_source(point, threads) for point in sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value))
    ]


def module_source(name: str, threads: WorkerThreads) -> LocalSource:
    """The tools of a module, found as Python finds it or else in the current directory.

    Starting it raises Misconfigured, naming the module, when it cannot be imported or declares no tool.
    """
    source = f"module:{name}"
    return LocalSource(source, lambda: _load(f"tools module `{name}`", "imported", lambda: _import(name), source, threads))


def _installed_source(point: EntryPoint, threads: WorkerThreads) -> LocalSource:
    source = f"package:{point.dist.name if point.dist else point.name}"
    place = f"entry point `{point.name}` ({point.value})"
    return LocalSource(source, lambda: _load(place, "loaded", point.load, source, threads))


def _import(name: str) -> object:
    here = str(Path.cwd())
    # Last, so that a file there never replaces a library.
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    return importlib.import_module(name)


def _load(place: str, verb: str, get: Callable[[], object], source: str, threads: WorkerThreads) -> Sequence[ToolEntry]:
    try:
        offered = get()
    except FAILURES as error:
        raise Misconfigured(f"{place} cannot be {verb}: {_place_of(error)}{_in_one_line(error)}") from error
    tools = _tools_of(offered)
    if not tools:
        raise Misconfigured(f"{place} declares no tools: decorate a function with `@tool`, or make a list named `tools`")
    entries: list[ToolEntry] = []
    for tool in tools:
        if not isinstance(tool, Tool):
            raise Misconfigured(f"{place} offers `{type(tool).__name__}` where a function decorated with `@tool` should be")
        try:
            entry = read_function(cast("AnyTool", tool), source, threads)
            entries.append(replace(entry, spec=_name_by_what_runs(cast("AnyTool", tool), entry.spec)))
        except Misconfigured as error:
            raise Misconfigured(f"{place}: {error.message}") from None
    return entries


def _place_of(error: BaseException) -> str:
    """The file and line of the innermost module that was being read, without its folder; empty when none was found to read."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno}: "
    bodies = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.name == "<module>"]
    return f"{Path(bodies[-1].filename).name}:{bodies[-1].lineno}: " if bodies else ""


def _in_one_line(error: BaseException) -> str:
    """What kind of error, and the start of what it says: some say it over pages."""
    words = str(error.msg if isinstance(error, SyntaxError) else error).strip()
    first = escape(words.splitlines()[0] if words else "")
    return f"{type(error).__name__}: {first if len(first) <= WORDS_SHOWN else first[:WORDS_SHOWN] + '…'}"


def _name_by_what_runs(tool: AnyTool, spec: ToolSpec) -> ToolSpec:
    """The definition with a digest of what its descriptor does not show: the sentences that a person reads, what is believed of
    its results, and the source of the function's module. An approval of one must not cover another that the next version
    of the module puts there. What the module imports is not followed."""
    runs = {
        "summary": spec.summary,
        "effects": list(spec.effects),
        "trust": spec.trust.value,
        "labels": list(spec.labels),
        "recovery": spec.recovery.value,
        "resultCap": spec.result_cap,
        "timeout": str(spec.timeout),
        "network": spec.network,
        "source": digest_of_bytes(_source_of(tool)),
    }
    return replace(spec, method_name=f"{spec.method_name}@{digest(runs)[:FINGERPRINT]}")


def _source_of(tool: AnyTool) -> bytes:
    """The bytes of the module's file; the function's own code where there is none, as for a function made in memory."""
    module = sys.modules.get(tool.function.__module__)
    try:
        return Path(str(getattr(module, "__file__", None))).read_bytes()
    except OSError:
        return tool.function.__code__.co_code


def _tools_of(offered: object) -> list[object]:
    match offered:
        case ModuleType():
            listed = getattr(offered, "tools", None)
            if listed is not None and not isinstance(listed, ModuleType):
                return _tools_of(listed)
            # A tool that the module only imported belongs to somebody else.
            found = [cast("AnyTool", value) for value in vars(offered).values() if isinstance(value, Tool)]
            return [tool for tool in found if tool.function.__module__ == offered.__name__]
        case list() | tuple():
            return list(cast("Iterable[object]", offered))
        case _:
            return [offered]
