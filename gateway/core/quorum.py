"""Approvals that take several people: who may answer, which answers count, and when they are enough. Pure.

Every answer is one person's, over one digest. A quorum only grows by an answer that counts, only shrinks where a person lost
what their answer rested on, and one no ends it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gateway.core.canonical import Json, canonical_bytes, parse_canonical
from gateway.core.errors import Refused
from gateway.core.vocabulary import ApproverStanding

BREAK_GLASS_REASON: Final = (10, 500)
"""Characters of the reason of somebody who acts alone: enough to say something, little enough to be read."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What it takes to approve. `presence` asks for a touch of the passkey even for a consent, `verification` for one with the
    person's fingerprint, face or PIN.

    `approvers` people must approve, of `pool` where it is given (ids of people), and not the requester where
    `requester_excluded`. `lease` is how many seconds a lasting approval lasts at most, None where its scope alone says so.
    `break_glass`: an operator may do alone what needs several.
    """

    presence: bool = False
    verification: bool = False
    approvers: int = 1
    requester_excluded: bool = False
    pool: tuple[str, ...] | None = None
    lease: int | None = None
    break_glass: bool = False

    @property
    def shared(self) -> bool:
        """Whether it is for others than the requester alone. Each of them answers with a passkey."""
        return self.approvers > 1 or self.requester_excluded or self.pool is not None

    @property
    def each_time(self) -> bool:
        """Whether each call takes its own approval. An earlier one cannot prove that somebody is present now, and one person's
        lasting yes is not the yes of several."""
        return self.presence or self.shared

    def exceed(self, given: Needs) -> bool:
        """Whether an approval that needed `given` lacks something of what is needed here."""
        return (
            (self.presence and not given.presence)
            or (self.verification and not given.verification)
            or self.exceed_people_of(given)
        )

    def exceed_people_of(self, given: Needs) -> bool:
        """The same, of the people who have to approve alone."""
        return (
            self.approvers > given.approvers
            or (self.requester_excluded and not given.requester_excluded)
            or (self.pool is not None and (given.pool is None or not set(given.pool) <= set(self.pool)))
            # Who is named need not be an operator, and operators are what it takes where nobody is named.
            or (self.shared and self.pool is None and given.pool is not None)
            # An approval that one person may give alone is none that several have to give.
            or (self.shared and given.break_glass and not self.break_glass)
        )

    def described(self) -> dict[str, Json]:
        """What a statement and a record say of who has to approve."""
        return {
            "needed": self.approvers,
            "pool": None if self.pool is None else list(self.pool),
            "requesterExcluded": self.requester_excluded,
            "breakGlass": self.break_glass,
        }


def read_needs(described: dict[str, Json]) -> Needs:
    """What `described` says. Raises KeyError or TypeError for what no gateway wrote."""
    pool = described["pool"]
    return Needs(
        presence=True,
        approvers=described["needed"],
        requester_excluded=described["requesterExcluded"],
        pool=None if pool is None else tuple(pool),
        break_glass=described["breakGlass"],
    )


@dataclass(frozen=True, slots=True)
class GivenApproval:
    """One person's yes, with the passkey that gave it; `at` in epoch milliseconds. `name` is empty where it is not told."""

    principal_id: str
    credential_id: bytes
    at: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Quorum:
    """The answers to one question so far. `requester_id` is whose call it is, `digest` that of the statement that each
    answer is over."""

    needs: Needs
    requester_id: str
    digest: str
    given: tuple[GivenApproval, ...] = ()
    closed: bool = False

    @property
    def missing(self) -> int:
        """How many further people it takes."""
        return max(0, self.needs.approvers - len(self.given))

    @property
    def is_met(self) -> bool:
        """Whether the call may run on these answers."""
        return not self.closed and not self.missing

    def standing(self, person_id: str, *, operator: bool) -> ApproverStanding:
        """What a person may do about it."""
        if any(each.principal_id == person_id for each in self.given):
            return ApproverStanding.HAS_APPROVED
        return find_standing(self.needs, self.requester_id, person_id, operator=operator)

    def approve(self, given: GivenApproval, digest: str, *, operator: bool) -> Quorum:
        """With one more yes. Raises Refused `noLongerOpen`, `otherStatement`, or the standing that forbids it."""
        if self.closed or not self.missing:
            raise Refused("noLongerOpen", "this approval is no longer open; nothing ran", 409)
        if digest != self.digest:
            raise Refused("otherStatement", "that answer is about something else", 409)
        require_standing(self.standing(given.principal_id, operator=operator))
        return replace(self, given=(*self.given, given))

    def deny(self) -> Quorum:
        """Ended by a no, for good."""
        return replace(self, closed=True)

    def without(self, *, person_id: str | None = None, credential_id: bytes | None = None) -> Quorum:
        """Without the answers of a person, or of a passkey, that may no longer give any."""
        kept = tuple(each for each in self.given if each.principal_id != person_id and each.credential_id != credential_id)
        return replace(self, given=kept)


def find_standing(needs: Needs, requester_id: str, person_id: str, *, operator: bool) -> ApproverStanding:
    """Whether a person may approve: of the pool where there is one, else operators and the requester; and the requester only
    where the policy does not want somebody else."""
    if person_id == requester_id:
        if needs.requester_excluded:
            return ApproverStanding.REQUESTER_EXCLUDED
        named = needs.pool is None or person_id in needs.pool
    else:
        named = needs.shared and (operator if needs.pool is None else person_id in needs.pool)
    return ApproverStanding.MAY_APPROVE if named else ApproverStanding.NOT_AN_APPROVER


def require_standing(standing: ApproverStanding) -> None:
    """Raises Refused, with what to do, for whoever may not approve."""
    match standing:
        case ApproverStanding.MAY_APPROVE:
            return
        case ApproverStanding.HAS_APPROVED:
            message = "you have approved this already; another person has to approve it too"
        case ApproverStanding.REQUESTER_EXCLUDED:
            message = "you asked for this call, so somebody else has to approve it"
        case ApproverStanding.NOT_AN_APPROVER:
            message = "the policy names other people who may approve this"
    raise Refused(standing.value, message, 403)


def may_break_glass(needs: Needs, *, operator: bool) -> bool:
    """Whether a person may do alone what needs several."""
    return needs.shared and needs.break_glass and operator


def read_break_glass_reason(reason: str) -> str:
    """The reason as it is recorded. Raises Refused `reason`."""
    told = reason.strip()
    least, most = BREAK_GLASS_REASON
    if not least <= len(told) <= most or not told.replace("\n", " ").isprintable():
        raise Refused("reason", f"say why you act alone, in {least} to {most} printable characters", 400)
    return told


def compose_break_glass(statement: bytes, person_id: str, reason: str) -> bytes:
    """The canonical bytes that somebody who acts alone signs: the statement with who it is and why, so that no signature over
    the statement itself can be used for it."""
    return canonical_bytes({**parse_canonical(statement), "breakGlass": {"principal": person_id, "reason": reason}})
