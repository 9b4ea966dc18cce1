"""One operator who does alone what takes several people, over the runtime with fakes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.errors import Refused
from gateway.core.ledger import ApprovalResolved, BreakGlassUsed, CallIntended
from gateway.core.obligations import Obligations
from gateway.core.vocabulary import Outcome, Profile, Reason
from tests.authenticator import Forgery
from tests.runtime.approvers import Approver, ada, arrive, ask, finish, is_sound, recorded
from tests.runtime.conftest import Stage

WHY = "The site is down and nobody else is awake"

ALLOWED = Obligations(approvers=2)


async def break_glass(by: Approver, approval_id: str, reason: str = WHY, **forged: Any) -> Any:
    challenge, assertion = await by.sign(approval_id, Forgery(**forged), reason=reason)
    return await by.send(approval_id, challenge, assertion, break_glass=reason)


async def test_an_operator_may_do_alone_what_needs_two_with_a_reason_that_every_operator_hears_of(stage: Stage) -> None:
    ben, guest = await arrive(stage, "Ben"), await arrive(stage, "Gus", Profile.GUEST)
    call, approval_id = await ask(stage, ALLOWED)
    await break_glass(ada(stage), approval_id)
    assert (await finish(call)).result.outcome is Outcome.OK
    (used,) = recorded(stage, BreakGlassUsed)
    assert (used.approver_id, used.reason) == ("prn_ada", WHY)
    order = [type(entry) for entry in stage.ledger.entries if isinstance(entry, BreakGlassUsed | ApprovalResolved | CallIntended)]
    assert order == [BreakGlassUsed, ApprovalResolved, CallIntended]
    warned = ben.heard()[-1]
    assert b'"approvals/break-glass"' in warned
    assert WHY.encode() in warned
    assert guest.heard() == []
    assert is_sound(stage)


async def test_an_operator_alone_in_the_world_is_asked_where_they_may_break_the_glass(stage: Stage) -> None:
    call, approval_id = await ask(stage, replace(ALLOWED, requester_excluded=True), tool="destroy")
    await break_glass(ada(stage), approval_id)
    assert (await finish(call)).result.outcome is Outcome.OK
    assert is_sound(stage)


async def test_an_approval_is_no_signature_for_acting_alone_and_the_other_way_round(stage: Stage) -> None:
    await arrive(stage, "Ben")
    call, approval_id = await ask(stage, ALLOWED)
    asker = ada(stage)
    challenge, plain = await asker.sign(approval_id)
    with pytest.raises(Refused):
        await asker.send(approval_id, challenge, plain, break_glass=WHY)
    assert (await finish(call)).result.reason is Reason.ASSERTION_INVALID
    again, approval_id = await ask(stage, ALLOWED)
    challenge, alone = await asker.sign(approval_id, reason=WHY)
    with pytest.raises(Refused):
        await asker.send(approval_id, challenge, alone)
    assert (await finish(again)).result.reason is Reason.ASSERTION_INVALID
    assert stage.toolbox.effects == []
    assert recorded(stage, BreakGlassUsed) == []


async def test_the_reason_that_is_recorded_is_the_one_that_was_signed(stage: Stage) -> None:
    call, approval_id = await ask(stage, ALLOWED)
    asker = ada(stage)
    challenge, assertion = await asker.sign(approval_id, reason=WHY)
    with pytest.raises(Refused):
        await asker.send(approval_id, challenge, assertion, break_glass="Quite another reason")
    assert (await finish(call)).result.reason is Reason.ASSERTION_INVALID


async def test_acting_alone_takes_a_passkey_that_verifies_its_person(stage: Stage) -> None:
    call, approval_id = await ask(stage, ALLOWED)
    with pytest.raises(Refused):
        await break_glass(ada(stage), approval_id, user_verified=False)
    assert (await finish(call)).result.reason is Reason.ASSERTION_INVALID
    assert stage.toolbox.effects == []


async def test_acting_alone_takes_a_policy_that_lets_one_and_an_operator(stage: Stage) -> None:
    ben = await arrive(stage, "Ben")
    _, approval_id = await ask(stage)
    with pytest.raises(Refused) as refused:
        await break_glass(ben, approval_id)
    assert refused.value.reason == "breakGlassForbidden"
    guest = await arrive(stage, "Gus", Profile.GUEST)
    pool = frozenset({"prn_ben", "prn_gus"})
    _, approval_id = await ask(stage, replace(ALLOWED, pool=pool))
    with pytest.raises(Refused) as refused:
        await break_glass(guest, approval_id)
    assert refused.value.reason == "breakGlassForbidden"
    assert stage.toolbox.effects == []


@pytest.mark.parametrize("reason", ["short", "x" * 501])
async def test_acting_alone_takes_a_reason_of_ten_to_five_hundred_characters(stage: Stage, reason: str) -> None:
    _, approval_id = await ask(stage, ALLOWED)
    with pytest.raises(Refused, match="10 to 500"):
        await break_glass(ada(stage), approval_id, reason)
    assert stage.toolbox.effects == []
