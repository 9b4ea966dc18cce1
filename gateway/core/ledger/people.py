"""People and their passkeys: who was invited, who enrolled, and with which credentials they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, base64url, header
from gateway.core.canonical import Json, own_bytes
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile

__all__ = [
    "EnrolmentOffered",
    "LocalOperatorAdded",
    "Passkey",
    "PasskeyAdded",
    "PasskeyRemoved",
    "PasskeyRenamed",
    "PasskeyUsed",
    "PrincipalEnrolled",
    "PrincipalProfileChanged",
    "PrincipalRemoved",
    "PrincipalResumed",
    "PrincipalSuspended",
    "SignInRefused",
]


@dataclass(frozen=True, slots=True)
class EnrolmentOffered:
    """A one-time enrolment link was made: printed on the host, or by the operator `by` on the console."""

    EVENT: ClassVar[str] = "enrolment:offered"

    at: int
    token_hash: str
    name: str
    profile: Profile
    expires_at: int
    by: str | None = None

    def leaf(self) -> Leaf:
        body = {"profile": self.profile.value, "expiresAt": self.expires_at}
        return Leaf({**header(self.EVENT, self.at, None), **body, **_by(self.by)}, own_bytes({"name": self.name}))


@dataclass(frozen=True, slots=True)
class Passkey:
    """A registered credential. `public_key` is COSE bytes; `backup_eligible` may never change (WebAuthn L3 section 7.2)."""

    id: bytes
    principal_id: str
    public_key: bytes
    sign_count: int
    backup_eligible: bool
    backed_up: bool
    user_handle: bytes
    transports: tuple[str, ...]
    name: str
    created_at: int
    last_used_at: int | None = None


@dataclass(frozen=True, slots=True)
class LocalOperatorAdded:
    """The owner of the state folder worked at its terminal before anybody was enrolled: a person without a passkey yet."""

    EVENT: ClassVar[str] = "local-operator:added"

    at: int
    principal: Principal

    def leaf(self) -> Leaf:
        principal = self.principal
        return Leaf(
            {**header(self.EVENT, self.at, principal.id), "profile": principal.profile.value},
            own_bytes({"name": principal.name}),
        )


@dataclass(frozen=True, slots=True)
class PrincipalEnrolled:
    """An enrolment link was used up: a person and their first passkey. `known`: they worked at the terminal before."""

    EVENT: ClassVar[str] = "principal:enrolled"

    at: int
    token_hash: str
    principal: Principal
    passkey: Passkey
    known: bool = False

    def leaf(self) -> Leaf:
        principal = self.principal
        return Leaf(
            {
                **header(self.EVENT, self.at, principal.id),
                "profile": principal.profile.value,
                **_describe_passkey(self.passkey),
            },
            own_bytes({"name": principal.name, "passkeyName": self.passkey.name}),
        )


@dataclass(frozen=True, slots=True)
class PrincipalProfileChanged:
    """A person got another profile, from the host's shell or from the operator `by`. Every enrolment link that was open is void,
    as on a removal."""

    EVENT: ClassVar[str] = "principal:profile-changed"

    at: int
    principal_id: str
    profile: Profile
    by: str | None = None

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "profile": self.profile.value, **_by(self.by)})


@dataclass(frozen=True, slots=True)
class PrincipalSuspended:
    """A person can do nothing here until they are resumed. Their passkeys stay; their sessions end, and every enrolment link that
    was open is void."""

    EVENT: ClassVar[str] = "principal:suspended"

    at: int
    principal_id: str
    by: str | None = None

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **_by(self.by)})


@dataclass(frozen=True, slots=True)
class PrincipalResumed:
    """A suspended person may sign in again, as `profile`."""

    EVENT: ClassVar[str] = "principal:resumed"

    at: int
    principal_id: str
    profile: Profile
    by: str | None = None

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "profile": self.profile.value, **_by(self.by)})


@dataclass(frozen=True, slots=True)
class PrincipalRemoved:
    """All of a person's passkeys were taken, from the host's shell or by the operator `by`: they can do nothing here any more.
    Every enrolment link that was open is void, for it names nobody that could be compared."""

    EVENT: ClassVar[str] = "principal:removed"

    at: int
    principal_id: str
    by: str | None = None

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **_by(self.by)})


@dataclass(frozen=True, slots=True)
class PasskeyAdded:
    """A further passkey, after a fresh step-up with an existing one. `offered_by`: the console session in which
    it was added, or that made the link where it was registered in another browser. It has to be alive and its person a member
    still. Older records have none."""

    EVENT: ClassVar[str] = "passkey:added"

    at: int
    passkey: Passkey
    offered_by: str | None = None

    def leaf(self) -> Leaf:
        passkey = self.passkey
        offered: dict[str, Json] = {} if self.offered_by is None else {"offeredBy": self.offered_by}
        return Leaf(
            {**header(self.EVENT, self.at, passkey.principal_id), **_describe_passkey(passkey), **offered},
            own_bytes({"passkeyName": passkey.name}),
        )


@dataclass(frozen=True, slots=True)
class PasskeyRenamed:
    """Another name for a passkey, so that a person can distinguish theirs."""

    at: int
    principal_id: str
    credential_id: bytes
    name: str

    def leaf(self) -> None:
        """None: a name is the person's own note, no authority depends on it, and without the text nothing is left to say."""


@dataclass(frozen=True, slots=True)
class PasskeyRemoved:
    """A passkey was removed; it answers nothing from here on."""

    EVENT: ClassVar[str] = "passkey:removed"

    at: int
    principal_id: str
    credential_id: bytes

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "credentialId": base64url(self.credential_id)})


@dataclass(frozen=True, slots=True)
class PasskeyUsed:
    """A verified assertion moved the signature counter."""

    EVENT: ClassVar[str] = "passkey:used"

    at: int
    principal_id: str
    credential_id: bytes
    sign_count: int
    backed_up: bool

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "credentialId": base64url(self.credential_id),
                "signCount": self.sign_count,
                "backedUp": self.backed_up,
            }
        )


@dataclass(frozen=True, slots=True)
class SignInRefused:
    """A ceremony failed verification. `reason` is the verifier's stable word."""

    EVENT: ClassVar[str] = "sign-in:refused"

    at: int
    purpose: str
    reason: str
    principal_id: str | None

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "purpose": self.purpose, "reason": self.reason})


PeopleEntry = (
    EnrolmentOffered
    | LocalOperatorAdded
    | PrincipalEnrolled
    | PrincipalProfileChanged
    | PrincipalSuspended
    | PrincipalResumed
    | PrincipalRemoved
    | PasskeyAdded
    | PasskeyRenamed
    | PasskeyRemoved
    | PasskeyUsed
    | SignInRefused
)


def _by(person_id: str | None) -> dict[str, Json]:
    """Who did it on the console; a record of what was done from the host's shell names nobody."""
    return {} if person_id is None else {"by": person_id}


def _describe_passkey(passkey: Passkey) -> dict[str, Json]:
    return {
        "credentialId": base64url(passkey.id),
        "publicKey": base64url(passkey.public_key),
        "backupEligible": passkey.backup_eligible,
        "backedUp": passkey.backed_up,
    }
