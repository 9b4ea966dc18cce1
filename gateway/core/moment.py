"""What was true when a call was judged, beside the call itself: how much was called before it, what time it was, and whether
untrusted results held what its arguments hold.

Such facts change without the call changing, so they are told to a policy only where one of its rules looks at them, and they
are part of the question that the record keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from gateway.core.canonical import Json


class MomentFact(StrEnum):
    """The facts, by the names that rules know them by."""

    CALLS_IN_TURN = "callsInTurn"
    CALLS_IN_SESSION = "callsInSession"
    TOOLS_USED = "toolsUsed"
    MINUTE_OF_DAY = "minuteOfDay"
    WEEKDAY = "weekday"
    ARGUMENTS_FROM_UNTRUSTED = "argumentsFromUntrusted"


_NAMES: Final = tuple(fact.value for fact in MomentFact)


class Moment(NamedTuple):
    """What a policy was told of the moment; None is what it was not told, for no rule of it looks.

    The counts include the call itself. `tools_used` names the tools that ran in the session, `minute_of_day` counts from 0 at
    midnight and `weekday` from 1 for Monday, both in the operator's time zone. `arguments_from_untrusted` says whether the
    call's arguments hold what an untrusted result of the conversation held.
    """

    calls_in_turn: int | None = None
    calls_in_session: int | None = None
    tools_used: frozenset[str] | None = None
    minute_of_day: int | None = None
    weekday: int | None = None
    arguments_from_untrusted: bool | None = None

    def told(self) -> dict[str, Json]:
        """The facts that were told, as JSON."""
        tools = None if self.tools_used is None else sorted(self.tools_used)
        values = (
            self.calls_in_turn,
            self.calls_in_session,
            tools,
            self.minute_of_day,
            self.weekday,
            self.arguments_from_untrusted,
        )
        return {name: value for name, value in zip(_NAMES, values, strict=True) if value is not None}


UNTOLD: Final = Moment()


def restore_moment(told: Mapping[str, Json]) -> Moment:
    """The moment of which `told` was told."""
    tools = told.get(MomentFact.TOOLS_USED)
    return Moment(
        calls_in_turn=told.get(MomentFact.CALLS_IN_TURN),
        calls_in_session=told.get(MomentFact.CALLS_IN_SESSION),
        tools_used=None if tools is None else frozenset(tools),
        minute_of_day=told.get(MomentFact.MINUTE_OF_DAY),
        weekday=told.get(MomentFact.WEEKDAY),
        arguments_from_untrusted=told.get(MomentFact.ARGUMENTS_FROM_UNTRUSTED),
    )
