"""The invariants of a whole audit log, which no single hash can prove.

`InvariantChecker` reads leaf after leaf and returns the first violation: something ran without an intent, an intent without
the approval it names, an approval used twice, a request closed twice or never, a grant beyond what was shown, a tool not offered.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gateway.core.canonical import Json, canonical_bytes, digest, parse
from gateway.core.digest_table import DigestTable, short_digest
from gateway.core.errors import MalformedJson
from gateway.core.ledger import (
    AUDITED,
    ApprovalGiven,
    ApprovalRequested,
    ApprovalResolved,
    BreakGlassUsed,
    CallClosed,
    CallFoundUnknown,
    CallIntended,
    CallRefusedUnrecorded,
    GatewayStarted,
    GrantIssued,
    GrantRevoked,
    SnapshotIssued,
    TurnBegun,
)
from gateway.core.members import flag_of, text_of
from gateway.core.patterns import Pattern, is_read_off
from gateway.core.plans import signed_digest
from gateway.core.quorum_records import PEOPLE_EVENTS, QuorumRecords
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, Decision, Outcome, PatternKind, PermissionMode

Body = Mapping[str, Json]
CallKey = tuple[str, str]


class Invariant(StrEnum):
    """What holds for every log that a gateway wrote."""

    ONE_CLOSING = "oneClosing"
    INTENT_BEFORE_ACT = "intentBeforeAct"
    APPROVAL_BEFORE_INTENT = "approvalBeforeIntent"
    APPROVAL_USED_ONCE = "approvalUsedOnce"
    SHOWN_IS_SIGNED = "shownIsSigned"
    GRANT_NEVER_WIDENS = "grantNeverWidens"
    ONLY_WHAT_WAS_OFFERED = "onlyWhatWasOffered"
    ENOUGH_APPROVERS = "enoughApprovers"
    IN_ORDER = "inOrder"


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant, and a sentence on how the log violates it."""

    invariant: Invariant
    detail: str


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """One tool of a snapshot, as far as calls are judged by it."""

    descriptor_digest: str
    permission: str


@dataclass(slots=True)
class _ApprovalState:
    """An approval. `arguments` is None once its payload was erased."""

    call: CallKey
    body: Body
    arguments: bytes | None
    approved: bool = False
    resolved: bool = False


@dataclass(slots=True)
class _GrantState:
    """A grant. `pins` is None once its payload was erased."""

    body: Body
    pins: Mapping[str, str] | None = None
    freed: frozenset[str] = frozenset()
    within: Pattern | None = None
    uses: int = 0
    revoked: bool = False

    def covers(self, arguments: Mapping[str, Json]) -> bool:
        """Whether arguments are the pinned ones, and otherwise only the freed. Pins are canonical JSON text."""
        if self.pins is None:
            return True
        if set(arguments) - self.freed != set(self.pins):
            return False
        if self.within is not None and not self.within.holds(arguments.get(self.within.argument)):
            return False
        return all(canonical_bytes(arguments[name]) == pinned.encode() for name, pinned in self.pins.items())


@dataclass(slots=True)
class InvariantChecker:
    """The log so far. `offers` maps snapshot digests to their tools, where the snapshots themselves are at hand. `whole`: it is
    read from its beginning, people included.

    Of millions of calls each is remembered as the hash of its ids and how it ended, a snapshot as those of its digest and its
    turn; an approval only as long as its call is open, for no other can use it.
    """

    offers: Mapping[str, Mapping[str, OfferedTool]] = field(default_factory=dict[str, Mapping[str, OfferedTool]])
    calls: int = 0
    executed: int = 0
    whole: bool = False
    _closed: DigestTable = field(default_factory=DigestTable)
    _after: dict[CallKey, str] = field(default_factory=dict[CallKey, str])
    _waiting: dict[CallKey, str] = field(default_factory=dict[CallKey, str])
    _running: dict[CallKey, str | None] = field(default_factory=dict[CallKey, str | None])
    _left_over: set[CallKey] = field(default_factory=set[CallKey])
    _approvals: dict[str, _ApprovalState] = field(default_factory=dict[str, _ApprovalState])
    _grants: dict[str, _GrantState] = field(default_factory=dict[str, _GrantState])
    _snapshots: DigestTable = field(default_factory=lambda: DigestTable("Q"))
    _quorums: QuorumRecords = field(init=False)

    def __post_init__(self) -> None:
        self._quorums = QuorumRecords(_challenge, self.whole)

    @property
    def open_calls(self) -> int:
        """Calls that wait or run at this point of the log."""
        return len(self._waiting) + len(self._running)

    def check(self, body: Body, payload: Body | None) -> Violation | None:
        """Check the next leaf against all before it. `payload` is None where there is none or it was erased.

        Raises ValueError for an event that no gateway writes.
        """
        match body["event"]:
            # The most frequent first: the patterns are tried one after another.
            case CallIntended.EVENT:
                return self._intend(body, payload)
            case CallClosed.EVENT:
                if "after" in body:
                    self._after[_key(body)] = body["after"]
                return self._close(_key(body), body["outcome"], ran=flag_of(body, "executed"))
            case TurnBegun.EVENT | SnapshotIssued.EVENT:
                self._snapshots.put(short_digest(body["turnId"]), body["conversationId"], text_of(body, "snapshotDigest"))
            case ApprovalRequested.EVENT:
                return self._request(body, payload)
            case ApprovalResolved.EVENT:
                return self._resolve(body, payload)
            case ApprovalGiven.EVENT:
                return _of_several(self._quorums.give(body, payload))
            case BreakGlassUsed.EVENT:
                return _of_several(self._quorums.break_glass(body, payload))
            case GrantIssued.EVENT:
                return self._grant(body, payload)
            case GrantRevoked.EVENT:
                if (grant := self._grants.get(body["grantId"])) is not None:
                    grant.revoked = True
            case CallFoundUnknown.EVENT:
                return self._close(_key(body), Outcome.EXECUTION_ERROR.value, ran=True)
            case CallRefusedUnrecorded.EVENT:
                self.calls += 1
            case GatewayStarted.EVENT:
                # Recovery closes what the run before left running, in the same transaction as this entry or before it.
                self._left_over = set(self._running)
            case event if event in PEOPLE_EVENTS:
                self._quorums.note_person(body)
            case event if event not in AUDITED:
                raise ValueError(f"there is no event `{event}`")
            case _:
                pass
        return None

    def finish(self) -> Violation | None:
        """What is wrong with a log that ends here. Calls of the last run may be under way."""
        return self._find_left_over()

    def _request(self, body: Body, payload: Body | None) -> Violation | None:
        key = _key(body)
        if self._outcome(key) is not None or key in self._waiting or key in self._running:
            return Violation(Invariant.ONE_CLOSING, f"call `{key[1]}` asks for approval again")
        arguments = None
        if payload is not None:
            statement: Body = payload["statement"]
            if digest(statement) != body["statementDigest"] or not _states(statement, body, payload):
                return Violation(
                    Invariant.SHOWN_IS_SIGNED, f"the statement of approval `{body['approvalId']}` is not about its call"
                )
            arguments = canonical_bytes(statement["arguments"])
        self._waiting[key] = body["approvalId"]
        if "after" in body:
            self._after[key] = body["after"]
        self._approvals[body["approvalId"]] = _ApprovalState(key, body, arguments)
        return _of_several(self._quorums.ask(body, payload))

    def _resolve(self, body: Body, payload: Body | None) -> Violation | None:
        approval_id = body["approvalId"]
        approval = self._approvals.get(approval_id)
        if approval is None or approval.resolved or approval.call != _key(body):
            return Violation(Invariant.APPROVAL_USED_ONCE, f"approval `{approval_id}` was not pending when it was resolved")
        approval.resolved = True
        if body["status"] != ApprovalStatus.APPROVED:
            self._quorums.close(approval_id)
            if self._outcome(approval.call) is not None:
                del self._approvals[approval_id]
            return None
        if body["principalId"] is None or body["at"] >= approval.body["expiresAt"]:
            return Violation(Invariant.APPROVAL_BEFORE_INTENT, f"approval `{approval_id}` was given by nobody, or too late")
        if approval.body["kind"] == ApprovalKind.STEP_UP and not self._quorums.is_alone(approval_id):
            digest = approval.body["statementDigest"]
            signed = payload is None or _challenge(payload["assertion"]) == signed_digest(payload, digest)
            if body["credentialId"] is None or not signed:
                return Violation(Invariant.SHOWN_IS_SIGNED, f"no passkey signed the statement of approval `{approval_id}`")
        approval.approved = True
        return _of_several(self._quorums.approve(body, payload))

    def _grant(self, body: Body, payload: Body | None) -> Violation | None:
        approval = self._approvals.get(body["approvalId"])
        grant_id = body["grantId"]
        if approval is None or not approval.approved or approval.body["kind"] != ApprovalKind.CONSENT:
            return Violation(Invariant.APPROVAL_BEFORE_INTENT, f"grant `{grant_id}` rests on no consent")
        if any(approval.body[name] != body[name] for name in ("sessionId", "conversationId", "tool", "descriptorDigest")):
            return Violation(Invariant.GRANT_NEVER_WIDENS, f"grant `{grant_id}` is about something else than its approval")
        grant = _GrantState(body)
        if payload is not None:
            grant.pins, grant.freed = payload["pins"], frozenset(payload["freed"])
            grant.within = _read_pattern(payload)
            if approval.arguments is not None and not _was_shown(grant, parse(approval.arguments)):
                return Violation(Invariant.GRANT_NEVER_WIDENS, f"grant `{grant_id}` covers more than what was shown")
        self._grants[grant_id] = grant
        return None

    def _intend(self, body: Body, payload: Body | None) -> Violation | None:
        key = _key(body)
        if (left_over := self._find_left_over()) is not None:
            return left_over
        if self._outcome(key) is not None or key in self._running:
            return Violation(Invariant.ONE_CLOSING, f"call `{key[1]}` is intended again")
        violation = self._check_offer(body) or self._check_order(key, body) or self._check_authority(key, body, payload)
        self._running[key] = self._waiting.pop(key, None)
        return violation

    def _check_offer(self, body: Body) -> Violation | None:
        name, snapshot = body["tool"], text_of(body, "snapshotDigest")
        if self._snapshots.get(body["conversationId"], snapshot) != short_digest(body["turnId"]):
            return Violation(Invariant.ONLY_WHAT_WAS_OFFERED, f"call `{body['callId']}` names a snapshot that its turn never had")
        if (tools := self.offers.get(snapshot)) is not None:
            offer = tools.get(name)
            if (
                offer is None
                or offer.descriptor_digest != body["descriptorDigest"]
                # None: the call waited across a restart, when the snapshot itself is gone from memory.
                or body["permission"] not in (None, offer.permission)
            ):
                return Violation(
                    Invariant.ONLY_WHAT_WAS_OFFERED, f"tool `{name}` was not on offer as call `{body['callId']}` has it"
                )
        return None

    def _check_order(self, key: CallKey, body: Body) -> Violation | None:
        """Whether the call that this one follows went well. One that a person turned down is passed over."""
        earlier = body.get("after")
        while earlier is not None:
            before = key[0], earlier
            outcome = self._outcome(before)
            if outcome == Outcome.OK or (outcome is None and not self.whole and before not in self._waiting):
                return None
            if outcome != Outcome.DENIED_BY_USER:
                return Violation(Invariant.IN_ORDER, f"call `{key[1]}` ran although call `{earlier}` before it had not gone well")
            earlier = self._after.get(before)
        return None

    def _check_authority(self, key: CallKey, body: Body, payload: Body | None) -> Violation | None:
        decision, approval_id, grant_id = body["decision"], body["approvalId"], body["grantId"]
        if decision not in _ENOUGH or body["permission"] not in _ENOUGH[decision]:
            return Violation(Invariant.APPROVAL_BEFORE_INTENT, f"`{decision}` is not enough to run call `{key[1]}`")
        if decision == Decision.AUTO:
            return None
        if approval_id is not None:
            return self._use_approval(approval_id, key, body, payload)
        if grant_id is not None and decision == Decision.CONSENTED:
            return self._use_grant(grant_id, key, body, payload)
        return Violation(Invariant.APPROVAL_BEFORE_INTENT, f"call `{key[1]}` names no approval and no grant")

    def _use_approval(self, approval_id: str, key: CallKey, body: Body, payload: Body | None) -> Violation | None:
        approval = self._approvals.get(approval_id)
        if approval is None or not approval.approved or approval.call != key:
            return Violation(Invariant.APPROVAL_BEFORE_INTENT, f"call `{key[1]}` ran on an approval that was not given for it")
        # Used once by itself: it is this call's alone, and `_intend` lets a call through once.
        if _DECIDES[approval.body["kind"]] != body["decision"]:
            return Violation(Invariant.APPROVAL_BEFORE_INTENT, f"call `{key[1]}` needed another kind of approval")
        same = all(approval.body[name] == body[name] for name in ("sessionId", "turnId", "tool", "descriptorDigest"))
        if payload is not None and approval.arguments is not None:
            same = same and canonical_bytes(payload["arguments"]) == approval.arguments
        if not same:
            return Violation(Invariant.SHOWN_IS_SIGNED, f"call `{key[1]}` is not what approval `{approval_id}` showed")
        return None

    def _use_grant(self, grant_id: str, key: CallKey, body: Body, payload: Body | None) -> Violation | None:
        grant = self._grants.get(grant_id)
        if grant is None or grant.revoked or body["at"] >= grant.body["expiresAt"] or grant.uses >= grant.body["maxUses"]:
            return Violation(Invariant.APPROVAL_BEFORE_INTENT, f"call `{key[1]}` ran on a grant that did not hold")
        grant.uses += 1
        same = all(grant.body[name] == body[name] for name in ("sessionId", "conversationId", "tool", "descriptorDigest"))
        same = same and grant.body["turnId"] in (None, body["turnId"])
        if payload is not None:
            same = same and grant.covers(payload["arguments"])
        if not same:
            return Violation(Invariant.GRANT_NEVER_WIDENS, f"call `{key[1]}` is not what grant `{grant_id}` covers")
        return None

    def _close(self, key: CallKey, outcome: str, *, ran: bool) -> Violation | None:
        if self._closed.put(_OUTCOMES.index(outcome if outcome in _OUTCOMES else ""), *key) is not None:
            return Violation(Invariant.ONE_CLOSING, f"call `{key[1]}` is closed twice")
        if ran and key not in self._running:
            return Violation(Invariant.INTENT_BEFORE_ACT, f"call `{key[1]}` ran without an intent on record")
        asked = self._waiting.pop(key, None) or self._running.pop(key, None)
        if asked is not None and self._approvals[asked].resolved:
            del self._approvals[asked]
        self._left_over.discard(key)
        self.calls += 1
        self.executed += ran
        return None

    def _outcome(self, key: CallKey) -> str | None:
        number = self._closed.get(*key)
        return None if number is None else _OUTCOMES[number]

    def _find_left_over(self) -> Violation | None:
        if not self._left_over:
            return None
        _, call_id = min(self._left_over)
        return Violation(Invariant.ONE_CLOSING, f"call `{call_id}` was left running by an earlier run and never closed")


_OUTCOMES: Final = (Outcome.OK.value, Outcome.DENIED_BY_USER.value, "")
"""How a call may have ended, as far as others rest on it, by the numbers in `_closed`; the last is any other way."""

_ENOUGH: Final[Mapping[str, frozenset[str | None]]] = {
    Decision.AUTO: frozenset({PermissionMode.AUTO}),
    # Policy may ask for more at use than the snapshot said, never for less. None: see `_check_offer`.
    Decision.CONSENTED: frozenset({PermissionMode.AUTO, PermissionMode.CONSENT, None}),
    Decision.STEP_UP_SUCCEEDED: frozenset({PermissionMode.AUTO, PermissionMode.CONSENT, PermissionMode.STEP_UP, None}),
}
"""Which decisions let a call run, and under which permissions of the snapshot."""

_DECIDES: Final = {ApprovalKind.CONSENT: Decision.CONSENTED, ApprovalKind.STEP_UP: Decision.STEP_UP_SUCCEEDED}


def _key(body: Body) -> CallKey:
    return body["conversationId"], body["callId"]


def _of_several(fault: str | None) -> Violation | None:
    return None if fault is None else Violation(Invariant.ENOUGH_APPROVERS, fault)


def _states(statement: Body, body: Body, payload: Body) -> bool:
    """Whether the statement is about exactly this call."""
    place = statement.get("plan")
    about = ("approvalId", "kind", "sessionId", "conversationId", "turnId", "callId", "tool", "snapshotDigest")
    also = ("descriptorDigest", "policyVersion")
    return (
        all(statement[name] == body[name] for name in (*about, *also))
        and statement["principal"] == body["principalId"]
        and (None if place is None else place["after"]) == body.get("after")
        and canonical_bytes(statement["arguments"]) == canonical_bytes(payload["arguments"])
    )


def _was_shown(grant: _GrantState, arguments: Mapping[str, Json]) -> bool:
    read_off = grant.within is None or (grant.within.argument in grant.freed and is_read_off(grant.within, arguments))
    return grant.covers(arguments) and grant.freed <= set(arguments) and read_off


def _read_pattern(payload: Body) -> Pattern | None:
    written = payload.get("within")
    return None if written is None else Pattern(written["argument"], PatternKind(written["kind"]), written["bound"])


def _challenge(assertion: Json) -> bytes | None:
    """The challenge that a WebAuthn assertion answers, from its client data."""
    try:
        encoded: str = assertion["response"]["clientDataJSON"]
        challenge: str = parse(_unpadded(encoded))["challenge"]
        return _unpadded(challenge)
    except (KeyError, TypeError, AttributeError, MalformedJson, binascii.Error, UnicodeError):
        return None


def _unpadded(encoded: str) -> bytes:
    return urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
