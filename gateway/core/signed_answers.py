"""The passkeys' signatures in the record, checked again: each answer by the passkey that was registered for it.

Read leaf after leaf. The cryptography is a port, for it is WebAuthn's own; what is signed by whom is told by the records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gateway.core.canonical import Json, parse
from gateway.core.ledger import (
    ApprovalGiven,
    ApprovalRequested,
    ApprovalResolved,
    BreakGlassUsed,
    PasskeyAdded,
    PasskeyRemoved,
    PrincipalEnrolled,
    PrincipalRemoved,
    SettingChanged,
)
from gateway.core.members import flag_of, text_of
from gateway.core.plans import signed_digest
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus

Body = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class RecordedPasskey:
    """A passkey as the record of its registration has it; id and COSE key in base64url."""

    credential_id: str
    person_id: str
    public_key: str
    backup_eligible: bool


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """A passkey's answer to be checked: over which SHA-256, and whether it has to have verified its person."""

    assertion: Body
    challenge: bytes
    verified_person: bool


AnswerCheck = Callable[[RecordedAnswer, RecordedPasskey], str | None]
"""What is wrong with an answer by that passkey, as the end of a sentence; None where the signature holds."""


@dataclass(slots=True)
class SignedAnswers:
    """The passkeys on record so far, and the questions that they answer. `signatures` counts those that hold."""

    check_answer: AnswerCheck
    signatures: int = 0
    _passkeys: dict[str, RecordedPasskey] = field(default_factory=dict[str, RecordedPasskey])
    _questions: dict[str, Body] = field(default_factory=dict[str, Body])
    _alone: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def check(self, body: Body, payload: Body | None) -> str | None:
        """What is wrong with the next record, or None. An answer whose payload was erased cannot be checked."""
        match body["event"]:
            case PrincipalEnrolled.EVENT | PasskeyAdded.EVENT:
                credential_id, person_id = text_of(body, "credentialId"), text_of(body, "principalId")
                eligible = flag_of(body, "backupEligible")
                self._passkeys[credential_id] = RecordedPasskey(credential_id, person_id, text_of(body, "publicKey"), eligible)
            case PasskeyRemoved.EVENT:
                self._passkeys.pop(body["credentialId"], None)
            case PrincipalRemoved.EVENT:
                gone = body["principalId"]
                self._passkeys = {id_: each for id_, each in self._passkeys.items() if each.person_id != gone}
            case ApprovalRequested.EVENT:
                self._questions[body["approvalId"]] = body
            case ApprovalGiven.EVENT:
                return self._check(body, payload)
            case BreakGlassUsed.EVENT:
                self._alone[body["approvalId"]] = bytes.fromhex(body["statementDigest"])
                return self._check(body, payload)
            case ApprovalResolved.EVENT:
                fault = self._check(body, payload) if body["status"] == ApprovalStatus.APPROVED else None
                self._questions.pop(body["approvalId"], None)
                self._alone.pop(body["approvalId"], None)
                return fault
            case SettingChanged.EVENT:
                return self._check_setting(body, payload)
            case _:
                pass
        return None

    def _check_setting(self, body: Body, payload: Body | None) -> str | None:
        """A change of a setting: signed by the passkey of the person who is on record for it, over this setting and value."""
        setting, credential_id = body["setting"], body["credentialId"]
        if credential_id is None or payload is None:
            return None
        passkey = self._passkeys.get(credential_id)
        if passkey is None or passkey.person_id != body["principalId"]:
            return f"the passkey that signed the change of `{setting}` is on record as nobody's or somebody else's"
        statement = payload["statement"].encode()
        signed = parse(statement)
        if (signed["setting"], signed["value"]) != (setting, body["value"]):
            return f"what was signed for `{setting}` is another change"
        challenge = hashlib.sha256(statement).digest()
        fault = self.check_answer(RecordedAnswer(payload["assertion"], challenge, verified_person=True), passkey)
        if fault is not None:
            return f"the passkey's signature of the change of `{setting}` does not hold: {fault}"
        self.signatures += 1
        return None

    def _check(self, body: Body, payload: Body | None) -> str | None:
        approval_id, credential_id = body["approvalId"], body["credentialId"]
        question = self._questions.get(approval_id)
        if credential_id is None or payload is None or question is None:
            return None
        passkey = self._passkeys.get(credential_id)
        if passkey is None:
            return f"the passkey that answered approval `{approval_id}` is on record as nobody's"
        if passkey.person_id != body["principalId"]:
            return f"the passkey that answered approval `{approval_id}` is somebody else's"
        alone = self._alone.get(approval_id)
        challenge = signed_digest(payload, question["statementDigest"]) if alone is None else alone
        verified = alone is not None or question["kind"] == ApprovalKind.STEP_UP
        fault = self.check_answer(RecordedAnswer(payload["assertion"], challenge, verified), passkey)
        if fault is not None:
            return f"the passkey's answer to approval `{approval_id}` does not hold: {fault}"
        self.signatures += 1
        return None
