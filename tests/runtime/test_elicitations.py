"""What servers ask people: bounded in number and time, on record before it is shown, and answered once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from gateway.core.canonical import Json
from gateway.core.elicitation import ElicitationAction, ElicitationAnswer, ElicitationRefusal, ElicitationStatus
from gateway.core.errors import InvalidParams, LedgerUnavailable, NotFound, Refused
from gateway.core.ledger import ElicitationAsked, ElicitationResolved
from gateway.core.model import ToolRequest
from gateway.core.vocabulary import Runner
from gateway.runtime.binding import bind_proposal
from gateway.runtime.elicitations import MOST_OF_A_CALL, MOST_OF_A_SESSION, CallElicitations, Elicitations
from gateway.runtime.tasks import Tasks
from gateway.runtime.timing import Timing
from tests.runtime.conftest import PATIENCE, Stage

FORM: dict[str, Json] = {"type": "object", "properties": {"branch": {"type": "string"}}, "required": ["branch"]}
ACCEPT, DECLINE = ElicitationAction.ACCEPT, ElicitationAction.DECLINE
VALUES: dict[str, Json] = {"branch": "main"}


@pytest.fixture
async def room(stage: Stage) -> AsyncIterator[Elicitations]:
    tasks = Tasks()
    yield make_room(stage, tasks)
    await tasks.stop()


def make_room(stage: Stage, tasks: Tasks, seconds: float = PATIENCE) -> Elicitations:
    ports, gateway = stage.gateway.ports, stage.gateway
    return Elicitations(
        ledger=ports.ledger,
        policy=ports.policy,
        connections=gateway.connections,
        clock=ports.clock,
        entropy=ports.entropy,
        tasks=tasks,
        timing=Timing(approval=seconds),
    )


async def request_of(stage: Stage) -> ToolRequest:
    await stage.begin()
    conversation = await stage.gateway.conversations.enter(stage.session, stage.conversation_id)
    return bind_proposal(stage.connection, conversation, stage.propose("peek"), stage.clock.now())


def call_of(
    room: Elicitations, request: ToolRequest, may_run: Callable[[], bool] = lambda: True, source: str = "git"
) -> CallElicitations:
    return room.of_call(request, source, lambda _message: None, may_run)


async def waiting(room: Elicitations, stage: Stage) -> str:
    async with asyncio.timeout(PATIENCE):
        while not (listed := room.list(stage.ada.id)):
            await asyncio.sleep(0)
    return listed[0].id


def resolved(stage: Stage) -> list[ElicitationResolved]:
    return [entry for entry in stage.ledger.entries if isinstance(entry, ElicitationResolved)]


async def test_an_answer_is_on_record_before_the_server_gets_it_and_neither_holds_its_words(
    room: Elicitations, stage: Stage
) -> None:
    asking = asyncio.create_task(call_of(room, await request_of(stage)).ask("Which branch?", FORM))
    await room.answer(stage.console, await waiting(room, stage), ACCEPT, VALUES)
    (entry,) = resolved(stage)

    assert await asking == ElicitationAnswer(ACCEPT, VALUES)
    assert (entry.status, entry.console_session_id) == (ElicitationStatus.ACCEPTED, stage.console.id)
    asked = next(entry for entry in stage.ledger.entries if isinstance(entry, ElicitationAsked))
    for leaf in (asked.leaf(), entry.leaf()):
        written = str(leaf)
        assert "main" not in written
        assert "branch" not in written
    assert room.list(stage.ada.id) == []


async def test_values_that_miss_the_form_are_refused_and_the_question_stays(room: Elicitations, stage: Stage) -> None:
    asking = asyncio.create_task(call_of(room, await request_of(stage)).ask("Which branch?", FORM))
    question = await waiting(room, stage)
    for values in ({}, {"branch": 5}, {"branch": "main", "more": "x"}):
        with pytest.raises(InvalidParams):
            await room.answer(stage.console, question, ACCEPT, values)
    await room.answer(stage.console, question, DECLINE, VALUES)

    assert await asking == ElicitationAnswer(DECLINE)
    assert [entry.values_digest for entry in resolved(stage)] == [None]


async def test_another_person_finds_no_such_question(room: Elicitations, stage: Stage) -> None:
    asking = asyncio.create_task(call_of(room, await request_of(stage)).ask("Which branch?", FORM))
    question = await waiting(room, stage)
    stranger = replace(stage.console, principal=replace(stage.ada, id="prn_eve"))

    assert room.list("prn_eve") == []
    with pytest.raises(NotFound):
        await room.answer(stranger, question, ACCEPT, VALUES)
    asking.cancel()


async def test_an_answer_after_the_time_is_refused_although_nobody_has_ended_the_question_yet(
    room: Elicitations, stage: Stage
) -> None:
    asking = asyncio.create_task(call_of(room, await request_of(stage)).ask("Which branch?", FORM))
    question = await waiting(room, stage)
    stage.clock.set_wall(room.list(stage.ada.id)[0].expires_at)

    with pytest.raises(Refused, match="no longer open"):
        await room.answer(stage.console, question, ACCEPT, VALUES)
    assert resolved(stage) == []
    asking.cancel()


async def test_who_declines_is_not_asked_again_by_the_same_call(room: Elicitations, stage: Stage) -> None:
    call = call_of(room, await request_of(stage))
    asking = asyncio.create_task(call.ask("Which branch?", FORM))
    await room.answer(stage.console, await waiting(room, stage), DECLINE, {})
    await asking

    assert isinstance(await call.ask("Which branch, please?", FORM), ElicitationRefusal)
    assert room.list(stage.ada.id) == []


async def answer_all(room: Elicitations, stage: Stage, call: CallElicitations) -> bool:
    """Ask once, and answer where somebody is asked."""
    asking = asyncio.create_task(call.ask("Which branch?", FORM))
    async with asyncio.timeout(PATIENCE):
        while not asking.done():
            for each in room.list(stage.ada.id):
                await room.answer(stage.console, each.id, ACCEPT, VALUES)
            await asyncio.sleep(0)
    return isinstance(asking.result(), ElicitationAnswer)


async def test_a_call_asks_a_handful_of_times_and_a_session_a_few_times_more(room: Elicitations, stage: Stage) -> None:
    request = await request_of(stage)
    first = call_of(room, request)

    assert [await answer_all(room, stage, first) for _ in range(MOST_OF_A_CALL + 1)] == [True] * MOST_OF_A_CALL + [False]
    later = [await answer_all(room, stage, call_of(room, request)) for _ in range(MOST_OF_A_SESSION)]
    # No more than it leaves to the others, and the next one has a half of that.
    assert MOST_OF_A_CALL + later.count(True) == MOST_OF_A_SESSION // 2
    others = [await answer_all(room, stage, call_of(room, request, source="mail")) for _ in range(MOST_OF_A_SESSION)]
    assert others.count(True) == MOST_OF_A_SESSION // 4


async def test_as_much_may_wait_at_once_as_a_person_can_bear(room: Elicitations, stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, pending_approvals=1)
    request = await request_of(stage)
    first = asyncio.create_task(call_of(room, request).ask("Which branch?", FORM))
    await waiting(room, stage)

    refused = await call_of(room, request).ask("Which branch?", FORM)

    assert refused == ElicitationRefusal("this session has asked its person too much already")
    first.cancel()


async def test_a_question_that_nobody_answers_expires(stage: Stage) -> None:
    tasks = Tasks()
    room = make_room(stage, tasks, seconds=0.01)

    answered = await call_of(room, await request_of(stage)).ask("Which branch?", FORM)
    async with asyncio.timeout(PATIENCE):
        while not resolved(stage):
            await asyncio.sleep(0)

    assert answered == ElicitationAnswer(ElicitationAction.CANCEL)
    assert resolved(stage)[0].status is ElicitationStatus.EXPIRED


async def test_a_new_policy_withdraws_what_waits(room: Elicitations, stage: Stage) -> None:
    asking = asyncio.create_task(call_of(room, await request_of(stage)).ask("Which branch?", FORM))
    question = await waiting(room, stage)
    room.withdraw_all()

    assert await asking == ElicitationAnswer(ElicitationAction.CANCEL)
    with pytest.raises((NotFound, Refused)):
        await room.answer(stage.console, question, ACCEPT, VALUES)


async def test_a_call_that_could_not_begin_any_more_asks_nothing_and_what_it_asked_is_withdrawn(
    room: Elicitations, stage: Stage
) -> None:
    allowed = [True]
    request = await request_of(stage)
    asking = asyncio.create_task(call_of(room, request, lambda: allowed[0]).ask("Which branch?", FORM))
    question = await waiting(room, stage)
    room.judge_again()
    assert [each.id for each in room.list(stage.ada.id)] == [question]
    allowed[0] = False
    room.judge_again()

    assert await asking == ElicitationAnswer(ElicitationAction.CANCEL)
    with pytest.raises((NotFound, Refused)):
        await room.answer(stage.console, question, ACCEPT, VALUES)
    again = await call_of(room, request, lambda: allowed[0]).ask("Which branch?", FORM)
    assert again == ElicitationRefusal("this call would not be allowed any more")


async def test_nobody_is_asked_what_cannot_be_put_on_record(room: Elicitations, stage: Stage) -> None:
    request = await request_of(stage)
    stage.ledger.failure = LedgerUnavailable("the disk is full")

    refused = await call_of(room, request).ask("Which branch?", FORM)

    stage.ledger.failure = None
    assert refused == ElicitationRefusal("it could not be put on record")
    assert room.list(stage.ada.id) == []


async def test_an_answer_that_cannot_be_put_on_record_is_not_sent(room: Elicitations, stage: Stage) -> None:
    asking = asyncio.create_task(call_of(room, await request_of(stage)).ask("Which branch?", FORM))
    question = await waiting(room, stage)
    stage.ledger.failure = LedgerUnavailable("the disk is full")
    with pytest.raises(LedgerUnavailable):
        await room.answer(stage.console, question, ACCEPT, VALUES)
    stage.ledger.failure = None

    assert await asking == ElicitationAnswer(ElicitationAction.CANCEL)


async def test_a_loop_in_a_terminal_has_nobody_who_could_be_asked(room: Elicitations, stage: Stage) -> None:
    request = replace(await request_of(stage), runner=Runner.GATEWAY)

    assert isinstance(await call_of(room, request).ask("Which branch?", FORM), ElicitationRefusal)
