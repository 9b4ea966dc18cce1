"""Versions that wait for signatures, in the memory of this process: a restart forgets them, and nothing of them was in force."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.core.canonical import Json, canonical_bytes, digest
from gateway.core.errors import NotFound, Refused
from gateway.core.times import rfc3339
from gateway.runtime.policies.signatures import Signed
from gateway.runtime.ports import CaseReport, Clock, Entropy, PolicyComparison, PolicyDraft, PolicyFault

PROPOSAL_SECONDS: Final = 24 * 3600
"""How long signatures may take: a second operator may be asleep."""

MOST_PROPOSALS: Final = 32

MOST_REASON: Final = 1000
"""Characters of the sentence that says why."""

FAILURES: Final = 5
"""Wrong signatures until a proposal is withdrawn."""


@dataclass(slots=True)
class PolicyProposal:
    """A version that waits. `author_id` is who wrote it, None for the command line; `statement` the canonical bytes that each
    passkey signs; `needed` how many operators have to."""

    id: str
    author_id: str | None
    author: str
    draft: PolicyDraft
    cases: Mapping[str, str]
    base: PolicyDraft
    reason: str
    comparison: PolicyComparison
    statement: bytes
    made_at: int
    expires_at: int
    deadline: float
    needed: int
    signed: list[Signed] = field(default_factory=list[Signed])
    failures: int = 0

    @property
    def signers(self) -> Sequence[str]:
        """Who has signed, in order."""
        return [each.signature.principal_id for each in self.signed]


@dataclass(frozen=True, slots=True)
class Signable:
    """A proposal before one operator: what their passkey would be asked, None where their signature would add nothing.

    `forbids_signer`: under the draft this person could call nothing of what they may call now.
    """

    proposal: PolicyProposal
    options: Mapping[str, Json] | None
    forbids_signer: bool


@dataclass(frozen=True, slots=True)
class ProposalAnswer:
    """What became of a draft that somebody wants in force: a proposal, or the first thing that stands against it.

    `faults` may hold warnings beside a proposal; `report` is None where the draft does not load; `conflict` is the version
    that came into force since the draft was begun.
    """

    proposal: Signable | None = None
    faults: Sequence[PolicyFault] = ()
    report: CaseReport | None = None
    conflict: PolicyDraft | None = None
    unchanged: bool = False
    draft: PolicyDraft | None = None


def compose_statement(
    proposal_id: str,
    nonce: str,
    draft: PolicyDraft,
    base: PolicyDraft,
    cases: Mapping[str, str],
    reason: str,
    needed: int,
    now: int,
) -> bytes:
    """The canonical bytes of what is signed."""
    return canonical_bytes(
        {
            "v": 1,
            "type": "countersign.policy-version",
            "proposalId": proposal_id,
            "nonce": nonce,
            "policyVersion": draft.version,
            "basePolicyVersion": base.version,
            "casesDigest": digest(dict(cases)),
            "reason": reason,
            "signatures": needed,
            "issuedAt": rfc3339(now),
            "expiresAt": rfc3339(now + PROPOSAL_SECONDS * 1000),
        }
    )


def require_reason(reason: str) -> str:
    """A sentence for the record. Raises Refused `reason`."""
    told = reason.strip()
    if not 0 < len(told) <= MOST_REASON or not told.replace("\n", " ").isprintable():
        raise Refused("reason", f"say why in 1 to {MOST_REASON} printable characters", 400)
    return told


class Proposals:
    """Those that wait."""

    def __init__(self, *, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy
        self._waiting: OrderedDict[str, PolicyProposal] = OrderedDict()

    def add(
        self,
        *,
        author_id: str | None,
        author: str,
        draft: PolicyDraft,
        cases: Mapping[str, str],
        base: PolicyDraft,
        reason: str,
        comparison: PolicyComparison,
        needed: int,
    ) -> PolicyProposal:
        """A new one. Raises Refused `tooManyProposals`: an older one is never pushed out by a newer."""
        self._drop_expired()
        if len(self._waiting) >= MOST_PROPOSALS:
            raise Refused("tooManyProposals", "too many policy versions wait for signatures; withdraw one", 409)
        now, proposal_id = self._clock.now(), self._entropy.identifier("pol_")
        statement = compose_statement(proposal_id, self._entropy.secret(), draft, base, cases, reason, needed, now)
        proposal = PolicyProposal(
            id=proposal_id,
            author_id=author_id,
            author=author,
            draft=draft,
            cases=cases,
            base=base,
            reason=reason,
            comparison=comparison,
            statement=statement,
            made_at=now,
            expires_at=now + PROPOSAL_SECONDS * 1000,
            deadline=self._clock.monotonic() + PROPOSAL_SECONDS,
            needed=needed,
        )
        self._waiting[proposal_id] = proposal
        return proposal

    def find(self, proposal_id: str) -> PolicyProposal:
        """Raises NotFound for one that never was, is decided or has run out."""
        self._drop_expired()
        proposal = self._waiting.get(proposal_id)
        if proposal is None:
            raise NotFound("no such policy version waits for signatures")
        return proposal

    def list(self) -> Sequence[PolicyProposal]:
        """Oldest first."""
        self._drop_expired()
        return list(self._waiting.values())

    def drop(self, proposal_id: str) -> None:
        """It waits no longer."""
        self._waiting.pop(proposal_id, None)

    def _drop_expired(self) -> None:
        now = self._clock.monotonic()
        for proposal in [each for each in self._waiting.values() if now >= each.deadline]:
            del self._waiting[proposal.id]
