"""What a rule obliges to is carried out, whatever the tab asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core.errors import Refused
from gateway.core.obligations import Obligations, Presence, Recipient, Release
from gateway.core.vocabulary import Category, GrantScope, Label, Outcome, Reason
from tests.fakes.passkeys import Forgery
from tests.fakes.toolbox import make_spec
from tests.runtime.conftest import Stage
from tests.runtime.decisions import approve, step_up


async def test_a_tool_gets_the_time_of_the_rule_where_that_is_less_than_its_own(stage: Stage) -> None:
    stage.policy.obligations = Obligations(timeout=0.05)
    await stage.begin()
    result = (await stage.invoke(stage.propose("wait"))).result
    assert (result.outcome, result.reason) == (Outcome.TIMED_OUT, Reason.TOOL_TIMEOUT)
    assert "within 0.05 seconds" in str(result.error)


async def test_a_lasting_approval_lasts_as_long_as_the_rule_lets_it(stage: Stage) -> None:
    stage.policy.obligations = Obligations(lease=60)
    await stage.begin()
    call = stage.start(stage.propose("write"))
    decided = await approve(stage, (await stage.asked())["id"], scope=GrantScope.SESSION)
    await call
    assert decided.grant is not None
    assert decided.grant.expires_at - decided.grant.issued_at == 60_000
    assert (await stage.invoke(stage.propose("write"))).result.outcome is Outcome.OK
    stage.clock.advance(60)
    again = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], approve=False)
    assert (await again).result.outcome is Outcome.DENIED_BY_USER


async def test_a_rule_that_came_later_shortens_what_was_granted_before_it(stage: Stage) -> None:
    await stage.begin()
    call = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], scope=GrantScope.SESSION)
    await call
    stage.policy.obligations = Obligations(lease=60)
    stage.clock.advance(61)
    again = stage.start(stage.propose("write"))
    await approve(stage, (await stage.asked())["id"], approve=False)
    assert (await again).result.outcome is Outcome.DENIED_BY_USER


@pytest.mark.parametrize("presence", [Presence.PASSKEY, Presence.PASSKEY_UV])
async def test_a_click_is_not_taken_where_the_rule_asks_for_a_passkey(stage: Stage, presence: Presence) -> None:
    stage.policy.obligations = Obligations(presence=presence)
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    with pytest.raises(Refused, match="needs your passkey"):
        await approve(stage, approval_id)
    assert stage.toolbox.effects == []
    await step_up(stage, approval_id)
    assert (await call).result.outcome is Outcome.OK


@pytest.mark.parametrize(("presence", "taken"), [(Presence.PASSKEY, True), (Presence.PASSKEY_UV, False)])
async def test_a_tap_without_verification_is_taken_only_where_a_tap_is_enough(
    stage: Stage, presence: Presence, taken: bool
) -> None:
    stage.policy.obligations = Obligations(presence=presence)
    await stage.begin()
    call = stage.start(stage.propose("write"))
    approval_id = (await stage.asked())["id"]
    _, _, challenge = await stage.gateway.approvals.get(stage.console, approval_id)
    assert challenge is not None
    options = await stage.gateway.approvals.assertion_options(stage.console, approval_id)
    tap = stage.authenticator.get(options, Forgery(user_verified=False))
    decision = stage.gateway.approvals.decide(
        stage.console, approval_id, challenge=challenge, approve=True, scope=GrantScope.ONCE, assertion=tap
    )
    if taken:
        await decision
    else:
        with pytest.raises(Refused):
            await decision
    assert ((await call).result.outcome is Outcome.OK) is taken


@pytest.mark.parametrize("recipient", [Recipient.BROWSER, Recipient.LOCAL_MODEL])
async def test_a_result_whose_label_may_not_go_there_is_withheld_and_taught_nobody_anything(
    stage: Stage, recipient: Recipient
) -> None:
    stage.policy.obligations = Obligations(release=Release(((recipient, Label.INTERNAL),)))
    secret = replace(make_spec("read_secret", Category.READ), labels=("label:confidential",))
    broken = replace(make_spec("fail", Category.READ), labels=("label:confidential",))
    internal = replace(make_spec("read_internal", Category.READ), labels=("label:internal",))
    stage.toolbox.tools = [secret, broken, internal]
    await stage.begin()
    result = (await stage.invoke(stage.propose("read_secret", path="the-secret"))).result
    assert (result.outcome, result.error, result.structured, result.labels) == (Outcome.OK, None, None, ())
    assert "labelled confidential" in result.content
    assert "the-secret" not in result.content
    failed = (await stage.invoke(stage.propose("fail", path="the-secret"))).result
    assert (failed.outcome, failed.labels) == (Outcome.EXECUTION_ERROR, ())
    assert "withheld" in str(failed.error)
    assert stage.gateway.connections.live(stage.session).label == Label.PUBLIC
    assert "read_internal did" in (await stage.invoke(stage.propose("read_internal"))).result.content


async def test_a_model_that_the_policy_lets_nobody_ask_receives_nothing(stage: Stage) -> None:
    """The table of the tests allows no remote models."""
    stage.policy.obligations = Obligations(release=Release(((Recipient.REMOTE_MODEL, Label.PUBLIC),)))
    stage.toolbox.tools = [replace(make_spec("read_secret", Category.READ), labels=("label:confidential",))]
    await stage.begin()
    assert "read_secret did" in (await stage.invoke(stage.propose("read_secret"))).result.content
