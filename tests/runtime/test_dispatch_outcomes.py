"""Rows 15 to 17 of docs/PROTOCOL.md section 7: how a call ends.

Over the runtime with fakes; tests/scenarios sends them to the running gateway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gateway.core.canonical import Json
from gateway.core.errors import LedgerUnavailable
from gateway.core.ledger import CallClosed, CallIntended, Entry, LateResultDiscarded
from gateway.core.model import CallFacts, ToolCall, ToolOutput, ToolSpec
from gateway.core.vocabulary import GrantScope, Outcome, Reason
from gateway.runtime.binding import Proposal
from gateway.runtime.ports import PolicySubject, PolicyVerdict, ToolContext
from tests.runtime.conftest import PATIENCE, Stage
from tests.runtime.decisions import approve


async def test_a_tool_that_hangs_is_timed_out(stage: Stage) -> None:
    await stage.begin()
    result = (await stage.invoke(stage.propose("hang"))).result
    assert (result.outcome, result.reason) == (Outcome.TIMED_OUT, Reason.TOOL_TIMEOUT)


@pytest.mark.parametrize("cancelled", [False, True], ids=["its time runs out", "it is cancelled"])
async def test_of_a_call_that_waited_in_line_it_is_known_that_nothing_ran(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, cancelled: bool
) -> None:
    waits = asyncio.Event()

    async def wait_in_line(_spec: ToolSpec, _arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        context.place.is_waiting = True
        waits.set()
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(stage.toolbox, "execute", wait_in_line)
    await stage.begin()
    call = stage.start(stage.propose("wait" if cancelled else "hang", "c1"))
    async with asyncio.timeout(PATIENCE):
        await waits.wait()
        if cancelled:
            await stage.gateway.dispatcher.cancel(stage.session, stage.conversation_id, "c1")
        result = (await call).result
    assert result.outcome is (Outcome.CANCELLED if cancelled else Outcome.TIMED_OUT)
    assert "nothing ran" in str(result.error)
    (closed,) = [entry for entry in stage.ledger.entries if isinstance(entry, CallClosed)]
    assert not closed.executed


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


@pytest.mark.requirement("002-11", "nothing runs when its intent cannot be recorded")
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


@pytest.mark.requirement("002-11", "an outcome that cannot be recorded is never answered as ok")
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


async def test_a_call_is_judged_by_what_came_in_before_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    judge, taints = stage.policy.judge, list[int]()

    def listen(subject: PolicySubject, spec: ToolSpec, facts: CallFacts | None, *, taint: int, label: int) -> PolicyVerdict:
        if facts is not None:
            taints.append(taint)
        return judge(subject, spec, facts, taint=taint, label=label)

    await stage.begin()
    monkeypatch.setattr(stage.policy, "judge", listen)
    for tool in ("look", "read_outside", "look"):
        await stage.invoke(stage.propose(tool))
    assert taints == [0, 0, 1]


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
