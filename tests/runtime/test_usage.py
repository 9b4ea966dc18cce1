"""Quotas: reserved before anything runs, settled with what it came to, and told with when there is more."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import orjson
import pytest

from gateway.core.budget import Allowance, Exhausted, Quota, QuotaMeter, QuotaUse
from gateway.core.errors import LedgerUnavailable, TooManyRequests
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.usage import QuotaUsage, Reservation
from tests.runtime.conftest import Stage
from tests.runtime.decisions import approve

MINUTE = 60


def allow(stage: Stage, *allowances: Allowance) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, quotas=allowances)


def usage(stage: Stage) -> QuotaUsage:
    """The counts as another process would find them."""
    return QuotaUsage(policy=stage.policy, records=stage.ledger, clock=stage.clock)


async def used(stage: Stage) -> dict[tuple[str, str], int]:
    holders = {stage.ada.id, stage.session.id, *([stage.snapshot.turn_id] if stage.snapshot else [])}
    return {(each.meter, each.span): each.used for each in await stage.ledger.quota_counts(holders)}


@pytest.mark.parametrize(
    ("window", "when"),
    [
        (Quota.MINUTE, "this minute has used up its 2 tool calls; there is more in 60 seconds"),
        (Quota.TURN, "this turn has used up its 2 tool calls; there is more in the next turn"),
        (Quota.SESSION, "this session has used up its 2 tool calls; there is more in another session: open the shell"),
        (Quota.PERSON, "this person has used up its 2 tool calls; there is more when an operator raises it"),
        (Quota.DAY, "this day has used up its 2 tool calls; there is more at midnight UTC, in 16 h 0 min"),
    ],
)
async def test_calls_at_once_never_exceed_a_quota_and_the_refusal_says_when_there_is_more(
    stage: Stage, window: Quota, when: str
) -> None:
    allow(stage, Allowance(QuotaMeter.CALLS, window, 2))
    await stage.begin()
    answers = await asyncio.gather(*(stage.invoke(stage.propose("look", f"c{number}")) for number in range(6)))
    results = [answer.result for answer in answers]
    assert len(stage.toolbox.effects) == 2
    assert [result.outcome for result in results].count(Outcome.OK) == 2
    refused = [result for result in results if result.reason is Reason.QUOTA_EXCEEDED]
    assert len(refused) == 4
    assert all(str(result.error).startswith(when) for result in refused)
    assert (await used(stage))["calls", window.value] == 2


async def test_a_minute_ends_and_a_clock_that_is_set_back_does_not_begin_it_anew(stage: Stage) -> None:
    allow(stage, Allowance(QuotaMeter.CALLS, Quota.MINUTE, 1))
    await stage.begin()
    await stage.invoke(stage.propose("look"))
    assert (await stage.invoke(stage.propose("look"))).result.reason is Reason.QUOTA_EXCEEDED
    stage.clock.advance(MINUTE)
    assert (await stage.invoke(stage.propose("look"))).result.outcome is Outcome.OK
    stage.clock.set_wall(stage.clock.now() - MINUTE * 1000)
    assert (await stage.invoke(stage.propose("look"))).result.reason is Reason.QUOTA_EXCEEDED


async def test_another_process_finds_what_was_used(stage: Stage) -> None:
    allow(stage, Allowance(QuotaMeter.CALLS, Quota.DAY, 2))
    snapshot = await stage.begin()
    for _ in range(2):
        await stage.invoke(stage.propose("look"))
    again = usage(stage)
    await again.recall(stage.session, snapshot.turn_id)
    assert isinstance(again.reserve(stage.session, snapshot.turn_id, {QuotaMeter.CALLS: 1}), Exhausted)


async def test_a_second_session_of_the_same_person_shares_their_day(stage: Stage) -> None:
    allow(stage, Allowance(QuotaMeter.CALLS, Quota.DAY, 1))
    await stage.begin()
    await stage.invoke(stage.propose("look"))
    await stage.sign_in_elsewhere()
    await stage.begin()
    assert (await stage.invoke(stage.propose("look"))).result.reason is Reason.QUOTA_EXCEEDED


async def test_what_was_reserved_is_settled_with_what_it_came_to(stage: Stage) -> None:
    allow(stage, Allowance(QuotaMeter.SECONDS, Quota.DAY, 1000), Allowance(QuotaMeter.RELEASED_BYTES, Quota.DAY, 1_000_000))
    await stage.begin()
    result = (await stage.invoke(stage.propose("look"))).result
    counted = await used(stage)
    assert counted["released_bytes", "day"] == len(result.content.encode()) + len(orjson.dumps(result.structured))
    assert counted["seconds", "day"] == 0


async def test_a_tool_gets_no_more_time_than_is_left(stage: Stage) -> None:
    allow(stage, Allowance(QuotaMeter.SECONDS, Quota.DAY, 1))
    await stage.begin()
    reservation = usage(stage)
    await reservation.recall(stage.session, None)
    granted = reservation.reserve(stage.session, None, {QuotaMeter.SECONDS: 30_000})
    assert isinstance(granted, Reservation)
    assert granted.granted == {QuotaMeter.SECONDS: 1000}
    assert isinstance(reservation.reserve(stage.session, None, {QuotaMeter.SECONDS: 30_000}), Exhausted)
    # What it did not take is there for the next.
    assert reservation.settle(granted, {QuotaMeter.SECONDS: 400}) == (QuotaUse(*granted.uses[0][:4], -600),)


async def test_a_result_is_cut_to_what_is_left(stage: Stage) -> None:
    allow(stage, Allowance(QuotaMeter.RELEASED_BYTES, Quota.DAY, 1_000))
    await stage.begin()
    result = (await stage.invoke(stage.propose("look", path="x" * 4_000))).result
    assert result.truncated
    assert len(result.content.encode()) <= 500


async def test_a_call_that_could_not_be_recorded_uses_nothing(stage: Stage) -> None:
    allow(stage, Allowance(QuotaMeter.CALLS, Quota.DAY, 1))
    await stage.begin()
    stage.ledger.failure = LedgerUnavailable("the disk is full")
    assert (await stage.invoke(stage.propose("look", "c1"))).result.reason is Reason.LEDGER_UNAVAILABLE
    stage.ledger.failure = None
    assert (await stage.invoke(stage.propose("look", "c2"))).result.outcome is Outcome.OK


async def test_a_quota_that_runs_out_while_a_person_decides_refuses_what_they_approved(stage: Stage) -> None:
    allow(stage, Allowance(QuotaMeter.CALLS, Quota.DAY, 1))
    await stage.begin()
    waiting = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    await stage.invoke(stage.propose("look"))
    with pytest.raises(Exception, match="used up its 1 tool calls"):
        await approve(stage, approval_id)
    assert (await waiting).result.reason is Reason.QUOTA_EXCEEDED
    assert [effect[0] for effect in stage.toolbox.effects] == ["look"]


async def test_tokens_are_set_aside_on_record_and_stay_used_when_nobody_settles_them(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, tokens_per_session=100)
    snapshot = await stage.begin()
    conversation, turn = await stage.gateway.turns.open_turn(stage.session, snapshot.conversation_id, snapshot.turn_id)
    _, lease = await stage.gateway.inference.mint(stage.session, conversation, turn, "w:tiny")
    reserved = await stage.gateway.inference.reserve_tokens(lease, 100)
    assert await stage.gateway.inference.record_reserved(lease, reserved) is reserved
    with pytest.raises(TooManyRequests, match="100 model tokens"):
        await stage.gateway.inference.reserve_tokens(lease, 1)
    assert (await used(stage))["tokens", "session"] == 100
    await stage.gateway.inference.finish(lease, "completed", 20, 10, reserved=reserved)
    assert (await used(stage))["tokens", "session"] == 30
    await stage.gateway.inference.reserve_tokens(lease, 1)
