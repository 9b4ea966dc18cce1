"""Changes of the policy that people make while the gateway runs: signed versions, freezes, and candidates in shadow.

`principal_id` is who did it on the console, None for somebody at the machine's own command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, base64url, header
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.vocabulary import ShadowEnding

__all__ = [
    "PolicyFrozen",
    "PolicyProposed",
    "PolicyPublished",
    "PolicyShadowEnded",
    "PolicyShadowStarted",
    "PolicySignature",
    "PolicySignatureRefused",
    "PolicyThawed",
]


@dataclass(frozen=True, slots=True)
class PolicySignature:
    """Who signed a statement with which passkey, and the passkey's whole answer."""

    principal_id: str
    console_session_id: str
    credential_id: bytes
    assertion: Mapping[str, Json]

    def to_json(self) -> dict[str, Json]:
        return {
            "principalId": self.principal_id,
            "consoleSessionId": self.console_session_id,
            "credentialId": base64url(self.credential_id),
            "assertion": dict(self.assertion),
        }


@dataclass(frozen=True, slots=True)
class PolicyProposed:
    """A version waits for signatures: one that the command line proposed, or one that a second operator has to sign."""

    EVENT: ClassVar[str] = "policy:proposed"

    at: int
    principal_id: str | None
    proposal_id: str
    version: str
    base: str
    statement: bytes
    signature: PolicySignature | None

    def leaf(self) -> Leaf:
        body = {"proposalId": self.proposal_id, "policyVersion": self.version, "basePolicyVersion": self.base}
        payload: dict[str, Json] = {"statement": self.statement.decode()}
        if self.signature is not None:
            payload["signatures"] = [self.signature.to_json()]
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body}, canonical_bytes(payload))


@dataclass(frozen=True, slots=True)
class PolicyPublished:
    """A version was signed by everybody who has to, and comes into force with the `policy:loaded` of the same transaction.

    `principal_id` is the publisher, who signed first; `statement` the canonical bytes whose SHA-256 each passkey signed;
    `cases` the texts of the decision table that held for it, by file name.
    """

    EVENT: ClassVar[str] = "policy:published"

    at: int
    principal_id: str
    proposal_id: str
    version: str
    base: str
    statement: bytes
    signatures: tuple[PolicySignature, ...]
    cases: Mapping[str, str]

    def leaf(self) -> Leaf:
        body = {
            "proposalId": self.proposal_id,
            "policyVersion": self.version,
            "basePolicyVersion": self.base,
            "signatures": len(self.signatures),
        }
        payload: dict[str, Json] = {
            "statement": self.statement.decode(),
            "signatures": [each.to_json() for each in self.signatures],
            "cases": dict(self.cases),
        }
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body}, canonical_bytes(payload))


@dataclass(frozen=True, slots=True)
class PolicySignatureRefused:
    """A passkey's answer was no signature of the statement that it was given for. `subject` is a proposal's or a freeze's id."""

    EVENT: ClassVar[str] = "policy-signature:refused"

    at: int
    principal_id: str
    subject: str
    reason: str

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "subject": self.subject, "reason": self.reason})


@dataclass(frozen=True, slots=True)
class PolicyFrozen:
    """Everything is forbidden from here on, whatever the policy says. `why` is for people."""

    EVENT: ClassVar[str] = "policy:frozen"

    at: int
    principal_id: str | None
    freeze_id: str
    why: str

    def leaf(self) -> Leaf:
        body = {**header(self.EVENT, self.at, self.principal_id), "freezeId": self.freeze_id}
        return Leaf(body, canonical_bytes({"why": self.why}))


@dataclass(frozen=True, slots=True)
class PolicyThawed:
    """An operator's passkey ended a freeze; the policy decides again."""

    EVENT: ClassVar[str] = "policy:thawed"

    at: int
    freeze_id: str
    statement: bytes
    signature: PolicySignature

    def leaf(self) -> Leaf:
        body = {**header(self.EVENT, self.at, self.signature.principal_id), "freezeId": self.freeze_id}
        payload: dict[str, Json] = {"statement": self.statement.decode(), "signatures": [self.signature.to_json()]}
        return Leaf(body, canonical_bytes(payload))


@dataclass(frozen=True, slots=True)
class PolicyShadowStarted:
    """A candidate policy is put to every call that is decided from here on, and decides none. `documents` are its texts."""

    EVENT: ClassVar[str] = "policy-shadow:started"

    at: int
    principal_id: str | None
    shadow_id: str
    version: str
    base: str
    why: str
    documents: Mapping[str, str]

    def leaf(self) -> Leaf:
        body = {"shadowId": self.shadow_id, "policyVersion": self.version, "basePolicyVersion": self.base}
        payload: dict[str, Json] = {"why": self.why, "documents": dict(self.documents)}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body}, canonical_bytes(payload))


@dataclass(frozen=True, slots=True)
class PolicyShadowEnded:
    """It is put to no further call. `judged` calls were compared, of which it decided `differing` otherwise."""

    EVENT: ClassVar[str] = "policy-shadow:ended"

    at: int
    principal_id: str | None
    shadow_id: str
    version: str
    ending: ShadowEnding
    judged: int
    differing: int

    def leaf(self) -> Leaf:
        body = {
            "shadowId": self.shadow_id,
            "policyVersion": self.version,
            "ending": self.ending.value,
            "judged": self.judged,
            "differing": self.differing,
        }
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


PolicyEntry = (
    PolicyProposed
    | PolicyPublished
    | PolicySignatureRefused
    | PolicyFrozen
    | PolicyThawed
    | PolicyShadowStarted
    | PolicyShadowEnded
)
