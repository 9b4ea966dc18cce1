"""Passkeys over statements about the policy and the settings: what is shown is what is signed, one answer for one statement."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.core.canonical import Json
from gateway.core.errors import Refused
from gateway.core.ledger import Entry, Passkey, PasskeyUsed, PolicySignature, PolicySignatureRefused
from gateway.runtime.ports import Clock, ConsoleSession, Ledger, PasskeyVerifier, PeopleRecords


def challenge_of(statement: bytes) -> bytes:
    """What a passkey signs: SHA-256 of the canonical statement."""
    return hashlib.sha256(statement).digest()


@dataclass(frozen=True, slots=True)
class Signed:
    """A signature that verified, with what the passkey's own record is to become."""

    signature: PolicySignature
    used: PasskeyUsed


class PolicySignatures:
    """Asks for signatures of operators and checks them, user verified."""

    def __init__(self, *, verifier: PasskeyVerifier, ledger: Ledger, records: PeopleRecords, clock: Clock) -> None:
        self._verifier = verifier
        self._ledger = ledger
        self._records = records
        self._clock = clock

    async def options(self, console: ConsoleSession, statement: bytes) -> Mapping[str, Json]:
        """PublicKeyCredentialRequestOptionsJSON for this person's own passkeys. Raises Refused `noCredential`."""
        passkeys = await self._records.passkeys(console.principal.id)
        if not passkeys:
            raise Refused("noCredential", "no passkey is registered for this account", 409)
        return self._verifier.assertion_options(challenge=challenge_of(statement), allow=passkeys)

    async def verify(self, console: ConsoleSession, statement: bytes, assertion: Mapping[str, Json], subject: str) -> Signed:
        """The signature that an assertion is. Raises Refused `assertionInvalid`, and then that is on record."""
        person = console.principal.id
        return await self.verify_for(
            console, statement, assertion, lambda at, reason: PolicySignatureRefused(at, person, subject, reason)
        )

    async def verify_for(
        self,
        console: ConsoleSession,
        statement: bytes,
        assertion: Mapping[str, Json],
        refused: Callable[[int, str], Entry],
    ) -> Signed:
        """The same, where a refusal is put on record as the entry that `refused` makes of its time and its reason."""
        try:
            passkey = await self._own_passkey(console, self._verifier.credential_id(assertion))
            verified = self._verifier.verify_assertion(assertion, challenge=challenge_of(statement), passkey=passkey)
        except Refused as refusal:
            await self._ledger.append(refused(self._clock.now(), refusal.reason))
            raise Refused("assertionInvalid", refusal.message, 403) from None
        return Signed(
            PolicySignature(console.principal.id, console.id, passkey.id, assertion),
            PasskeyUsed(self._clock.now(), console.principal.id, passkey.id, verified.sign_count, verified.backed_up),
        )

    async def _own_passkey(self, console: ConsoleSession, credential_id: bytes) -> Passkey:
        passkey = await self._records.passkey(credential_id)
        if passkey is None or passkey.principal_id != console.principal.id:
            raise Refused("credential", "that passkey does not belong to this account")
        return passkey
