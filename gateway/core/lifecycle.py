"""The life of one call, as a table.

Rule: a step that is not in TRANSITIONS cannot happen. The dispatcher takes the steps and this table refuses illegal ones.
`awaiting` leads to `running` only through `cleared`, and no step leaves `closed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from gateway.core.errors import IllegalStep


class Phase(StrEnum):
    """The phase of a call."""

    PROPOSED = "proposed"
    AWAITING = "awaiting"
    CLEARED = "cleared"
    RUNNING = "running"
    CLOSED = "closed"


class CallEvent(StrEnum):
    """What happened to a call, `subject:past-tense`."""

    ALLOWED = "call:allowed"
    APPROVAL_REQUESTED = "approval:requested"
    APPROVAL_GIVEN = "approval:given"
    INTENDED = "call:intended"
    CLOSED = "call:closed"


TRANSITIONS: Final[Mapping[Phase, Mapping[CallEvent, Phase]]] = {
    Phase.PROPOSED: {
        CallEvent.ALLOWED: Phase.CLEARED,
        CallEvent.APPROVAL_REQUESTED: Phase.AWAITING,
        CallEvent.CLOSED: Phase.CLOSED,
    },
    Phase.AWAITING: {
        CallEvent.APPROVAL_GIVEN: Phase.CLEARED,
        CallEvent.CLOSED: Phase.CLOSED,
    },
    Phase.CLEARED: {
        CallEvent.INTENDED: Phase.RUNNING,
        CallEvent.CLOSED: Phase.CLOSED,
    },
    Phase.RUNNING: {
        CallEvent.CLOSED: Phase.CLOSED,
    },
    Phase.CLOSED: {},
}


def advance(phase: Phase, event: CallEvent) -> Phase:
    """The phase after an event. Raises IllegalStep if the table has no such step."""
    try:
        return TRANSITIONS[phase][event]
    except KeyError:
        raise IllegalStep(f"a call that is `{phase}` cannot take the step `{event}`") from None
