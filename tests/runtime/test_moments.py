"""What a policy is told of the moment, on the runtime's own clock and counts."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from gateway.core.moment import Moment, MomentFact
from gateway.core.vocabulary import Outcome
from gateway.runtime.moments import Moments
from tests.runtime.conftest import Stage


def moments(stage: Stage, zone: str) -> Moments:
    ports = stage.gateway.ports
    return Moments(
        policy=stage.policy,
        exposures=stage.gateway.exposures,
        records=ports.records,
        connections=stage.gateway.connections,
        clock=stage.clock,
        zone=ZoneInfo(zone),
    )


@pytest.mark.parametrize(("zone", "minute", "weekday"), [("UTC", 23 * 60 + 30, 7), ("Europe/Berlin", 30, 1)])
async def test_the_time_is_that_of_the_operators_zone(stage: Stage, zone: str, minute: int, weekday: int) -> None:
    stage.policy.reads = frozenset({MomentFact.MINUTE_OF_DAY, MomentFact.WEEKDAY})
    snapshot = await stage.begin()
    conversation, _ = await stage.gateway.turns.open_turn(stage.session, snapshot.conversation_id, snapshot.turn_id)
    stage.clock.set_wall(int(datetime(2026, 1, 4, 23, 30, tzinfo=UTC).timestamp() * 1000))
    told = moments(stage, zone).subject(stage.session, conversation).moment
    assert told == Moment(minute_of_day=minute, weekday=weekday)


async def test_counts_include_the_call_and_only_tools_that_ran_are_used(stage: Stage) -> None:
    stage.policy.reads = frozenset({MomentFact.CALLS_IN_TURN, MomentFact.CALLS_IN_SESSION, MomentFact.TOOLS_USED})
    snapshot = await stage.begin()
    conversation, _ = await stage.gateway.turns.open_turn(stage.session, snapshot.conversation_id, snapshot.turn_id)
    assert (await stage.invoke(stage.propose("look", "c1"))).result.outcome is Outcome.OK
    await stage.invoke(stage.propose("administer", "c2"))
    told = moments(stage, "UTC").subject(stage.session, conversation).moment
    assert told == Moment(calls_in_turn=2, calls_in_session=2, tools_used=frozenset({"look"}))
