"""Passkey ceremonies without cryptography: the same claims, the same checks, plain JSON in place of CBOR and signatures.

`PlainVerifier` is the PasskeyVerifier port, `PlainAuthenticator` what answers it. Both are held to the contract suite that
the real pair passes, so a runtime test that uses them does not lean on anything the real verifier would refuse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.core.canonical import Json
from gateway.core.errors import Refused
from gateway.core.ledger import Passkey
from gateway.core.refusals import RefusalReason
from gateway.runtime.ports import NewPasskey, VerifiedAssertion
from tests.authenticator import HONEST, Authenticator, Forgery, decode, encode


@dataclass
class PlainAuthenticator(Authenticator):
    """An authenticator whose answers are their own claims; `key` stands for who signed."""

    def create(self, options: Mapping[str, Any], forgery: Forgery = HONEST) -> dict[str, Any]:
        """Answer `create()` in plain JSON."""
        real = super().create(options, forgery)
        return self._plain(real["id"], options["challenge"], "webauthn.create", forgery, self.credentials[-1].user_handle)

    def get(self, options: Mapping[str, Any], forgery: Forgery = HONEST) -> dict[str, Any]:
        """Answer `get()` in plain JSON."""
        real = super().get(options, forgery)
        handle = decode(real["response"]["userHandle"]) if "userHandle" in real["response"] else None
        return self._plain(real["id"], options["challenge"], "webauthn.get", forgery, handle)

    def _plain(self, id_: str, challenge: str, kind: str, forgery: Forgery, handle: bytes | None) -> dict[str, Any]:
        credential = next((known for known in self.credentials if encode(known.id) == id_), self.credentials[-1])
        claims: dict[str, Any] = {
            "type": forgery.type or kind,
            "challenge": challenge if forgery.challenge is None else encode(forgery.challenge),
            "origin": forgery.origin or self.origin,
            "crossOrigin": bool(forgery.cross_origin) or forgery.top_origin is not None,
            "rpId": forgery.rp_id or credential.rp_id,
            "userPresent": forgery.user_present,
            "userVerified": forgery.user_verified,
            "backupEligible": self.backup_eligible if forgery.backup_eligible is None else forgery.backup_eligible,
            "backedUp": self.backed_up if forgery.backed_up is None else forgery.backed_up,
            "signCount": credential.sign_count if forgery.sign_count is None else forgery.sign_count,
            "signed": forgery.key is None and not forgery.corrupt_signature,
        }
        # The part of a real answer that the log's checker reads.
        client_data = json.dumps({"type": claims["type"], "challenge": claims["challenge"], "origin": claims["origin"]})
        response: dict[str, Any] = {"claims": claims, "clientDataJSON": encode(client_data.encode())}
        if handle is not None:
            response["userHandle"] = encode(handle)
        return {"id": id_, "rawId": id_, "type": "public-key", "response": response}


class PlainVerifier:
    """The PasskeyVerifier port over plain claims."""

    def __init__(self, *, rp_id: str, origin: str) -> None:
        self._rp_id = rp_id
        self._origin = origin

    def registration_options(
        self, *, challenge: bytes, user_handle: bytes, user_name: str, exclude: Sequence[Passkey]
    ) -> dict[str, Json]:
        """As the real ones, as far as an authenticator reads them."""
        return {
            "rp": {"id": self._rp_id, "name": "plain"},
            "user": {"id": encode(user_handle), "name": user_name, "displayName": user_name},
            "challenge": encode(challenge),
            "excludeCredentials": [{"id": encode(passkey.id), "type": "public-key"} for passkey in exclude],
            "authenticatorSelection": {"residentKey": "required", "userVerification": "required"},
        }

    def assertion_options(self, *, challenge: bytes, allow: Sequence[Passkey], user_verification: bool = True) -> dict[str, Json]:
        """As the real ones, as far as an authenticator reads them."""
        return {
            "rpId": self._rp_id,
            "challenge": encode(challenge),
            "allowCredentials": [{"id": encode(passkey.id), "type": "public-key"} for passkey in allow],
            "userVerification": "required" if user_verification else "discouraged",
        }

    def verify_registration(self, credential: Mapping[str, Json], *, challenge: bytes) -> NewPasskey:
        """A new passkey, or Refused."""
        claims = self._judge(credential, "webauthn.create", challenge, user_verification=True)
        return NewPasskey(
            credential_id=self.credential_id(credential),
            public_key=b"plain",
            sign_count=claims["signCount"],
            backup_eligible=claims["backupEligible"],
            backed_up=claims["backedUp"],
            transports=("internal",),
        )

    def verify_assertion(
        self,
        credential: Mapping[str, Json],
        *,
        challenge: bytes,
        passkey: Passkey,
        user_verification: bool = True,
        discoverable: bool = False,
    ) -> VerifiedAssertion:
        """An answer by that passkey, or Refused."""
        claims = self._judge(credential, "webauthn.get", challenge, user_verification=user_verification)
        handle = credential["response"].get("userHandle")
        if self.credential_id(credential) != passkey.id or (handle is None and discoverable):
            raise Refused("credential", "not the passkey that was asked for")
        if handle is not None and decode(handle) != passkey.user_handle:
            raise Refused("credential", "somebody else's passkey")
        if claims["backupEligible"] is not passkey.backup_eligible:
            raise Refused("backupEligibility", "the passkey changed what kind of passkey it is")
        if (claims["signCount"] or passkey.sign_count) and claims["signCount"] <= passkey.sign_count:
            raise Refused("counter", "the counter went back")
        if not claims["signed"]:
            raise Refused("signature", "not signed by that passkey")
        return VerifiedAssertion(passkey.id, claims["signCount"], claims["backedUp"], claims["userVerified"])

    def credential_id(self, credential: Mapping[str, Json]) -> bytes:
        """The raw id that an answer claims, or Refused."""
        claimed = credential.get("id")
        if not isinstance(claimed, str) or claimed != credential.get("rawId"):
            raise Refused("malformed", "that is no passkey answer", 400)
        try:
            return decode(claimed)
        except ValueError:
            raise Refused("malformed", "that is no passkey answer", 400) from None

    def _judge(
        self, credential: Mapping[str, Json], ceremony: str, challenge: bytes, *, user_verification: bool
    ) -> dict[str, Any]:
        response: Any = credential.get("response")
        try:
            claims: dict[str, Any] = response["claims"]
        except (KeyError, TypeError):
            raise Refused("malformed", "that is no passkey answer", 400) from None
        wrong: dict[RefusalReason, bool] = {
            "malformed": claims["type"] != ceremony,
            "challenge": claims["challenge"] != encode(challenge),
            "origin": claims["origin"] != self._origin,
            "crossOrigin": claims["crossOrigin"],
            "rpId": claims["rpId"] != self._rp_id,
            "userPresence": not claims["userPresent"],
            "userVerification": user_verification and not claims["userVerified"],
            "backupEligibility": claims["backedUp"] and not claims["backupEligible"],
        }
        for reason, is_wrong in wrong.items():
            if is_wrong:
                raise Refused(reason, "the claims do not hold")
        return claims
