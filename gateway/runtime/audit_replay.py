"""Every decision of the gate about one conversation, made again from its records alone.

What ran is judged again under its own policy, and its consent looked up; what was refused must have a reason that the records
show. A refusal whose reason stood in no record, such as arguments that did not fit, is said to be not repeatable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gateway.core.canonical import Json
from gateway.core.invariants import InvariantChecker, OfferedTool
from gateway.core.judgement import Judgement, restore_judgement
from gateway.core.ledger import (
    ApprovalRequested,
    ApprovalResolved,
    AssertionRefused,
    CallClosed,
    CallIntended,
    CallRefusedUnrecorded,
    GatewayStarted,
    PolicyFrozen,
    PolicyLoaded,
    PolicyPublished,
    PolicyThawed,
    SnapshotIssued,
    TurnBegun,
    TurnEnded,
)
from gateway.core.quorum import Needs, read_needs
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, Decision, PermissionMode, Reason, stricter
from gateway.runtime.ports import AuditRow
from gateway.runtime.recorded_forms import reading_record
from gateway.runtime.rehearsal import Unjudged, Versions, effective, reproduces

Body = Mapping[str, Json]


class Repetition(StrEnum):
    """What came of deciding once more."""

    SAME = "same"
    DIFFERENT = "different"
    NOT_REPEATABLE = "notRepeatable"


@dataclass(frozen=True, slots=True)
class DecidedAgain:
    """A decision on record, and whether the records lead to it again. `detail` says why not, or what was looked at."""

    index: int
    at: int
    call_id: str
    tool: str | None
    decided: str
    finding: Repetition
    detail: str


@dataclass(slots=True)
class _Turn:
    """A turn as the records show it. `current` is the digest of the snapshot that is in force."""

    current: str
    expires_at: int
    version: str


@dataclass(slots=True)
class _Conversation:
    """What is true at one place of the records."""

    turns: dict[str, _Turn] = field(default_factory=dict[str, _Turn])
    asked: dict[str, Body] = field(default_factory=dict[str, Body])
    answered: dict[str, str] = field(default_factory=dict[str, str])
    allowed: set[str] = field(default_factory=set[str])
    version: str | None = None
    frozen: bool = False


_DECIDED_BY: Final[Mapping[Decision, frozenset[PermissionMode]]] = {
    Decision.AUTO: frozenset({PermissionMode.AUTO}),
    # A call that is judged more leniently after a person was asked still ran with their consent.
    Decision.CONSENTED: frozenset({PermissionMode.AUTO, PermissionMode.CONSENT}),
    Decision.STEP_UP_SUCCEEDED: frozenset({PermissionMode.AUTO, PermissionMode.CONSENT, PermissionMode.STEP_UP}),
}

_UNJUDGED: Final[Mapping[Unjudged, str]] = {
    Unjudged.NO_INPUTS: "its record does not say what the policy was asked",
    Unjudged.NO_DOCUMENTS: "the texts of its policy are not on record",
    Unjudged.UNUSABLE: "the policy of that time does not load in this version",
    Unjudged.NO_MOMENT: "its record does not say when and after which calls it was",
}

_ERASED: Final = "what the policy was asked was erased"

_ANSWERED: Final[Mapping[Reason, frozenset[str]]] = {
    Reason.DENIED: frozenset({ApprovalStatus.DENIED}),
    Reason.APPROVAL_EXPIRED: frozenset({ApprovalStatus.EXPIRED}),
}


def replay_conversation(
    rows: Iterable[AuditRow], offers: Mapping[str, Mapping[str, OfferedTool]], versions: Versions
) -> list[DecidedAgain]:
    """Decide everything about a conversation again. `rows` are its records and the gateway's own, oldest first; `offers` are
    its snapshots' tools. Raises LedgerDamaged for a record that this version does not know."""
    checker = InvariantChecker(offers)
    state = _Conversation()
    decided: list[DecidedAgain] = []
    for row in rows:
        with reading_record(row.index):
            violation = checker.check(row.body, row.payload)
            found = _decide(row, state, offers, versions)
            if violation is not None:
                found = _found(row, Repetition.DIFFERENT, violation.detail)
        if found is not None:
            decided.append(found)
    return decided


def _decide(
    row: AuditRow, state: _Conversation, offers: Mapping[str, Mapping[str, OfferedTool]], versions: Versions
) -> DecidedAgain | None:
    """The decision that a record is about; None for one that decides nothing about a call, which `state` follows."""
    body = row.body
    match body["event"]:
        case CallIntended.EVENT:
            state.allowed.add(body["callId"])
            return _decide_run(row, state, versions)
        case CallClosed.EVENT if not body["executed"] and body["callId"] not in state.allowed:
            return _decide_refusal(row, state, offers, versions)
        case CallRefusedUnrecorded.EVENT:
            return _found(row, Repetition.NOT_REPEATABLE, "the same id was sent with other content")
        case _:
            _follow(state, body)
            return None


def _follow(state: _Conversation, body: Body) -> None:
    match body["event"]:
        case TurnBegun.EVENT | SnapshotIssued.EVENT:
            state.turns[body["turnId"]] = _Turn(body["snapshotDigest"], body["expiresAt"], body["policyVersion"])
        case TurnEnded.EVENT:
            state.turns.pop(body["turnId"], None)
        case ApprovalRequested.EVENT:
            state.asked[body["callId"]] = body
        case ApprovalResolved.EVENT:
            state.answered[body["callId"]] = body["status"]
        case AssertionRefused.EVENT:
            state.answered[body["callId"]] = Reason.ASSERTION_INVALID
        case GatewayStarted.EVENT | PolicyLoaded.EVENT | PolicyPublished.EVENT:
            state.version = body["policyVersion"]
        case PolicyFrozen.EVENT:
            state.frozen = True
        case PolicyThawed.EVENT:
            state.frozen = False
        case _:
            pass


def _decide_run(row: AuditRow, state: _Conversation, versions: Versions) -> DecidedAgain:
    mode = _judge(row, versions)
    if isinstance(mode, _NoMode):
        return _found(row, mode.finding, mode.detail)
    decision = Decision(row.body["decision"])
    enough = _DECIDED_BY.get(decision, frozenset())
    # What the snapshot said holds too, so that the policy alone may not have asked for the consent.
    if mode not in enough:
        return _found(row, Repetition.DIFFERENT, f"the gate asks for `{mode}`, and `{decision}` is on record")
    if decision is not Decision.AUTO and (few := _find_too_few(row, state, versions)) is not None:
        return _found(row, Repetition.DIFFERENT, few)
    return _found(row, Repetition.SAME, f"policy says `{mode}`")


def _find_too_few(row: AuditRow, state: _Conversation, versions: Versions) -> str | None:
    """Whether the policy wants other or more people to approve than were asked. That as many did is the checker's business."""
    judgement, own = _restore(row), versions(row.body["policyVersion"])
    if judgement is None or isinstance(own, Unjudged):
        return None
    asked = state.asked.get(row.body["callId"], {})
    was = read_needs(asked["approvers"]) if "approvers" in asked else Needs()
    wanted = effective(own, judgement.question).needs
    if not wanted.exceed_people_of(was):
        return None
    return f"the policy wants {wanted.approvers} to approve, and {was.approvers} had to, or other people"


def _decide_refusal(
    row: AuditRow, state: _Conversation, offers: Mapping[str, Mapping[str, OfferedTool]], versions: Versions
) -> DecidedAgain:
    body, payload = row.body, row.payload
    reason = None if body["reason"] is None else Reason(body["reason"])
    turn = state.turns.get(body["turnId"])
    match reason:
        case Reason.FORBIDDEN:
            return _decide_forbidden(row, state, versions)
        case Reason.DENIED | Reason.APPROVAL_EXPIRED if body["callId"] in state.answered:
            status = state.answered[body["callId"]]
            return _compare(row, status in _ANSWERED[reason], f"its question was answered `{status}`")
        case Reason.ASSERTION_INVALID:
            answer = state.answered.get(body["callId"])
            return _compare(row, answer is not None, "a passkey's answer that was refused")
        case Reason.TURN_CLOSED:
            return _compare(row, turn is None, "the turn it names")
        case Reason.POLICY_FROZEN:
            return _compare(row, state.frozen, "whether the policy was frozen")
        case Reason.SNAPSHOT_EXPIRED if turn is not None:
            return _compare(row, body["at"] >= turn.expires_at, "when the snapshot ran out")
        case Reason.STALE_SNAPSHOT if payload is not None:
            return _compare(row, turn is None or payload["snapshotDigest"] != turn.current, "the turn's snapshot")
        case Reason.NOT_ADVERTISED if payload is not None and turn is not None and turn.current in offers:
            return _compare(row, payload["tool"] not in offers[turn.current], "what the snapshot offers")
        case Reason.POLICY_CHANGED if turn is not None and state.version not in (None, turn.version):
            return _compare(row, True, "the policy in force")
        case _:
            erased = payload is None and body.get("payload") is not None
            why = "what it was decided from was erased" if erased else "the records do not hold what it was decided from"
            return _found(row, Repetition.NOT_REPEATABLE, why)


def _decide_forbidden(row: AuditRow, state: _Conversation, versions: Versions) -> DecidedAgain:
    mode = _judge(row, versions)
    asked = state.asked.get(row.body["callId"])
    if isinstance(mode, _NoMode):
        return _found(row, mode.finding, mode.detail)
    stricter_than_asked = asked is not None and mode is PermissionMode.STEP_UP and asked["kind"] == ApprovalKind.CONSENT
    if mode is PermissionMode.FORBIDDEN or stricter_than_asked:
        return _found(row, Repetition.SAME, f"policy says `{mode}`")
    if asked is not None:
        return _found(row, Repetition.NOT_REPEATABLE, "its question asked for less than the policy wants by now")
    return _found(row, Repetition.DIFFERENT, f"the gate asks for `{mode}`, and a refusal is on record")


@dataclass(frozen=True, slots=True)
class _NoMode:
    """There is no mode: the policy of that time gives another answer than is on record, or cannot be asked."""

    finding: Repetition
    detail: str


def _judge(row: AuditRow, versions: Versions) -> PermissionMode | _NoMode:
    """The mode that a call gets under its own policy, never below what its snapshot said."""
    body = row.body
    judgement = _restore(row)
    if judgement is None:
        erased = row.payload is None and body.get("payload") is not None
        return _NoMode(Repetition.NOT_REPEATABLE, _ERASED if erased else _UNJUDGED[Unjudged.NO_INPUTS])
    own = versions(body["policyVersion"])
    if isinstance(own, Unjudged):
        return _NoMode(Repetition.NOT_REPEATABLE, _UNJUDGED[own])
    if not reproduces(own, judgement):
        said = f"`{judgement.mode}` by {', '.join(judgement.rules) or 'no rule'}"
        return _NoMode(Repetition.DIFFERENT, f"policy {body['policyVersion'][:12]} does not say {said}")
    permission = body["permission"]
    return judgement.mode if permission is None else stricter(judgement.mode, PermissionMode(permission))


def _restore(row: AuditRow) -> Judgement | None:
    body, payload = row.body, row.payload
    if payload is None or "judged" not in payload or body["tool"] is None:
        return None
    try:
        return restore_judgement(payload["judged"], body["principalId"], body["tool"])
    except (KeyError, TypeError, ValueError):
        return None


def _compare(row: AuditRow, holds: bool, looked_at: str) -> DecidedAgain:
    return _found(row, Repetition.SAME if holds else Repetition.DIFFERENT, looked_at)


def _found(row: AuditRow, finding: Repetition, detail: str) -> DecidedAgain:
    body = row.body
    reason = body.get("reason")
    decided = body.get("decision", "refused") if reason is None else reason
    return DecidedAgain(row.index, body["at"], str(body.get("callId", "")), body.get("tool"), str(decided), finding, detail)
