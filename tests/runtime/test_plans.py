"""Calls that follow one another and are answered together, over the runtime with fakes; tests/scenarios sends them to the
running gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from gateway.core.errors import NotFound, Refused
from gateway.core.ledger import ApprovalGiven, ApprovalResolved, CallClosed, CallIntended, PasskeyRemoved, PasskeyUsed
from gateway.core.obligations import Obligations
from gateway.core.vocabulary import ApprovalStatus, GrantScope, Outcome, PermissionMode, Reason
from gateway.runtime.calls import CallAnswer
from gateway.runtime.gateway import assemble
from tests.runtime.approvers import TWO, Approver, ada, arrive
from tests.runtime.conftest import PATIENCE, Stage
from tests.runtime.decisions import approve

Asked = tuple[list[asyncio.Task[CallAnswer]], list[str]]


async def ask(stage: Stage, *tools: str) -> Asked:
    """A plan of these calls, all of which ask: the calls, and the questions in order."""
    calls: list[asyncio.Task[CallAnswer]] = []
    questions: list[str] = []
    for step, tool in enumerate(tools, 1):
        proposal = stage.propose(tool, f"step-{step}", path=f"notes/{step}.txt")
        calls.append(stage.start(replace(proposal, after=f"step-{step - 1}" if step > 1 else None)))
        questions.append(str((await stage.asked())["id"]))
    return calls, questions


async def answer(who: Approver, questions: Sequence[str], *, signed: Sequence[str] | None = None) -> Any:
    """Approve all of these at once, with a passkey where it takes one."""
    approvals = who.stage.gateway.approvals
    shown = [(each, (await approvals.get(who.console, each))[2] or "") for each in questions]
    options = await approvals.plan_options(who.console, signed or questions)
    assertion = None if options is None else who.authenticator.get(dict(options))
    return await approvals.decide_plan(who.console, shown, assertion=assertion)


async def ended(calls: Sequence[asyncio.Task[CallAnswer]]) -> list[tuple[Outcome, Reason | None]]:
    async with asyncio.timeout(PATIENCE):
        results = [(await call).result for call in calls]
    return [(each.outcome, each.reason) for each in results]


def entries(stage: Stage, kind: type[Any]) -> list[Any]:
    return [entry for entry in stage.ledger.entries if isinstance(entry, kind)]


def assert_sound(stage: Stage) -> None:
    report = stage.ledger.check()
    assert report.sound, report.fault


OK = (Outcome.OK, None)
FAILED = (Outcome.CANCELLED, Reason.EARLIER_CALL_FAILED)


@pytest.mark.parametrize("tool", ["write", "destroy"])
async def test_one_answer_runs_all_of_a_plan_in_its_order(stage: Stage, tool: str) -> None:
    await stage.begin()
    calls, questions = await ask(stage, tool, tool, tool)
    first, *later = await answer(ada(stage), questions)
    assert first.status is ApprovalStatus.APPROVED
    assert all(each.answered for each in later)
    assert await ended(calls) == [OK] * 3
    assert [each.request.call_id for each in entries(stage, CallIntended)] == ["step-1", "step-2", "step-3"]
    assert [each.plan.index for each in entries(stage, ApprovalResolved)] == [0, 1, 2]
    assert len(entries(stage, PasskeyUsed)) == (tool == "destroy")
    assert_sound(stage)


async def test_the_place_of_a_call_is_in_what_is_shown_and_signed(stage: Stage) -> None:
    await stage.begin()
    _, questions = await ask(stage, "write", "write", "write")
    statements = [(await stage.gateway.approvals.get(stage.console, each))[1] for each in questions]
    assert "plan" not in statements[0]
    assert statements[2]["plan"] == {"first": "step-1", "after": "step-2", "step": 3}


async def test_a_no_takes_out_one_part_and_leaves_the_rest_as_it_was_asked(stage: Stage) -> None:
    await stage.begin()
    calls, questions = await ask(stage, "write", "write", "write")
    await approve(stage, questions[1], approve=False)
    await answer(ada(stage), [questions[0], questions[2]])
    assert await ended(calls) == [OK, (Outcome.DENIED_BY_USER, Reason.DENIED), OK]
    assert_sound(stage)


async def test_a_part_that_was_denied_cannot_be_approved_with_the_rest(stage: Stage) -> None:
    await stage.begin()
    calls, questions = await ask(stage, "write", "write", "write")
    approvals = stage.gateway.approvals
    shown = [(each, (await approvals.get(stage.console, each))[2] or "") for each in questions]
    await approve(stage, questions[1], approve=False)
    with pytest.raises(NotFound):
        await approvals.decide_plan(stage.console, shown)
    assert stage.toolbox.effects == []
    await answer(ada(stage), [questions[0], questions[2]])
    assert [outcome for outcome, _ in await ended(calls)] == [Outcome.OK, Outcome.DENIED_BY_USER, Outcome.OK]


async def test_what_fails_closes_what_follows_it_and_withdraws_its_questions(stage: Stage) -> None:
    stage.policy.modes["fail"] = PermissionMode.CONSENT
    await stage.begin()
    calls, questions = await ask(stage, "fail", "destroy", "destroy")
    await approve(stage, questions[0])
    (outcome, _), *later = await ended(calls)
    assert outcome is Outcome.EXECUTION_ERROR
    assert later == [FAILED, FAILED]
    assert [each.executed for each in entries(stage, CallClosed)] == [True, False, False]
    assert_sound(stage)


@pytest.mark.parametrize("order", [(1, 0), (0,), (1, 2), (0, 2, 1), (0, 1), (0, 1, 1)], ids=str)
async def test_a_list_that_is_not_all_that_waits_in_its_order_counts_for_nothing(stage: Stage, order: tuple[int, ...]) -> None:
    await stage.begin()
    calls, questions = await ask(stage, "destroy", "destroy", "destroy")
    with pytest.raises(Refused):
        await answer(ada(stage), [questions[each] for each in order])
    assert stage.toolbox.effects == []
    await answer(ada(stage), questions)
    assert await ended(calls) == [OK] * 3


async def test_what_joins_a_plan_while_its_answer_waits_makes_it_another_plan(stage: Stage) -> None:
    """The list was whole when the answer came, and is not any more when its turn comes behind another answer."""
    await stage.begin()
    calls, questions = await ask(stage, "destroy", "destroy")
    async with vars(stage.gateway.approvals)["_pending"][questions[1]].answering:
        waits = asyncio.create_task(answer(ada(stage), questions))
        calls.append(stage.start(replace(stage.propose("destroy", "step-3", path="notes/3.txt"), after="step-2")))
        questions.append(str((await stage.asked())["id"]))
        assert not waits.done()
    with pytest.raises(Refused) as refused:
        await waits
    assert refused.value.reason == "planChanged"
    assert stage.toolbox.effects == []
    assert entries(stage, PasskeyUsed) == []
    await answer(ada(stage), questions)
    assert await ended(calls) == [OK] * 3


@pytest.mark.parametrize("signed", [(1, 0, 2), (0, 1), (1,), (0, 1, 2, 2)], ids=str)
async def test_a_signature_over_another_list_ends_the_plan(stage: Stage, signed: tuple[int, ...]) -> None:
    await stage.begin()
    calls, questions = await ask(stage, "destroy", "destroy", "destroy")
    with pytest.raises(Refused) as refused:
        await answer(ada(stage), questions, signed=[questions[each] for each in signed])
    assert refused.value.reason == "assertionInvalid"
    assert await ended(calls) == [(Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID), FAILED, FAILED]
    assert stage.toolbox.effects == []
    assert_sound(stage)


async def test_a_signature_over_the_list_is_none_over_a_statement_nor_the_reverse(stage: Stage) -> None:
    await stage.begin()
    calls, questions = await ask(stage, "destroy", "destroy")
    approvals, who = stage.gateway.approvals, ada(stage)
    challenge = (await approvals.get(who.console, questions[0]))[2] or ""
    whole = who.authenticator.get(dict(await approvals.plan_options(who.console, questions) or {}))
    with pytest.raises(Refused) as refused:
        await approvals.decide(
            who.console, questions[0], challenge=challenge, approve=True, scope=GrantScope.ONCE, assertion=whole
        )
    assert refused.value.reason == "assertionInvalid"
    assert await ended(calls) == [(Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID), FAILED]
    assert stage.toolbox.effects == []


@pytest.mark.parametrize("after", ["step-9", "step-0", "of-another"])
async def test_a_call_follows_only_what_is_open_in_its_turn(stage: Stage, after: str) -> None:
    await stage.begin()
    await stage.invoke(stage.propose("fail", "step-9"))
    result = (await stage.invoke(replace(stage.propose("write", "step-0"), after=after))).result
    assert (result.outcome, result.reason) == (Outcome.REFUSED_BY_POLICY, Reason.NOT_IN_ORDER)
    assert all(tool != "write" for tool, _ in stage.toolbox.effects)


async def test_a_call_may_follow_one_that_went_well_already(stage: Stage) -> None:
    await stage.begin()
    await stage.invoke(stage.propose("look", "step-1"))
    call = stage.start(replace(stage.propose("write", "step-2"), after="step-1"))
    await approve(stage, str((await stage.asked())["id"]))
    assert await ended([call]) == [OK]


async def test_two_calls_cannot_follow_the_same_one_and_a_plan_has_an_end(stage: Stage) -> None:
    await stage.begin()
    stage.policy.modes["look"] = PermissionMode.AUTO
    calls, _ = await ask(stage, "write")
    for step in range(2, 11):
        proposal = replace(stage.propose("look", f"step-{step}", path=f"{step}"), after=f"step-{step - 1}")
        calls.append(stage.start(proposal))
        await asyncio.sleep(0)
    fork = (await stage.invoke(replace(stage.propose("look", "fork"), after="step-1"))).result
    assert fork.reason is Reason.NOT_IN_ORDER
    too_long = [reason for _, reason in await ended(calls[8:])]
    assert too_long == [Reason.NOT_IN_ORDER] * 2


async def test_a_call_that_needs_no_yes_waits_for_the_one_before_it(stage: Stage) -> None:
    await stage.begin()
    calls, questions = await ask(stage, "write")
    calls.append(stage.start(replace(stage.propose("look", "step-2"), after="step-1")))
    await asyncio.sleep(0)
    assert stage.toolbox.effects == []
    await approve(stage, questions[0])
    assert await ended(calls) == [OK, OK]
    assert [each.request.call_id for each in entries(stage, CallIntended)] == ["step-1", "step-2"]


async def test_what_became_stricter_between_two_steps_is_not_run_on_the_yes_of_before(stage: Stage) -> None:
    await stage.begin()
    calls, questions = await ask(stage, "write", "write")
    approvals, who = stage.gateway.approvals, ada(stage)
    shown = [(each, (await approvals.get(who.console, each))[2] or "") for each in questions]

    real = stage.policy.judge

    def judge(*args: Any, **kwargs: Any) -> Any:
        if any(each.request.call_id == "step-1" for each in entries(stage, CallIntended)):
            stage.policy.modes["write"] = PermissionMode.STEP_UP
        return real(*args, **kwargs)

    stage.policy.judge = judge
    await approvals.decide_plan(who.console, shown)
    assert await ended(calls) == [OK, (Outcome.REFUSED_BY_POLICY, Reason.FORBIDDEN)]
    assert len(stage.toolbox.effects) == 1
    assert_sound(stage)


async def test_a_plan_takes_as_many_people_as_each_of_its_parts(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    stage.policy.obligations = TWO
    await stage.begin()
    calls, questions = await ask(stage, "write", "write")
    waiting = await answer(ada(stage), questions)
    assert [each.status for each in waiting] == [ApprovalStatus.PENDING] * 2
    assert stage.toolbox.effects == []
    await answer(ben, questions)
    assert await ended(calls) == [OK, OK]
    assert len(entries(stage, ApprovalGiven)) == 2
    assert_sound(stage)


async def test_whoever_asked_is_no_approver_of_a_plan_that_excludes_them(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    stage.policy.obligations = Obligations(approvers=1, requester_excluded=True)
    await stage.begin()
    calls, questions = await ask(stage, "write", "write")
    with pytest.raises(Refused):
        await answer(ada(stage), questions)
    await answer(ben, questions)
    assert await ended(calls) == [OK, OK]
    assert_sound(stage)


async def test_a_passkey_that_is_gone_before_a_later_step_no_longer_counts(stage: Stage) -> None:
    stage.policy.modes["wait"] = PermissionMode.STEP_UP
    await stage.begin()
    calls, questions = await ask(stage, "wait", "destroy")
    await answer(ada(stage), questions)
    used = entries(stage, PasskeyUsed)[0]
    await stage.ledger.append(PasskeyRemoved(stage.clock.now(), stage.ada.id, used.credential_id))
    stage.toolbox.release.set()
    assert await ended(calls) == [OK, (Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID)]
    assert_sound(stage)


async def test_a_plan_is_taken_up_again_in_its_order_however_its_questions_came_on_record(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.begin()
    _, questions = await ask(stage, "write", "write", "write")
    recorded = await stage.ledger.open_approvals()
    monkeypatch.setattr(stage.ledger, "open_approvals", AsyncMock(return_value=recorded[::-1]))
    again = assemble(stage.gateway.ports)
    await again.start("2")
    shown = [(each, (await again.approvals.get(stage.console, each))[2] or "") for each in questions]
    await again.approvals.decide_plan(stage.console, shown)
    async with asyncio.timeout(PATIENCE):
        while len(entries(stage, CallClosed)) < len(questions):
            await asyncio.sleep(0)
    await again.stop()
    assert [each.request.call_id for each in entries(stage, CallIntended)] == ["step-1", "step-2", "step-3"]
