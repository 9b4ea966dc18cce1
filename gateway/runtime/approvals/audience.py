"""Whom an approval is for: who may answer it, whose consoles hear of it, and whether there are people enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from gateway.core.approval import Approval
from gateway.core.errors import NotFound, Refused
from gateway.core.gate import Refuse
from gateway.core.model import Principal
from gateway.core.quorum import Needs, find_standing, may_break_glass
from gateway.core.vocabulary import ACTING, ApprovalStatus, ApproverStanding, Outcome, Profile, Reason
from gateway.runtime.approvals.pending import Pending
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.notices import (
    ApprovalChangedNotice,
    ApprovalRequestedNotice,
    ApprovalResolvedNotice,
    BreakGlassNotice,
)
from gateway.runtime.ports import ApprovalRecords


def is_operator(person: Principal) -> bool:
    """Whether a person is an operator."""
    return person.profile is Profile.OPERATOR


def is_for(approval: Approval, person_id: str, *, operator: bool) -> bool:
    """Whether a person may see an approval: it is their call, or they may answer it."""
    if person_id == approval.principal_id:
        return True
    standing = find_standing(approval.needs, approval.principal_id, person_id, operator=operator)
    return standing is ApproverStanding.MAY_APPROVE or may_break_glass(approval.needs, operator=operator)


def refuse_answer(closed: Approval) -> Refused:
    """What whoever answers an approval that waits no longer is told."""
    match closed.status:
        case ApprovalStatus.APPROVED | ApprovalStatus.DENIED:
            return Refused("alreadyDecided", "this approval was answered already", 409)
        case ApprovalStatus.EXPIRED:
            return Refused("approvalExpired", "this approval has expired; nothing ran", 410)
        case ApprovalStatus.CANCELLED | ApprovalStatus.PENDING:
            # Pending on record alone: how it ended is being recorded.
            return Refused("noLongerOpen", "this approval is no longer open; nothing ran", 409)
        case _:
            assert_never(closed.status)


class Audience:
    """Finds the people of an approval, and tells them."""

    def __init__(self, records: ApprovalRecords, connections: ConnectionRegistry) -> None:
        self._records = records
        self._connections = connections
        self.on_asked: Callable[[Approval], None] = _tell_nobody_else

    def tell(self, pending: Pending, notice: ApprovalRequestedNotice | ApprovalChangedNotice | ApprovalResolvedNotice) -> None:
        """Tell the asking session, and every console of a person whom the approval is for. The session is told no names."""
        approval = pending.approval
        match notice:
            case ApprovalRequestedNotice(shown):
                self._connections.notify(approval.session_id, ApprovalRequestedNotice(shown.without_names()))
                self.on_asked(shown)
            case ApprovalChangedNotice(shown):
                self._connections.notify(approval.session_id, ApprovalChangedNotice(shown.without_names()))
            case ApprovalResolvedNotice():
                self._connections.notify(approval.session_id, notice)
        if approval.needs.shared:
            self._connections.notify_consoles(
                lambda console: is_for(approval, console.principal_id, operator=console.is_operator), notice
            )
        else:
            self._connections.notify_console(approval.principal_id, notice)

    def warn(self, warning: BreakGlassNotice) -> None:
        """Tell every operator that somebody broke the glass."""
        self._connections.notify_operators(warning)

    async def find_closed(self, approval_id: str, person: Principal) -> Approval:
        """An approval that waits no longer, as it is on record. Raises NotFound, also where it is not this person's."""
        closed = await self._records.approval(approval_id)
        if closed is None or not is_for(closed, person.id, operator=is_operator(person)):
            raise NotFound("unknown approval")
        return closed

    async def find_lack(self, needs: Needs, requester: Principal) -> Refuse | None:
        """Whether too few people could approve, with a passkey each, so that nobody is asked."""
        if not needs.shared:
            return None if await self._records.passkeys(requester.id) else _refuse("no passkey is registered for this account")
        people = await self._records.principals()
        # An auditor answers nothing, whoever names them.
        acting = [each for each in people if not each.suspended and each.profile in ACTING]
        able = [each for each in acting if await self._records.passkeys(each.id)]
        if any(may_break_glass(needs, operator=is_operator(each)) for each in able):
            return None
        eligible = _eligible(needs, requester, able)
        if len(eligible) >= needs.approvers:
            return None
        there = f"{len(eligible)} of those who may approve it have one"
        return _refuse(f"this takes {needs.approvers} people with a passkey each, and {there}")


def _eligible(needs: Needs, requester: Principal, people: Sequence[Principal]) -> Sequence[Principal]:
    def may(person: Principal) -> bool:
        return find_standing(needs, requester.id, person.id, operator=is_operator(person)) is ApproverStanding.MAY_APPROVE

    return [person for person in people if may(person)]


def _refuse(message: str) -> Refuse:
    return Refuse(Outcome.STEP_UP_FAILED, Reason.NO_CREDENTIAL, message)


def _tell_nobody_else(_approval: Approval) -> None:
    """Consoles that are open hear of it in any case."""
