"""Passkey ceremonies and signed cookies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.core.canonical import Json
from gateway.core.ledger import Passkey


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """A verified registration, before it is given to anyone."""

    credential_id: bytes
    public_key: bytes
    sign_count: int
    backup_eligible: bool
    backed_up: bool
    transports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VerifiedAssertion:
    """A verified assertion and the counter to store."""

    credential_id: bytes
    sign_count: int
    backed_up: bool
    user_verified: bool


class PasskeyVerifier(Protocol):
    """WebAuthn ceremonies, without state: challenges come in as values. Bodies are the Level 3 JSON forms.

    Both `verify_*` raise Refused with a stable reason (`challenge`, `origin`, `crossOrigin`, `rpId`, `userPresence`,
    `userVerification`, `signature`, `counter`, `backupEligibility`, `credential`, `malformed`).
    """

    def registration_options(
        self, *, challenge: bytes, user_handle: bytes, user_name: str, exclude: Sequence[Passkey]
    ) -> dict[str, Json]: ...

    def assertion_options(
        self, *, challenge: bytes, allow: Sequence[Passkey], user_verification: bool = True
    ) -> dict[str, Json]: ...

    def verify_registration(self, credential: Mapping[str, Json], *, challenge: bytes) -> NewPasskey: ...

    def verify_assertion(
        self,
        credential: Mapping[str, Json],
        *,
        challenge: bytes,
        passkey: Passkey,
        user_verification: bool = True,
        discoverable: bool = False,
    ) -> VerifiedAssertion:
        """`discoverable`: nobody said who signs in, so the answer must name its user (WebAuthn L3 section 7.2 step 6)."""
        ...

    def credential_id(self, credential: Mapping[str, Json]) -> bytes:
        """The raw id a response claims, so that its passkey can be looked up. Raises Refused `malformed`."""
        ...


class CookieSigner(Protocol):
    """Signs opaque values for cookies and links."""

    def sign(self, value: str, *, purpose: str) -> str: ...
    def unsign(self, signed: str, *, purpose: str, max_age: int | None = None) -> str | None:
        """The value, or None when the signature, purpose or age (seconds) is wrong."""
        ...
