"""The life of one call, as a table.

Rule: a step that is not in TRANSITIONS cannot happen. The dispatcher drives, this table refuses; the same steps are the
audit entries and, read back after a crash, the recovery plan. `awaiting` has no way to `running` but through `cleared`,
and `closed` is never left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from gateway.core.errors import IllegalStep


class Phase(StrEnum):
    """Where a call stands."""

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
    FOUND_UNKNOWN = "call:found-unknown"
    RESULT_DISCARDED = "call:result-discarded"


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
        CallEvent.FOUND_UNKNOWN: Phase.CLOSED,
    },
    Phase.CLOSED: {
        # A tool that nobody waits for any more may still finish; that is recorded and changes nothing.
        CallEvent.RESULT_DISCARDED: Phase.CLOSED,
    },
}


def advance(phase: Phase, event: CallEvent) -> Phase:
    """The phase after an event. Raises IllegalStep if the table has no such step."""
    try:
        return TRANSITIONS[phase][event]
    except KeyError:
        raise IllegalStep(f"a call that is `{phase}` cannot take the step `{event}`") from None


def fold(events: Iterable[CallEvent]) -> Phase:
    """The phase that a recorded history leads to. Raises IllegalStep for a history that cannot have happened."""
    phase = Phase.PROPOSED
    for event in events:
        phase = advance(phase, event)
    return phase
