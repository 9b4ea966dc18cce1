"""Rows 1 to 10 of docs/PROTOCOL.md section 7: what is checked first.

Over the runtime with fakes; tests/scenarios sends them to the running gateway.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gateway.core.errors import NotFound, NotSignedIn
from gateway.core.ledger import CallClosed, CallIntended, CallRefusedUnrecorded, Entry
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.ports import Step
from tests.runtime.conftest import PATIENCE, Stage


def closings(stage: Stage) -> list[Entry]:
    return [entry for entry in stage.ledger.entries if isinstance(entry, CallClosed | CallRefusedUnrecorded)]


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
    await stage.gateway.connections.end_session(stage.session.id, "signedOut")
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
    theirs = stage.gateway.connections.attach(mallory, "con_2")
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
    other = asyncio.create_task(
        stage.gateway.dispatcher.invoke(stage.gateway.connections.attach(stage.session, "con_2"), proposal)
    )
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
    other = stage.gateway.connections.attach(stage.session, "con_2")
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


@pytest.mark.requirement("002-16", "a tool whose descriptor changed after the snapshot does not run")
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


async def test_a_local_pseudo_tool_never_reaches_the_gateway(stage: Stage) -> None:
    snapshot = await stage.begin()
    assert snapshot.by_name["respond"].spec.local
    assert (await stage.invoke(stage.propose("respond"))).result.reason is Reason.NOT_ADVERTISED
