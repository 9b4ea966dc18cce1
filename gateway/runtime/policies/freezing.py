"""Whether everything is forbidden, whatever the policy says: what the host's shell can do at once, and a passkey can end.

In force before it is on record: where the record cannot be written, everything stays forbidden all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gateway.core.canonical import Json, canonical_bytes
from gateway.core.errors import LedgerUnavailable, Refused
from gateway.core.ledger import PolicyFrozen, PolicyThawed
from gateway.core.times import rfc3339
from gateway.runtime.freeze_state import FreezeState
from gateway.runtime.grant_review import GrantReview
from gateway.runtime.policies.proposals import require_reason
from gateway.runtime.policies.signatures import PolicySignatures
from gateway.runtime.ports import Clock, ConsoleSession, Entropy, Ledger, PolicyFreeze, RecoveryRecords

THAW_SECONDS: Final = 120.0
"""How long the passkey's question is open."""


class PolicyFreezing:
    """Freezes and thaws."""

    def __init__(
        self,
        state: FreezeState,
        *,
        signatures: PolicySignatures,
        ledger: Ledger,
        records: RecoveryRecords,
        clock: Clock,
        entropy: Entropy,
        review: GrantReview,
        on_frozen: Callable[[], None],
        on_changed: Callable[[], None],
    ) -> None:
        """`review` ends grants; `on_frozen` ends at once what else was allowed before; `on_changed` tells whoever looks."""
        self._review = review
        self._state = state
        self._signatures = signatures
        self._ledger = ledger
        self._records = records
        self._clock = clock
        self._entropy = entropy
        self._on_frozen = on_frozen
        self._on_changed = on_changed
        self._asked: dict[str, tuple[bytes, float]] = {}
        self._unrecorded: str | None = None
        self._thawing: str | None = None

    @property
    def holding(self) -> PolicyFreeze | None:
        """The freeze that holds."""
        return self._state.holding

    async def restore(self) -> None:
        """Take up the freeze that the record says holds. Before anything is decided."""
        self._state.holding = self._state.holding or await self._records.open_freeze()

    async def freeze(self, why: str, by: str | None = None) -> PolicyFreeze:
        """Forbid everything from now on; where that holds already, nothing changes. Raises Refused for a reason that is none,
        LedgerUnavailable once it holds: then a restart would end it, unless it is asked for once more."""
        why = require_reason(why)
        holding = self._state.holding
        if holding is not None and holding.id not in (self._unrecorded, self._thawing):
            return holding
        frozen = PolicyFreeze(self._entropy.identifier("frz_"), self._clock.now(), why)
        self._unrecorded, self._state.holding = frozen.id, frozen
        self._on_frozen()
        self._on_changed()
        try:
            await self._ledger.append(PolicyFrozen(frozen.at, by, frozen.id, why), *await self._review.end_refused())
        except LedgerUnavailable as error:
            message = f"everything is forbidden from now on, until a restart; {error.message}; freeze it once more then"
            raise LedgerUnavailable(message) from None
        self._unrecorded = None
        return frozen

    async def thaw_options(self, console: ConsoleSession) -> tuple[PolicyFreeze, bytes, Mapping[str, Json]]:
        """The freeze, what a passkey has to sign to end it, and the passkey's question. Raises Refused `notFrozen`."""
        frozen = self._require()
        statement = canonical_bytes(
            {
                "v": 1,
                "type": "countersign.policy-thaw",
                "freezeId": frozen.id,
                "nonce": self._entropy.secret(),
                "principal": console.principal.id,
                "consoleSessionId": console.id,
                "issuedAt": rfc3339(self._clock.now()),
            }
        )
        options = await self._signatures.options(console, statement)
        now = self._clock.monotonic()
        self._asked = {id_: each for id_, each in self._asked.items() if each[1] > now}
        self._asked[console.id] = (statement, now + THAW_SECONDS)
        return frozen, statement, options

    async def thaw(self, console: ConsoleSession, assertion: Mapping[str, Json]) -> None:
        """End it. Raises Refused `notFrozen`, `challengeExpired` or `assertionInvalid`."""
        frozen = self._require()
        statement, until = self._asked.pop(console.id, (b"", 0.0))
        if self._clock.monotonic() >= until:
            raise Refused("challengeExpired", "this question was answered already or has run out; start again", 410)
        signed = await self._signatures.verify(console, statement, assertion, frozen.id)
        recorded = () if frozen.id != self._unrecorded else (PolicyFrozen(frozen.at, None, frozen.id, frozen.why),)
        thawed = PolicyThawed(self._clock.now(), frozen.id, statement, signed.signature)
        self._thawing = frozen.id
        try:
            await self._ledger.append(*recorded, thawed, signed.used)
        finally:
            self._thawing = None
        # A freeze that came meanwhile is another one, and holds.
        if self._state.holding is frozen:
            self._state.holding = None
        self._on_changed()

    def _require(self) -> PolicyFreeze:
        if self._state.holding is None:
            raise Refused("notFrozen", "the policy is not frozen", 409)
        return self._state.holding
