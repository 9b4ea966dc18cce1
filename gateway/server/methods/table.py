"""The shape of a method table, and the check that none has a row too few or too many."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from gateway.protocol.frames import Dialect
from gateway.protocol.wire import Wire

Caller = TypeVar("Caller")


class Pace(Enum):
    """How a method's requests on one connection relate to each other."""

    AT_ONCE = auto()
    """Each by itself: it reads, or it stops something and must not wait behind what it stops."""

    IN_ORDER = auto()
    """One after the other, as they came: it changes what the next one finds."""

    WAITING = auto()
    """Each by itself, for as long as a person takes; nobody waits for it any more once the connection is gone."""


@dataclass(frozen=True, slots=True)
class Method(Generic[Caller]):
    """One row. `answer` takes who asks and parameters of type `params`, and raises only errors of the tree."""

    params: type[Wire]
    answer: Callable[[Caller, Any], Awaitable[Wire]]
    pace: Pace = Pace.AT_ONCE


def tabulate(
    dialect: Dialect,
    handlers: Mapping[str, tuple[Callable[[Caller, Any], Awaitable[Wire]], Pace]],
) -> Mapping[str, Method[Caller]]:
    """The table of a dialect. Every method of the contract has its handler, and there is no other."""
    assert handlers.keys() == dialect.methods.keys(), f"not in both: {handlers.keys() ^ dialect.methods.keys()}"
    return MappingProxyType(
        {name: Method(shape.params, *handlers[name]) for name, shape in dialect.methods.items()},
    )
