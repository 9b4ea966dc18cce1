"""A software authenticator for tests: it answers WebAuthn options as a browser with a passkey would, and lies on request.

Bodies are the JSON forms of WebAuthn Level 3 section 5.1, what `PublicKeyCredential.toJSON()` gives. Every member that a
relying party must check can be forged, one `Forgery` at a time; without one the answer is honest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec


class Flag(IntFlag):
    """Authenticator data flags, WebAuthn section 6.1."""

    UP = 0x01
    UV = 0x04
    BE = 0x08
    BS = 0x10
    AT = 0x40


@dataclass(frozen=True)
class Forgery:
    """What an answer claims instead of the truth. None leaves the truth as it is."""

    type: str | None = None
    challenge: bytes | None = None
    origin: str | None = None
    cross_origin: bool | None = None
    top_origin: str | None = None
    rp_id: str | None = None
    user_present: bool = True
    user_verified: bool = True
    backup_eligible: bool | None = None
    backed_up: bool | None = None
    sign_count: int | None = None
    user_handle: bytes | None = None
    omit_user_handle: bool = False
    credential_id: bytes | None = None
    key: ec.EllipticCurvePrivateKey | None = None
    corrupt_signature: bool = False
    client_data: bytes | None = None
    authenticator_data: bytes | None = None


HONEST = Forgery()


@dataclass
class Credential:
    """One passkey inside the authenticator."""

    id: bytes
    key: ec.EllipticCurvePrivateKey
    rp_id: str
    user_handle: bytes
    sign_count: int = 0


@dataclass
class Authenticator:
    """A browser on `origin` with one authenticator. `counts` is false for synced passkeys, which always report 0."""

    origin: str
    counts: bool = True
    backup_eligible: bool = False
    backed_up: bool = False
    credentials: list[Credential] = field(default_factory=list[Credential])

    def create(self, options: Mapping[str, Any], forgery: Forgery = HONEST) -> dict[str, Any]:
        """Answer `navigator.credentials.create()`: RegistrationResponseJSON, and the passkey is kept."""
        credential = Credential(
            id=forgery.credential_id or secrets.token_bytes(32),
            key=forgery.key or ec.generate_private_key(ec.SECP256R1()),
            rp_id=options["rp"]["id"],
            user_handle=decode(options["user"]["id"]),
        )
        self.credentials.append(credential)
        attested = bytes(16) + struct.pack(">H", len(credential.id)) + credential.id + cose_key(credential.key)
        authenticator_data = self._authenticator_data(credential, Flag.AT, forgery) + attested
        return self._response(
            credential,
            {
                "clientDataJSON": encode(self._client_data("webauthn.create", options["challenge"], forgery)),
                "attestationObject": encode(
                    cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": forgery.authenticator_data or authenticator_data})
                ),
                "transports": ["internal"],
            },
        )

    def get(self, options: Mapping[str, Any], forgery: Forgery = HONEST) -> dict[str, Any]:
        """Answer `navigator.credentials.get()`: AuthenticationResponseJSON by the newest passkey that is allowed."""
        allowed = {decode(descriptor["id"]) for descriptor in options.get("allowCredentials", [])}
        credential = next(
            candidate
            for candidate in reversed(self.credentials)
            if candidate.rp_id == options["rpId"] and (not allowed or candidate.id in allowed)
        )
        if self.counts:
            credential.sign_count += 1
        client_data = self._client_data("webauthn.get", options["challenge"], forgery)
        authenticator_data = forgery.authenticator_data or self._authenticator_data(credential, Flag(0), forgery)
        signature = (forgery.key or credential.key).sign(
            authenticator_data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256())
        )
        if forgery.corrupt_signature:
            signature = signature[:-1] + bytes([signature[-1] ^ 1])
        response = {
            "clientDataJSON": encode(client_data),
            "authenticatorData": encode(authenticator_data),
            "signature": encode(signature),
        }
        if not forgery.omit_user_handle:
            response["userHandle"] = encode(credential.user_handle if forgery.user_handle is None else forgery.user_handle)
        return self._response(credential, response, forgery.credential_id)

    def _client_data(self, kind: str, challenge: str, forgery: Forgery) -> bytes:
        if forgery.client_data is not None:
            return forgery.client_data
        members: dict[str, Any] = {
            "type": forgery.type or kind,
            "challenge": challenge if forgery.challenge is None else encode(forgery.challenge),
            "origin": forgery.origin or self.origin,
            "crossOrigin": bool(forgery.cross_origin),
        }
        if forgery.top_origin is not None:
            members["topOrigin"] = forgery.top_origin
        return json.dumps(members, separators=(",", ":")).encode()

    def _authenticator_data(self, credential: Credential, flags: Flag, forgery: Forgery) -> bytes:
        eligible = self.backup_eligible if forgery.backup_eligible is None else forgery.backup_eligible
        backed_up = self.backed_up if forgery.backed_up is None else forgery.backed_up
        flags |= Flag.UP if forgery.user_present else Flag(0)
        flags |= Flag.UV if forgery.user_verified else Flag(0)
        flags |= Flag.BE if eligible else Flag(0)
        flags |= Flag.BS if backed_up else Flag(0)
        count = credential.sign_count if forgery.sign_count is None else forgery.sign_count
        return hashlib.sha256((forgery.rp_id or credential.rp_id).encode()).digest() + struct.pack(">BI", flags, count)

    def _response(self, credential: Credential, response: Mapping[str, Any], claimed_id: bytes | None = None) -> dict[str, Any]:
        return {
            "id": encode(claimed_id or credential.id),
            "rawId": encode(claimed_id or credential.id),
            "type": "public-key",
            "response": dict(response),
            "clientExtensionResults": {},
            "authenticatorAttachment": "platform",
        }


def cose_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    """The public half as a COSE_Key (RFC 9053 section 7.1.1): EC2, ES256, P-256."""
    point = key.public_key().public_numbers()
    return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")})


def encode(raw: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """The bytes of unpadded base64url."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
