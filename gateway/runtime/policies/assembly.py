"""What changes the policy of a running gateway, put together."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.runtime.gateway import Gateway
from gateway.runtime.notices import PolicyStateNotice
from gateway.runtime.policies.freezing import PolicyFreezing
from gateway.runtime.policies.publishing import PolicyPublishing, PolicySource
from gateway.runtime.policies.signatures import PolicySignatures
from gateway.runtime.ports import PasskeyVerifier, PolicyWorkshop


@dataclass(frozen=True, slots=True)
class Policies:
    """Publishing and freezing. `complaint` says why the policy in force is not the newest one on record, if it is not."""

    publishing: PolicyPublishing
    freezing: PolicyFreezing
    complaint: str | None

    async def start(self) -> None:
        """Take up the freeze on record, and freeze where the newest policy could not be used: an earlier one may allow more.
        Before anything is decided."""
        await self.freezing.restore()
        if self.complaint is not None:
            await self.freezing.freeze(self.complaint)


def assemble_policies(
    gateway: Gateway, workshop: PolicyWorkshop, source: PolicySource, verifier: PasskeyVerifier, complaint: str | None = None
) -> Policies:
    """Build them. Starts nothing."""
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
    return Policies(publishing, freezing, complaint)
