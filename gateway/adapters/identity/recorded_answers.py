"""Passkeys' answers as they stand in the record, verified as when they were given, but for the place where they were."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import urlsplit

import cbor2

from gateway.adapters.identity.passkeys import WebAuthnVerifier
from gateway.core.canonical import Json, parse
from gateway.core.errors import MalformedJson, Refused
from gateway.core.ledger import Passkey
from gateway.core.signed_answers import RecordedAnswer, RecordedPasskey

_NO_ANSWER: Final = "it is none that a browser writes"


def check_recorded_answer(answer: RecordedAnswer, passkey: RecordedPasskey) -> str | None:
    """What is wrong with an answer, or None. The origin is the one that the answer names, for the gateway's own is not on record:
    signature, challenge, the passkey's host, touch and the person's verification are what is checked."""
    origin = read_origin(answer.assertion)
    if origin is None:
        return _NO_ANSWER
    try:
        key = _octets(passkey.public_key)
    except ValueError:
        return _NO_ANSWER
    if _spelling(key) != passkey.public_key:
        return _NO_ANSWER
    if not _is_one_key(key):
        return "the passkey's signature does not verify"
    response = cast("Mapping[str, Json]", answer.assertion["response"])
    # Whose passkey it says it is was compared when it was given; the handle is not signed, and not on record.
    assertion = {**answer.assertion, "response": {**response, "userHandle": None}}
    known = Passkey(
        id=_octets(passkey.credential_id),
        principal_id=passkey.person_id,
        public_key=key,
        sign_count=0,
        backup_eligible=passkey.backup_eligible,
        backed_up=False,
        user_handle=b"",
        transports=(),
        name="",
        created_at=0,
    )
    verifier = WebAuthnVerifier(rp_id=urlsplit(origin).hostname or "", rp_name="", origin=origin)
    try:
        verifier.verify_assertion(assertion, challenge=answer.challenge, passkey=known, user_verification=answer.verified_person)
    except Refused as refusal:
        return refusal.message
    return None


def read_origin(assertion: Mapping[str, Json]) -> str | None:
    """Where an answer says that it was given, such as `https://console.example.com`; None for what no browser writes."""
    try:
        client_data = parse(_octets(assertion["response"]["clientDataJSON"]))
        origin = client_data["origin"]
        urlsplit(origin)
    except (KeyError, TypeError, ValueError, AttributeError, MalformedJson):
        return None
    return cast("str", origin)


def _octets(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _spelling(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _is_one_key(octets: bytes) -> bool:
    """Whether it is a COSE key and nothing after it: the library that verifies the signature reads no further than that."""
    stream = io.BytesIO(octets)
    try:
        cbor2.load(stream)
    except cbor2.CBORDecodeError:
        return False
    return not stream.read()
