"""Who approved what takes several people, as the tables keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, delete, func, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, insertion, insertion_once
from gateway.core.ledger.approvals import ApprovalGiven, ApprovalResolved
from gateway.core.quorum import GivenApproval
from gateway.core.vocabulary import ApprovalStatus

# ── writing ──

GIVE_ANSWER = insertion(t.approval_answers)
NOTE_ANSWER = insertion_once(t.approval_answers, "approval_id", "principal_id")
_waiting = select(t.approvals.c.id).where(t.approvals.c.status == ApprovalStatus.PENDING.value)
VOID_ANSWERS_OF_PERSON = Statement(
    delete(t.approval_answers).where(
        t.approval_answers.c.principal_id == given("principal_id"), t.approval_answers.c.approval_id.in_(_waiting)
    )
)
VOID_ANSWERS_OF_PASSKEY = Statement(
    delete(t.approval_answers).where(
        t.approval_answers.c.principal_id == given("principal_id"),
        t.approval_answers.c.credential_id == given("credential_id"),
        t.approval_answers.c.approval_id.in_(_waiting),
    )
)


def approvals_of_others(approval_id: Column[Any], approver: str) -> ColumnElement[int]:
    """How many people besides that one have approved: a part of a statement, with `approver` as the parameter's name."""
    others = t.approval_answers.c.approval_id == approval_id, t.approval_answers.c.principal_id != given(approver)
    return select(func.count()).select_from(t.approval_answers).where(*others).scalar_subquery()


def void_answers_of(principal_id: str, credential_id: bytes | None = None) -> Change:
    """What somebody approved, of questions that still wait, counts no more: all of it, or what one of their passkeys gave."""
    if credential_id is None:
        return Change(VOID_ANSWERS_OF_PERSON, {"of_principal_id": principal_id})
    return Change(VOID_ANSWERS_OF_PASSKEY, {"of_principal_id": principal_id, "of_credential_id": credential_id})


def answer_row(entry: ApprovalGiven | ApprovalResolved) -> dict[str, Any]:
    """The row of a yes that a passkey gave."""
    return {
        "approval_id": entry.approval_id,
        "principal_id": entry.approver_id,
        "credential_id": entry.credential_id,
        "at": entry.at,
    }


# ── reading ──


@stored("answer", "principal_id")
def _read_answer(row: ARow) -> tuple[str, GivenApproval]:
    return row.approval_id, GivenApproval(row.principal_id, row.credential_id, row.at, row.name or "")


class ApprovalAnswerReader(Reader):
    """Who approved."""

    async def answers(self, approval_ids: Sequence[str]) -> Mapping[str, Sequence[GivenApproval]]:
        query = (
            select(t.approval_answers, t.principals.c.name)
            .outerjoin(t.principals, t.principals.c.id == t.approval_answers.c.principal_id)
            .where(t.approval_answers.c.approval_id.in_(approval_ids))
            .order_by(t.approval_answers.c.at, t.approval_answers.c.principal_id)
        )
        answers: dict[str, list[GivenApproval]] = {}
        for approval_id, answer in await self._list(query, _read_answer):
            answers.setdefault(approval_id, []).append(answer)
        return answers
