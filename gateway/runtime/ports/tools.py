"""The published tools and how one is run."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from gateway.core.canonical import Json
from gateway.core.elicitation import ElicitationAnswer, ElicitationRefusal
from gateway.core.model import DEFAULT_RESULT_CAP, CallFacts, Principal, ToolOutput, ToolSpec
from gateway.core.preview import Preview
from gateway.core.value_types import quick


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """One way in which arguments miss their schema. `path` is a JSON pointer into the arguments."""

    path: str
    message: str


Elicit: TypeAlias = Callable[[str, Json], Awaitable[ElicitationAnswer | ElicitationRefusal]]
"""From a message and the schema of a form, both of the tool's own server, to what the person made of it."""


async def elicit_nothing(_message: str, _schema: Json) -> ElicitationRefusal:
    """Where there is nobody to ask."""
    return ElicitationRefusal("there is nobody here who could be asked")


@dataclass(slots=True)
class PlaceInLine:
    """Whether a call still waits for a thread. Whoever has it wait says so, and says that it begins before looking whether it was
    cancelled: so whoever cancels first and looks here second knows that what waits does nothing any more."""

    is_waiting: bool = False


@quick
@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running tool may know and use. `cancelled` is set when nobody waits for it any more. Of what it gives back, `redact`
    names what is taken out, and `result_cap` bytes are handed out. `place` is for what runs the tool."""

    principal: Principal
    session_id: str
    conversation_id: str
    turn_id: str
    call_id: str
    idempotency_key: str
    cancelled: threading.Event
    progress: Callable[[str, float | None], None]
    """Report a line and a fraction from 0 to 1; callable from any thread."""
    result_cap: int = DEFAULT_RESULT_CAP
    redact: frozenset[str] = frozenset()
    elicit: Elicit = elicit_nothing
    """Ask the person who owns the session, on the console; for the event loop's thread. Cancelling it withdraws the question."""
    place: PlaceInLine = field(default_factory=PlaceInLine)


ASKED_BY: Final[ContextVar[str | None]] = ContextVar("ASKED_BY", default=None)
"""Whose call this task runs, or looks at before it is asked about: the id of a person. Of what is shared by all, one person's
calls leave a part to others'."""


class Toolbox(Protocol):
    """The published tools and how they run."""

    def specs(self) -> Sequence[ToolSpec]:
        """All tools, in a stable order: a sequence that never changes, and another one once anything about a tool did.

        A spec with `unavailable` set is shown to operators with that reason.
        """
        ...

    def find(self, name: str) -> ToolSpec | None:
        """The tool of that name as it is now."""
        ...

    def find_faults(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """Every fault of the arguments against the spec's schema; empty when they fit."""
        ...

    def facts(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> CallFacts:
        """What the policy may know about this call. Raises ToolFailed when the arguments cannot be understood."""
        ...

    async def preview(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Preview | None:
        """What the call would change as things are now, where the tool can tell. Raises ToolFailed when it cannot work."""
        ...

    async def execute(self, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Run it, once. Raises ToolFailed. Cancelling the awaiting task sets `context.cancelled`."""
        ...
