"""What a session may use up beside calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core.errors import TooManyRequests
from gateway.runtime.quotas import RECORD_BYTES, Quotas
from tests.runtime.conftest import Stage


@pytest.mark.requirement("002-55", "a session has so many model tokens and no more")
@pytest.mark.requirement("002-67", "model tokens are counted per session")
async def test_a_session_that_used_its_tokens_up_gets_no_more_of_them_and_another_one_does(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, tokens_per_session=100)
    snapshot = await stage.begin()
    conversation, turn = await stage.gateway.turns.open_turn(stage.session, snapshot.conversation_id, snapshot.turn_id)
    _, lease = await stage.gateway.inference.mint(stage.session, conversation, turn, "w:tiny")
    await stage.gateway.inference.finish(lease, "completed", 60, 39)
    stage.gateway.inference.require_tokens(lease)
    await stage.gateway.inference.finish(lease, "completed", 1, 0)
    with pytest.raises(TooManyRequests, match="100 model tokens"):
        stage.gateway.inference.require_tokens(lease)
    with pytest.raises(TooManyRequests):
        await stage.gateway.inference.mint(stage.session, conversation, turn, "w:tiny")


async def test_an_answer_that_was_broken_off_before_it_was_counted_costs_what_it_is_estimated_at(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, tokens_per_session=100)
    snapshot = await stage.begin()
    conversation, turn = await stage.gateway.turns.open_turn(stage.session, snapshot.conversation_id, snapshot.turn_id)
    _, lease = await stage.gateway.inference.mint(stage.session, conversation, turn, "w:tiny")
    await stage.gateway.inference.finish(lease, "aborted", None, None, estimated_tokens=101)
    with pytest.raises(TooManyRequests):
        stage.gateway.inference.require_tokens(lease)


async def test_long_results_get_half_of_what_a_session_may_have_recorded_and_leave_the_rest_to_its_calls(stage: Stage) -> None:
    stage.policy.allowance = replace(stage.policy.allowance, stored_bytes_per_session=100_000)
    quotas = Quotas(connections=stage.gateway.connections, policy=stage.policy)
    await stage.begin()
    stored = stage.gateway.connections.live(stage.session).stored
    size = 50_000 - stored - RECORD_BYTES
    assert not quotas.may_keep(stage.session.id, size + 1)
    assert quotas.may_keep(stage.session.id, size)
    assert not quotas.may_keep(stage.session.id, 1)
    quotas.charge_storage(stage.session, 20_000)
    assert not quotas.may_keep("ses_ended", 1)
