"""Approvals by several people, checked again from their records: enough people, each of whom might, each once, over one digest.

Read leaf after leaf beside the other invariants. What a person approved counts for as long as they keep the profile and the
passkey that it rests on; who they were is in the records of their enrolment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gateway.core.canonical import Json, canonical_bytes
from gateway.core.errors import Refused
from gateway.core.ledger import (
    LocalOperatorAdded,
    PasskeyRemoved,
    PrincipalEnrolled,
    PrincipalProfileChanged,
    PrincipalRemoved,
    PrincipalResumed,
    PrincipalSuspended,
)
from gateway.core.plans import signed_digest
from gateway.core.quorum import (
    GivenApproval,
    Quorum,
    compose_break_glass,
    may_break_glass,
    read_break_glass_reason,
    read_needs,
)
from gateway.core.vocabulary import Profile

Body = Mapping[str, Json]

PEOPLE_EVENTS = (
    PrincipalEnrolled.EVENT,
    LocalOperatorAdded.EVENT,
    PrincipalProfileChanged.EVENT,
    PrincipalSuspended.EVENT,
    PrincipalResumed.EVENT,
    PrincipalRemoved.EVENT,
    PasskeyRemoved.EVENT,
)
"""Events that say who may approve, or that somebody may no longer."""


@dataclass(slots=True)
class _Question:
    """A question to several. `statement` is None once its payload was erased; `alone` is who broke the glass."""

    quorum: Quorum
    statement: bytes | None
    expires_at: int
    alone: str | None = None


@dataclass(slots=True)
class QuorumRecords:
    """The questions to several people so far. Each method gives what is wrong with a record, or None.

    `whole`: the log is read from its beginning, so that whoever is in no record of it is nobody.
    """

    read_challenge: Callable[[Json], bytes | None]
    whole: bool
    _questions: dict[str, _Question] = field(default_factory=dict[str, _Question])
    _operators: dict[str, bool] = field(default_factory=dict[str, bool])

    def note_person(self, body: Body) -> None:
        """Somebody came, went, or is not what they were."""
        match body["event"]:
            case PasskeyRemoved.EVENT:
                self._void(credential_id=body["credentialId"].encode())
            case PrincipalRemoved.EVENT | PrincipalSuspended.EVENT:
                self._operators[body["principalId"]] = False
                self._void(person_id=body["principalId"])
            case _:
                self._operators[body["principalId"]] = body["profile"] == Profile.OPERATOR
                self._void(person_id=body["principalId"])

    def ask(self, body: Body, payload: Body | None) -> str | None:
        """A question, of which only those to several are kept."""
        described = body.get("approvers")
        statement = None if payload is None else payload["statement"]
        if statement is not None and statement.get("approvers") != described:
            return f"the statement of approval `{body['approvalId']}` does not say who has to approve"
        if described is not None:
            quorum = Quorum(read_needs(described), body["principalId"], body["statementDigest"])
            signed = None if statement is None else canonical_bytes(statement)
            self._questions[body["approvalId"]] = _Question(quorum, signed, body["expiresAt"])
        return None

    def give(self, body: Body, payload: Body | None) -> str | None:
        """A yes that is not the last."""
        question = self._questions.get(body["approvalId"])
        if question is None or question.quorum.missing < 2 or body["at"] >= question.expires_at:
            return f"approval `{body['approvalId']}` did not wait for another yes"
        return self._add(question, body, payload)

    def break_glass(self, body: Body, payload: Body | None) -> str | None:
        """Somebody is about to do alone what needs several."""
        approval_id, person_id = body["approvalId"], body["principalId"]
        question = self._questions.get(approval_id)
        if question is None or not may_break_glass(question.quorum.needs, operator=self._is_operator(person_id)):
            return f"nobody might do alone what approval `{approval_id}` asked for"
        if question.statement is not None and payload is not None:
            reason: str = payload["reason"]
            signed = compose_break_glass(question.statement, person_id, reason)
            challenge = hashlib.sha256(signed).digest()
            try:
                held = read_break_glass_reason(reason) == reason
            except Refused:
                held = False
            if not held or self.read_challenge(payload["assertion"]) != challenge or challenge.hex() != body["statementDigest"]:
                return f"no passkey signed that somebody acts alone on approval `{approval_id}`, and why"
        question.alone = person_id
        return None

    def approve(self, body: Body, payload: Body | None) -> str | None:
        """The last yes. The question is over."""
        question = self._questions.pop(body["approvalId"], None)
        if question is None:
            return "an approval that one person gives is given alone" if body.get("alone", False) else None
        if body.get("alone", False) or question.alone is not None:
            same = body.get("alone", False) and question.alone == body["principalId"] and body["credentialId"] is not None
            return None if same else f"approval `{body['approvalId']}` was given alone by nobody who said why"
        fault = self._add(question, body, payload)
        if fault is None and not question.quorum.is_met:
            given, needed = len(question.quorum.given), question.quorum.needs.approvers
            return f"approval `{body['approvalId']}` took {needed} people and has {given}"
        return fault

    def close(self, approval_id: str) -> None:
        """It ended with nobody's approval; no yes to it counts from here on."""
        self._questions.pop(approval_id, None)

    def is_alone(self, approval_id: str) -> bool:
        """Whether somebody has said that they answer that question alone."""
        question = self._questions.get(approval_id)
        return question is not None and question.alone is not None

    def _add(self, question: _Question, body: Body, payload: Body | None) -> str | None:
        approval_id, person_id, credential = body["approvalId"], body["principalId"], body["credentialId"]
        if credential is None:
            return f"no passkey answered approval `{approval_id}`"
        digest = question.quorum.digest
        if payload is not None and self.read_challenge(payload["assertion"]) != signed_digest(payload, digest):
            digest = ""
        given = GivenApproval(person_id, credential.encode(), body["at"])
        if any(each.credential_id == given.credential_id for each in question.quorum.given):
            return f"one passkey answered approval `{approval_id}` twice"
        try:
            question.quorum = question.quorum.approve(given, digest, operator=self._is_operator(person_id))
        except Refused as refusal:
            return f"approval `{approval_id}` was given by somebody whose yes does not count: {refusal.message}"
        return None

    def _is_operator(self, person_id: str) -> bool:
        return self._operators.get(person_id, not self.whole)

    def _void(self, *, person_id: str | None = None, credential_id: bytes | None = None) -> None:
        for question in self._questions.values():
            question.quorum = question.quorum.without(person_id=person_id, credential_id=credential_id)
