"""Conversations as several tabs and a restart find them: one copy, one open turn, no less exposed than before."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from gateway.core.ledger import (
    CallClosed,
    ConversationDeleted,
    ConversationOpened,
    ConversationTainted,
    Entry,
    TurnBegun,
    TurnEnded,
)
from gateway.core.vocabulary import ApprovalStatus, Reason
from gateway.runtime.connections import Connection
from gateway.runtime.gateway import assemble
from gateway.runtime.ports import CallRecord
from tests.runtime.conftest import PATIENCE, Stage


class SlowLedger:
    """Takes what is submitted, and says so only when every submission of the moment is in: group commit, as it is on disk."""

    def __init__(self, stage: Stage) -> None:
        self._append = stage.ledger.append
        self.submissions: list[tuple[Entry, ...]] = []

    async def __call__(self, *entries: Entry) -> tuple[int | None, ...]:
        self.submissions.append(entries)
        indices = await self._append(*entries)
        await asyncio.sleep(0)
        return indices


async def test_of_three_tabs_that_begin_at_once_one_turn_stays_and_the_others_are_ended_on_record(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.begin()
    monkeypatch.setattr(stage.ledger, "append", SlowLedger(stage))
    tabs = [stage.gateway.connections.attach(stage.session, f"con_tab{number}") for number in range(3)]
    await asyncio.gather(*(stage.gateway.turns.begin(tab, stage.conversation_id) for tab in tabs))
    begun = {entry.snapshot.turn_id for entry in stage.ledger.entries if isinstance(entry, TurnBegun)}
    ended = {entry.turn_id for entry in stage.ledger.entries if isinstance(entry, TurnEnded)}
    conversation = await stage.gateway.conversations.enter(stage.session, stage.conversation_id)
    assert conversation.turn is not None
    assert begun - ended == {conversation.turn.id}
    record = await stage.ledger.conversation(stage.conversation_id)
    assert record is not None
    assert record.open_turn_id == conversation.turn.id


async def test_a_turn_whose_connection_went_while_it_was_begun_waits_no_longer_than_any_other(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.begin()
    monkeypatch.setattr(stage.ledger, "append", SlowLedger(stage))
    beginning = asyncio.create_task(stage.gateway.turns.begin(stage.connection, stage.conversation_id))
    await asyncio.sleep(0)
    stage.gateway.connections.detach(stage.connection)
    await beginning
    conversation = await stage.gateway.conversations.enter(stage.session, stage.conversation_id)
    assert conversation.turn is not None
    assert conversation.turn.suspended is not None


async def test_a_fork_is_never_less_exposed_than_what_it_copies(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.begin()
    await stage.invoke(stage.propose("read_outside"))
    ledger = SlowLedger(stage)
    monkeypatch.setattr(stage.ledger, "append", ledger)
    copy = await stage.gateway.conversations.fork(stage.session, stage.conversation_id, 1)
    assert copy.taint == 1
    (submission,) = [each for each in ledger.submissions if isinstance(each[0], ConversationOpened)]
    assert any(isinstance(entry, ConversationTainted) for entry in submission)


async def test_a_reader_that_goes_away_keeps_nobody_else_from_a_conversation(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.begin()
    gateway = assemble(stage.gateway.ports)
    reading, go_on, calls = asyncio.Event(), asyncio.Event(), stage.ledger.calls

    async def slow(conversation_id: str) -> Sequence[CallRecord]:
        reading.set()
        await go_on.wait()
        return await calls(conversation_id)

    monkeypatch.setattr(stage.ledger, "calls", slow)
    first = asyncio.create_task(gateway.conversations.enter(stage.session, stage.conversation_id))
    async with asyncio.timeout(PATIENCE):
        await reading.wait()
        second = asyncio.create_task(gateway.conversations.enter(stage.session, stage.conversation_id))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        go_on.set()
        assert (await second).id == stage.conversation_id
    await gateway.stop()


async def test_a_call_id_that_is_still_open_on_record_is_no_new_call(stage: Stage) -> None:
    await stage.begin()
    started = stage.start(stage.propose("wait", "c1"))
    async with asyncio.timeout(PATIENCE):
        await stage.toolbox.started.wait()
    again = assemble(stage.gateway.ports)
    connection = Connection("con_again", stage.session, again.connections.attach(stage.session, "con_again").outbox)
    result = (await again.dispatcher.invoke(connection, stage.propose("wait", "c1"))).result
    assert result.reason is Reason.OUTCOME_UNKNOWN
    assert [entry for entry in stage.ledger.entries if isinstance(entry, CallClosed)] == []
    assert len(stage.toolbox.effects) == 1
    stage.toolbox.release.set()
    await started
    await again.stop()


async def closing_after(stage: Stage, *meanwhile: Entry) -> CallClosed:
    """How a call that waits is closed by the next process, given what the last one still recorded."""
    stage.start(stage.propose("write", "c1"))
    await stage.asked()
    await stage.ledger.append(*meanwhile)
    again = assemble(stage.gateway.ports)
    await again.start("2")
    async with asyncio.timeout(PATIENCE):
        while not any(isinstance(entry, CallClosed) for entry in stage.ledger.entries):
            await asyncio.sleep(0)
    await again.stop()
    (closed,) = [entry for entry in stage.ledger.entries if isinstance(entry, CallClosed)]
    assert [each.status for each in await stage.ledger.approvals(stage.ada.id, limit=9)] == [ApprovalStatus.CANCELLED]
    return closed


async def test_nobody_is_asked_after_a_restart_about_a_turn_that_had_ended(stage: Stage) -> None:
    snapshot = await stage.begin()
    now = stage.clock.now()
    closed = await closing_after(stage, TurnEnded(now, stage.ada.id, stage.conversation_id, snapshot.turn_id, "cancelled"))
    assert not closed.executed


async def test_a_question_of_a_deleted_conversation_does_not_keep_the_gateway_from_starting(stage: Stage) -> None:
    await stage.begin()
    closed = await closing_after(stage, ConversationDeleted(stage.clock.now(), stage.conversation_id, stage.ada.id))
    assert not closed.executed
