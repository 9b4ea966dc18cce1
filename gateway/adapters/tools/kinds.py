"""The kinds of sources that an operator can add: their settings, and the driver of each. A new kind is a line in `_KINDS`.

A driver's module is imported when the first source of its kind is there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError

from gateway.adapters.tools.offer import DriverResources, SourceDriver
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.core.sources import SourceKind
from gateway.core.vocabulary import Label

_KINDS: Final = {
    SourceKind.MCP: ("gateway.adapters.tools.mcp", "McpServerSettings", "McpDriver"),
    SourceKind.HTTP: ("gateway.adapters.tools.http_api", "HttpApiSettings", "HttpApiDriver"),
    SourceKind.SQL: ("gateway.adapters.tools.sql", "SqlSettings", "SqlDriver"),
}
"""The package, the class in its `settings` and the class in its `driver`."""

LABELS: Final = "labels"
"""The one setting that every kind has: labels of every result, such as `label:confidential`."""

MAX_FAULTS: Final = 5
"""Faults of one source's settings that are told at once."""


def check_settings(kind: SourceKind, settings: Mapping[str, Json]) -> Mapping[str, Json]:
    """The settings in their full form, as JSON. Raises Misconfigured with what is wrong with them."""
    labels = read_labels(settings)
    checked = _read(kind, settings).model_dump(mode="json", exclude_unset=True)
    return {**checked, **({LABELS: list(labels)} if labels else {})}


def build_driver(kind: SourceKind, settings: Mapping[str, Json], resources: DriverResources) -> SourceDriver:
    """The driver of a source. Raises Misconfigured."""
    package, _, name = _KINDS[kind]
    driver: Any = getattr(importlib.import_module(f"{package}.driver"), name)
    return cast("SourceDriver", driver(_read(kind, settings), resources))


@dataclass(frozen=True, slots=True)
class SourceKinds:
    """How settings of a kind are checked, and how its driver is built."""

    check: Callable[[SourceKind, Mapping[str, Json]], Mapping[str, Json]]
    build: Callable[[SourceKind, Mapping[str, Json], DriverResources], SourceDriver]


SHIPPED_KINDS: Final = SourceKinds(check_settings, build_driver)


def read_labels(settings: Mapping[str, Json]) -> Sequence[str]:
    """The labels of every result. Raises Misconfigured for one that is none."""
    labels = settings.get(LABELS, ())
    known = [label.mark for label in Label]
    if not isinstance(labels, (list, tuple)):
        raise Misconfigured(f"`{LABELS}` is a list of {', '.join(known)}")
    for label in cast("Sequence[object]", labels):
        if label not in known:
            raise Misconfigured(f"`{escape(str(label))[:80]}` is no label; the labels are {', '.join(known)}")
    return tuple(cast("Sequence[str]", labels))


def _read(kind: SourceKind, settings: Mapping[str, Json]) -> BaseModel:
    package, name, _ = _KINDS[kind]
    model: type[BaseModel] = getattr(importlib.import_module(f"{package}.settings"), name)
    try:
        return model.model_validate({key: value for key, value in settings.items() if key != LABELS})
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
    told = "; ".join(_describe(fault["loc"], fault["msg"]) for fault in faults[:MAX_FAULTS])
    more = len(faults) - MAX_FAULTS
    raise Misconfigured(f"{told}; and {more} more" if more > 0 else told)


def _describe(place: Sequence[int | str], message: str) -> str:
    where = escape(".".join(str(step) for step in place))[:120]
    said = escape(message.removeprefix("Value error, "))[:300]
    return f"`{where}`: {said}" if where else said
