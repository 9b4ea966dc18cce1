"""Rows 11 to 14 of docs/PROTOCOL.md section 7: who is asked.

Over the runtime with fakes; tests/scenarios sends them to the running gateway.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gateway.core.errors import LedgerUnavailable, NotFound, Refused
from gateway.core.ledger import CallClosed, GrantRevoked, PasskeyUsed, PolicyLoaded
from gateway.core.obligations import Obligations, Presence
from gateway.core.vocabulary import ApprovalStatus, Category, GrantScope, Outcome, PermissionMode, Reason
from gateway.runtime.approvals.challenges import CHALLENGES_AT_ONCE
from gateway.runtime.audit_replay import Repetition, replay_conversation
from gateway.runtime.ports import AuditQuery
from gateway.runtime.rehearsal import Unjudged
from tests.fakes.toolbox import make_spec
from tests.runtime.conftest import PATIENCE, Stage
from tests.runtime.decisions import approve, step_up


async def test_a_forbidden_tool_is_refused_with_its_rule(stage: Stage) -> None:
    await stage.begin()
    result = (await stage.invoke(stage.propose("administer"))).result
    assert (result.outcome, result.reason) == (Outcome.REFUSED_BY_POLICY, Reason.FORBIDDEN)


@pytest.mark.requirement("002-40", "the mode of a call is the stricter of the snapshot and the policy")
async def test_the_policy_may_raise_the_mode_of_the_snapshot_but_never_lower_it(stage: Stage) -> None:
    await stage.begin()
    stage.policy.modes["write"] = PermissionMode.AUTO
    stage.policy.modes["look"] = PermissionMode.CONSENT
    for tool in ("write", "look"):
        call = stage.start(stage.propose(tool))
        approval = await stage.asked()
        assert stage.toolbox.effects == []
        await approve(stage, approval["id"], approve=False)
        assert (await call).result.outcome is Outcome.DENIED_BY_USER


async def test_a_consented_call_runs_after_the_yes_and_not_before(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval = await stage.asked()
    assert approval["summary"] == "write notes/a.txt"
    assert stage.toolbox.effects == []
    assert (await approve(stage, approval["id"])).approval.status is ApprovalStatus.APPROVED
    assert (await call).result.outcome is Outcome.OK
    assert len(stage.toolbox.effects) == 1
    assert (await stage.told("approvals/resolved"))["status"] == "approved"


async def test_two_tabs_that_approve_at_once_run_the_call_once(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    one = (await stage.gateway.approvals.get(stage.console, approval_id))[2]
    two = (await stage.gateway.approvals.get(stage.console, approval_id))[2]
    assert one is not None
    assert two is not None
    decide = stage.gateway.approvals.decide
    answers = await asyncio.gather(
        *(decide(stage.console, approval_id, challenge=c, approve=True, scope=GrantScope.ONCE) for c in (one, two)),
        return_exceptions=True,
    )
    assert sum(isinstance(answer, Refused) for answer in answers) == 1
    assert (await call).result.outcome is Outcome.OK
    assert len(stage.toolbox.effects) == 1


async def test_a_console_has_so_many_challenges_of_a_question_and_keeps_the_newest(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    approvals = stage.gateway.approvals
    issued = [str((await approvals.get(stage.console, approval_id))[2]) for _ in range(CHALLENGES_AT_ONCE + 1)]
    with pytest.raises(Refused, match="open the approval again"):
        await approvals.decide(stage.console, approval_id, challenge=issued[0], approve=True, scope=GrantScope.ONCE)
    await approvals.decide(stage.console, approval_id, challenge=issued[1], approve=True, scope=GrantScope.ONCE)
    assert (await call).result.outcome is Outcome.OK


async def test_a_challenge_is_used_up_by_one_answer(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    decide = stage.gateway.approvals.decide
    with pytest.raises(Refused, match="only arguments that were shown"):
        await decide(stage.console, approval_id, challenge=challenge, approve=True, scope=GrantScope.TURN, pins=["content"])
    with pytest.raises(Refused, match="used up"):
        await decide(stage.console, approval_id, challenge=challenge, approve=True, scope=GrantScope.ONCE)
    await approve(stage, approval_id)
    await call


async def test_an_answer_after_the_deadline_is_refused_even_if_the_wall_clock_was_set_back(stage: Stage) -> None:
    await stage.begin()
    stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    wall = stage.clock.now()
    stage.clock.advance(300)
    stage.clock.set_wall(wall)
    with pytest.raises(Refused, match="expired"):
        await stage.gateway.approvals.decide(stage.console, approval_id, challenge=challenge, approve=True, scope=GrantScope.ONCE)
    assert stage.toolbox.effects == []


async def test_a_step_up_runs_after_an_assertion_over_exactly_the_statement(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("destroy"))
    approval = await stage.asked()
    assert (approval["kind"], approval["offers"]) == ("stepUp", ["once"])
    await step_up(stage, approval["id"])
    assert (await call).result.outcome is Outcome.OK


async def test_an_assertion_over_another_statement_fails_the_call_for_good(stage: Stage) -> None:
    await stage.begin()
    calls = [stage.start(stage.propose("destroy", path=path)) for path in ("a", "b")]
    ids = [(await stage.asked())["id"] for _ in calls]
    foreign = await stage.gateway.approvals.assertion_options(stage.console, ids[1])
    _, _, challenge = await stage.gateway.approvals.get(stage.console, ids[0])
    assert challenge is not None
    with pytest.raises(Refused):
        await stage.gateway.approvals.decide(
            stage.console,
            ids[0],
            challenge=challenge,
            approve=True,
            scope=GrantScope.ONCE,
            assertion=stage.authenticator.get(foreign),
        )
    result = (await calls[0]).result
    assert (result.outcome, result.reason) == (Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID)
    assert stage.toolbox.effects == []
    await approve(stage, ids[1], approve=False)
    await calls[1]


async def test_a_yes_without_the_passkey_does_not_answer_a_step_up(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("destroy"))
    approval_id = (await stage.asked())["id"]
    with pytest.raises(Refused, match="needs your passkey"):
        await approve(stage, approval_id)
    assert stage.toolbox.effects == []
    await step_up(stage, approval_id)
    await call


async def test_a_turn_grant_covers_the_same_call_in_this_turn_and_no_other(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write", path="a"))
    await approve(stage, (await stage.asked())["id"], scope=GrantScope.TURN)
    await call
    assert (await stage.invoke(stage.propose("write", path="a"))).result.outcome is Outcome.OK
    other = stage.start(stage.propose("write", path="b"))
    await approve(stage, (await stage.asked())["id"], approve=False)
    assert (await other).result.outcome is Outcome.DENIED_BY_USER
    await stage.begin()
    later = stage.start(stage.propose("write", path="a"))
    await approve(stage, (await stage.asked())["id"], approve=False)
    assert (await later).result.outcome is Outcome.DENIED_BY_USER


async def test_a_grant_does_not_stand_for_a_presence_that_is_asked_for_later(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], scope=GrantScope.SESSION)
    await call
    stage.policy.obligations = Obligations(presence=Presence.PASSKEY)
    again = stage.start(stage.propose("write"))
    approval = await stage.asked()
    assert approval["offers"] == ["once"]
    assert len(stage.toolbox.effects) == 1
    await step_up(stage, approval["id"])
    assert (await again).result.outcome is Outcome.OK


async def test_a_revoked_grant_covers_nothing(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], scope=GrantScope.SESSION)
    await call
    (grant,) = await stage.gateway.grants.of_session(stage.session.id)
    await stage.gateway.grants.revoke(stage.ada.id, grant.id)
    again = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], approve=False)
    assert (await again).result.outcome is Outcome.DENIED_BY_USER


async def test_when_a_label_rises_every_grant_of_its_session_dies_and_one_of_another_session_lives(stage: Stage) -> None:
    secret = replace(make_spec("read_secret", Category.READ), labels=("label:confidential",))
    stage.toolbox.tools.append(secret)
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], scope=GrantScope.SESSION)
    await call
    await stage.sign_in_elsewhere()
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], scope=GrantScope.SESSION)
    await call
    assert (await stage.invoke(stage.propose("read_secret"))).result.outcome is Outcome.OK
    assert list(await stage.gateway.grants.of_session(stage.session.id)) == []
    assert [grant.session_id for grant in await stage.gateway.grants.of_principal(stage.ada.id)] == ["ses_1"]
    again = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], approve=False)
    assert (await again).result.outcome is Outcome.DENIED_BY_USER
    (lapsed,) = [entry for entry in stage.ledger.entries if isinstance(entry, GrantRevoked)]
    assert lapsed.reason == "the label rose"


@pytest.mark.requirement("002-33", "an approval that comes too late grants nothing")
async def test_a_yes_that_comes_too_late_for_its_call_grants_nothing_and_says_so(stage: Stage) -> None:
    snapshot = await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    await stage.gateway.turns.refresh(stage.connection, stage.conversation_id, snapshot.turn_id)
    with pytest.raises(Refused, match="no longer open"):
        await approve(stage, approval_id, scope=GrantScope.SESSION)
    assert (await call).result.reason is Reason.STALE_SNAPSHOT
    assert (await stage.told("approvals/resolved"))["status"] == "cancelled"
    assert list(await stage.gateway.grants.of_session(stage.session.id)) == []


@pytest.mark.requirement("002-52", "a call that waits while the policy changes does not run on the answer")
async def test_a_policy_change_while_a_person_decides_stops_the_call(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    stage.policy.next_version = "policy-2"
    await stage.gateway.reload_policy()
    assert (await call).result.reason is Reason.POLICY_CHANGED
    (approval,) = await stage.gateway.approvals.list(stage.ada.id)
    assert (approval.id, approval.status) == (approval_id, ApprovalStatus.CANCELLED)
    assert approval.withdrawn == (await call).result.error
    assert stage.toolbox.effects == []


async def test_a_policy_is_on_record_before_the_calls_that_it_closes_so_that_their_reason_is_found_again(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await stage.asked()
    stage.policy.next_version = "policy-2"
    await stage.gateway.reload_policy()
    await call
    events = [entry.EVENT for entry in stage.ledger.entries if isinstance(entry, PolicyLoaded | CallClosed)]
    assert events == [PolicyLoaded.EVENT, CallClosed.EVENT]
    rows = await stage.ledger.audit(AuditQuery(limit=100))
    (decided,) = replay_conversation(reversed(rows), {}, lambda _version: Unjudged.NO_DOCUMENTS)
    assert (decided.decided, decided.finding) == (Reason.POLICY_CHANGED, Repetition.SAME)


async def test_a_policy_that_cannot_be_recorded_ends_what_the_one_before_allowed_all_the_same(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await stage.asked()
    stage.policy.next_version = "policy-2"
    stage.ledger.failure = LedgerUnavailable("the disk is full")
    with pytest.raises(LedgerUnavailable):
        await stage.gateway.reload_policy()
    assert (await call).result.outcome is not Outcome.OK
    assert stage.policy.version == "policy-2"
    assert stage.toolbox.effects == []


async def test_a_refresh_while_a_person_decides_makes_the_waiting_call_stale(stage: Stage) -> None:
    snapshot = await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    await stage.gateway.turns.refresh(stage.connection, stage.conversation_id, snapshot.turn_id)
    assert (await call).result.reason is Reason.STALE_SNAPSHOT
    with pytest.raises(NotFound):
        await stage.gateway.approvals.assertion_options(stage.console, approval_id)
    assert stage.toolbox.effects == []


async def test_what_became_stricter_while_a_person_decided_is_found_after_the_yes_and_never_shown_as_approved(
    stage: Stage,
) -> None:
    """A change that nobody announced: what the policy is told about the call is read again."""
    await stage.begin()
    for mode in (PermissionMode.STEP_UP, PermissionMode.FORBIDDEN):
        call = stage.start(stage.propose("write"))
        approval_id = (await stage.asked())["id"]
        stage.policy.modes["write"] = mode
        with pytest.raises(Refused, match="no longer open"):
            await approve(stage, approval_id)
        result = (await call).result
        assert (result.outcome, result.reason) == (Outcome.REFUSED_BY_POLICY, Reason.FORBIDDEN)
        assert (await stage.told("approvals/resolved"))["status"] == "cancelled"
        del stage.policy.modes["write"]
    assert stage.toolbox.effects == []


async def test_the_use_of_the_passkey_that_answered_too_late_is_on_record(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("destroy"))
    approval_id = (await stage.asked())["id"]
    stage.policy.modes["destroy"] = PermissionMode.FORBIDDEN
    with pytest.raises(Refused, match="no longer open"):
        await step_up(stage, approval_id)
    assert (await call).result.reason is Reason.FORBIDDEN
    assert [entry for entry in stage.ledger.entries if isinstance(entry, PasskeyUsed)]
    assert stage.toolbox.effects == []


async def test_a_waiting_call_survives_a_lost_connection_that_comes_back(stage: Stage) -> None:
    await stage.begin()
    proposal = stage.propose("write")
    call = stage.start(proposal)
    approval_id = (await stage.asked())["id"]
    stage.gateway.connections.detach(stage.connection)
    back = stage.gateway.connections.attach(stage.session, "con_2")
    turn = await stage.gateway.turns.rebind(back, stage.conversation_id)
    assert turn is not None
    assert turn.snapshot is not None
    assert turn.snapshot.id != proposal.snapshot_id
    await approve(stage, approval_id)
    again = await stage.gateway.dispatcher.invoke(back, replace(proposal, snapshot_id=turn.snapshot.id))
    assert (again.result.outcome, again.replayed) == (Outcome.OK, True)
    assert (await call).result.outcome is Outcome.OK
    assert len(stage.toolbox.effects) == 1


async def test_a_cancelled_turn_ends_what_waits_and_voids_its_question(stage: Stage) -> None:
    snapshot = await stage.begin()
    call = stage.start(stage.propose("write", "c1"))
    approval_id = (await stage.asked())["id"]
    assert await stage.gateway.turns.cancel(stage.session, stage.conversation_id, snapshot.turn_id) == ["c1"]
    result = (await call).result
    assert (result.outcome, result.reason) == (Outcome.CANCELLED, Reason.SESSION_ENDED)
    with pytest.raises(NotFound):
        await stage.gateway.approvals.assertion_options(stage.console, approval_id)


@pytest.mark.requirement("002-32", "signing out ends the calls that wait and those that run")
async def test_signing_out_ends_what_waits_and_what_runs(stage: Stage) -> None:
    await stage.begin()
    waiting, running = stage.start(stage.propose("write")), stage.start(stage.propose("wait"))
    await stage.asked()
    async with asyncio.timeout(PATIENCE):
        await stage.toolbox.started.wait()
    await stage.gateway.connections.end_session(stage.session.id, "signedOut")
    for call in (waiting, running):
        assert (await call).result.outcome is Outcome.CANCELLED
    assert stage.connection.outbox.closing == (4403, "signedOut")


async def test_too_many_open_questions_refuse_the_next_one(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, pending_approvals=1)
    await stage.begin()
    first = stage.start(stage.propose("write", path="a"))
    approval_id = (await stage.asked())["id"]
    assert (await stage.invoke(stage.propose("write", path="b"))).result.reason is Reason.QUOTA_EXCEEDED
    await approve(stage, approval_id, approve=False)
    await first


async def test_what_waits_is_listed_however_many_questions_came_and_went_since(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    monkeypatch.setattr("gateway.runtime.approvals.approvals.LISTED", 0)
    assert [approval.id for approval in await stage.gateway.approvals.list(stage.ada.id)] == [approval_id]
    await approve(stage, approval_id, approve=False)
    await call
