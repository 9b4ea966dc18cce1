"""Approvals and grants: what a person is asked, what they sign, and what their answer allows.

The statement is the one canonical byte string that the console shows, that a passkey signs (its SHA-256 is the WebAuthn
challenge), that runs and that the log keeps. PSD2's dynamic linking is the precedent: shown, bound, void when changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import orjson

from gateway.core import effects
from gateway.core.canonical import Json, canonical_bytes, digest_of_bytes
from gateway.core.errors import Refused
from gateway.core.model import CallFacts, Snapshot, ToolRequest, ToolSpec
from gateway.core.patterns import Pattern, find_patterns
from gateway.core.quorum import GivenApproval, Needs, Quorum, find_standing
from gateway.core.times import rfc3339
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, ApproverStanding, GrantScope, PatternKind

STATEMENT_VERSION = 1

GRANT_SECONDS = {GrantScope.TURN: 15 * 60.0, GrantScope.SESSION: 60 * 60.0}
"""How long a grant lasts at most; a person who still means it is asked again."""

RULE_FAILED = "policy.failed"
"""Stands among the reasons of a verdict before the rules that could not be evaluated."""

RULE_FAILED_WHY = "A rule of the policy could not be evaluated, so nothing is allowed"

GRANT_USES = {GrantScope.TURN: 20, GrantScope.SESSION: 50}


@dataclass(frozen=True, slots=True)
class RuleReason:
    """A policy rule that took part in a decision, and the sentence its author wrote for people."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Approval:
    """One question to a person. Times are epoch milliseconds; `arguments` and `statement` are canonical bytes. `withdrawn` says
    why it ended without anybody's answer, if it did; `patterns` are those within which a lasting yes may let an argument vary;
    `given` are the approvals so far where it takes several people, `requester` the name of whose call it is.
    `answered`: a person approved it, and its call waits for the one that it follows."""

    id: str
    kind: ApprovalKind
    principal_id: str
    session_id: str
    conversation_id: str
    turn_id: str
    call_id: str
    tool: str
    arguments: bytes
    summary: str
    effects: tuple[str, ...]
    because: tuple[RuleReason, ...]
    needs: Needs
    offers: tuple[GrantScope, ...]
    statement: bytes
    statement_digest: str
    requested_at: int
    expires_at: int
    status: ApprovalStatus = ApprovalStatus.PENDING
    withdrawn: str | None = None
    patterns: tuple[Pattern, ...] = ()
    given: tuple[GivenApproval, ...] = ()
    requester: str = ""
    answered: bool = False
    parsed_arguments: Mapping[str, Json] = field(init=False, repr=False, compare=False, default_factory=dict[str, Json])

    def __post_init__(self) -> None:
        object.__setattr__(self, "parsed_arguments", orjson.loads(self.arguments))

    @property
    def needs_passkey(self) -> bool:
        """Whether only a passkey can approve it: for a step-up over its statement, else for presence alone."""
        return self.kind is ApprovalKind.STEP_UP or self.needs.presence or self.needs.shared

    @property
    def needs_verification(self) -> bool:
        """Whether that passkey must verify the person: for a step-up always, else where the policy asks for it."""
        return self.kind is ApprovalKind.STEP_UP or self.needs.verification

    @property
    def quorum(self) -> Quorum:
        """The answers so far, and who may give another."""
        return Quorum(self.needs, self.principal_id, self.statement_digest, self.given)

    def without_names(self) -> Approval:
        """As the agent's origin is told of it: that people approved, and not who."""
        return replace(self, requester="", given=tuple(replace(each, name="") for each in self.given))

    @property
    def plan(self) -> Mapping[str, Json] | None:
        """Where its call stands in a plan, as the statement says it."""
        return self.read_statement().get("plan")

    def read_statement(self) -> Mapping[str, Json]:
        """The members of the statement."""
        return orjson.loads(self.statement)

    def wire(self) -> dict[str, Json]:
        """The `Approval` of docs/PROTOCOL.md section 4. Holds nothing with which the approval could be given."""
        return {
            "id": self.id,
            "kind": self.kind.value,
            "status": self.status.value,
            "tool": self.tool,
            "arguments": self.parsed_arguments,
            "summary": self.summary,
            "effects": list(self.effects),
            "statementDigest": self.statement_digest,
            "conversationId": self.conversation_id,
            "turnId": self.turn_id,
            "callId": self.call_id,
            "requestedAt": rfc3339(self.requested_at),
            "expiresAt": rfc3339(self.expires_at),
            "needs": {
                "presence": self.needs.presence or self.needs.shared,
                "approvers": self.needs.approvers,
                "requesterMayApprove": find_standing(self.needs, self.principal_id, self.principal_id, operator=False)
                is ApproverStanding.MAY_APPROVE,
                **({"breakGlass": True} if self.needs.shared and self.needs.break_glass else {}),
            },
            "because": [{"id": rule.id, "why": rule.why} for rule in self.because],
            "offers": [scope.value for scope in self.offers],
            **({"patterns": [pattern.wire() for pattern in self.patterns]} if self.patterns else {}),
            **({"given": [_view_given(each) for each in self.given]} if self.needs.shared else {}),
            **({"requester": self.requester, "requesterId": self.principal_id} if self.needs.shared and self.requester else {}),
            **({} if self.withdrawn is None else {"withdrawn": self.withdrawn}),
            **({} if self.plan is None else {"plan": self.plan}),
            **({"answered": True} if self.answered else {}),
        }


def _view_given(given: GivenApproval) -> dict[str, Json]:
    return {"at": rfc3339(given.at), **({"name": given.name, "principal": given.principal_id} if given.name else {})}


def build_statement(
    request: ToolRequest,
    *,
    approval_id: str,
    nonce: str,
    kind: ApprovalKind,
    turn_index: int,
    descriptor_digest: str,
    policy_version: str,
    issued_at: int,
    expires_at: int,
    needs: Needs | None = None,
) -> bytes:
    """The canonical statement of docs/PROTOCOL.md section 6, over exactly this request. Where several people have to approve, it
    says so: each of them signs that it takes the others."""
    return canonical_bytes(
        {
            "v": STATEMENT_VERSION,
            "approvalId": approval_id,
            "nonce": nonce,
            "kind": kind.value,
            "sessionId": request.session_id,
            "principal": request.principal.id,
            "conversationId": request.conversation_id,
            "turnId": request.turn_id,
            "turnIndex": turn_index,
            "callId": request.call_id,
            "snapshotDigest": request.snapshot_digest,
            "descriptorDigest": descriptor_digest,
            "policyVersion": policy_version,
            "tool": request.tool,
            "arguments": request.parsed_arguments,
            "issuedAt": rfc3339(issued_at),
            "expiresAt": rfc3339(expires_at),
            **({} if needs is None or not needs.shared else {"approvers": needs.described()}),
            **({} if request.plan is None else {"plan": request.plan.described()}),
        }
    )


def digest_of_statement(statement: bytes) -> str:
    """Lower-case hex SHA-256: what the console recomputes on screen and what a passkey signs as its challenge."""
    return digest_of_bytes(statement)


def compose_approval(
    request: ToolRequest,
    spec: ToolSpec,
    snapshot: Snapshot,
    facts: CallFacts,
    *,
    approval_id: str,
    nonce: str,
    kind: ApprovalKind,
    because: tuple[RuleReason, ...],
    needs: Needs,
    now: int,
    expires_at: int,
) -> Approval:
    """The question about exactly this request, with the statement that is decided on. Lasting approvals are offered for a
    consent only: somebody's presence now is what no later moment can stand for."""
    statement = build_statement(
        request,
        approval_id=approval_id,
        nonce=nonce,
        kind=kind,
        turn_index=snapshot.turn_index,
        descriptor_digest=spec.digest,
        policy_version=snapshot.policy_version,
        issued_at=now,
        expires_at=expires_at,
        needs=needs,
    )
    once_only = kind is ApprovalKind.STEP_UP or needs.each_time
    return Approval(
        id=approval_id,
        kind=kind,
        principal_id=request.principal.id,
        session_id=request.session_id,
        conversation_id=request.conversation_id,
        turn_id=request.turn_id,
        call_id=request.call_id,
        tool=request.tool,
        arguments=request.arguments,
        summary=effects.summarise(spec, request.parsed_arguments),
        effects=effects.list_effects(spec, request.parsed_arguments),
        because=because,
        needs=needs,
        offers=(GrantScope.ONCE,) if once_only else (GrantScope.ONCE, GrantScope.TURN, GrantScope.SESSION),
        statement=statement,
        statement_digest=digest_of_statement(statement),
        requested_at=now,
        expires_at=expires_at,
        patterns=() if once_only else find_patterns(request.parsed_arguments, facts),
        requester=request.principal.name,
    )


@dataclass(frozen=True, slots=True)
class Grant:
    """An approval that lasts: one tool, one session, arguments pinned. Never issued for a step-up.

    `pins` maps argument names to canonical bytes; `freed` names the one argument, if any, that the person let vary, `within` a
    pattern where they chose one. A call is covered only if it has exactly the pinned and freed arguments that were on screen, so
    that a grant never widens.
    """

    id: str
    approval_id: str
    principal_id: str
    session_id: str
    conversation_id: str
    turn_id: str | None
    scope: GrantScope
    tool: str
    descriptor_digest: str
    pins: Mapping[str, bytes]
    freed: tuple[str, ...]
    issued_at: int
    expires_at: int
    max_uses: int
    uses: int = 0
    revoked_at: int | None = None
    within: Pattern | None = None

    def stands(self, now: int) -> bool:
        """Whether it covers anything now. One that was issued later than now is of before the clock was set back, and would
        last longer by that much."""
        return self.revoked_at is None and self.issued_at <= now < self.expires_at and self.uses < self.max_uses

    def covers(self, request: ToolRequest, descriptor_digest: str, now: int) -> bool:
        """Whether this grant allows that request now. A grant for another tool definition covers nothing."""
        if not self.stands(now):
            return False
        if (self.session_id, self.tool, self.descriptor_digest) != (request.session_id, request.tool, descriptor_digest):
            return False
        if self.conversation_id != request.conversation_id:
            return False
        if self.turn_id is not None and self.turn_id != request.turn_id:
            return False
        arguments = request.parsed_arguments
        # An argument that was absent when the person approved may not appear later, nor one that was there stay away, for
        # then its default would run: both sets of names must agree.
        if set(arguments) != {*self.pins, *self.freed}:
            return False
        if self.within is not None and not self.within.holds(arguments[self.within.argument]):
            return False
        return all(canonical_bytes(arguments[name]) == pinned for name, pinned in self.pins.items())

    def wire(self) -> dict[str, Json]:
        """The grant as both origins list it."""
        return {
            "id": self.id,
            "approvalId": self.approval_id,
            "scope": self.scope.value,
            "tool": self.tool,
            "conversationId": self.conversation_id,
            "turnId": self.turn_id,
            "pins": {name: orjson.loads(pinned) for name, pinned in self.pins.items()},
            "freed": list(self.freed),
            "issuedAt": rfc3339(self.issued_at),
            "expiresAt": rfc3339(self.expires_at),
            "uses": self.uses,
            "maxUses": self.max_uses,
            **({} if self.within is None else {"within": self.within.wire()}),
        }


def find_freed(approval: Approval, pins: Collection[str] | None) -> tuple[str, ...]:
    """The arguments that the person left free to vary, by the names of those that they pinned. None pins all of them.

    Raises Refused `pins` for a name that was not shown, and for more than one free argument.
    """
    if pins is None:
        return ()
    shown = approval.parsed_arguments
    if any(name not in shown for name in pins):
        raise Refused("pins", "only arguments that were shown can be pinned", 409)
    freed = tuple(name for name in shown if name not in pins)
    if len(freed) > 1:
        raise Refused("pins", "at most one argument that was shown may be left open", 409)
    return freed


def find_pattern(approval: Approval, freed: Collection[str], within: PatternKind | None) -> Pattern | None:
    """The pattern that the person chose for the argument that they left free; its bound is the gateway's, never the browser's.

    Raises Refused `pins` for one that was not offered, or for no free argument.
    """
    if within is None:
        return None
    for pattern in approval.patterns:
        if pattern.argument in freed and pattern.kind is within:
            return pattern
    raise Refused("pins", "an argument can only be left open within a pattern that was shown for it", 409)


def grant_by(
    approval: Approval,
    *,
    grant_id: str,
    scope: GrantScope,
    pins: Collection[str] | None,
    descriptor_digest: str,
    now: int,
    within: PatternKind | None = None,
) -> Grant | None:
    """The grant that an approval for that scope gives; None for once, which pins every argument and is used up by its call.

    Raises Refused `scopeNotOffered` or `pins`.
    """
    if scope not in approval.offers:
        raise Refused("scopeNotOffered", f"this approval cannot be given for `{scope.value}`", 409)
    if scope is GrantScope.ONCE:
        return None
    freed = find_freed(approval, pins)
    seconds = min(GRANT_SECONDS[scope], approval.needs.lease or GRANT_SECONDS[scope])
    return Grant(
        id=grant_id,
        approval_id=approval.id,
        principal_id=approval.principal_id,
        session_id=approval.session_id,
        conversation_id=approval.conversation_id,
        turn_id=approval.turn_id if scope is GrantScope.TURN else None,
        scope=scope,
        tool=approval.tool,
        descriptor_digest=descriptor_digest,
        pins={name: canonical_bytes(value) for name, value in approval.parsed_arguments.items() if name not in freed},
        freed=freed,
        issued_at=now,
        expires_at=now + int(seconds * 1000),
        max_uses=GRANT_USES[scope],
        within=find_pattern(approval, freed, within),
    )
