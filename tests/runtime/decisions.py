"""How a test answers the question of an approval, with a passkey or without."""

from __future__ import annotations

from gateway.core.vocabulary import GrantScope
from gateway.runtime.approvals import Decided
from tests.runtime.conftest import Stage


async def approve(
    stage: Stage,
    approval_id: str,
    *,
    scope: GrantScope = GrantScope.ONCE,
    pins: tuple[str, ...] | None = None,
    approve: bool = True,
) -> Decided:
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    return await stage.gateway.approvals.decide(
        stage.console, approval_id, challenge=challenge, approve=approve, scope=scope, pins=pins
    )


async def step_up(stage: Stage, approval_id: str) -> Decided:
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    options = await stage.gateway.approvals.assertion_options(stage.console, approval_id)
    return await stage.gateway.approvals.decide(
        stage.console,
        approval_id,
        challenge=challenge,
        approve=True,
        scope=GrantScope.ONCE,
        assertion=stage.authenticator.get(options),
    )
