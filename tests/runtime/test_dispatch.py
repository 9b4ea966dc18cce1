"""Every row of protocol.md section 7, over the runtime with fakes. The same rows go through the running gateway in scenarios."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gateway.core.approval import Needs
from gateway.core.errors import LedgerUnavailable, NotFound, NotSignedIn, Refused
from gateway.core.ledger import CallClosed, CallIntended, CallRefusedUnrecorded, Entry, GrantRevoked, LateResultDiscarded
from gateway.core.model import ToolCall
from gateway.core.vocabulary import ApprovalStatus, Category, GrantScope, Outcome, PermissionMode, Reason
from gateway.runtime.approvals import Decided
from gateway.runtime.dispatch import Proposal
from gateway.runtime.ports import Step
from tests.fakes.toolbox import make_spec
from tests.runtime.conftest import PATIENCE, Stage


def closings(stage: Stage) -> list[Entry]:
    return [entry for entry in stage.ledger.entries if isinstance(entry, CallClosed | CallRefusedUnrecorded)]


async def approve(
    stage: Stage, approval_id: str, *, scope: GrantScope = GrantScope.ONCE, freed: tuple[str, ...] = (), approve: bool = True
) -> Decided:
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    return await stage.gateway.approvals.decide(
        stage.console, approval_id, challenge=challenge, approve=approve, scope=scope, freed=freed
    )


async def step_up(stage: Stage, approval_id: str) -> Decided:
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    options = await stage.gateway.approvals.assertion_options(stage.console, approval_id)
    return await stage.gateway.approvals.decide(
        stage.console,
        approval_id,
        challenge=challenge,
        approve=True,
        scope=GrantScope.ONCE,
        assertion=stage.authenticator.get(options),
    )


# ── rows 1 to 4 ──


async def test_an_allowed_call_runs_once_between_a_durable_intent_and_a_durable_outcome(stage: Stage) -> None:
    await stage.begin()
    answer = await stage.invoke(stage.propose("look"))
    assert (answer.result.outcome, answer.replayed) == (Outcome.OK, False)
    assert stage.toolbox.effects == [("look", {"path": "notes/a.txt", "depth": 1})]
    kinds = [type(entry) for entry in stage.ledger.entries]
    assert kinds.index(CallIntended) < kinds.index(CallClosed)
    assert [step for step, _ in stage.steps.seen] == [step for step in Step if step is not Step.APPROVED]


async def test_an_ended_session_runs_nothing(stage: Stage) -> None:
    await stage.begin()
    await stage.gateway.hub.end_session(stage.session.id, "signedOut")
    with pytest.raises(NotSignedIn):
        await stage.invoke(stage.propose("look"))
    assert stage.toolbox.effects == []


async def test_an_expired_session_runs_nothing(stage: Stage) -> None:
    await stage.begin()
    stage.clock.advance(9 * 3600)
    with pytest.raises(NotSignedIn):
        await stage.invoke(stage.propose("look"))


async def test_another_persons_conversation_looks_like_one_that_does_not_exist(stage: Stage) -> None:
    await stage.begin()
    mallory = replace(stage.session, id="ses_2", principal=replace(stage.ada, id="prn_mallory"))
    theirs = stage.gateway.hub.attach(mallory, "con_2")
    with pytest.raises(NotFound):
        await stage.gateway.dispatcher.invoke(theirs, stage.propose("look"))
    assert closings(stage) == []


async def test_the_same_call_again_gives_the_recorded_result_and_never_a_second_execution(stage: Stage) -> None:
    await stage.begin()
    proposal = stage.propose("look")
    first, again = await stage.invoke(proposal), await stage.invoke(proposal)
    assert (again.replayed, again.result, again.closing_index) == (True, first.result, first.closing_index)
    assert len(stage.toolbox.effects) == 1
    assert len(closings(stage)) == 1


async def test_the_same_call_on_two_sockets_at_once_is_one_execution_and_two_answers(stage: Stage) -> None:
    await stage.begin()
    proposal = stage.propose("wait")
    one = stage.start(proposal)
    await stage.toolbox.started.wait()
    other = asyncio.create_task(stage.gateway.dispatcher.invoke(stage.gateway.hub.attach(stage.session, "con_2"), proposal))
    stage.toolbox.release.set()
    async with asyncio.timeout(PATIENCE):
        answers = await asyncio.gather(one, other)
    assert [answer.replayed for answer in answers] == [False, True]
    assert len(stage.toolbox.effects) == 1


async def test_a_used_id_with_other_arguments_is_refused_and_the_original_stays(stage: Stage) -> None:
    await stage.begin()
    await stage.invoke(stage.propose("look", "c1"))
    answer = await stage.invoke(stage.propose("look", "c1", path="notes/b.txt"))
    assert (answer.result.outcome, answer.result.reason) == (Outcome.REFUSED_BY_POLICY, Reason.REPLAY_CONFLICT)
    original = await stage.invoke(stage.propose("look", "c1"))
    assert (original.result.outcome, original.replayed) == (Outcome.OK, True)
    assert len(stage.toolbox.effects) == 1


# ── rows 5 to 10 ──


async def test_a_closed_turn_runs_nothing(stage: Stage) -> None:
    await stage.begin()
    proposal = stage.propose("look")
    await stage.begin()
    answer = await stage.invoke(proposal)
    assert answer.result.reason is Reason.TURN_CLOSED


@pytest.mark.parametrize("change", [{"snapshot_digest": "0" * 64}, {"snapshot_id": "snp_other"}])
async def test_an_altered_snapshot_is_stale(stage: Stage, change: dict[str, str]) -> None:
    await stage.begin()
    answer = await stage.invoke(replace(stage.propose("look"), **change))
    assert answer.result.reason is Reason.STALE_SNAPSHOT


async def test_a_refreshed_snapshot_makes_the_old_one_stale(stage: Stage) -> None:
    await stage.begin()
    proposal = stage.propose("look")
    await stage.gateway.turns.refresh(stage.connection, stage.conversation_id, proposal.turn_id)
    assert (await stage.invoke(proposal)).result.reason is Reason.STALE_SNAPSHOT


async def test_a_snapshot_serves_only_its_own_connection(stage: Stage) -> None:
    await stage.begin()
    other = stage.gateway.hub.attach(stage.session, "con_2")
    answer = await stage.gateway.dispatcher.invoke(other, stage.propose("look"))
    assert answer.result.reason is Reason.WRONG_CONNECTION
    assert stage.toolbox.effects == []


async def test_an_expired_snapshot_runs_nothing(stage: Stage) -> None:
    await stage.begin()
    stage.clock.advance(3600)
    assert (await stage.invoke(stage.propose("look"))).result.reason is Reason.SNAPSHOT_EXPIRED


async def test_an_unknown_tool_has_a_type_of_its_own(stage: Stage) -> None:
    await stage.begin()
    result = (await stage.invoke(stage.propose("no_such_tool"))).result
    assert (result.outcome, result.reason) == (Outcome.UNKNOWN_TOOL, Reason.NOT_ADVERTISED)


async def test_a_policy_published_after_the_snapshot_voids_it(stage: Stage) -> None:
    await stage.begin()
    stage.policy.next_version = "policy-2"
    await stage.gateway.reload_policy()
    assert (await stage.told("snapshot/revoked"))["reason"] == "policyChanged"
    assert (await stage.invoke(stage.propose("look"))).result.reason is Reason.POLICY_CHANGED


async def test_a_tool_redefined_after_the_snapshot_does_not_run(stage: Stage) -> None:
    await stage.begin()
    stage.toolbox.tools = [replace(spec, description="another") for spec in stage.toolbox.tools]
    assert (await stage.invoke(stage.propose("look"))).result.reason is Reason.POLICY_CHANGED


async def test_arguments_outside_the_schema_name_the_path_that_failed(stage: Stage) -> None:
    await stage.begin()
    result = (await stage.invoke(stage.propose("look", path=7, permission="auto"))).result
    assert (result.outcome, result.reason) == (Outcome.INVALID_ARGUMENTS, Reason.SCHEMA)
    assert result.error is not None
    assert "/path" in result.error
    assert "/permission" in result.error


async def test_a_used_up_quota_refuses_before_anybody_is_asked(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, calls_per_turn=1)
    await stage.begin()
    await stage.invoke(stage.propose("look"))
    answer = await stage.invoke(stage.propose("write"))
    assert answer.result.reason is Reason.QUOTA_EXCEEDED
    assert not await stage.ledger.open_approvals()


# ── rows 11 to 14 ──


async def test_a_forbidden_tool_is_refused_with_its_rule(stage: Stage) -> None:
    await stage.begin()
    result = (await stage.invoke(stage.propose("administer"))).result
    assert (result.outcome, result.reason) == (Outcome.REFUSED_BY_POLICY, Reason.FORBIDDEN)


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


async def test_a_challenge_is_used_up_by_one_answer(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    decide = stage.gateway.approvals.decide
    with pytest.raises(Refused, match="pins every argument"):
        await decide(stage.console, approval_id, challenge=challenge, approve=True, scope=GrantScope.ONCE, freed=["path"])
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
    stage.policy.needs = Needs(presence=True)
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


async def test_a_grant_dies_when_its_conversations_label_rises_and_one_of_another_conversation_lives(stage: Stage) -> None:
    secret = replace(make_spec("read_secret", Category.READ), labels=("label:confidential",))
    stage.toolbox.tools.append(secret)
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], scope=GrantScope.SESSION)
    await call
    here, stage.conversation_id = stage.conversation_id, ""
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], scope=GrantScope.SESSION)
    await call
    assert (await stage.invoke(stage.propose("read_secret"))).result.outcome is Outcome.OK
    assert [grant.conversation_id for grant in await stage.gateway.grants.of_session(stage.session.id)] == [here]
    assert [grant.conversation_id for grant in await stage.gateway.grants.of_principal(stage.ada.id)] == [here]
    again = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], approve=False)
    assert (await again).result.outcome is Outcome.DENIED_BY_USER
    (lapsed,) = [entry for entry in stage.ledger.entries if isinstance(entry, GrantRevoked)]
    assert lapsed.reason == "the conversation's label rose"


async def test_a_yes_that_comes_too_late_for_its_call_grants_nothing_and_says_so(stage: Stage) -> None:
    snapshot = await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    await stage.gateway.turns.refresh(stage.connection, stage.conversation_id, snapshot.turn_id)
    decided = await approve(stage, approval_id, scope=GrantScope.SESSION)
    assert (await call).result.reason is Reason.STALE_SNAPSHOT
    assert decided.grant is None
    assert list(await stage.gateway.grants.of_session(stage.session.id)) == []


async def test_a_policy_change_while_a_person_decides_stops_the_call(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    stage.policy.next_version = "policy-2"
    await stage.gateway.reload_policy()
    await approve(stage, approval_id)
    assert (await call).result.reason is Reason.POLICY_CHANGED
    assert stage.toolbox.effects == []


async def test_a_refresh_while_a_person_decides_makes_the_waiting_call_stale(stage: Stage) -> None:
    snapshot = await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    await stage.gateway.turns.refresh(stage.connection, stage.conversation_id, snapshot.turn_id)
    await approve(stage, approval_id)
    assert (await call).result.reason is Reason.STALE_SNAPSHOT
    assert stage.toolbox.effects == []


async def test_a_waiting_call_survives_a_lost_connection_that_comes_back(stage: Stage) -> None:
    await stage.begin()
    proposal = stage.propose("write")
    call = stage.start(proposal)
    approval_id = (await stage.asked())["id"]
    stage.gateway.hub.detach(stage.connection)
    back = stage.gateway.hub.attach(stage.session, "con_2")
    turn = await stage.gateway.turns.look_in(back, stage.conversation_id)
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


async def test_signing_out_ends_what_waits_and_what_runs(stage: Stage) -> None:
    await stage.begin()
    waiting, running = stage.start(stage.propose("write")), stage.start(stage.propose("wait"))
    await stage.asked()
    async with asyncio.timeout(PATIENCE):
        await stage.toolbox.started.wait()
    await stage.gateway.hub.end_session(stage.session.id, "signedOut")
    for call in (waiting, running):
        assert (await call).result.outcome is Outcome.CANCELLED
    assert stage.connection.outbox.closing == (4403, "signedOut")


# ── rows 15 to 17 ──


async def test_a_tool_that_hangs_is_timed_out(stage: Stage) -> None:
    await stage.begin()
    result = (await stage.invoke(stage.propose("hang"))).result
    assert (result.outcome, result.reason) == (Outcome.TIMED_OUT, Reason.TOOL_TIMEOUT)


async def test_a_tools_own_failure_is_told_in_its_words(stage: Stage) -> None:
    await stage.begin()
    result = (await stage.invoke(stage.propose("fail"))).result
    assert (result.outcome, result.reason, result.error) == (
        Outcome.EXECUTION_ERROR,
        Reason.TOOL_ERROR,
        "there is no such file",
    )


async def test_a_broken_tool_gives_away_nothing(stage: Stage) -> None:
    await stage.begin()
    result = (await stage.invoke(stage.propose("break"))).result
    assert result.outcome is Outcome.EXECUTION_ERROR
    assert "Zero" not in str(result.error)


async def test_a_cancelled_call_is_answered_at_once_and_its_late_result_goes_only_on_record(stage: Stage) -> None:
    await stage.begin()
    stage.toolbox.stubborn = True
    call = stage.start(stage.propose("wait", "c1"))
    async with asyncio.timeout(PATIENCE):
        await stage.toolbox.started.wait()
    await stage.gateway.dispatcher.cancel(stage.session, stage.conversation_id, "c1")
    result = (await call).result
    assert (result.outcome, result.reason) == (Outcome.CANCELLED, None)
    stage.toolbox.release.set()
    async with asyncio.timeout(PATIENCE):
        while not any(isinstance(entry, LateResultDiscarded) for entry in stage.ledger.entries):
            await asyncio.sleep(0)


class FailingLedger:
    """Takes everything until told to refuse one kind of entry."""

    def __init__(self, stage: Stage, kind: type) -> None:
        self._append = stage.ledger.append
        self._kind = kind

    async def __call__(self, *entries: Entry) -> tuple[int | None, ...]:
        if any(isinstance(entry, self._kind) for entry in entries):
            raise LedgerUnavailable("the disk is full")
        return await self._append(*entries)


async def test_nothing_runs_when_its_intent_cannot_be_recorded(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    monkeypatch.setattr(stage.ledger, "append", FailingLedger(stage, CallIntended))
    result = (await stage.invoke(stage.propose("look"))).result
    assert (result.outcome, result.reason) == (Outcome.EXECUTION_ERROR, Reason.LEDGER_UNAVAILABLE)
    assert stage.toolbox.effects == []


async def test_a_yes_that_cannot_be_recorded_grants_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    monkeypatch.setattr(stage.ledger, "append", FailingLedger(stage, CallIntended))
    with pytest.raises(LedgerUnavailable):
        await approve(stage, approval_id, scope=GrantScope.SESSION)
    assert (await call).result.reason is Reason.LEDGER_UNAVAILABLE
    monkeypatch.undo()
    assert list(await stage.gateway.grants.of_session(stage.session.id)) == []
    assert stage.toolbox.effects == []


async def test_an_outcome_that_cannot_be_recorded_is_unknown_and_never_ok(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    monkeypatch.setattr(stage.ledger, "append", FailingLedger(stage, CallClosed))
    proposal = stage.propose("look")
    result = (await stage.invoke(proposal)).result
    assert (result.outcome, result.reason) == (Outcome.EXECUTION_ERROR, Reason.OUTCOME_UNKNOWN)
    monkeypatch.undo()
    await stage.invoke(proposal)
    assert len(stage.toolbox.effects) == 1


async def test_untrusted_results_taint_the_conversation_for_good(stage: Stage) -> None:
    await stage.begin()
    await stage.invoke(stage.propose("read_outside"))
    record = await stage.ledger.conversation(stage.conversation_id)
    assert record is not None
    assert record.taint == 1


async def test_too_many_open_questions_refuse_the_next_one(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, pending_approvals=1)
    await stage.begin()
    first = stage.start(stage.propose("write", path="a"))
    approval_id = (await stage.asked())["id"]
    assert (await stage.invoke(stage.propose("write", path="b"))).result.reason is Reason.QUOTA_EXCEEDED
    await approve(stage, approval_id, approve=False)
    await first


async def test_a_local_pseudo_tool_never_reaches_the_gateway(stage: Stage) -> None:
    snapshot = await stage.begin()
    assert snapshot.by_name["respond"].spec.local
    assert (await stage.invoke(stage.propose("respond"))).result.reason is Reason.NOT_ADVERTISED


async def test_calls_of_a_dropped_connection_go_on(stage: Stage) -> None:
    await stage.begin()
    proposal: Proposal = stage.propose("wait")
    call = stage.start(proposal)
    async with asyncio.timeout(PATIENCE):
        await stage.toolbox.started.wait()
    call.cancel()
    stage.toolbox.release.set()
    again = await stage.invoke(replace(proposal, call=ToolCall(proposal.call.id, "wait", {"path": "notes/a.txt"})))
    assert (again.result.outcome, again.replayed) == (Outcome.OK, True)
    assert len(stage.toolbox.effects) == 1


async def test_what_waits_is_listed_however_many_questions_came_and_went_since(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    monkeypatch.setattr("gateway.runtime.approvals.LISTED", 0)
    assert [approval.id for approval in await stage.gateway.approvals.list(stage.ada.id)] == [approval_id]
    await approve(stage, approval_id, approve=False)
    await call
