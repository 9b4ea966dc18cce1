"""Calls whose record or course breaks: each is still answered, and closed on record exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from gateway.core.approval import Grant
from gateway.core.errors import IllegalStep, LedgerUnavailable, Refused
from gateway.core.ledger import (
    ApprovalResolved,
    CallClosed,
    CallFoundUnknown,
    CallIntended,
    CallRefusedUnrecorded,
    ConversationTainted,
    Entry,
    GrantRevoked,
)
from gateway.core.vocabulary import ApprovalStatus, Category, GrantScope, Outcome, Reason, Trust
from gateway.runtime import closing
from gateway.runtime.approvals import Decided
from tests.fakes.toolbox import make_spec
from tests.runtime.conftest import PATIENCE, Stage


async def answer(
    stage: Stage, approval_id: str, *, approve: bool = True, scope: GrantScope = GrantScope.ONCE, passkey: bool = False
) -> Decided:
    """A person's answer on the console, with their passkey where it is asked for."""
    async with asyncio.timeout(PATIENCE):
        _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
        assert challenge is not None
        assertion = None
        if passkey:
            options = await stage.gateway.approvals.assertion_options(stage.console, approval_id)
            assertion = stage.authenticator.get(options)
        return await stage.gateway.approvals.decide(
            stage.console, approval_id, challenge=challenge, approve=approve, scope=scope, assertion=assertion
        )


def closings(stage: Stage) -> list[Entry]:
    kinds = CallClosed | CallFoundUnknown | CallRefusedUnrecorded
    return [entry for entry in stage.ledger.entries if isinstance(entry, kinds)]


class BrokenLedger:
    """Refuses the first submissions that hold one kind of entry, as a full disk or the database's own rules would."""

    def __init__(self, stage: Stage, kind: type, error: Callable[[], Exception], times: int = 1) -> None:
        self._append = stage.ledger.append
        self._kind = kind
        self._error = error
        self._times = times

    async def __call__(self, *entries: Entry) -> tuple[int | None, ...]:
        if self._times and any(isinstance(entry, self._kind) for entry in entries):
            self._times -= 1
            raise self._error()
        return await self._append(*entries)


def full() -> Exception:
    return LedgerUnavailable("the disk is full")


def illegal() -> Exception:
    return IllegalStep("the passkey's counter went back")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "RETRY_SECONDS", (0.0,))


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0)


@pytest.mark.requirement("002-33", "an approval that meets a cancel is told that it did not count")
async def test_a_yes_that_meets_a_cancel_is_told_what_is_on_record(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write", "c1"))
    approval_id = (await stage.asked())["id"]
    conversation = await stage.gateway.conversations.enter(stage.session, stage.conversation_id)
    conversation.in_flight["c1"].stop(None)
    with pytest.raises(Refused, match="no longer open"):
        await answer(stage, approval_id)
    assert (await call).result.outcome is Outcome.CANCELLED
    (resolved,) = [entry for entry in stage.ledger.entries if isinstance(entry, ApprovalResolved)]
    assert resolved.status is ApprovalStatus.CANCELLED
    assert stage.toolbox.effects == []


async def test_a_passkey_answer_that_the_ledger_refuses_runs_nothing_and_is_told_on_both_sides(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.begin()
    call = stage.start(stage.propose("destroy"))
    approval_id = (await stage.asked())["id"]
    monkeypatch.setattr(stage.ledger, "append", BrokenLedger(stage, CallIntended, illegal))
    with pytest.raises(Refused, match="nothing ran"):
        await answer(stage, approval_id, passkey=True)
    async with asyncio.timeout(PATIENCE):
        result = (await call).result
    assert (result.outcome, result.reason) == (Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID)
    assert len(closings(stage)) == 1
    assert list(await stage.ledger.open_approvals()) == []
    assert stage.toolbox.effects == []


async def test_a_yes_after_the_recorded_expiry_is_refused_though_less_time_has_passed(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    stage.clock.set_wall(stage.clock.now() + 3_600_000)
    with pytest.raises(Refused, match="expired"):
        await answer(stage, approval_id)
    call.cancel()


async def test_a_grant_that_only_memory_still_holds_covers_nothing(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await answer(stage, (await stage.asked())["id"], scope=GrantScope.SESSION)
    await call
    (grant,) = await stage.gateway.grants.of_session(stage.session.id)
    await stage.ledger.append(GrantRevoked(stage.clock.now(), grant.id, stage.ada.id, "behind the gateway's back"))
    result = (await stage.invoke(stage.propose("write"))).result
    assert (result.outcome, result.reason) == (Outcome.CANCELLED, None)
    assert len(closings(stage)) == 2
    again = stage.start(stage.propose("write"))
    await answer(stage, (await stage.asked())["id"], approve=False)
    assert (await again).result.outcome is Outcome.DENIED_BY_USER
    assert len(stage.toolbox.effects) == 1


async def test_a_question_whose_answer_cannot_be_recorded_is_closed_as_soon_as_the_ledger_can(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    monkeypatch.setattr(stage.ledger, "append", BrokenLedger(stage, CallClosed, full))
    with pytest.raises(LedgerUnavailable):
        await answer(stage, approval_id, approve=False)
    assert (await call).result.reason is Reason.LEDGER_UNAVAILABLE
    await until(lambda: closings(stage))
    (resolved,) = [entry for entry in stage.ledger.entries if isinstance(entry, ApprovalResolved)]
    assert resolved.status is ApprovalStatus.DENIED
    assert list(await stage.ledger.open_approvals()) == []


async def test_a_yes_that_cannot_be_recorded_leaves_no_open_question_behind(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    monkeypatch.setattr(stage.ledger, "append", BrokenLedger(stage, ApprovalResolved, full, times=2))
    with pytest.raises(LedgerUnavailable):
        await answer(stage, approval_id)
    assert (await call).result.reason is Reason.LEDGER_UNAVAILABLE
    await until(lambda: closings(stage))
    assert list(await stage.ledger.open_approvals()) == []
    assert stage.toolbox.effects == []


async def test_what_came_in_taints_the_record_even_if_it_was_recorded_late(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    monkeypatch.setattr(stage.ledger, "append", BrokenLedger(stage, CallClosed, full))
    assert (await stage.invoke(stage.propose("read_outside"))).result.reason is Reason.OUTCOME_UNKNOWN
    await until(lambda: closings(stage))
    assert any(isinstance(entry, ConversationTainted) for entry in stage.ledger.entries)
    record = await stage.ledger.conversation(stage.conversation_id)
    assert record is not None
    assert record.taint == 1


@pytest.mark.parametrize("tool", ["look", "write"])
async def test_a_course_that_breaks_before_the_intent_says_that_nothing_ran(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    await stage.begin()
    monkeypatch.setattr(stage.ledger, "append", BrokenLedger(stage, CallIntended, lambda: RuntimeError("a bug")))
    call = stage.start(stage.propose(tool))
    if tool == "write":
        with pytest.raises(Refused, match="nothing ran"):
            await answer(stage, (await stage.asked())["id"])
    async with asyncio.timeout(PATIENCE):
        result = (await call).result
    assert (result.outcome, result.reason) == (Outcome.EXECUTION_ERROR, Reason.SOURCE_UNAVAILABLE)
    assert len(closings(stage)) == 1
    assert list(await stage.ledger.open_approvals()) == []
    assert stage.toolbox.effects == []


@pytest.mark.requirement("002-11", "a call that breaks after its intent is on record as unknown")
async def test_a_course_that_breaks_after_the_intent_is_closed_as_unknown(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    monkeypatch.setattr(stage.ledger, "append", BrokenLedger(stage, CallClosed, lambda: RuntimeError("a bug")))
    result = (await stage.invoke(stage.propose("look"))).result
    assert (result.outcome, result.reason) == (Outcome.EXECUTION_ERROR, Reason.OUTCOME_UNKNOWN)
    assert [type(entry) for entry in closings(stage)] == [CallFoundUnknown]


async def test_a_replay_conflict_that_cannot_be_recorded_is_still_a_result(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    await stage.invoke(stage.propose("look", "c1"))
    monkeypatch.setattr(stage.ledger, "append", BrokenLedger(stage, CallRefusedUnrecorded, full))
    result = (await stage.invoke(stage.propose("look", "c1", path="other"))).result
    assert (result.outcome, result.reason) == (Outcome.EXECUTION_ERROR, Reason.LEDGER_UNAVAILABLE)


async def test_what_an_untrusted_tool_says_of_its_failure_is_believed_no_more_than_its_results(stage: Stage) -> None:
    stage.toolbox.tools = [make_spec("fail", Category.READ, trust=Trust.UNTRUSTED)]
    await stage.begin()
    result = (await stage.invoke(stage.propose("fail"))).result
    assert (result.outcome, result.trust) == (Outcome.EXECUTION_ERROR, Trust.UNTRUSTED)
    record = await stage.ledger.conversation(stage.conversation_id)
    assert record is not None
    assert record.taint == 1


async def test_a_policy_that_changes_while_the_gate_reads_stops_the_call(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    grants = stage.ledger.grants

    async def reload_meanwhile(session_id: str) -> Sequence[Grant]:
        stage.policy.next_version = "policy-2"
        await stage.gateway.reload_policy()
        return await grants(session_id)

    monkeypatch.setattr(stage.ledger, "grants", reload_meanwhile)
    assert (await stage.invoke(stage.propose("look"))).result.reason is Reason.POLICY_CHANGED
    assert stage.toolbox.effects == []


async def test_a_grant_given_while_grants_are_read_is_among_them(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    stage.gateway.grants.forget(stage.session.id)
    grants, reading, go_on = stage.ledger.grants, asyncio.Event(), asyncio.Event()

    async def slow(session_id: str) -> Sequence[Grant]:
        read = await grants(session_id)
        reading.set()
        await go_on.wait()
        return read

    monkeypatch.setattr(stage.ledger, "grants", slow)
    listing = asyncio.create_task(stage.gateway.grants.of_session(stage.session.id))
    async with asyncio.timeout(PATIENCE):
        await reading.wait()
        await answer(stage, approval_id, scope=GrantScope.SESSION)
        await call
        go_on.set()
        assert len(await listing) == 1


async def test_grants_are_forgotten_with_their_session(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    await stage.invoke(stage.propose("look"))
    reads: list[str] = []
    grants = stage.ledger.grants

    async def count(session_id: str) -> Sequence[Grant]:
        reads.append(session_id)
        return await grants(session_id)

    await stage.gateway.connections.end_session(stage.session.id, "signedOut")
    monkeypatch.setattr(stage.ledger, "grants", count)
    await stage.gateway.grants.of_session(stage.session.id)
    assert reads == [stage.session.id]
