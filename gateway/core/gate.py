"""The gate: whether a bound call may run, must be asked about, or is refused. Pure and total.

Rows are those of docs/PROTOCOL.md section 7. `check_binding` holds rows 5 to 8, `recheck` row 14, `decide` rows 10 to 13 as far
as they need no waiting. A verdict is a value with its reasons; nothing here ever answers with a bare bool.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gateway.core.approval import RULE_FAILED, Grant, RuleReason
from gateway.core.model import PublishedTool, Snapshot, ToolRequest
from gateway.core.quorum import Needs
from gateway.core.value_types import quick
from gateway.core.vocabulary import ApprovalKind, Decision, Outcome, PermissionMode, Reason, Trust, stricter


@quick
@dataclass(frozen=True, slots=True)
class Allow:
    """Run it. `grant` is the grant of which one use is consumed, if a grant allowed the call."""

    decision: Decision
    because: tuple[RuleReason, ...]
    grant: Grant | None = None


@dataclass(frozen=True, slots=True)
class NeedsConsent:
    """Ask a person for a click, or a touch where `needs.presence`."""

    because: tuple[RuleReason, ...]
    needs: Needs


@dataclass(frozen=True, slots=True)
class NeedsStepUp:
    """Ask a person for a passkey over the exact statement."""

    because: tuple[RuleReason, ...]
    needs: Needs


@dataclass(frozen=True, slots=True)
class Refuse:
    """Do not run it. `message` is one sentence for the model and the person; where it may be a tool's own, `trust` and `labels`
    say how far it is believed and what it may quote, and `own` that it speaks of the person's own workspace or record."""

    outcome: Outcome
    reason: Reason | None
    message: str
    because: tuple[RuleReason, ...] = ()
    trust: Trust = Trust.TRUSTED
    labels: tuple[str, ...] = ()
    own: bool = False

    @property
    def decision(self) -> Decision:
        """The audit record's word for a refusal that no person made."""
        return Decision.FORBIDDEN


Verdict = Allow | NeedsConsent | NeedsStepUp | Refuse


@quick
@dataclass(frozen=True, slots=True)
class TurnState:
    """What is true of a conversation's turn at one moment, as far as the gate asks.

    `lineage` holds the ids of the snapshots that the current one continues by re-binding, itself included; a refresh starts
    a new lineage, so calls that wait under an older snapshot go stale.
    """

    open_turn_id: str | None
    snapshot: Snapshot | None
    lineage: frozenset[str]
    now: int


def check_binding(request: ToolRequest, state: TurnState) -> PublishedTool | Refuse:
    """Rows 5 to 7: the open turn, its current snapshot on this connection, and a tool that it offers."""
    if state.open_turn_id is None or request.turn_id != state.open_turn_id:
        return _TURN_CLOSED
    snapshot = state.snapshot
    if snapshot is None or (request.snapshot_id, request.snapshot_digest) != (snapshot.id, snapshot.digest):
        return _STALE
    if request.connection_id != snapshot.connection_id:
        return _WRONG_CONNECTION
    if state.now >= snapshot.expires_at:
        return _SNAPSHOT_EXPIRED
    published = snapshot.by_name.get(request.tool)
    # A suppressed, an unknown and a loop-local tool look alike from outside.
    if published is None or published.spec.local:
        return Refuse(Outcome.UNKNOWN_TOOL, Reason.NOT_ADVERTISED, "this turn offers no tool of that name")
    return published


def check_definition(
    snapshot_version: str, descriptor: str, *, policy_version: str, current: str | None, revoked: bool
) -> Refuse | None:
    """Row 8: the policy in force and the tool's definition are still those of the snapshot. `current` is None if it is gone.

    `revoked`: the snapshot was announced as void, and stays so although the same policy has come back.
    """
    if revoked or snapshot_version != policy_version or descriptor != current:
        return POLICY_CHANGED
    return None


def recheck(request: ToolRequest, state: TurnState) -> Refuse | None:
    """Row 14, after a wait: the turn is still open and its snapshot is the call's own, or continues it by a re-bind."""
    if state.open_turn_id is None or request.turn_id != state.open_turn_id:
        return _TURN_CLOSED
    if request.snapshot_id not in state.lineage:
        return _STALE
    if state.snapshot is not None and state.now >= state.snapshot.expires_at:
        return _SNAPSHOT_EXPIRED
    return None


def decide(
    request: ToolRequest,
    published: PublishedTool,
    *,
    mode: PermissionMode,
    because: tuple[RuleReason, ...],
    needs: Needs,
    grants: Iterable[Grant],
    now: int,
) -> Verdict:
    """Rows 11 to 13: the policy's mode for these very arguments, never below what the snapshot said."""
    effective = stricter(mode, published.permission)
    match effective:
        case PermissionMode.FORBIDDEN:
            return _forbid(published, because)
        case PermissionMode.AUTO:
            return Allow(Decision.AUTO, because)
        case PermissionMode.CONSENT:
            covering = () if needs.each_time else grants
            for grant in covering:
                # It may have been given before the policy said for how long.
                leased = needs.lease is None or now < grant.issued_at + needs.lease * 1000
                if leased and grant.covers(request, published.spec.digest, now):
                    return Allow(Decision.CONSENTED, because, grant)
            return NeedsConsent(because, needs)
        case PermissionMode.STEP_UP:
            return NeedsStepUp(because, needs)


def check_approved(
    published: PublishedTool,
    kind: ApprovalKind,
    given: Needs,
    *,
    mode: PermissionMode,
    because: tuple[RuleReason, ...],
    needs: Needs,
) -> Refuse | None:
    """Row 14 for a call that a person was asked about: whether the policy, as it judges the call now, asks for more than an
    approval of that kind gives. `given` is what the approval needs, `needs` what one would need now."""
    effective = stricter(mode, published.permission)
    if effective is PermissionMode.FORBIDDEN:
        return _forbid(published, because)
    stepped_up = kind is ApprovalKind.STEP_UP
    if stepped_up:
        given = replace(given, presence=True, verification=True)
    if (effective is PermissionMode.STEP_UP and not stepped_up) or needs.exceed(given):
        return Refuse(Outcome.REFUSED_BY_POLICY, Reason.FORBIDDEN, _STRICTER, because)
    return None


def _forbid(published: PublishedTool, because: tuple[RuleReason, ...]) -> Refuse:
    if (missing := published.spec.unavailable) is not None:
        reason = published.spec.unavailable_because
        outcome = Outcome.REFUSED_BY_POLICY if reason is Reason.FORBIDDEN else Outcome.EXECUTION_ERROR
        return Refuse(outcome, reason, missing, because)
    failed = [rule.why for rule in because[1:] if because[0].id == RULE_FAILED]
    message = "; ".join(failed) or "this tool is not permitted in this session"
    return Refuse(Outcome.REFUSED_BY_POLICY, Reason.FORBIDDEN, message, because)


_STRICTER = "this call now needs more than was asked for when the question was put; propose it again"
POLICY_CHANGED = Refuse(
    Outcome.REFUSED_BY_POLICY,
    Reason.POLICY_CHANGED,
    "the policy or the tool changed since this turn's snapshot; ask for a new snapshot",
)
POLICY_FROZEN = Refuse(
    Outcome.REFUSED_BY_POLICY,
    Reason.POLICY_FROZEN,
    "an operator has frozen the policy: nothing is allowed until an operator thaws it on the console",
)
_TURN_CLOSED = Refuse(Outcome.REFUSED_BY_POLICY, Reason.TURN_CLOSED, "this turn is not open")
_STALE = Refuse(Outcome.REFUSED_BY_POLICY, Reason.STALE_SNAPSHOT, "this is not the turn's current snapshot; ask for a new one")
_WRONG_CONNECTION = Refuse(Outcome.REFUSED_BY_POLICY, Reason.WRONG_CONNECTION, "this snapshot was issued to another connection")
_SNAPSHOT_EXPIRED = Refuse(Outcome.REFUSED_BY_POLICY, Reason.SNAPSHOT_EXPIRED, "the snapshot has expired; ask for a new one")
