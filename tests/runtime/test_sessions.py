"""Console sessions, the agent sessions lent from them, and how both end; through fakes of every port."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gateway.core.errors import LedgerUnavailable, Refused
from gateway.core.ledger import AgentSessionEnded, ConsoleSessionEnded
from gateway.runtime.ports import ConsoleSession
from gateway.runtime.sessions import CODES_PER_CONSOLE
from tests.runtime.accounts import STATE, Accounts

# ── sessions ──


async def test_a_session_outlives_the_process_and_its_freshness_does_not(people: Accounts) -> None:
    signed_in = await people.enrol()
    people.restart()
    assert await people.sessions.console(signed_in.secret) == signed_in.session
    with pytest.raises(Refused) as refusal:
        people.sessions.require_fresh(signed_in.session)
    assert refusal.value.reason == "stepUpRequired"


async def test_an_unknown_secret_is_nobody(people: Accounts) -> None:
    assert await people.sessions.console("guess") is None
    assert await people.sessions.agent("guess") is None


async def test_a_session_runs_out_and_is_recorded_as_expired_once(people: Accounts) -> None:
    people.policy.allowance = replace(people.policy.allowance, session_seconds=600.0)
    signed_in = await people.enrol()
    people.clock.advance(600)
    assert await people.sessions.console(signed_in.secret) is None
    assert await people.sessions.console(signed_in.secret) is None
    assert [entry.reason for entry in people.recorded(ConsoleSessionEnded)] == ["expired"]


@pytest.mark.requirement("002-32", "a running gateway lets no session live longer when the clock is set back")
async def test_setting_the_wall_clock_back_makes_no_session_longer(people: Accounts) -> None:
    people.policy.allowance = replace(people.policy.allowance, session_seconds=600.0)
    signed_in = await people.enrol()
    people.clock.advance(600)
    people.clock.set_wall(people.clock.now() - 3_600_000)
    assert await people.sessions.console(signed_in.secret) is None


async def test_a_session_read_back_after_the_wall_clock_was_set_back_has_only_what_is_left_of_it(
    people: Accounts,
) -> None:
    people.policy.allowance = replace(people.policy.allowance, session_seconds=600.0)
    signed_in = await people.enrol()
    people.clock.advance(300)
    people.restart()
    people.clock.advance(100)
    people.clock.set_wall(people.clock.now() - 300_000)
    assert await people.sessions.console(signed_in.secret) is not None
    people.clock.advance(199)
    assert await people.sessions.console(signed_in.secret) is not None
    people.clock.advance(1)
    assert await people.sessions.console(signed_in.secret) is None


async def test_sessions_whose_time_is_over_are_ended_without_being_asked_for(people: Accounts) -> None:
    people.policy.allowance = replace(people.policy.allowance, session_seconds=600.0)
    signed_in = await people.enrol()
    lent = await people.sessions.redeem(people.sessions.authorize(signed_in.session, STATE), STATE)
    connection = people.connections.attach(lent.session, "con_1")
    await people.sessions.end_expired()
    assert connection.outbox.closing is None
    people.clock.advance(600)
    await people.sessions.end_expired()
    assert connection.outbox.closing == (4401, "expired")
    assert [entry.id for entry in people.recorded(AgentSessionEnded)] == [lent.session.id]


async def test_a_session_that_ends_while_it_is_being_read_is_not_kept_as_live(people: Accounts) -> None:
    signed_in = await people.enrol()
    people.restart()
    reading, ended = asyncio.Event(), asyncio.Event()
    read = people.ledger.console_session

    async def read_slowly(secret_hash: str) -> ConsoleSession | None:
        session = await read(secret_hash)
        reading.set()
        await ended.wait()
        return session

    people.ledger.console_session = read_slowly  # type: ignore[method-assign] - this test alone reads slowly
    async with asyncio.timeout(5):
        found = asyncio.ensure_future(people.sessions.console(signed_in.secret))
        await reading.wait()
        await people.sessions.end_console(signed_in.session, "signedOut")
        ended.set()
        assert await found is None
    assert await people.sessions.console(signed_in.secret) is None


# ── lending ──


async def test_a_code_makes_an_agent_session_of_the_same_person_that_ends_no_later(people: Accounts) -> None:
    signed_in = await people.enrol()
    people.clock.advance(100)
    lent = await people.sessions.redeem(people.sessions.authorize(signed_in.session, STATE), STATE)
    assert lent.session.principal == signed_in.session.principal
    assert lent.session.console_session_id == signed_in.session.id
    assert lent.session.expires_at == signed_in.session.expires_at
    assert await people.sessions.agent(lent.secret) == lent.session
    assert await people.sessions.console(lent.secret) is None


async def test_a_code_is_redeemed_once(people: Accounts) -> None:
    signed_in = await people.enrol()
    code = people.sessions.authorize(signed_in.session, STATE)
    await people.sessions.redeem(code, STATE)
    with pytest.raises(Refused) as refusal:
        await people.sessions.redeem(code, STATE)
    assert refusal.value.reason == "code"


async def test_a_code_is_gone_after_a_minute(people: Accounts) -> None:
    signed_in = await people.enrol()
    code = people.sessions.authorize(signed_in.session, STATE)
    people.clock.advance(60)
    with pytest.raises(Refused):
        await people.sessions.redeem(code, STATE)


@pytest.mark.requirement("002-84", "the code that opens a shell is worth nothing in another browser")
async def test_a_code_in_another_browser_is_refused_and_used_up(people: Accounts) -> None:
    signed_in = await people.enrol()
    code = people.sessions.authorize(signed_in.session, STATE)
    with pytest.raises(Refused):
        await people.sessions.redeem(code, "state of another shell")
    with pytest.raises(Refused):
        await people.sessions.redeem(code, STATE)


async def test_codes_do_not_pile_up(people: Accounts) -> None:
    signed_in = await people.enrol()
    for _ in range(CODES_PER_CONSOLE):
        people.sessions.authorize(signed_in.session, STATE)
    with pytest.raises(Refused) as refusal:
        people.sessions.authorize(signed_in.session, STATE)
    assert refusal.value.status == 429
    people.clock.advance(60)
    people.sessions.authorize(signed_in.session, STATE)


async def test_a_code_of_a_console_session_that_ended_is_worth_nothing(people: Accounts) -> None:
    signed_in = await people.enrol()
    code = people.sessions.authorize(signed_in.session, STATE)
    await people.sessions.end_console(signed_in.session, "signedOut")
    with pytest.raises(Refused):
        await people.sessions.redeem(code, STATE)


async def test_signing_out_ends_what_was_lent_and_closes_its_sockets(people: Accounts) -> None:
    """docs/PROTOCOL.md section 1; docs/SECURITY.md case 46."""
    signed_in = await people.enrol()
    lent = await people.sessions.redeem(people.sessions.authorize(signed_in.session, STATE), STATE)
    agent = people.connections.attach(lent.session, "con_1")
    console = people.connections.attach_console(signed_in.session.principal.id, signed_in.session.id, "con_2")
    await people.sessions.end_console(signed_in.session, "signedOut")
    assert await people.sessions.console(signed_in.secret) is None
    assert await people.sessions.agent(lent.secret) is None
    assert agent.outbox.closing == (4403, "signedOut")
    assert console.outbox.closing == (4403, "signedOut")
    people.restart()
    assert await people.sessions.agent(lent.secret) is None


async def test_signing_out_and_lending_at_once_leaves_nothing_lent(people: Accounts) -> None:
    signed_in = await people.enrol()
    code = people.sessions.authorize(signed_in.session, STATE)
    lending = asyncio.ensure_future(people.sessions.redeem(code, STATE))
    ending = asyncio.ensure_future(people.sessions.end_console(signed_in.session, "signedOut"))
    async with asyncio.timeout(5):
        lent, _ = await asyncio.gather(lending, ending)
    assert await people.sessions.agent(lent.secret) is None


async def test_logging_the_shell_out_leaves_the_console_signed_in(people: Accounts) -> None:
    signed_in = await people.enrol()
    lent = await people.sessions.redeem(people.sessions.authorize(signed_in.session, STATE), STATE)
    await people.sessions.end_agent(lent.session, "signedOut")
    assert await people.sessions.agent(lent.secret) is None
    assert await people.sessions.console(signed_in.secret) == signed_in.session


async def test_a_sign_out_that_cannot_be_recorded_is_not_claimed(people: Accounts) -> None:
    signed_in = await people.enrol()
    people.ledger.failure = LedgerUnavailable("disk full")
    with pytest.raises(LedgerUnavailable):
        await people.sessions.end_console(signed_in.session, "signedOut")


async def test_a_session_that_begins_later_than_the_clock_says_is_worth_nothing_to_a_new_process(people: Accounts) -> None:
    signed_in = await people.enrol()
    lent = await people.sessions.redeem(people.sessions.authorize(signed_in.session, STATE), STATE)
    began = people.clock.now()
    people.restart()
    people.clock.set_wall(began - 1)
    assert await people.sessions.console(signed_in.secret) is None
    assert await people.sessions.agent(lent.secret) is None
    people.clock.set_wall(began)
    assert await people.sessions.console(signed_in.secret) == signed_in.session
    assert await people.sessions.agent(lent.secret) == lent.session
