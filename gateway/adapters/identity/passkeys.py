"""WebAuthn ceremonies: py_webauthn behind the PasskeyVerifier port, and every check that it leaves to the relying party.

Each `verify_*` reads in the order of WebAuthn Level 3 section 7: first our own reading of what the answer claims, so that
a refusal has one stable reason, then the library's verification of the same bytes, signature included. py_webauthn 3.0.1
does not look at crossOrigin and topOrigin, at backup eligibility over time, at whose credential it is, or at userHandle.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from gateway.core.canonical import Json, parse
from gateway.core.errors import MalformedJson, Refused
from gateway.core.ledger import Passkey
from gateway.runtime.ports import NewPasskey, VerifiedAssertion

if TYPE_CHECKING:
    from gateway.adapters.identity.webauthn_library import WebAuthnLibrary

CREDENTIAL_ID_LIMIT = 1023
"""Bytes; WebAuthn L3 section 7.1 step 25."""

_AUTHENTICATOR_DATA_MINIMUM = 37
_UNPADDED: Final = re.compile(r"[A-Za-z0-9_-]*").fullmatch
_ATTESTATIONS: Final = ("none", "packed")
"""We ask for none; WebAuthn section 5.1.3 lets a client pass self attestation through, which is packed."""

_TRANSPORTS: Final = frozenset({"ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"})
"""Those of WebAuthn section 5.8.4 that the library knows, and Chromium's old name of `hybrid`."""


class _Flag(IntFlag):
    USER_PRESENT = 0x01
    USER_VERIFIED = 0x04
    BACKUP_ELIGIBLE = 0x08
    BACKED_UP = 0x10


@dataclass(frozen=True, slots=True)
class _Claims:
    """What an answer says of itself: the client data, and the fixed head of the authenticator data."""

    type: str
    challenge: bytes
    origin: str
    cross_origin: bool
    top_origin: bool
    rp_id_hash: bytes
    flags: _Flag
    sign_count: int


class WebAuthnVerifier:
    """The PasskeyVerifier port for one relying party: one RP ID, exactly one origin."""

    def __init__(self, *, rp_id: str, rp_name: str, origin: str) -> None:
        self._rp_id = rp_id
        self._rp_id_hash = hashlib.sha256(rp_id.encode()).digest()
        self._rp_name = rp_name
        self._origin = origin

    def registration_options(
        self, *, challenge: bytes, user_handle: bytes, user_name: str, exclude: Sequence[Passkey]
    ) -> dict[str, Json]:
        """PublicKeyCredentialCreationOptionsJSON for a discoverable credential with user verification."""
        return self._library.registration_options(
            challenge=challenge, user_handle=user_handle, user_name=user_name, exclude=exclude
        )

    def assertion_options(self, *, challenge: bytes, allow: Sequence[Passkey], user_verification: bool = True) -> dict[str, Json]:
        """PublicKeyCredentialRequestOptionsJSON. With nobody in `allow`, any discoverable credential may answer."""
        return self._library.assertion_options(challenge=challenge, allow=allow, user_verification=user_verification)

    def verify_registration(self, credential: Mapping[str, Json], *, challenge: bytes) -> NewPasskey:
        """A new passkey, user verified. Raises Refused with the port's reasons."""
        response = _object(credential, "response")
        attested = _octets(response, "attestationObject")
        try:
            attestation = self._library.read_attestation(attested)
        except Exception as fault:
            # Hostile CBOR makes the library raise types of its own and others'; every one of them means the same.
            raise _malformed() from fault
        if attestation.fmt not in _ATTESTATIONS:
            raise Refused("malformed", "the authenticator sent an attestation that was not asked for", 400)
        head = attestation.auth_data
        flags = _Flag(0)
        flags |= _Flag.USER_PRESENT if head.flags.up else _Flag(0)
        flags |= _Flag.USER_VERIFIED if head.flags.uv else _Flag(0)
        flags |= _Flag.BACKUP_ELIGIBLE if head.flags.be else _Flag(0)
        flags |= _Flag.BACKED_UP if head.flags.bs else _Flag(0)
        claims = _client_claims(response, head.rp_id_hash, flags, head.sign_count)
        self._judge(claims, "webauthn.create", challenge, user_verification=True)
        claimed_id = self.credential_id(credential)
        try:
            verified = self._library.verify_registration(credential, challenge=challenge)
        except Exception as fault:
            raise Refused("signature", "the passkey's registration does not verify", 400) from fault
        if verified.credential_id != claimed_id:
            raise Refused("credential", "the registration names another credential than it contains", 400)
        return NewPasskey(
            credential_id=verified.credential_id,
            public_key=verified.credential_public_key,
            sign_count=verified.sign_count,
            backup_eligible=_Flag.BACKUP_ELIGIBLE in flags,
            backed_up=verified.credential_backed_up,
            transports=_transports(response),
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
        """An answer by that very passkey. Raises Refused with the port's reasons."""
        response = _object(credential, "response")
        if not hmac.compare_digest(self.credential_id(credential), passkey.id):
            raise Refused("credential", "that passkey was not asked for")
        _require_owner(response, passkey, discoverable=discoverable)
        claims = _assertion_claims(response)
        self._judge(claims, "webauthn.get", challenge, user_verification=user_verification)
        if (_Flag.BACKUP_ELIGIBLE in claims.flags) is not passkey.backup_eligible:
            raise Refused("backupEligibility", "the passkey changed what kind of passkey it is")
        # 0 and 0 is an authenticator without a counter, as synced passkeys are (section 6.1.1).
        if (claims.sign_count or passkey.sign_count) and claims.sign_count <= passkey.sign_count:
            raise Refused("counter", "the passkey's counter went back; there may be a copy of it")
        try:
            verified = self._library.verify_assertion(
                credential, challenge=challenge, passkey=passkey, user_verification=user_verification
            )
        except Exception as fault:
            raise Refused("signature", "the passkey's signature does not verify") from fault
        return VerifiedAssertion(
            credential_id=verified.credential_id,
            sign_count=verified.new_sign_count,
            backed_up=verified.credential_backed_up,
            user_verified=verified.user_verified,
        )

    def credential_id(self, credential: Mapping[str, Json]) -> bytes:
        """The raw id that a response claims. Raises Refused `malformed`."""
        raw_id = _octets(credential, "rawId")
        if credential.get("id") != credential.get("rawId") or not 0 < len(raw_id) <= CREDENTIAL_ID_LIMIT:
            raise _malformed()
        return raw_id

    @cached_property
    def _library(self) -> WebAuthnLibrary:
        # Imported by the first ceremony: formats of attestations that nobody is asked for, with their parsers, take 7 MB.
        from gateway.adapters.identity.webauthn_library import WebAuthnLibrary

        return WebAuthnLibrary(rp_id=self._rp_id, rp_name=self._rp_name, origin=self._origin)

    def _judge(self, claims: _Claims, ceremony: str, challenge: bytes, *, user_verification: bool) -> None:
        if claims.type != ceremony:
            raise Refused("malformed", "the answer belongs to another kind of ceremony", 400)
        if not hmac.compare_digest(claims.challenge, challenge):
            raise Refused("challenge", "the answer is not to this question")
        if claims.origin != self._origin:
            raise Refused("origin", "the passkey was used on another site")
        if claims.cross_origin or claims.top_origin:
            raise Refused("crossOrigin", "the passkey was used inside another site's frame")
        if not hmac.compare_digest(claims.rp_id_hash, self._rp_id_hash):
            raise Refused("rpId", "the passkey belongs to another site")
        if _Flag.USER_PRESENT not in claims.flags:
            raise Refused("userPresence", "nobody touched the passkey")
        if user_verification and _Flag.USER_VERIFIED not in claims.flags:
            raise Refused("userVerification", "the passkey did not verify who used it")
        if _Flag.BACKED_UP in claims.flags and _Flag.BACKUP_ELIGIBLE not in claims.flags:
            raise Refused("backupEligibility", "the passkey says it is backed up and cannot be")


def _require_owner(response: Mapping[str, Json], passkey: Passkey, *, discoverable: bool) -> None:
    if response.get("userHandle") is None:
        if discoverable:
            raise Refused("credential", "the passkey does not say whose it is")
        return
    if not hmac.compare_digest(_octets(response, "userHandle"), passkey.user_handle):
        raise Refused("credential", "the passkey says it is somebody else's")


def _assertion_claims(response: Mapping[str, Json]) -> _Claims:
    data = _octets(response, "authenticatorData")
    if len(data) < _AUTHENTICATOR_DATA_MINIMUM:
        raise _malformed()
    # Whatever the spare bits of its last character are, as for the page that verifies records; a browser pads nothing.
    if not _UNPADDED(_text(response, "signature")):
        raise _malformed()
    flags, sign_count = struct.unpack_from(">BI", data, 32)
    return _client_claims(response, data[:32], _Flag(flags), sign_count)


def _client_claims(response: Mapping[str, Json], rp_id_hash: bytes, flags: _Flag, sign_count: int) -> _Claims:
    try:
        client_data = parse(_octets(response, "clientDataJSON"))
    except MalformedJson as fault:
        raise _malformed() from fault
    if not isinstance(client_data, dict):
        raise _malformed()
    members = cast("dict[str, Json]", client_data)
    cross_origin = members.get("crossOrigin", False)
    if not isinstance(cross_origin, bool):
        raise _malformed()
    return _Claims(
        type=_text(members, "type"),
        challenge=_octets(members, "challenge"),
        origin=_text(members, "origin"),
        cross_origin=cross_origin,
        top_origin="topOrigin" in members,
        rp_id_hash=rp_id_hash,
        flags=flags,
        sign_count=sign_count,
    )


def _transports(response: Mapping[str, Json]) -> tuple[str, ...]:
    claimed = response.get("transports")
    if not isinstance(claimed, list):
        return ()
    return tuple(sorted({name for name in cast("list[Json]", claimed) if isinstance(name, str) and name in _TRANSPORTS}))


def _object(members: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = members.get(name)
    if not isinstance(value, dict):
        raise _malformed()
    return cast("dict[str, Json]", value)


def _text(members: Mapping[str, Json], name: str) -> str:
    value = members.get(name)
    if not isinstance(value, str):
        raise _malformed()
    return value


def _octets(members: Mapping[str, Json], name: str) -> bytes:
    """Unpadded base64url, strictly: Python's decoder skips characters it does not know, and two texts would be one id."""
    text = _text(members, name)
    try:
        raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:  # binascii.Error and UnicodeEncodeError both are
        raise _malformed() from None
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
        raise _malformed()
    return raw


def _malformed() -> Refused:
    return Refused("malformed", "that is no passkey answer", 400)
