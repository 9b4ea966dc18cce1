"""What a gateway remembers of calls that have ended is bounded, and what it forgets it finds on record."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from gateway.core.errors import NotFound
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.conversation import CLOSED_REMEMBERED
from gateway.runtime.gateway import assemble
from tests.runtime.conftest import Stage

CALLS = 3 * CLOSED_REMEMBERED
MORE = 600
PER_TURN = 32


async def call_often(stage: Stage, first: int, count: int) -> None:
    for number in range(first, first + count):
        if number % PER_TURN == 0:
            await stage.begin()
        answer = await stage.invoke(stage.propose("look", f"c{number}"))
        assert answer.result.outcome is Outcome.OK, answer.result
        while stage.connection.outbox.take() is not None:
            pass


def contents(each: Any) -> list[Any] | None:
    """What a container holds; None for anything else."""
    if isinstance(each, Mapping):
        return list(cast("Mapping[Any, Any]", each).values())
    return list(cast("Iterable[Any]", each)) if isinstance(each, list | set | frozenset | tuple | deque) else None


def remembered(stage: Stage) -> dict[str, int]:
    """How many things each container holds that is reachable from the runtime, without the ports."""
    rooms = {name: getattr(stage.gateway, name) for name in stage.gateway.__slots__ if name != "ports"}
    ports = {id(getattr(stage.gateway.ports, name)) for name in stage.gateway.ports.__slots__}
    seen, sizes, left = set[int](), dict[str, int](), deque[tuple[str, Any]](rooms.items())
    while left:
        path, each = left.popleft()
        if id(each) in seen or id(each) in ports:
            continue
        seen.add(id(each))
        inside = contents(each)
        if inside is not None:
            sizes[path] = sizes.get(path, 0) + len(inside)
            left.extend((f"{path}[]", thing) for thing in inside)
        elif str(each.__class__.__module__).startswith("gateway.runtime"):
            names = [*getattr(each, "__dict__", ()), *getattr(each, "__slots__", ())]
            left.extend((f"{path}.{name}", getattr(each, name, None)) for name in names)
    return sizes


async def test_thousands_of_calls_leave_no_more_behind_than_hundreds(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, calls_per_session=100_000, calls_per_principal_per_day=100_000)
    await call_often(stage, 0, CALLS)
    before = remembered(stage)
    assert before, "nothing was looked at"

    await call_often(stage, CALLS, MORE)

    grown = {path: (before.get(path, 0), size) for path, size in remembered(stage).items() if size > before.get(path, 0)}
    assert grown == {}
    assert len(await stage.gateway.dispatcher.list_calls(stage.session, stage.conversation_id)) == CALLS + MORE


@pytest.mark.requirement("002-16", "a replayed id whose call was forgotten is found on record, and never runs again")
async def test_a_forgotten_call_is_replayed_from_its_record_and_never_runs_again(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, calls_per_session=100_000, calls_per_principal_per_day=100_000)
    await stage.begin()
    proposal = stage.propose("look", "first")
    first = await stage.invoke(proposal)
    await call_often(stage, 0, CALLS)
    conversation = await stage.gateway.conversations.enter(stage.session, stage.conversation_id)
    assert "first" not in conversation.closed
    ran = len(stage.toolbox.effects)

    again = await stage.invoke(proposal)
    other = await stage.invoke(stage.propose("look", "first", path="elsewhere"))
    await stage.gateway.dispatcher.cancel(stage.session, stage.conversation_id, "c1")
    with pytest.raises(NotFound):
        await stage.gateway.dispatcher.cancel(stage.session, stage.conversation_id, "never")

    assert (again.replayed, again.result) == (True, first.result)
    assert other.result.reason is Reason.REPLAY_CONFLICT
    assert len(stage.toolbox.effects) == ran


@pytest.mark.requirement("002-16", "a replayed id whose call was made before a restart and forgotten never runs again")
async def test_a_call_of_an_earlier_start_is_known_however_many_came_after_it(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, calls_per_session=100_000, calls_per_principal_per_day=100_000)
    await stage.begin()
    proposal = stage.propose("look", "first")
    first = await stage.invoke(proposal)
    await call_often(stage, 0, CALLS)
    again = assemble(stage.gateway.ports)
    connection = again.connections.attach(stage.session, "con_again")
    ran = len(stage.toolbox.effects)

    answer = await again.dispatcher.invoke(connection, proposal)

    assert (answer.replayed, answer.result) == (True, first.result)
    assert len(stage.toolbox.effects) == ran
    await again.stop()
