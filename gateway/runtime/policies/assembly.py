"""What changes the policy of a running gateway, put together."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.runtime.gateway import Gateway
from gateway.runtime.notices import PolicyStateNotice
from gateway.runtime.policies.freezing import PolicyFreezing
from gateway.runtime.policies.publishing import PolicyPublishing, PolicySource
from gateway.runtime.policies.shadowing import OpenReading, PolicyShadow
from gateway.runtime.policies.signatures import PolicySignatures
from gateway.runtime.ports import PasskeyVerifier, PolicyWorkshop


@dataclass(frozen=True, slots=True)
class Policies:
    """Publishing, freezing, and a candidate in shadow. `complaint` says why the policy in force is not the newest one on record,
    if it is not."""

    publishing: PolicyPublishing
    freezing: PolicyFreezing
    shadow: PolicyShadow
    complaint: str | None

    async def start(self) -> None:
        """Take up the candidate and the freeze on record, and freeze where the newest policy could not be used: an earlier one
        may allow more. Before anything is decided."""
        await self.shadow.restore()
        await self.freezing.restore()
        if self.complaint is not None:
            await self.freezing.freeze(self.complaint)


def assemble_policies(
    gateway: Gateway,
    workshop: PolicyWorkshop,
    source: PolicySource,
    verifier: PasskeyVerifier,
    open_reading: OpenReading,
    complaint: str | None = None,
) -> Policies:
    """Build them. Starts nothing. `open_reading` reads the log for a candidate in shadow."""
    ports = gateway.ports
    signatures = PolicySignatures(verifier=verifier, ledger=ports.ledger, records=ports.records, clock=ports.clock)

    def tell() -> None:
        notice = PolicyStateNotice(gateway.freeze.holding, len(publishing.proposals()))
        gateway.connections.notify_operators(notice)

    publishing = PolicyPublishing(gateway, workshop, source, signatures=signatures, records=ports.records, on_changed=tell)
    freezing = PolicyFreezing(
        gateway.freeze,
        signatures=signatures,
        ledger=ports.ledger,
        records=ports.records,
        clock=ports.clock,
        entropy=ports.entropy,
        review=gateway.grant_review,
        on_frozen=lambda: gateway.void_what_was_allowed("policyFrozen"),
        on_changed=tell,
    )
    shadow = PolicyShadow(
        workshop,
        open_reading,
        ledger=ports.ledger,
        records=ports.records,
        clock=ports.clock,
        entropy=ports.entropy,
        on_changed=tell,
    )
    return Policies(publishing, freezing, shadow, complaint)
