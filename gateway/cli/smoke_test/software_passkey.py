"""A passkey made of code, for the person whom `countersign smoke` makes up.

Never a person's own: it is registered only with the gateway that `countersign smoke` starts on a throw-away state folder, with
that folder's own enrolment link, and is gone with it. Bodies are the JSON forms of WebAuthn Level 3 section 5.1.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

_PRESENT_AND_VERIFIED: Final = 0x05
_ATTESTED: Final = 0x40
"""Flags of authenticator data, WebAuthn section 6.1."""


@dataclass
class SoftwarePasskey:
    """One credential on one origin."""

    origin: str
    rp_id: str
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    uses: int = 0

    def register(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to `navigator.credentials.create()`, without attestation."""
        attested = bytes(16) + struct.pack(">H", len(self.id)) + self.id + self._public_key()
        attestation: dict[str, Any] = {"fmt": "none", "attStmt": {}, "authData": self._authenticator_data(_ATTESTED) + attested}
        return self._response(
            {
                "clientDataJSON": _encode(self._client_data("webauthn.create", options["challenge"])),
                "attestationObject": _encode(cbor2.dumps(attestation)),
                "transports": ["internal"],
            }
        )

    def sign(self, challenge: str) -> dict[str, Any]:
        """The answer to `navigator.credentials.get()`."""
        self.uses += 1
        client_data, data = self._client_data("webauthn.get", challenge), self._authenticator_data(0)
        signature = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return self._response(
            {"clientDataJSON": _encode(client_data), "authenticatorData": _encode(data), "signature": _encode(signature)}
        )

    def _public_key(self) -> bytes:
        """The public half as a COSE_Key (RFC 9053 section 7.1.1): EC2, ES256, P-256."""
        point = self.key.public_key().public_numbers()
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")})

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}).encode()

    def _authenticator_data(self, flags: int) -> bytes:
        return hashlib.sha256(self.rp_id.encode()).digest() + struct.pack(">BI", _PRESENT_AND_VERIFIED | flags, self.uses)

    def _response(self, response: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "id": _encode(self.id),
            "rawId": _encode(self.id),
            "type": "public-key",
            "response": dict(response),
            "clientExtensionResults": {},
            "authenticatorAttachment": "platform",
        }


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
