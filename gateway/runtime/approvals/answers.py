"""Passkeys' answers to questions: asked for, and checked over exactly the bytes that they are about."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from gateway.core.approval import Approval
from gateway.core.canonical import Json
from gateway.core.errors import Refused
from gateway.core.ledger import Passkey, PasskeyUsed
from gateway.runtime.ports import Clock, ConsoleSession, PasskeyRecords, PasskeyVerifier


class PasskeyAnswers:
    """Asks for them, and verifies them."""

    def __init__(self, *, verifier: PasskeyVerifier, records: PasskeyRecords, clock: Clock) -> None:
        self._verifier = verifier
        self._records = records
        self._clock = clock

    async def options(self, console: ConsoleSession, approval: Approval) -> Mapping[str, Json]:
        """WebAuthn request options over the statement's digest, for this person's own passkeys. Raises Refused `noCredential`."""
        return await self.options_over(console, approval.statement, user_verification=approval.needs_verification)

    async def options_over(self, console: ConsoleSession, signed: bytes, *, user_verification: bool) -> Mapping[str, Json]:
        """The same over any bytes that are to be signed."""
        passkeys = await self._records.passkeys(console.principal.id)
        if not passkeys:
            raise Refused("noCredential", "no passkey is registered for this account", 409)
        return self._verifier.assertion_options(
            challenge=hashlib.sha256(signed).digest(), allow=passkeys, user_verification=user_verification
        )

    async def verify(
        self, console: ConsoleSession, assertion: Mapping[str, Json], signed: bytes, *, user_verification: bool
    ) -> PasskeyUsed:
        """The use of a passkey of this person's that signed these bytes. Raises Refused with the reason why it did not."""
        passkey = await self._own(console, self._verifier.credential_id(assertion))
        challenge = hashlib.sha256(signed).digest()
        verified = self._verifier.verify_assertion(
            assertion, challenge=challenge, passkey=passkey, user_verification=user_verification
        )
        return PasskeyUsed(self._clock.now(), console.principal.id, passkey.id, verified.sign_count, verified.backed_up)

    async def _own(self, console: ConsoleSession, credential_id: bytes) -> Passkey:
        passkey = await self._records.passkey(credential_id)
        if passkey is None or passkey.principal_id != console.principal.id:
            raise Refused("credential", "that passkey does not belong to this account")
        return passkey
