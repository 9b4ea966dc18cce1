"""From a draft to the policy in force: examined, tried on its decision table, compared, signed, recorded, and only then enacted.

Every step that reads texts runs in a thread; what is in force is looked at again whenever one comes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, NotFound, Refused
from gateway.core.ledger import PolicyLoaded, PolicyProposed, PolicyPublished, PolicySignature
from gateway.core.model import Principal
from gateway.core.vocabulary import PermissionMode, Profile
from gateway.runtime.asking import require_asker
from gateway.runtime.gateway import Gateway
from gateway.runtime.policies.proposals import (
    FAILURES,
    PolicyProposal,
    ProposalAnswer,
    Proposals,
    Signable,
    require_reason,
)
from gateway.runtime.policies.signatures import PolicySignatures
from gateway.runtime.ports import (
    CaseReport,
    Clock,
    ConsoleSession,
    Entropy,
    Ledger,
    PeopleRecords,
    PolicyComparison,
    PolicyDraft,
    PolicyFault,
    PolicySubject,
    PolicyWorkshop,
)


class PolicySource(StrEnum):
    """Where the policy is kept, and so where it is changed."""

    FILES = "files"
    """In a folder, under version control: the gateway reads it, and offers changes as a patch."""
    DATABASE = "database"
    """In the gateway's own record, signed on the console."""


@dataclass(frozen=True, slots=True)
class SignatureAnswer:
    """What became of a signature: the version in force by it, how many more it takes, or what came into force meanwhile."""

    published: str | None = None
    missing: int = 0
    conflict: PolicyDraft | None = None


class PolicyPublishing:
    """Drafts, proposals and signatures."""

    def __init__(
        self,
        gateway: Gateway,
        workshop: PolicyWorkshop,
        source: PolicySource,
        *,
        signatures: PolicySignatures,
        records: PeopleRecords,
        on_changed: Callable[[], None],
    ) -> None:
        """`on_changed` tells whoever looks at proposals."""
        self._gateway = gateway
        self._workshop = workshop
        self.source = source
        self._signatures = signatures
        self._records = records
        self._on_changed = on_changed
        self._clock: Clock = gateway.ports.clock
        self._entropy: Entropy = gateway.ports.entropy
        self._ledger: Ledger = gateway.ports.ledger
        self._proposals = Proposals(clock=self._clock, entropy=self._entropy)

    @property
    def workshop(self) -> PolicyWorkshop:
        """Where drafts are made."""
        return self._workshop

    async def validate(
        self, documents: Mapping[str, str], cases: Mapping[str, str] | None
    ) -> tuple[PolicyDraft | None, Sequence[PolicyFault], CaseReport | None]:
        """The draft that the texts are, what is wrong with it, and its decision table; without `cases` the one in use."""
        table = self._workshop.cases() if cases is None else cases
        tools = [spec.name for spec in self._gateway.ports.toolbox.specs()]
        draft, faults = await asyncio.to_thread(self._workshop.examine, documents, table, tools)
        if draft is None:
            return None, faults, None
        return draft, faults, await asyncio.to_thread(self._workshop.run_cases, draft, table)

    async def compare(self, draft: PolicyDraft, base: PolicyDraft | None = None) -> PolicyComparison:
        """How a draft differs, from the policy in force unless another is given."""
        return await asyncio.to_thread(self._workshop.compare, base or self._workshop.active, draft)

    async def propose(
        self,
        documents: Mapping[str, str],
        cases: Mapping[str, str] | None,
        *,
        base: str,
        reason: str,
        author: ConsoleSession | None,
    ) -> ProposalAnswer:
        """Have a draft signed. `base` is the version that it was made from; `author` None for the command line.

        Raises Refused `policyInFiles` where people change files instead, `reason`, `tooManyProposals`.
        """
        reason = require_reason(reason)
        self._require_database()
        draft, faults, report = await self.validate(documents, cases)
        if draft is None or report is None or not report.holds:
            return ProposalAnswer(faults=faults, report=report, draft=draft)
        active = self._workshop.active
        if active.version != base:
            return ProposalAnswer(faults=faults, report=report, conflict=active, draft=draft)
        table = self._workshop.cases() if cases is None else cases
        if draft.version == active.version and dict(table) == dict(self._workshop.cases()):
            return ProposalAnswer(faults=faults, report=report, unchanged=True, draft=draft)
        comparison = await self.compare(draft, active)
        require_asker()
        author_id = None if author is None else author.principal.id
        proposal = self._proposals.add(
            author_id=author_id,
            author="command line" if author is None else author.principal.name,
            draft=draft,
            cases=table,
            base=active,
            reason=reason,
            comparison=comparison,
            needed=await self._count_signatures(comparison, author_id),
        )
        if author is None:
            try:
                await self._ledger.append(self._proposed(proposal))
            except GatewayError:
                self._proposals.drop(proposal.id)
                raise
        self._on_changed()
        return ProposalAnswer(await self.signable(proposal.id, author), faults, report, draft=draft)

    def proposals(self) -> Sequence[PolicyProposal]:
        """Those that wait for signatures, oldest first."""
        return self._proposals.list()

    async def signable(self, proposal_id: str, console: ConsoleSession | None) -> Signable:
        """A proposal, with what this operator's passkey would be asked. Raises NotFound."""
        proposal = self._proposals.find(proposal_id)
        if console is None or console.principal.id in proposal.signers:
            return Signable(proposal, None, forbids_signer=False)
        options = await self._signatures.options(console, proposal.statement)
        return Signable(proposal, options, forbids_signer=self._forbids(proposal, console.principal))

    async def withdraw(self, proposal_id: str) -> None:
        """Have it wait no longer. Raises NotFound."""
        self._proposals.drop(self._proposals.find(proposal_id).id)
        self._on_changed()

    async def sign(
        self, console: ConsoleSession, proposal_id: str, assertion: Mapping[str, Json], *, confirmed: bool
    ) -> SignatureAnswer:
        """Take an operator's signature, and with the last one put the version in force.

        Raises NotFound; Refused `alreadySigned`, `assertionInvalid`, or `forbidsItsAuthor` where that was not confirmed.
        """
        self._require_database()
        proposal = self._proposals.find(proposal_id)
        person = console.principal
        if person.id in proposal.signers:
            raise Refused("alreadySigned", "your signature is there; another operator has to sign", 409)
        if not confirmed and self._forbids(proposal, person):
            raise Refused("forbidsItsAuthor", "under this policy you could call nothing any more; confirm that you want it", 409)
        try:
            signed = await self._signatures.verify(console, proposal.statement, assertion, proposal.id)
        except Refused:
            proposal.failures += 1
            if proposal.failures >= FAILURES:
                self._proposals.drop(proposal.id)
                self._on_changed()
            raise
        async with self._gateway.reloading:
            # What another signature did while this one was checked counts.
            if self._proposals.find(proposal_id) is not proposal or person.id in proposal.signers:
                raise NotFound("no such policy version waits for signatures")
            active = self._workshop.active
            if active.version != proposal.base.version:
                return SignatureAnswer(conflict=active)
            await self._require_standing(proposal)
            missing = proposal.needed - len(proposal.signed) - 1
            if missing > 0:
                await self._ledger.append(self._proposed(proposal, signed.signature, person.id), signed.used)
                proposal.signed.append(signed)
                self._on_changed()
                return SignatureAnswer(missing=missing)
            signatures = (*(each.signature for each in proposal.signed), signed.signature)
            now = self._clock.now()
            published = PolicyPublished(
                now,
                signatures[0].principal_id,
                proposal.id,
                proposal.draft.version,
                proposal.base.version,
                proposal.statement,
                signatures,
                proposal.cases,
            )
            loaded = PolicyLoaded(now, proposal.draft.version, proposal.draft.documents)
            await self._gateway.activate(proposal.draft, lambda: self._enact(proposal), published, signed.used, loaded)
        return SignatureAnswer(published=proposal.draft.version)

    # ── inside ──

    def _enact(self, proposal: PolicyProposal) -> None:
        """It is on record, and waits no longer. Not before: what cannot be recorded takes nobody's signature away."""
        self._proposals.drop(proposal.id)
        self._workshop.enact(proposal.draft, proposal.cases)
        self._on_changed()

    def _require_database(self) -> None:
        if self.source is not PolicySource.DATABASE:
            raise Refused("policyInFiles", "the policy is kept in files here; change them there, for instance by the patch", 409)

    async def _count_signatures(self, comparison: PolicyComparison, author_id: str | None) -> int:
        """Two where it asks for less and another operator could sign; one in any other case."""
        if not comparison.loosens:
            return 1
        operators = [each for each in await self._records.principals() if _signs(each)]
        able = [each for each in operators if await self._records.passkeys(each.id)]
        others = [each for each in able if each.id != author_id] if author_id is not None else able[1:]
        return 2 if others else 1

    async def _require_standing(self, proposal: PolicyProposal) -> None:
        """That the proposal still says truly how many have to sign, and that who signed it still may."""
        if await self._count_signatures(proposal.comparison, proposal.author_id) > proposal.needed:
            raise Refused("needsSecondOperator", "another operator has a passkey now and has to sign too; propose it again", 409)
        for signer in proposal.signers:
            person = await self._records.principal(signer)
            if person is None or not _signs(person):
                self._proposals.drop(proposal.id)
                self._on_changed()
                raise Refused("signerGone", "who signed before is no operator any more; propose it again", 409)

    def _proposed(
        self, proposal: PolicyProposal, signature: PolicySignature | None = None, by: str | None = None
    ) -> PolicyProposed:
        return PolicyProposed(
            self._clock.now(), by, proposal.id, proposal.draft.version, proposal.base.version, proposal.statement, signature
        )

    def _forbids(self, proposal: PolicyProposal, person: Principal) -> bool:
        """Whether the draft would leave this person no tool, of those that they have one of now."""
        subject = PolicySubject(person, 0)

        def allows(policy: PolicyDraft) -> bool:
            modes = (policy.judge(subject, spec, None, taint=0, label=0).mode for spec in self._gateway.ports.toolbox.specs())
            return any(mode is not PermissionMode.FORBIDDEN for mode in modes)

        return allows(proposal.base) and not allows(proposal.draft)


def _signs(person: Principal) -> bool:
    """Whether somebody may sign a version of the policy."""
    return person.profile is Profile.OPERATOR and not person.suspended
