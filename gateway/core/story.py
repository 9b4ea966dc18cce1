"""What the audit log must tell, taken together: the rules that no single hash can hold.

`Story` reads leaf after leaf and says the first thing that cannot have happened: something ran without an intent, an intent
without the yes it names, a yes used twice, a request closed twice or never, a grant stretched, a tool that was not on offer.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gateway.core.audit import Event
from gateway.core.canonical import Json, canonical_bytes, digest, parse
from gateway.core.errors import MalformedJson
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, Decision, PermissionMode

Body = Mapping[str, Json]
CallKey = tuple[str, str]


class Rule(StrEnum):
    """The rules of the story."""

    ONE_CLOSING = "oneClosing"
    INTENT_BEFORE_ACT = "intentBeforeAct"
    YES_BEFORE_INTENT = "yesBeforeIntent"
    YES_USED_ONCE = "yesUsedOnce"
    SHOWN_IS_SIGNED = "shownIsSigned"
    GRANT_NEVER_WIDENS = "grantNeverWidens"
    ONLY_WHAT_WAS_OFFERED = "onlyWhatWasOffered"


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule, and a sentence on how the log breaks it."""

    rule: Rule
    detail: str


@dataclass(frozen=True, slots=True)
class Offer:
    """One tool of a snapshot, as far as calls are judged by it."""

    descriptor_digest: str
    permission: str


@dataclass(slots=True)
class _Asked:
    """An approval. `arguments` is None once its payload was erased."""

    call: CallKey
    body: Body
    arguments: bytes | None
    approved: bool = False
    resolved: bool = False


@dataclass(slots=True)
class _Lasting:
    """A grant. `pins` is None once its payload was erased."""

    body: Body
    pins: Mapping[str, str] | None = None
    freed: frozenset[str] = frozenset()
    uses: int = 0
    revoked: bool = False

    def covers(self, arguments: Mapping[str, Json]) -> bool:
        """Whether arguments are the pinned ones, and otherwise only the freed. Pins are canonical JSON text."""
        if self.pins is None:
            return True
        if set(arguments) - self.freed != set(self.pins):
            return False
        return all(canonical_bytes(arguments[name]) == pinned.encode() for name, pinned in self.pins.items())


@dataclass(slots=True)
class Story:
    """The story so far. `offers` maps snapshot digests to their tools, where the snapshots themselves are at hand."""

    offers: Mapping[str, Mapping[str, Offer]] = field(default_factory=dict[str, Mapping[str, Offer]])
    calls: int = 0
    executed: int = 0
    _closed: set[CallKey] = field(default_factory=set[CallKey])
    _waiting: dict[CallKey, str] = field(default_factory=dict[CallKey, str])
    _running: set[CallKey] = field(default_factory=set[CallKey])
    _left_over: set[CallKey] = field(default_factory=set[CallKey])
    _asked: dict[str, _Asked] = field(default_factory=dict[str, _Asked])
    _grants: dict[str, _Lasting] = field(default_factory=dict[str, _Lasting])
    _snapshots: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    @property
    def open_calls(self) -> int:
        """Calls that wait or run at this point of the log."""
        return len(self._waiting) + len(self._running)

    def tell(self, body: Body, payload: Body | None) -> Breach | None:
        """Add a leaf. `payload` is None where there is none or it was erased."""
        match Event(body["event"]):
            case Event.TURN_BEGUN | Event.SNAPSHOT_ISSUED:
                self._snapshots[body["snapshotDigest"]] = (body["conversationId"], body["turnId"])
            case Event.APPROVAL_REQUESTED:
                return self._ask(body, payload)
            case Event.APPROVAL_RESOLVED:
                return self._resolve(body, payload)
            case Event.GRANT_ISSUED:
                return self._grant(body, payload)
            case Event.GRANT_REVOKED:
                if (grant := self._grants.get(body["grantId"])) is not None:
                    grant.revoked = True
            case Event.CALL_INTENDED:
                return self._intend(body, payload)
            case Event.CALL_CLOSED:
                return self._close(_key(body), ran=body["executed"])
            case Event.CALL_FOUND_UNKNOWN:
                return self._close(_key(body), ran=True)
            case Event.CALL_REFUSED:
                self.calls += 1
            case Event.GATEWAY_STARTED:
                # Recovery closes what the run before left running, in the same transaction as this entry or before it.
                self._left_over = set(self._running)
            case _:
                pass
        return None

    def end(self) -> Breach | None:
        """What is wrong with a log that ends here. Calls of the last run may be under way."""
        return self._find_left_over()

    def _ask(self, body: Body, payload: Body | None) -> Breach | None:
        key = _key(body)
        if key in self._closed or key in self._waiting or key in self._running:
            return Breach(Rule.ONE_CLOSING, f"call `{key[1]}` is asked about again")
        arguments = None
        if payload is not None:
            statement: Body = payload["statement"]
            if digest(statement) != body["statementDigest"] or not _states(statement, body, payload):
                return Breach(Rule.SHOWN_IS_SIGNED, f"the statement of approval `{body['approvalId']}` is not about its call")
            arguments = canonical_bytes(statement["arguments"])
        self._waiting[key] = body["approvalId"]
        self._asked[body["approvalId"]] = _Asked(key, body, arguments)
        return None

    def _resolve(self, body: Body, payload: Body | None) -> Breach | None:
        approval_id = body["approvalId"]
        asked = self._asked.get(approval_id)
        if asked is None or asked.resolved or asked.call != _key(body):
            return Breach(Rule.YES_USED_ONCE, f"approval `{approval_id}` was not pending when it was resolved")
        asked.resolved = True
        if body["status"] != ApprovalStatus.APPROVED:
            return None
        if body["principalId"] is None or body["at"] >= asked.body["expiresAt"]:
            return Breach(Rule.YES_BEFORE_INTENT, f"approval `{approval_id}` was given by nobody or too late")
        if asked.body["kind"] == ApprovalKind.STEP_UP:
            signed = payload is None or _challenge(payload["assertion"]) == bytes.fromhex(asked.body["statementDigest"])
            if body["credentialId"] is None or not signed:
                return Breach(Rule.SHOWN_IS_SIGNED, f"no passkey signed the statement of approval `{approval_id}`")
        asked.approved = True
        return None

    def _grant(self, body: Body, payload: Body | None) -> Breach | None:
        asked = self._asked.get(body["approvalId"])
        grant_id = body["grantId"]
        if asked is None or not asked.approved or asked.body["kind"] != ApprovalKind.CONSENT:
            return Breach(Rule.YES_BEFORE_INTENT, f"grant `{grant_id}` rests on no consent")
        if any(asked.body[name] != body[name] for name in ("sessionId", "conversationId", "tool", "descriptorDigest")):
            return Breach(Rule.GRANT_NEVER_WIDENS, f"grant `{grant_id}` is about something else than its approval")
        grant = _Lasting(body)
        if payload is not None:
            grant.pins, grant.freed = payload["pins"], frozenset(payload["freed"])
            if asked.arguments is not None and not _was_shown(grant, parse(asked.arguments)):
                return Breach(Rule.GRANT_NEVER_WIDENS, f"grant `{grant_id}` covers more than what was shown")
        self._grants[grant_id] = grant
        return None

    def _intend(self, body: Body, payload: Body | None) -> Breach | None:
        key = _key(body)
        if (left_over := self._find_left_over()) is not None:
            return left_over
        if key in self._closed or key in self._running:
            return Breach(Rule.ONE_CLOSING, f"call `{key[1]}` is intended again")
        breach = self._check_offer(body) or self._check_yes(key, body, payload)
        self._waiting.pop(key, None)
        self._running.add(key)
        return breach

    def _check_offer(self, body: Body) -> Breach | None:
        name, snapshot = body["tool"], body["snapshotDigest"]
        if self._snapshots.get(snapshot) != (body["conversationId"], body["turnId"]):
            return Breach(Rule.ONLY_WHAT_WAS_OFFERED, f"call `{body['callId']}` names a snapshot that its turn never had")
        if (tools := self.offers.get(snapshot)) is not None:
            offer = tools.get(name)
            if (
                offer is None
                or offer.descriptor_digest != body["descriptorDigest"]
                # None: the call waited across a restart, when the snapshot itself is gone from memory.
                or body["permission"] not in (None, offer.permission)
            ):
                return Breach(Rule.ONLY_WHAT_WAS_OFFERED, f"tool `{name}` was not on offer as call `{body['callId']}` has it")
        return None

    def _check_yes(self, key: CallKey, body: Body, payload: Body | None) -> Breach | None:
        decision, approval_id, grant_id = body["decision"], body["approvalId"], body["grantId"]
        if decision not in _ENOUGH or body["permission"] not in _ENOUGH[decision]:
            return Breach(Rule.YES_BEFORE_INTENT, f"`{decision}` is not enough to run call `{key[1]}`")
        if decision == Decision.AUTO:
            return None
        if approval_id is not None:
            return self._use_approval(approval_id, key, body, payload)
        if grant_id is not None and decision == Decision.CONSENTED:
            return self._use_grant(grant_id, key, body, payload)
        return Breach(Rule.YES_BEFORE_INTENT, f"call `{key[1]}` names no yes")

    def _use_approval(self, approval_id: str, key: CallKey, body: Body, payload: Body | None) -> Breach | None:
        asked = self._asked.get(approval_id)
        if asked is None or not asked.approved or asked.call != key:
            return Breach(Rule.YES_BEFORE_INTENT, f"call `{key[1]}` ran on an approval that was not given for it")
        # Used once by itself: it is this call's alone, and `_intend` lets a call through once.
        if _DECIDES[asked.body["kind"]] != body["decision"]:
            return Breach(Rule.YES_BEFORE_INTENT, f"call `{key[1]}` needed another kind of approval")
        same = all(asked.body[name] == body[name] for name in ("sessionId", "turnId", "tool", "descriptorDigest"))
        if payload is not None and asked.arguments is not None:
            same = same and canonical_bytes(payload["arguments"]) == asked.arguments
        if not same:
            return Breach(Rule.SHOWN_IS_SIGNED, f"call `{key[1]}` is not what approval `{approval_id}` showed")
        return None

    def _use_grant(self, grant_id: str, key: CallKey, body: Body, payload: Body | None) -> Breach | None:
        grant = self._grants.get(grant_id)
        if grant is None or grant.revoked or body["at"] >= grant.body["expiresAt"] or grant.uses >= grant.body["maxUses"]:
            return Breach(Rule.YES_BEFORE_INTENT, f"call `{key[1]}` ran on a grant that did not hold")
        grant.uses += 1
        same = all(grant.body[name] == body[name] for name in ("sessionId", "conversationId", "tool", "descriptorDigest"))
        same = same and grant.body["turnId"] in (None, body["turnId"])
        if payload is not None:
            same = same and grant.covers(payload["arguments"])
        if not same:
            return Breach(Rule.GRANT_NEVER_WIDENS, f"call `{key[1]}` is not what grant `{grant_id}` covers")
        return None

    def _close(self, key: CallKey, *, ran: bool) -> Breach | None:
        if key in self._closed:
            return Breach(Rule.ONE_CLOSING, f"call `{key[1]}` is closed twice")
        if ran and key not in self._running:
            return Breach(Rule.INTENT_BEFORE_ACT, f"call `{key[1]}` ran without an intent on record")
        self._waiting.pop(key, None)
        self._running.discard(key)
        self._left_over.discard(key)
        self._closed.add(key)
        self.calls += 1
        self.executed += ran
        return None

    def _find_left_over(self) -> Breach | None:
        for _, call_id in sorted(self._left_over):
            return Breach(Rule.ONE_CLOSING, f"call `{call_id}` was left running by an earlier run and never closed")
        return None


_ENOUGH: Final[Mapping[str, frozenset[str | None]]] = {
    Decision.AUTO: frozenset({PermissionMode.AUTO}),
    # Policy may ask for more at use than the snapshot said, never for less. None: see `_check_offer`.
    Decision.CONSENTED: frozenset({PermissionMode.AUTO, PermissionMode.CONSENT, None}),
    Decision.STEP_UP_SUCCEEDED: frozenset({PermissionMode.AUTO, PermissionMode.CONSENT, PermissionMode.STEP_UP, None}),
}
"""Which decisions let a call run, and under which permissions of the snapshot."""

_DECIDES: Final[Mapping[str, Decision]] = {
    ApprovalKind.CONSENT: Decision.CONSENTED,
    ApprovalKind.STEP_UP: Decision.STEP_UP_SUCCEEDED,
}


def _key(body: Body) -> CallKey:
    return body["conversationId"], body["callId"]


def _states(statement: Body, body: Body, payload: Body) -> bool:
    """Whether the statement is about exactly this call."""
    about = ("approvalId", "kind", "sessionId", "conversationId", "turnId", "callId", "tool", "snapshotDigest")
    also = ("descriptorDigest", "policyVersion")
    return (
        all(statement[name] == body[name] for name in (*about, *also))
        and statement["principal"] == body["principalId"]
        and canonical_bytes(statement["arguments"]) == canonical_bytes(payload["arguments"])
    )


def _was_shown(grant: _Lasting, arguments: Mapping[str, Json]) -> bool:
    return grant.covers(arguments) and grant.freed <= set(arguments)


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
