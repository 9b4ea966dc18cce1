"""Tools of other people: installed packages by entry point, and modules that the operator names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import cast

from gateway.adapters.tools.declaration import AnyTool, Tool
from gateway.adapters.tools.registry import Registry
from gateway.core.errors import Misconfigured

GROUP = "countersign.tools"


def add_installed(registry: Registry) -> None:
    """Add the tools that installed packages offer under `countersign.tools`, in the order of their names.

    An entry point names a module, a list of tools or one tool. Raises Misconfigured, naming it, when it cannot be used.
    """
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        place = f"entry point `{point.name}` ({point.value})"
        try:
            offered = point.load()
        except (Exception, SystemExit) as error:
            raise Misconfigured(f"{place} cannot be loaded: {_told(error)}") from error
        _add_all(registry, offered, place, source=f"package:{point.dist.name if point.dist else point.name}")


def add_module(registry: Registry, name: str) -> None:
    """Add the tools of a module, found as Python finds it or else in the current directory.

    Raises Misconfigured, naming the module, when it cannot be imported or declares no tool.
    """
    here = str(Path.cwd())
    # Last, so that a file lying there never stands in for a library.
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    place = f"tools module `{name}`"
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise Misconfigured(f"{place} cannot be imported: {_told(error)}") from error
    _add_all(registry, module, place, source=f"module:{name}")


def _add_all(registry: Registry, offered: object, place: str, source: str) -> None:
    tools = _tools_of(offered)
    if not tools:
        raise Misconfigured(f"{place} declares no tools: decorate a function with `@tool`, or make a list named `tools`")
    for tool in tools:
        if not isinstance(tool, Tool):
            raise Misconfigured(f"{place} offers `{type(tool).__name__}` where a function decorated with `@tool` should be")
        try:
            registry.add(cast("AnyTool", tool), source=source)
        except Misconfigured as error:
            raise Misconfigured(f"{place}: {error.message}") from None


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


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
