"""Turns: opened, suspended, re-bound, closed for good."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from gateway.core.errors import NotFound
from gateway.core.ledger import TurnEnded
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.gateway import assemble
from gateway.runtime.notices import PolicyChangedNotice
from gateway.runtime.ports import ModelInfo, ModelPhase
from gateway.runtime.timing import Timing
from tests.fakes.inference import TINY
from tests.runtime.conftest import PATIENCE, Stage


def endings(stage: Stage) -> list[str]:
    return [entry.reason for entry in stage.ledger.entries if isinstance(entry, TurnEnded)]


async def test_a_new_turn_ends_the_one_before(stage: Stage) -> None:
    first = await stage.begin()
    second = await stage.begin()
    assert (second.turn_index, first.turn_index) == (1, 0)
    assert endings(stage) == ["superseded"]


async def test_two_turns_begun_at_once_leave_one_open(stage: Stage) -> None:
    await stage.begin()
    begin = stage.gateway.turns.begin
    await asyncio.gather(*(begin(stage.connection, stage.conversation_id) for _ in range(3)))
    record = await stage.ledger.conversation(stage.conversation_id)
    assert record is not None
    conversation = await stage.gateway.conversations.enter(stage.session, stage.conversation_id)
    assert conversation.turn is not None
    assert record.open_turn_id == conversation.turn.id


async def test_looking_in_from_another_tab_takes_nothing_away_unless_asked_to(stage: Stage) -> None:
    snapshot = await stage.begin()
    other = stage.gateway.connections.attach(stage.session, "con_2")
    seen = await stage.gateway.turns.rebind(other, stage.conversation_id)
    assert seen is not None
    assert seen.snapshot is None
    taken = await stage.gateway.turns.rebind(other, stage.conversation_id, take_over=True)
    assert taken is not None
    assert taken.snapshot is not None
    assert taken.snapshot.connection_id == "con_2"
    assert await stage.told("snapshot/revoked") == {"snapshotId": snapshot.id, "reason": "rebound"}


async def test_a_connection_is_told_of_its_own_snapshot_and_of_nobody_elses(stage: Stage) -> None:
    held: dict[str, str] = {}
    others = [stage.gateway.connections.attach(stage.session, f"con_{number}") for number in range(2, 8)]
    for connection in others:
        conversation = await stage.gateway.conversations.create(stage.session, None)
        held[connection.id] = (await stage.gateway.turns.begin(connection, conversation.id)).id
    stage.policy.next_version = "policy-2"
    await stage.gateway.reload_policy()
    for connection in others:
        assert await stage.told("snapshot/revoked", connection) == {"snapshotId": held[connection.id], "reason": "policyChanged"}
        assert isinstance(connection.outbox.take(), PolicyChangedNotice)
        assert connection.outbox.take() is None


async def test_a_turn_whose_connection_never_comes_back_ends_with_its_calls(stage: Stage) -> None:
    # A gateway with no patience over the same ports, so that nothing here waits for a clock.
    stage.gateway = assemble(stage.gateway.ports, Timing(grace=0.0))
    stage.connection = stage.gateway.connections.attach(stage.session, "con_9")
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await stage.asked()
    stage.gateway.connections.detach(stage.connection)
    async with asyncio.timeout(PATIENCE):
        result = (await call).result
    assert (result.outcome, result.reason) == (Outcome.CANCELLED, Reason.SESSION_ENDED)
    assert endings(stage) == ["connectionLost"]
    await stage.gateway.stop()


async def test_an_inference_token_dies_with_its_turn(stage: Stage) -> None:
    snapshot = await stage.begin()
    conversation, turn = await stage.gateway.turns.open_turn(stage.session, stage.conversation_id, snapshot.turn_id)
    secret, lease = await stage.gateway.inference.mint(stage.session, conversation, turn, "w:tiny")
    assert stage.gateway.inference.check(secret) is lease
    await stage.gateway.turns.end(stage.session, stage.conversation_id, snapshot.turn_id, None)
    assert stage.gateway.inference.check(secret) is None
    assert lease.revoked.is_set()


@pytest.mark.requirement("002-27", "no token is given for a model that the policy refuses")
async def test_an_inference_token_is_only_for_models_that_the_policy_lets_this_session_use(stage: Stage) -> None:
    snapshot = await stage.begin()
    conversation, turn = await stage.gateway.turns.open_turn(stage.session, stage.conversation_id, snapshot.turn_id)
    for model_id in ("remote:big", "no such model"):
        with pytest.raises(NotFound):
            await stage.gateway.inference.mint(stage.session, conversation, turn, model_id)


@pytest.mark.requirement("004-17", "a model of the same name with other weights is another model")
async def test_another_model_that_is_ready_does_not_stand_in_for_the_one_that_is_meant(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same name and file, other weights, and so another model."""
    snapshot = await stage.begin()
    conversation, turn = await stage.gateway.turns.open_turn(stage.session, stage.conversation_id, snapshot.turn_id)
    backend = stage.gateway.inference.backend

    async def others() -> Sequence[ModelInfo]:
        return [replace(TINY, id="v:tiny")]

    monkeypatch.setattr(backend, "models", others)
    assert backend.state().phase is ModelPhase.READY
    with pytest.raises(NotFound):
        await stage.gateway.inference.mint(stage.session, conversation, turn, TINY.id)
    _, lease = await stage.gateway.inference.mint(stage.session, conversation, turn, "v:tiny")
    assert lease.model.id == "v:tiny"


async def test_an_inference_token_expires_by_the_monotonic_clock(stage: Stage) -> None:
    snapshot = await stage.begin()
    conversation, turn = await stage.gateway.turns.open_turn(stage.session, stage.conversation_id, snapshot.turn_id)
    secret, _ = await stage.gateway.inference.mint(stage.session, conversation, turn, "w:tiny")
    wall = stage.clock.now()
    stage.clock.advance(301)
    stage.clock.set_wall(wall)
    assert stage.gateway.inference.check(secret) is None


async def test_suppressed_tools_are_not_offered(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, suppressed_tools=("look",), shows_forbidden=False)
    offered = {tool.spec.name for tool in (await stage.begin()).tools}
    assert "look" not in offered
    assert "administer" not in offered
    assert "respond" in offered


@pytest.mark.requirement("003-03", "respond is left out without tools and where it is suppressed")
@pytest.mark.parametrize("suppressed", [("respond",), ("look", "write", "destroy", "respond"), None])
async def test_the_pseudo_tool_is_offered_beside_tools_and_unless_it_is_suppressed(
    stage: Stage, suppressed: tuple[str, ...] | None
) -> None:
    if suppressed is None:
        stage.toolbox.tools = []
    else:
        stage.policy.allowance = replace(stage.policy.allowance, suppressed_tools=suppressed)
    assert "respond" not in {tool.spec.name for tool in (await stage.begin()).tools}
