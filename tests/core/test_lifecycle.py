"""The life of a call, over every sequence of events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import IllegalStep
from gateway.core.lifecycle import TRANSITIONS, CallEvent, Phase, advance

events = st.lists(st.sampled_from(CallEvent), max_size=12)


def walk(history: list[CallEvent]) -> list[tuple[Phase, CallEvent, Phase]]:
    """The legal prefix of a history, step by step."""
    phase, steps = Phase.PROPOSED, list[tuple[Phase, CallEvent, Phase]]()
    for event in history:
        try:
            after = advance(phase, event)
        except IllegalStep:
            break
        steps.append((phase, event, after))
        phase = after
    return steps


@pytest.mark.requirement("002-03", "no step leads from a proposal to a run but through a clearance")
@given(events)
def test_a_call_starts_running_only_from_cleared(history: list[CallEvent]) -> None:
    assert all(before is Phase.CLEARED for before, _, after in walk(history) if after is Phase.RUNNING)


@given(events)
def test_a_call_that_awaited_a_person_is_cleared_only_by_their_approval(history: list[CallEvent]) -> None:
    steps = walk(history)
    asked = [event for _, event, _ in steps if event is CallEvent.APPROVAL_REQUESTED]
    cleared = [event for _, event, after in steps if after is Phase.CLEARED]
    assert not asked or all(event is CallEvent.APPROVAL_GIVEN for event in cleared)


@given(events)
def test_a_closed_call_is_never_left(history: list[CallEvent]) -> None:
    phases = [after for _, _, after in walk(history)]
    if Phase.CLOSED in phases:
        assert set(phases[phases.index(Phase.CLOSED) :]) == {Phase.CLOSED}


@given(events)
def test_a_call_runs_at_most_once_and_closes_at_most_once(history: list[CallEvent]) -> None:
    steps = walk(history)
    assert sum(event is CallEvent.INTENDED for _, event, _ in steps) <= 1
    assert sum(before is not Phase.CLOSED and after is Phase.CLOSED for before, _, after in steps) <= 1


def test_an_illegal_step_is_refused_and_names_both_ends() -> None:
    with pytest.raises(IllegalStep, match=r"`awaiting`.*`call:intended`"):
        advance(Phase.AWAITING, CallEvent.INTENDED)


def test_every_phase_has_a_row_and_every_event_a_use() -> None:
    assert set(TRANSITIONS) == set(Phase)
    assert {event for row in TRANSITIONS.values() for event in row} == set(CallEvent)
