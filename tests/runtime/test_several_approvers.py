"""Calls that take several people, over the runtime with fakes; tests/scenarios sends them to the running gateway."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.errors import NotFound, Refused
from gateway.core.ledger import (
    ApprovalGiven,
    ApprovalRequested,
    ApprovalResolved,
    PasskeyRemoved,
    PrincipalProfileChanged,
    PrincipalRemoved,
    PrincipalSuspended,
)
from gateway.core.obligations import Obligations
from gateway.core.vocabulary import ApprovalStatus, Outcome, PermissionMode, Profile, Reason
from tests.authenticator import Forgery
from tests.runtime.approvers import TWO, ada, arrive, ask, finish, is_sound, recorded
from tests.runtime.conftest import PATIENCE, Stage


@pytest.mark.parametrize("tool", ["write", "destroy"])
async def test_a_call_runs_on_two_passkeys_and_not_on_one(stage: Stage, tool: str) -> None:
    ben = await arrive(stage, "Ben")
    call, approval_id = await ask(stage, tool=tool)
    waiting = await ada(stage).approve(approval_id)
    assert waiting.approval.status is ApprovalStatus.PENDING
    assert [each.name for each in waiting.approval.given] == ["Ada"]
    assert stage.toolbox.effects == []
    assert (await ben.approve(approval_id)).approval.status is ApprovalStatus.APPROVED
    assert (await finish(call)).result.outcome is Outcome.OK
    assert len(stage.toolbox.effects) == 1
    (first,), (last,) = recorded(stage, ApprovalGiven), recorded(stage, ApprovalResolved)
    assert (first.approver_id, last.approver_id) == ("prn_ada", "prn_ben")
    assert first.assertion is not None
    assert last.assertion is not None
    assert first.assertion["response"]["claims"]["challenge"] == last.assertion["response"]["claims"]["challenge"]
    assert is_sound(stage)


async def test_the_same_person_counts_once(stage: Stage) -> None:
    await arrive(stage, "Ben")
    call, approval_id = await ask(stage)
    asker = ada(stage)
    await asker.approve(approval_id)
    with pytest.raises(Refused, match="another person has to approve") as refused:
        await asker.approve(approval_id)
    assert refused.value.reason == "hasApproved"
    assert not call.done()
    assert stage.toolbox.effects == []


async def test_one_persons_two_tabs_that_approve_at_once_count_once(stage: Stage) -> None:
    await arrive(stage, "Ben")
    call, approval_id = await ask(stage)
    asker = ada(stage)
    signed = [await asker.sign(approval_id) for _ in range(2)]
    answers = await asyncio.gather(
        *(asker.send(approval_id, challenge, assertion) for challenge, assertion in signed), return_exceptions=True
    )
    assert sum(isinstance(answer, Refused) for answer in answers) == 1
    assert not call.done()
    assert len(recorded(stage, ApprovalGiven)) == 1


async def test_two_people_who_approve_at_once_are_both_counted(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    call, approval_id = await ask(stage)
    await asyncio.gather(ada(stage).approve(approval_id), ben.approve(approval_id))
    assert (await finish(call)).result.outcome is Outcome.OK
    assert is_sound(stage)


async def test_the_requester_is_excluded_where_the_policy_says_so_and_may_still_say_no(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    call, approval_id = await ask(stage, Obligations(requester_excluded=True, alone_forbidden=True))
    asker = ada(stage)
    with pytest.raises(Refused, match="somebody else has to approve") as refused:
        await asker.approve(approval_id)
    assert refused.value.reason == "requesterExcluded"
    await ben.approve(approval_id)
    assert (await finish(call)).result.outcome is Outcome.OK
    again, approval_id = await ask(stage, Obligations(requester_excluded=True, alone_forbidden=True))
    await asker.deny(approval_id)
    assert (await finish(again)).result.outcome is Outcome.DENIED_BY_USER


async def test_the_first_no_closes_the_question_for_everybody(stage: Stage) -> None:
    ben, cleo = await arrive(stage, "Ben"), await arrive(stage, "Cleo")
    call, approval_id = await ask(stage)
    await ada(stage).approve(approval_id)
    challenge, assertion = await cleo.sign(approval_id)
    await ben.deny(approval_id)
    assert (await finish(call)).result.reason is Reason.DENIED
    with pytest.raises(Refused) as late:
        await cleo.send(approval_id, challenge, assertion)
    assert late.value.reason == "alreadyDecided"
    assert stage.toolbox.effects == []
    assert is_sound(stage)


async def test_whoever_approved_may_still_say_no(stage: Stage) -> None:
    await arrive(stage, "Ben")
    call, approval_id = await ask(stage)
    asker = ada(stage)
    await asker.approve(approval_id)
    await asker.deny(approval_id)
    assert (await finish(call)).result.outcome is Outcome.DENIED_BY_USER


async def test_people_who_are_not_named_neither_see_nor_answer(stage: Stage) -> None:
    ben, cleo, guest = await arrive(stage, "Ben"), await arrive(stage, "Cleo"), await arrive(stage, "Gus", Profile.GUEST)
    named = Obligations(approvers=2, pool=frozenset({"prn_ada", "prn_gus"}), alone_forbidden=True)
    call, approval_id = await ask(stage, named)
    for stranger in (ben, cleo):
        assert stranger.heard() == []
        assert await stage.gateway.approvals.list(stranger.person.id, operator=True) == []
        for attempt in (stranger.approve, stranger.deny):
            with pytest.raises(NotFound):
                await attempt(approval_id)
    await guest.approve(approval_id)
    await ada(stage).approve(approval_id)
    assert (await finish(call)).result.outcome is Outcome.OK
    assert is_sound(stage)


async def test_a_guest_who_is_not_named_is_not_asked_about_the_calls_of_others(stage: Stage) -> None:
    guest = await arrive(stage, "Gus", Profile.GUEST)
    await arrive(stage, "Ben")
    _, approval_id = await ask(stage)
    assert guest.heard() == []
    with pytest.raises(NotFound):
        await guest.approve(approval_id)


async def test_every_eligible_console_is_told_of_the_question_of_each_yes_and_of_the_end(stage: Stage) -> None:
    ben, cleo = await arrive(stage, "Ben"), await arrive(stage, "Cleo")
    call, approval_id = await ask(stage)
    assert [b'"approvals/requested"' in frame for frame in ben.heard()] == [True]
    await ada(stage).approve(approval_id)
    (changed,) = ben.heard()
    assert b'"approvals/changed"' in changed
    assert b'"name":"Ada"' in changed
    # The agent's side learns how many, and not who.
    told = (await stage.told("approvals/changed"))["approval"]
    assert [set(each) for each in told["given"]] == [{"at"}]
    assert "requester" not in told
    await ben.approve(approval_id)
    await finish(call)
    assert b'"approvals/resolved"' in cleo.heard()[-1]


@pytest.mark.parametrize("gone", ["removed", "suspended", "demoted", "passkey"])
async def test_an_approval_counts_no_more_once_its_person_may_not_give_it(stage: Stage, gone: str) -> None:
    ben, cleo = await arrive(stage, "Ben"), await arrive(stage, "Cleo")
    call, approval_id = await ask(stage)
    await ben.approve(approval_id)
    now = stage.clock.now()
    credential = ben.authenticator.credentials[-1].id
    entries = {
        "removed": PrincipalRemoved(now, ben.person.id),
        "suspended": PrincipalSuspended(now, ben.person.id),
        "demoted": PrincipalProfileChanged(now, ben.person.id, Profile.GUEST),
        "passkey": PasskeyRemoved(now, ben.person.id, credential),
    }
    await stage.ledger.append(entries[gone])
    cleo.heard()
    await stage.gateway.approvals.recount()
    assert b'"given":[]' in cleo.heard()[-1]
    assert (await cleo.approve(approval_id)).approval.status is ApprovalStatus.PENDING
    assert stage.toolbox.effects == []
    await ada(stage).approve(approval_id)
    assert (await finish(call)).result.outcome is Outcome.OK
    assert is_sound(stage)


async def test_an_approval_that_is_void_before_the_last_one_is_recorded_runs_nothing(stage: Stage) -> None:
    """The ledger itself counts: what this process believed does not matter."""
    ben = await arrive(stage, "Ben")
    call, approval_id = await ask(stage)
    await ben.approve(approval_id)
    pending = (await stage.gateway.approvals.get(ben.console, approval_id))[0]
    reading = stage.gateway.ports.records.answers

    async def as_before(ids: Any) -> Any:
        await reading(ids)
        return {approval_id: pending.given}

    asker = ada(stage)
    challenge, assertion = await asker.sign(approval_id)
    await stage.ledger.append(PrincipalRemoved(stage.clock.now(), ben.person.id))
    stage.ledger.answers = as_before  # type: ignore[method-assign] - a process that has not heard of it
    with pytest.raises(Refused):
        await asker.send(approval_id, challenge, assertion)
    assert (await finish(call)).result.outcome is Outcome.STEP_UP_FAILED
    assert stage.toolbox.effects == []
    assert is_sound(stage)


async def test_an_assertion_over_another_statement_ends_the_call(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    call, approval_id = await ask(stage)
    await ada(stage).approve(approval_id)
    with pytest.raises(Refused):
        await ben.approve(approval_id, Forgery(challenge=b"another statement of 32 bytes ..."))
    assert (await finish(call)).result.reason is Reason.ASSERTION_INVALID
    assert stage.toolbox.effects == []


async def test_another_persons_assertion_is_not_mine(stage: Stage) -> None:
    ben, cleo = await arrive(stage, "Ben"), await arrive(stage, "Cleo")
    call, approval_id = await ask(stage)
    _, stolen = await cleo.sign(approval_id)
    challenge, _ = await ben.sign(approval_id)
    with pytest.raises(Refused):
        await ben.send(approval_id, challenge, stolen)
    assert (await finish(call)).result.reason is Reason.ASSERTION_INVALID
    assert stage.toolbox.effects == []


async def test_a_click_is_no_answer_to_what_takes_several(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    _, approval_id = await ask(stage)
    challenge, _ = await ben.sign(approval_id)
    with pytest.raises(Refused, match="needs your passkey"):
        await ben.send(approval_id, challenge, None)


async def test_a_changed_policy_withdraws_the_question_with_the_yes_that_it_has(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    call, approval_id = await ask(stage)
    await ada(stage).approve(approval_id)
    challenge, assertion = await ben.sign(approval_id)
    stage.policy.next_version = "policy-2"
    await stage.gateway.reload_policy()
    assert (await finish(call)).result.reason is Reason.POLICY_CHANGED
    with pytest.raises(Refused) as late:
        await ben.send(approval_id, challenge, assertion)
    assert late.value.reason == "noLongerOpen"
    assert stage.toolbox.effects == []


async def test_more_approvers_than_were_asked_for_close_the_question(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    call, approval_id = await ask(stage)
    await ada(stage).approve(approval_id)
    stage.policy.obligations = replace(TWO, approvers=3)
    with pytest.raises(Refused, match="no longer open"):
        await ben.approve(approval_id)
    assert (await finish(call)).result.reason is Reason.FORBIDDEN
    assert stage.toolbox.effects == []


async def test_time_runs_out_for_the_second_person_too(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    _, approval_id = await ask(stage)
    await ada(stage).approve(approval_id)
    challenge, assertion = await ben.sign(approval_id)
    stage.clock.advance(300)
    with pytest.raises(Refused, match="expired"):
        await ben.send(approval_id, challenge, assertion)
    assert stage.toolbox.effects == []


async def test_nobody_is_asked_where_too_few_people_could_approve(stage: Stage) -> None:
    stage.policy.obligations = TWO
    await stage.begin()
    result = (await stage.invoke(stage.propose("write"))).result
    assert (result.outcome, result.reason) == (Outcome.STEP_UP_FAILED, Reason.NO_CREDENTIAL)
    assert "2 people" in str(result.error)
    assert recorded(stage, ApprovalRequested) == []


async def test_an_auditor_who_is_named_is_nobody_who_could_approve(stage: Stage) -> None:
    auditor = await arrive(stage, "Iris", Profile.AUDITOR)
    stage.policy.obligations = Obligations(approvers=2, pool=frozenset({stage.ada.id, auditor.person.id}), alone_forbidden=True)
    await stage.begin()
    async with asyncio.timeout(PATIENCE):
        result = (await stage.invoke(stage.propose("write"))).result
    assert (result.outcome, result.reason) == (Outcome.STEP_UP_FAILED, Reason.NO_CREDENTIAL)


async def test_what_runs_by_itself_asks_nobody_however_many_a_rule_wants(stage: Stage) -> None:
    stage.policy.modes["write"] = PermissionMode.AUTO
    stage.policy.obligations = TWO
    await stage.begin()
    assert (await stage.invoke(stage.propose("write"))).result.outcome is Outcome.OK
