"""The gate: what it allows, and that it allows no more than the policy and the snapshot do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import gate
from gateway.core.approval import Grant, RuleReason
from gateway.core.canonical import canonical_bytes
from gateway.core.gate import Allow, NeedsConsent, NeedsStepUp, Refuse, TurnState
from gateway.core.model import Principal, PublishedTool, Session, Snapshot, ToolCall, ToolRequest, ToolSpec, bind
from gateway.core.quorum import Needs
from gateway.core.vocabulary import (
    ApprovalKind,
    Category,
    Decision,
    GrantScope,
    Label,
    Outcome,
    PermissionMode,
    Profile,
    Reason,
)

ADA = Principal("prn_ada", "Ada", Profile.OPERATOR)
SESSION = Session("ses_1", ADA, "cse_1", (), Label.PUBLIC, 0, 10_000)
SPEC = ToolSpec("write", "writes", "i", "m", {"type": "object"}, Category.WRITE, "tests")
BECAUSE = (RuleReason("r", "why"),)


def snapshot(mode: PermissionMode = PermissionMode.CONSENT, **changes: object) -> Snapshot:
    made = Snapshot("snp_1", "ses_1", "con_1", "cnv_1", "trn_1", 0, 0, 1_000, "policy", (PublishedTool(SPEC, mode),))
    return replace(made, **changes)  # pyright: ignore[reportArgumentType] - each test names real fields


def request(**changes: object) -> ToolRequest:
    made = bind(
        ToolCall("c1", "write", {"path": "a"}),
        session=SESSION,
        connection_id="con_1",
        conversation_id="cnv_1",
        turn_id="trn_1",
        snapshot_id="snp_1",
        snapshot_digest=snapshot().digest,
        model=None,
        received_at=0,
    )
    return replace(made, **changes)  # pyright: ignore[reportArgumentType] - each test names real fields


def state(**changes: object) -> TurnState:
    made = TurnState("trn_1", snapshot(), frozenset({"snp_1"}), 500)
    return replace(made, **changes)  # pyright: ignore[reportArgumentType] - each test names real fields


def test_a_call_under_the_current_snapshot_is_let_on_to_its_tool() -> None:
    assert gate.check_binding(request(), state()) == PublishedTool(SPEC, PermissionMode.CONSENT)


@pytest.mark.parametrize(
    ("asked", "stands", "reason"),
    [
        (request(), state(open_turn_id=None), Reason.TURN_CLOSED),
        (request(), state(open_turn_id="trn_2"), Reason.TURN_CLOSED),
        (request(), state(snapshot=None), Reason.STALE_SNAPSHOT),
        (request(snapshot_id="snp_2"), state(), Reason.STALE_SNAPSHOT),
        (request(snapshot_digest="0" * 64), state(), Reason.STALE_SNAPSHOT),
        (request(connection_id="con_2"), state(), Reason.WRONG_CONNECTION),
        (request(), state(now=1_000), Reason.SNAPSHOT_EXPIRED),
        (request(tool="other"), state(), Reason.NOT_ADVERTISED),
    ],
)
def test_the_first_binding_that_does_not_hold_decides(asked: ToolRequest, stands: TurnState, reason: Reason) -> None:
    refused = gate.check_binding(asked, stands)
    assert isinstance(refused, Refuse)
    assert refused.reason is reason


def test_a_re_bound_turn_lets_a_waiting_call_go_on_and_a_refreshed_one_does_not() -> None:
    moved = snapshot(id="snp_2", connection_id="con_2")
    assert gate.recheck(request(), state(snapshot=moved, lineage=frozenset({"snp_1", "snp_2"}))) is None
    stale = gate.recheck(request(), state(snapshot=moved, lineage=frozenset({"snp_2"})))
    assert stale is not None
    assert stale.reason is Reason.STALE_SNAPSHOT


def test_a_tool_that_cannot_run_here_says_why_instead_of_looking_forbidden() -> None:
    missing = replace(SPEC, unavailable="there is no sandbox", unavailable_because=Reason.SANDBOX_UNAVAILABLE)
    published = PublishedTool(missing, PermissionMode.FORBIDDEN)
    refused = gate.decide(
        request(), published, mode=PermissionMode.CONSENT, because=BECAUSE, needs=Needs(presence=False), grants=(), now=0
    )
    assert refused == Refuse(Outcome.EXECUTION_ERROR, Reason.SANDBOX_UNAVAILABLE, "there is no sandbox", BECAUSE)


@pytest.mark.requirement("002-40", "auto, consent, stepUp and forbidden are ordered by strictness, and the stricter decides")
@given(st.sampled_from(PermissionMode), st.sampled_from(PermissionMode))
def test_the_verdict_is_never_below_the_stricter_of_snapshot_and_policy(
    published: PermissionMode, judged: PermissionMode
) -> None:
    verdict = gate.decide(
        request(), PublishedTool(SPEC, published), mode=judged, because=BECAUSE, needs=Needs(), grants=(), now=0
    )
    match max(published.strictness, judged.strictness):
        case 0:
            assert verdict == Allow(Decision.AUTO, BECAUSE)
        case 1:
            assert isinstance(verdict, NeedsConsent)
        case 2:
            assert isinstance(verdict, NeedsStepUp)
        case _:
            assert isinstance(verdict, Refuse)
            assert (verdict.outcome, verdict.reason) == (Outcome.REFUSED_BY_POLICY, Reason.FORBIDDEN)
    assert verdict.because == BECAUSE


@given(st.sampled_from(PermissionMode))
def test_a_grant_answers_a_consent_and_nothing_stricter(judged: PermissionMode) -> None:
    grant = Grant(
        "grt_1", "apr_1", ADA.id, "ses_1", "cnv_1", None, GrantScope.SESSION, "write", SPEC.digest,
        {"path": canonical_bytes("a")}, (), 0, 1_000, 5,
    )  # fmt: skip
    verdict = gate.decide(
        request(),
        PublishedTool(SPEC, PermissionMode.CONSENT),
        mode=judged,
        because=BECAUSE,
        needs=Needs(),
        grants=(grant,),
        now=0,
    )
    if judged.strictness <= 1:
        assert verdict == Allow(Decision.CONSENTED, BECAUSE, grant)
    else:
        assert not isinstance(verdict, Allow)


def test_a_changed_policy_or_definition_voids_the_snapshot() -> None:
    assert gate.check_definition("p", "d", policy_version="p", current="d", revoked=False) is None
    for policy, current in (("q", "d"), ("p", "e"), ("p", None)):
        assert gate.check_definition("p", "d", policy_version=policy, current=current, revoked=False) is gate.POLICY_CHANGED


def test_a_snapshot_that_was_announced_as_void_stays_so_under_the_same_policy() -> None:
    assert gate.check_definition("p", "d", policy_version="p", current="d", revoked=True) is gate.POLICY_CHANGED


@pytest.mark.parametrize("kind", ApprovalKind)
@pytest.mark.parametrize("given", [Needs(), Needs(presence=True)])
@pytest.mark.parametrize("needs", [Needs(), Needs(presence=True)])
@pytest.mark.parametrize("mode", PermissionMode)
def test_an_approval_is_enough_for_what_is_no_stricter_than_it(
    kind: ApprovalKind, given: Needs, needs: Needs, mode: PermissionMode
) -> None:
    published = PublishedTool(SPEC, PermissionMode.AUTO)
    refusal = gate.check_approved(published, kind, given, mode=mode, because=BECAUSE, needs=needs)
    enough = mode is not PermissionMode.FORBIDDEN and (
        kind is ApprovalKind.STEP_UP or (mode is not PermissionMode.STEP_UP and (given.presence or not needs.presence))
    )
    assert (refusal is None) == enough
    if refusal is not None:
        assert (refusal.outcome, refusal.reason, refusal.because) == (Outcome.REFUSED_BY_POLICY, Reason.FORBIDDEN, BECAUSE)
