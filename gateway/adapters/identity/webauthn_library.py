"""py_webauthn for one relying party, as `passkeys` uses it. What it does not check is checked there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import webauthn
from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
from webauthn.helpers import options_to_json_dict, parse_attestation_object
from webauthn.helpers.structs import (
    AttestationObject,
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)
from webauthn.registration.verify_registration_response import VerifiedRegistration

from gateway.core.canonical import Json
from gateway.core.ledger import Passkey

CEREMONY_MILLISECONDS: Final = 120_000
"""How long the browser may ask the person; no longer than a challenge is valid."""


class WebAuthnLibrary:
    """The library's calls. They raise types of its own and of others'."""

    def __init__(self, *, rp_id: str, rp_name: str, origin: str) -> None:
        self._rp_id = rp_id
        self._rp_name = rp_name
        self._origin = origin

    def registration_options(
        self, *, challenge: bytes, user_handle: bytes, user_name: str, exclude: Sequence[Passkey]
    ) -> dict[str, Json]:
        """PublicKeyCredentialCreationOptionsJSON for a discoverable credential with user verification."""
        options = webauthn.generate_registration_options(
            rp_id=self._rp_id,
            rp_name=self._rp_name,
            user_id=user_handle,
            user_name=user_name,
            challenge=challenge,
            timeout=CEREMONY_MILLISECONDS,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
            ),
            exclude_credentials=[_descriptor(passkey) for passkey in exclude],
        )
        return options_to_json_dict(options)

    def assertion_options(self, *, challenge: bytes, allow: Sequence[Passkey], user_verification: bool) -> dict[str, Json]:
        """PublicKeyCredentialRequestOptionsJSON."""
        wanted = UserVerificationRequirement.REQUIRED if user_verification else UserVerificationRequirement.DISCOURAGED
        options = webauthn.generate_authentication_options(
            rp_id=self._rp_id,
            challenge=challenge,
            timeout=CEREMONY_MILLISECONDS,
            allow_credentials=[_descriptor(passkey) for passkey in allow],
            user_verification=wanted,
        )
        return options_to_json_dict(options)

    def read_attestation(self, attested: bytes) -> AttestationObject:
        """An attestation object as it was sent, not verified."""
        return parse_attestation_object(attested)

    def verify_registration(self, credential: Mapping[str, Json], *, challenge: bytes) -> VerifiedRegistration:
        """A registration, user verified."""
        return webauthn.verify_registration_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=self._rp_id,
            expected_origin=self._origin,
            require_user_verification=True,
        )

    def verify_assertion(
        self, credential: Mapping[str, Json], *, challenge: bytes, passkey: Passkey, user_verification: bool
    ) -> VerifiedAuthentication:
        """An assertion of that passkey, its signature included."""
        return webauthn.verify_authentication_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=self._rp_id,
            expected_origin=self._origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=user_verification,
        )


def _descriptor(passkey: Passkey) -> PublicKeyCredentialDescriptor:
    known = {transport.value: transport for transport in AuthenticatorTransport}
    return PublicKeyCredentialDescriptor(
        id=passkey.id, transports=[known[name] for name in passkey.transports if name in known] or None
    )
