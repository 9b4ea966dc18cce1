"""Answers that verify less than they must, or that come when their call may run no more (rows 13 and 14)."""

from __future__ import annotations

import pytest

from gateway.core.errors import Refused
from gateway.core.times import rfc3339
from gateway.core.vocabulary import GrantScope, Outcome, Reason
from tests.authenticator import Forgery
from tests.runtime.conftest import Stage


async def decide(stage: Stage, approval_id: str) -> None:
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    await stage.gateway.approvals.decide(stage.console, approval_id, challenge=challenge, approve=True, scope=GrantScope.ONCE)


async def test_a_question_waits_no_longer_than_the_session_that_asked(stage: Stage) -> None:
    # Half a minute before its end: nothing has ended it yet when the answer comes.
    stage.clock.advance(8 * 3600 - 30)
    await stage.begin()
    stage.start(stage.propose("write"))
    approval = await stage.asked()
    assert approval["expiresAt"] == rfc3339(stage.session.expires_at)
    stage.clock.advance(60)
    with pytest.raises(Refused, match="expired"):
        await decide(stage, str(approval["id"]))
    assert stage.toolbox.effects == []


@pytest.mark.requirement("002-32", "a session that ends while a person decides runs nothing on the answer")
async def test_a_call_does_not_run_for_a_session_that_ended_while_a_person_decided(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = str((await stage.asked())["id"])
    # Ended, and nothing has stopped its calls yet when the answer comes.
    stage.gateway.connections.live(stage.session).ended = True
    with pytest.raises(Refused, match="no longer open"):
        await decide(stage, approval_id)
    result = (await call).result
    assert (result.outcome, result.reason) == (Outcome.CANCELLED, Reason.SESSION_ENDED)
    assert stage.toolbox.effects == []


async def test_a_step_up_needs_a_passkey_that_verified_its_person(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("destroy"))
    approval_id = str((await stage.asked())["id"])
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    options = await stage.gateway.approvals.assertion_options(stage.console, approval_id)
    with pytest.raises(Refused):
        await stage.gateway.approvals.decide(
            stage.console,
            approval_id,
            challenge=challenge,
            approve=True,
            scope=GrantScope.ONCE,
            assertion=stage.authenticator.get(options, Forgery(user_verified=False)),
        )
    result = (await call).result
    assert (result.outcome, result.reason) == (Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID)
    assert stage.toolbox.effects == []
