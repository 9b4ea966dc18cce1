"""An answer whose page is loaded again: it goes on, and the same request of the same turn is given it; nothing else is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from gateway.runtime.connections import Connection
from gateway.server.answers import KEPT_BYTES, LiveAnswer
from tests.fakes.inference import TINY
from tests.server.conftest import Running, Turn
from tests.server.streamed import ASKED, EVENTS, again, finished, recorded, script, streaming


@pytest_asyncio.fixture
async def turn(running: Running) -> Turn:
    await running.arrive()
    return await running.begin_turn()


async def leave_page(turn: Turn, response: aiohttp.ClientResponse) -> None:
    """Close what a page has open, as a reload does."""
    turn.running.gateway.connections.detach(turn.connection)
    response.close()


async def come_back(turn: Turn, connection: Connection | None = None) -> Turn:
    """The page again: a new connection, the same turn, another token. Or a page that takes the turn from the one that has it."""
    running, conversation_id = turn.running, turn.snapshot.conversation_id
    take_over = connection is not None
    connection = connection or running.gateway.connections.attach(turn.session, "con_2")
    rebound = await running.gateway.turns.rebind(connection, conversation_id, take_over=take_over)
    assert rebound is not None
    assert rebound.snapshot is not None
    conversation, opened = await running.gateway.turns.open_turn(turn.session, conversation_id, rebound.id)
    token, lease = await running.gateway.inference.mint(turn.session, conversation, opened, TINY.id)
    return replace(turn, connection=connection, snapshot=rebound.snapshot, token=token, lease=lease)


async def test_an_answer_goes_on_while_its_page_is_loaded_again_and_is_given_from_its_first_byte(turn: Turn) -> None:
    async with streaming(turn) as response:
        await leave_page(turn, response)
        back = await come_back(turn)
        asking = asyncio.ensure_future(back.ask(dict(reversed(ASKED.items()))))
        for chunk in (*EVENTS[1:], None):
            turn.running.backend.stream.queue.put_nowait(chunk)
        reply = await asking
    assert reply.body == b"".join(EVENTS)
    assert reply.headers["x-countersign-nonce"] in back.lease.turn.inferences
    assert len(turn.running.backend.asked) == 1, "the model was asked twice"
    assert (await recorded(turn)).outcome == "completed"


async def test_an_answer_that_ended_while_its_page_was_loaded_is_given_once(turn: Turn) -> None:
    async with streaming(turn) as response:
        await leave_page(turn, response)
        for chunk in (*EVENTS[1:], None):
            turn.running.backend.stream.queue.put_nowait(chunk)
        await recorded(turn)
        back = await come_back(turn)
        assert (await back.ask(ASKED)).body == b"".join(EVENTS)
        script(turn, EVENTS[3], None)
        assert (await back.ask(ASKED)).body == EVENTS[3]


async def test_case_210_an_answer_without_a_page_ends_with_its_turn_or_with_another_question(turn: Turn) -> None:
    """docs/SECURITY.md case 210: it is given to nobody who asks for anything else, and to nobody after its turn."""
    running = turn.running
    async with streaming(turn) as response:
        await leave_page(turn, response)
        back = await come_back(turn)
        asking = asyncio.ensure_future(back.ask({**ASKED, "temperature": 1}))
        await running.backend.closed.wait()
        while len(running.backend.asked) < 2:
            await asyncio.sleep(0)
        running.backend.stream.queue.put_nowait(None)
        assert EVENTS[0] not in (await asking).body
    assert [entry.outcome for entry in finished(turn)] == ["aborted", "completed"]


async def test_case_210_an_answer_that_no_page_came_for_is_given_to_no_later_turn(turn: Turn) -> None:
    running, conversation_id = turn.running, turn.snapshot.conversation_id
    async with streaming(turn) as response:
        await leave_page(turn, response)
        connection = running.gateway.connections.attach(turn.session, "con_2")
        snapshot = await running.gateway.turns.begin(connection, conversation_id)
        await running.backend.closed.wait()
        conversation, opened = await running.gateway.turns.open_turn(turn.session, conversation_id, snapshot.turn_id)
        token, lease = await running.gateway.inference.mint(turn.session, conversation, opened, TINY.id)
        script(turn, EVENTS[3], None)
        later = replace(turn, connection=connection, snapshot=snapshot, token=token, lease=lease)
        assert (await later.ask(ASKED)).body == EVENTS[3]


async def test_a_page_that_is_loaded_three_times_gets_the_same_answer(turn: Turn) -> None:
    async with streaming(turn) as response:
        await leave_page(turn, response)
        back = await come_back(turn)
        async with again(back) as second:
            await leave_page(back, second)
            last = await come_back(back)
            asking = asyncio.ensure_future(last.ask(ASKED))
            for chunk in (*EVENTS[1:], None):
                turn.running.backend.stream.queue.put_nowait(chunk)
            assert (await asking).body == b"".join(EVENTS)
    assert len(turn.running.backend.asked) == 1


@pytest.mark.parametrize("is_missed", [True, False], ids=["its request is still there", "its request has ended"])
async def test_an_answer_that_is_taken_back_before_the_other_page_asked_is_the_same(turn: Turn, is_missed: bool) -> None:
    """The other page took the turn, and lost it before it could ask: its time with it counts for nothing."""
    other = turn.running.gateway.connections.attach(turn.session, "con_2")
    async with streaming(turn) as response:
        await come_back(turn, other)
        if not is_missed:
            response.close()
        back = await come_back(turn, turn.connection)
        asking = asyncio.ensure_future(back.ask(ASKED))
        for chunk in (*EVENTS[1:], None):
            turn.running.backend.stream.queue.put_nowait(chunk)
        assert (await asking).body == b"".join(EVENTS)
    assert len(turn.running.backend.asked) == 1, "the model was asked twice"


async def test_an_answer_that_is_taken_back_from_a_page_that_reads_it_is_not_ended_by_that_page(turn: Turn) -> None:
    other = turn.running.gateway.connections.attach(turn.session, "con_2")
    async with streaming(turn) as first:
        there = await come_back(turn, other)
        first.close()
        async with again(there) as second:
            back = await come_back(turn, turn.connection)
            async with again(back) as third:
                # What the other page reads ends, as a page that lost its turn has to expect; the answer does not.
                await second.read()
                for chunk in (*EVENTS[1:], None):
                    turn.running.backend.stream.queue.put_nowait(chunk)
                assert await third.read() == b"".join(EVENTS[1:])
    assert len(turn.running.backend.asked) == 1, "the model was asked twice"
    assert (await recorded(turn)).outcome == "completed"


@pytest.mark.parametrize("is_gone_first", [True, False])
async def test_case_210_an_answer_beyond_what_is_kept_ends_with_its_page(
    turn: Turn, monkeypatch: pytest.MonkeyPatch, is_gone_first: bool
) -> None:
    """docs/SECURITY.md case 210: nobody can be given all of it, whether its page goes before the bound is passed or after."""
    gone, outlive = asyncio.Event(), LiveAnswer.outlive_its_page

    async def note(answer: LiveAnswer, *given: Any) -> None:
        gone.set()
        await outlive(answer, *given)

    monkeypatch.setattr(LiveAnswer, "outlive_its_page", note)
    async with streaming(turn) as response:
        queue = turn.running.backend.stream.queue
        if is_gone_first:
            await leave_page(turn, response)
            await gone.wait()
            queue.put_nowait(bytes(KEPT_BYTES))
        else:
            queue.put_nowait(bytes(KEPT_BYTES))
            await response.content.readexactly(KEPT_BYTES)
            await leave_page(turn, response)
        # Within the bounds of the test: an answer that could still be given would wait for its page for longer.
        await turn.running.backend.closed.wait()
    assert (await recorded(turn)).outcome == "aborted"
