"""One answer to several questions: to those of a plan that wait for this person, in the order in which their calls run.

What is answered is always all of them, as they stand at that moment. A list that is shorter, longer or in another order was not
what the console showed last, and is refused before anything of it counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from gateway.core.approval import Approval
from gateway.core.canonical import Json
from gateway.core.errors import IllegalStep, Refused
from gateway.core.gate import Refuse
from gateway.core.ledger import ApprovalGiven, AssertionRefused, PasskeyUsed
from gateway.core.plans import PlanAnswer, compose_plan
from gateway.core.quorum import GivenApproval, Quorum
from gateway.core.vocabulary import ApprovalStatus, ApproverStanding, Outcome, Reason
from gateway.runtime.approvals.approvals import SingleApprovals
from gateway.runtime.approvals.audience import is_for, is_operator
from gateway.runtime.approvals.entries import approve_with, give, resolve_by
from gateway.runtime.approvals.pending import Approved, Pending, StepUpFailed
from gateway.runtime.approvals.slots import plan_of, step_of
from gateway.runtime.ports import ConsoleSession


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A question of a plan. `covered`: this person's answer to the plan is one to it."""

    approval_id: str
    covered: bool


@dataclass(frozen=True, slots=True)
class _Signed:
    """A passkey's answer to a plan that holds; None where a click is enough."""

    used: PasskeyUsed
    assertion: Mapping[str, Json]


class Approvals(SingleApprovals):
    """Every approval that is pending in this process, and the answers to them, one by one or a plan at once."""

    def find_plan(self, console: ConsoleSession, approval_id: str) -> Sequence[PlanPart]:
        """What still waits of a question's plan and is for this person, in order. Raises NotFound."""
        parts = self._open_parts(self._find(console, approval_id))
        return [PlanPart(each.approval.id, self._is_covered(console, each)) for each in parts if self._is_for(console, each)]

    async def plan_options(self, console: ConsoleSession, approval_ids: Sequence[str]) -> Mapping[str, Json] | None:
        """WebAuthn request options over the digest of these statements' list; None where no part needs a passkey. Raises
        NotFound, and Refused `noCredential`."""
        parts = [self._find(console, approval_id).approval for approval_id in approval_ids]
        if not any(part.needs_passkey for part in parts):
            return None
        plan = compose_plan([part.statement_digest for part in parts])
        return await self._answers.options_over(console, plan, user_verification=any(part.needs_verification for part in parts))

    async def decide_plan(
        self, console: ConsoleSession, answered: Sequence[tuple[str, str]], *, assertion: Mapping[str, Json] | None = None
    ) -> Sequence[Approval]:
        """Approve all that waits for this person of a plan: each part by its id and its challenge, in order. Raises NotFound, or
        Refused with what to do; returns once the first part is durable. The others go on record as their calls begin."""
        parts = [self._find(console, approval_id) for approval_id, _ in answered]
        # Before any lock is taken: twice the same question would wait for itself.
        self._require_whole(console, parts)
        async with AsyncExitStack() as locks:
            for pending in parts:
                await locks.enter_async_context(pending.answering)
            for pending in parts:
                await self._recount(pending)
            for pending in parts:
                self._require_open(pending)
            self._require_whole(console, parts)
            needs_passkey = any(pending.approval.needs_passkey for pending in parts)
            if needs_passkey and assertion is None:
                raise Refused("assertionMissing", "these approvals need your passkey", 409)
            shown = [(pending.approval, challenge) for pending, (_, challenge) in zip(parts, answered, strict=True)]
            self._challenges.spend_all(shown, console)
            # From here on no other answer comes in between, and whoever still tries is told so.
            for pending in parts:
                pending.taken = True
            try:
                signed = await self._verify_plan(parts, console, assertion) if needs_passkey and assertion is not None else None
                answers = [self._compose_answer(parts, index, console, signed) for index in range(len(parts))]
                return await self._answer_all(parts, answers, signed)
            except BaseException:
                for pending in parts:
                    pending.taken = pending.answered.done()
                raise

    async def find_lapse(self, pending: Pending, answer: Approved) -> Refuse | None:
        """Why a yes that waited for an earlier call no longer counts: its passkey was taken away, or its person is not who they
        were."""
        resolved = answer.resolved
        at_once = answer.used is not None and not pending.approval.answered
        if at_once or resolved.credential_id is None:
            return None
        passkey = await self._records.passkey(resolved.credential_id)
        kept = passkey is not None and passkey.principal_id == resolved.approver_id
        if kept and pending.approval.needs.shared and not resolved.alone:
            people = await self._records.principals()
            person = next((each for each in people if each.id == resolved.approver_id and not each.suspended), None)
            quorum = (await self._recount(pending)).quorum
            kept = (
                person is not None
                and quorum.standing(person.id, operator=is_operator(person)) is ApproverStanding.MAY_APPROVE
                and quorum.missing <= 1
            )
        if kept:
            return None
        return Refuse(Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID, "the passkey's answer no longer holds; nothing ran")

    # ── inside ──

    def _open_parts(self, asked: Pending) -> Sequence[Pending]:
        """The questions of a plan that nobody has answered for good, in order."""
        whole = plan_of(asked.approval)
        parts = [each for each in self._pending.values() if not each.taken and plan_of(each.approval) == whole]
        return sorted(parts, key=lambda each: step_of(each.approval))

    def _is_for(self, console: ConsoleSession, pending: Pending) -> bool:
        return is_for(pending.approval, console.principal.id, operator=is_operator(console.principal))

    def _is_covered(self, console: ConsoleSession, pending: Pending) -> bool:
        return self._is_for(console, pending) and self._standing(pending, console, approve=True) is ApproverStanding.MAY_APPROVE

    def _require_whole(self, console: ConsoleSession, parts: Sequence[Pending]) -> None:
        expected = [each for each in self._open_parts(parts[0]) if self._is_covered(console, each)] if parts else []
        if len(parts) < 2 or list(parts) != expected:
            raise Refused("planChanged", "these are not the questions that wait now, in their order; look at them again", 409)

    async def _verify_plan(self, parts: Sequence[Pending], console: ConsoleSession, assertion: Mapping[str, Json]) -> _Signed:
        """The use of a passkey that signed the list of these statements. Anything else ends every call of it."""
        signed = compose_plan([pending.approval.statement_digest for pending in parts])
        verified = any(pending.approval.needs_verification for pending in parts)
        try:
            used = await self._answers.verify(console, assertion, signed, user_verification=verified)
        except Refused as refusal:
            # The first call ends with it, and with that whatever follows: one answer that counts for nothing is one denial.
            approval, now = parts[0].approval, self._clock.now()
            about = approval.id, approval.call_id, approval.conversation_id
            refused = AssertionRefused(now, *about, console.principal.id, refusal.reason)
            failed = resolve_by(approval, console, ApprovalStatus.DENIED, now, detail=refusal.reason)
            if not parts[0].answered.done():
                self._hand_over(parts[0], StepUpFailed(failed, refused))
            raise Refused("assertionInvalid", refusal.message, 403) from None
        for pending in parts:
            self._require_time(pending)
        return _Signed(used, assertion)

    def _compose_answer(
        self, parts: Sequence[Pending], index: int, console: ConsoleSession, signed: _Signed | None
    ) -> Approved | ApprovalGiven:
        """The yes to one part. The use of the passkey goes on record once, with the first."""
        approval = parts[index].approval
        plan = PlanAnswer(tuple(pending.approval.statement_digest for pending in parts), index)
        if signed is None:
            resolved = resolve_by(approval, console, ApprovalStatus.APPROVED, self._clock.now(), plan=plan)
            return Approved(resolved, None, None)
        if approval.needs.shared and not self._with(approval, console, signed.used).is_met:
            return give(approval, console, signed.used, signed.assertion, plan=plan)
        return Approved(approve_with(approval, console, signed.used, signed.assertion, plan=plan), None, None)

    def _with(self, approval: Approval, console: ConsoleSession, used: PasskeyUsed) -> Quorum:
        person = console.principal
        given = GivenApproval(person.id, used.credential_id, used.at, person.name)
        return approval.quorum.approve(given, approval.statement_digest, operator=is_operator(person))

    async def _answer_all(
        self, parts: Sequence[Pending], answers: Sequence[Approved | ApprovalGiven], signed: _Signed | None
    ) -> Sequence[Approval]:
        given = [answer for answer in answers if isinstance(answer, ApprovalGiven)]
        used = None if signed is None else signed.used
        if given and used is not None:
            try:
                await self._ledger.append(used, *given)
            except IllegalStep:
                raise Refused("noLongerOpen", "one of these approvals is no longer open; nothing ran", 409) from None
            used = None
        final: list[tuple[Pending, Approved]] = []
        for pending, answer in zip(parts, answers, strict=True):
            if isinstance(answer, ApprovalGiven):
                assert signed is not None, "nobody gives one of several approvals without a passkey"
                pending.taken = False
                await self._recount(pending)
                continue
            final.append((pending, replace(answer, used=used)))
            used = None
        # All of them before anything runs. What was withdrawn meanwhile is told by its own notice.
        for pending, answer in final:
            if not pending.answered.done():
                self._hand_over(pending, answer)
        decided: dict[str, Approval] = {}
        for pending, answer in final:
            try:
                decided[pending.approval.id] = (await self._conclude(pending, answer)).approval
            except Refused:
                if not decided:
                    raise
                # Withdrawn in the same breath. An earlier call runs, so to be told that nothing ran would be wrong.
                decided[pending.approval.id] = replace(pending.approval, status=ApprovalStatus.CANCELLED)
        return [decided.get(pending.approval.id, pending.approval) for pending in parts]
