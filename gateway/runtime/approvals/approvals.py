"""The approvals of this process: the driver asks and waits, a person answers on the console, the driver tells how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gateway.core.approval import Approval, Grant, compose_approval, grant_by
from gateway.core.canonical import Json
from gateway.core.errors import IllegalStep, NotFound, Refused
from gateway.core.gate import NeedsConsent, NeedsStepUp, Refuse
from gateway.core.ledger import ApprovalRequested, AssertionRefused, PasskeyUsed
from gateway.core.lifecycle import CallEvent
from gateway.core.quorum import (
    GivenApproval,
    compose_break_glass,
    may_break_glass,
    read_break_glass_reason,
    require_standing,
)
from gateway.core.untrusted_text import CopiedText
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, ApproverStanding, GrantScope, Outcome, PatternKind, Reason
from gateway.runtime.approvals.answers import PasskeyAnswers
from gateway.runtime.approvals.audience import Audience, is_for, is_operator, refuse_answer
from gateway.runtime.approvals.challenges import Challenges
from gateway.runtime.approvals.entries import approve_with, break_glass_entry, give, resolve_by
from gateway.runtime.approvals.pending import Approved, Decided, Denied, Pending, PersonalAnswer, StepUpFailed
from gateway.runtime.approvals.slots import QuestionSlots, plan_of
from gateway.runtime.calls import InFlightCall, cancelled_before_it_ran
from gateway.runtime.checks import CheckedCall
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.notices import ApprovalChangedNotice, ApprovalRequestedNotice, ApprovalResolvedNotice, BreakGlassNotice
from gateway.runtime.ports import (
    ApprovalRecords,
    Clock,
    ConsoleSession,
    Entropy,
    Ledger,
    OpenApproval,
    PasskeyVerifier,
    PolicyEngine,
    PolicyVerdict,
)
from gateway.runtime.timing import Timing

LISTED = 100


class SingleApprovals:
    """Every approval that is pending in this process, and the answers to them, one by one."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        records: ApprovalRecords,
        policy: PolicyEngine,
        passkeys: PasskeyVerifier,
        connections: ConnectionRegistry,
        clock: Clock,
        entropy: Entropy,
        timing: Timing,
    ) -> None:
        self._ledger = ledger
        self._records = records
        self._policy = policy
        self._answers = PasskeyAnswers(verifier=passkeys, records=records, clock=clock)
        self._audience = Audience(records, connections)
        self._clock = clock
        self._entropy = entropy
        self._timing = timing
        self._challenges = Challenges(clock=clock, entropy=entropy)
        self._pending: dict[str, Pending] = {}
        self._slots = QuestionSlots()

    def on_asked(self, tell: Callable[[Approval], None]) -> None:
        """Whom to tell of each question besides the consoles that are open."""
        self._audience.on_asked = tell

    # ── for the driver (rows 12 and 13) ──

    async def ask(
        self,
        call: InFlightCall,
        checked: CheckedCall,
        judged: PolicyVerdict,
        verdict: NeedsConsent | NeedsStepUp,
        copies: tuple[CopiedText, ...] = (),
    ) -> Pending | Refuse:
        """Put the question on record, then before the person. `copies` are what of its arguments came from untrusted results."""
        person = checked.request.principal
        asker = checked.request
        waiting = {plan_of(each.approval) for each in self._pending.values() if each.approval.session_id == asker.session_id}
        plan = asker.conversation_id, asker.call_id if asker.plan is None else asker.plan.first
        most = self._policy.limits(person.profile).pending_approvals
        with self._slots.reserve(asker.session_id, plan, waiting, most) as reserved:
            if not reserved:
                message = "too many approvals wait for an answer already"
                return Refuse(Outcome.REFUSED_BY_POLICY, Reason.QUOTA_EXCEEDED, message)
            approval = self._compose(checked, judged, verdict)
            lack = await self._audience.find_lack(approval.needs, person) if approval.needs_passkey else None
            if lack is not None:
                return replace(lack, because=verdict.because)
            asked = ApprovalRequested(approval.requested_at, checked.request, checked.snapshot, approval, copies)
            await self._ledger.append(asked)
            call.step(CallEvent.APPROVAL_REQUESTED)
            call.approval_id = approval.id
            return self.put(self.recall(OpenApproval(approval, checked.request)))

    def recall(self, recorded: OpenApproval) -> Pending:
        """A recorded approval as one that waits. Nobody sees it yet."""
        approval = recorded.approval
        left = (approval.expires_at - self._clock.now()) / 1000
        descriptor_digest = str(approval.read_statement()["descriptorDigest"])
        return Pending(approval, recorded.request, descriptor_digest, self._clock.monotonic() + left)

    def put(self, pending: Pending) -> Pending:
        """Put it before everybody who may answer: list it, and tell their consoles and the asking session."""
        self._pending[pending.approval.id] = pending
        self._audience.tell(pending, ApprovalRequestedNotice(pending.approval))
        return pending

    async def wait(self, call: InFlightCall, pending: Pending, judge: Callable[[], Refuse | None]) -> PersonalAnswer | Refuse:
        """The person's answer, or a refusal when the call was cancelled, nobody answered in time, or `judge` says that it
        could not run any more."""
        pending.judge = judge
        self._judge(pending)
        left = max(0.0, pending.deadline - self._clock.monotonic())
        await asyncio.wait({pending.answered, call.stopped}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        # From here on an answer comes too late, and whoever still tries is told so.
        pending.taken = True
        if call.stopped.done():
            return cancelled_before_it_ran(call)
        if not pending.answered.done():
            return Refuse(Outcome.TIMED_OUT, Reason.APPROVAL_EXPIRED, "nobody answered in time; nothing ran")
        return pending.answered.result()

    def judge_again(self) -> None:
        """Something that approvals rest on has changed: withdraw at once what could not run any more on an answer."""
        for pending in tuple(self._pending.values()):
            self._judge(pending)

    def _judge(self, pending: Pending) -> None:
        if pending.answered.done():
            return
        refusal = pending.judge()
        if refusal is not None:
            pending.answered.set_result(refusal)

    def settle(
        self,
        pending: Pending,
        status: ApprovalStatus,
        error: BaseException | None = None,
        *,
        grant: Grant | None = None,
        withdrawn: str | None = None,
    ) -> None:
        """The driver has recorded how the approval ended, or failed to. Wakes whoever answered and tells everybody.

        `withdrawn`: why it ended without anybody's answer.
        """
        approval = pending.approval
        self._pending.pop(approval.id, None)
        self._challenges.forget(approval)
        if not pending.recorded.done():
            if error is None:
                pending.recorded.set_result((status, grant))
            else:
                pending.recorded.set_exception(error)
                pending.recorded.exception()
        self._audience.tell(pending, ApprovalResolvedNotice(approval.id, approval.call_id, status, withdrawn))
        if status is ApprovalStatus.APPROVED and pending.warning is not None:
            self._audience.warn(pending.warning)

    def withdraw(self, approval_id: str) -> None:
        """The driver broke down: whoever answered hears of it, and nobody may answer any more."""
        pending = self._pending.get(approval_id)
        if pending is not None:
            self.settle(pending, ApprovalStatus.CANCELLED)

    # ── for the console ──

    async def list(self, principal_id: str, *, operator: bool = False) -> Sequence[Approval]:
        """Pending and decided, newest first: those of the person's calls, and those that they may answer or have approved.
        `operator`: whether they are one."""
        recorded = await self._records.approvals(principal_id, limit=LISTED)
        known = {approval.id for approval in recorded}
        # What waits is always listed, however many were asked and withdrawn since: nobody can be made to overlook it.
        waiting = [each for each in self._pending.values() if is_for(each.approval, principal_id, operator=operator)]
        counted = {pending.approval.id: await self._recount(pending) for pending in waiting}
        return [*(each for each in counted.values() if each.id not in known), *(counted.get(each.id, each) for each in recorded)]

    async def get(self, console: ConsoleSession, approval_id: str) -> tuple[Approval, Mapping[str, Json], str | None]:
        """The approval, its statement, and a fresh single-use challenge while it is pending. Raises NotFound."""
        if approval_id not in self._pending:
            closed = await self._audience.find_closed(approval_id, console.principal)
            return closed, closed.read_statement(), None
        pending = self._find(console, approval_id)
        approval = await self._recount(pending)
        return approval, approval.read_statement(), self._challenges.issue(pending, console)

    async def assertion_options(self, console: ConsoleSession, approval_id: str) -> Mapping[str, Json]:
        """WebAuthn request options over the statement's digest, for this person's own passkeys. Raises NotFound, Refused."""
        return await self._answers.options(console, self._find(console, approval_id).approval)

    async def decide(
        self,
        console: ConsoleSession,
        approval_id: str,
        *,
        challenge: str,
        approve: bool,
        scope: GrantScope,
        pins: Sequence[str] | None = None,
        within: PatternKind | None = None,
        assertion: Mapping[str, Json] | None = None,
        break_glass: str | None = None,
    ) -> Decided:
        """Take a person's answer. Raises NotFound, or Refused with what to do; returns once the answer is durable.

        `pins` names the arguments that a lasting approval holds fixed, all of them when None; `within` is what the other may
        vary in; `break_glass` is why an operator does alone what needs several. Everything that could make the answer void is
        checked before it is taken, and `taken` is set without a wait in between: of two tabs that answer at once, one is told
        that it is too late. Of several people who approve, each but the last is given the question as it waits on.
        """
        if approval_id not in self._pending:
            raise refuse_answer(await self._audience.find_closed(approval_id, console.principal))
        pending = self._find(console, approval_id)
        approval, person = pending.approval, console.principal
        self._require_open(pending)
        reason = None if break_glass is None or not approve else read_break_glass_reason(break_glass)
        if reason is not None and not may_break_glass(approval.needs, operator=is_operator(person)):
            raise Refused("breakGlassForbidden", "the policy lets nobody do this alone", 403)
        if reason is None and (approve or person.id != approval.principal_id):
            require_standing(self._standing(pending, console, approve=approve))
        self._challenges.spend(approval, console, challenge)
        if not approve:
            return await self._answer(pending, Denied(resolve_by(approval, console, ApprovalStatus.DENIED, self._clock.now())))
        grant = grant_by(
            approval,
            grant_id=self._entropy.identifier("grt_"),
            scope=scope,
            pins=pins,
            within=within,
            descriptor_digest=pending.descriptor_digest,
            now=self._clock.now(),
        )
        if not approval.needs_passkey:
            resolved = resolve_by(approval, console, ApprovalStatus.APPROVED, self._clock.now())
            return await self._answer(pending, Approved(resolved, grant, None))
        if assertion is None:
            raise Refused("assertionMissing", "this approval needs your passkey", 409)
        if approval.needs.shared:
            async with pending.answering:
                return await self._answer_among_others(pending, console, assertion, reason)
        pending.taken = True
        try:
            used = await self._verify(pending, console, assertion, approval.statement)
        except Refused:
            raise
        except BaseException:
            pending.taken = False
            raise
        return await self._answer(pending, Approved(approve_with(approval, console, used, assertion), grant, used))

    # ── inside ──

    def _compose(self, checked: CheckedCall, judged: PolicyVerdict, verdict: NeedsConsent | NeedsStepUp) -> Approval:
        now = self._clock.now()
        seconds = judged.obligations.approval_ttl or self._timing.approval
        return compose_approval(
            checked.request,
            checked.spec,
            checked.snapshot,
            checked.facts,
            approval_id=self._entropy.identifier("apr_"),
            nonce=self._entropy.secret(),
            kind=ApprovalKind.STEP_UP if isinstance(verdict, NeedsStepUp) else ApprovalKind.CONSENT,
            because=verdict.because,
            needs=verdict.needs,
            now=now,
            # No longer than the snapshot it is asked under: afterwards an approval could let nothing run.
            expires_at=min(now + int(seconds * 1000), checked.snapshot.expires_at),
        )

    async def _answer_among_others(
        self, pending: Pending, console: ConsoleSession, assertion: Mapping[str, Json], reason: str | None
    ) -> Decided:
        """One person's yes to what takes several, or that of an operator who acts alone for a reason. One after another."""
        person, operator = console.principal, is_operator(console.principal)
        self._require_open(pending)
        approval = await self._recount(pending)
        if reason is not None:
            signed = compose_break_glass(approval.statement, person.id, reason)
            used = await self._verify(pending, console, assertion, signed, alone=True)
            broken = break_glass_entry(approval, console, used, assertion, reason, signed)
            pending.warning = BreakGlassNotice(approval.id, approval.tool, person.name, broken.at, reason)
            resolved = approve_with(approval, console, used, assertion, alone=True)
            return await self._answer(pending, Approved(resolved, None, used, broken))
        require_standing(approval.quorum.standing(person.id, operator=operator))
        used = await self._verify(pending, console, assertion, approval.statement)
        # What the others' approvals rest on is looked at after this one has verified, and once more by the ledger itself.
        approval = await self._recount(pending)
        given = GivenApproval(person.id, used.credential_id, used.at, person.name)
        quorum = approval.quorum.approve(given, approval.statement_digest, operator=operator)
        if quorum.is_met:
            resolved = approve_with(approval, console, used, assertion)
            return await self._answer(pending, Approved(resolved, None, used))
        self._require_open(pending)
        try:
            await self._ledger.append(used, give(approval, console, used, assertion))
        except IllegalStep:
            raise Refused("noLongerOpen", "this approval is no longer open; nothing ran", 409) from None
        pending.approval = replace(approval, given=quorum.given)
        self._audience.tell(pending, ApprovalChangedNotice(pending.approval))
        return Decided(pending.approval, None)

    async def _recount(self, pending: Pending) -> Approval:
        """The question with the approvals that count now: somebody may have lost what theirs rested on."""
        approval = pending.approval
        if not approval.needs.shared:
            return approval
        given = tuple((await self._records.answers([approval.id])).get(approval.id, ()))
        if given != pending.approval.given:
            pending.approval = replace(pending.approval, given=given)
            self._audience.tell(pending, ApprovalChangedNotice(pending.approval))
        return pending.approval

    async def recount(self) -> None:
        """People are not what they were: whose yes counts no more is told at once."""
        for pending in tuple(self._pending.values()):
            await self._recount(pending)

    async def _verify(
        self, pending: Pending, console: ConsoleSession, assertion: Mapping[str, Json], signed: bytes, *, alone: bool = False
    ) -> PasskeyUsed:
        """The use of a passkey that signed these bytes. Anything else ends the call."""
        approval = pending.approval
        try:
            used = await self._answers.verify(console, assertion, signed, user_verification=approval.needs_verification or alone)
        except Refused as refusal:
            # No browser submits an assertion that does not verify: it is an attack or a fault, and the call ends here.
            about = approval.id, approval.call_id, approval.conversation_id
            refused = AssertionRefused(self._clock.now(), *about, console.principal.id, refusal.reason)
            denied = resolve_by(approval, console, ApprovalStatus.DENIED, self._clock.now(), detail=refusal.reason)
            await self._answer(pending, StepUpFailed(denied, refused))
            raise Refused("assertionInvalid", refusal.message, 403) from None
        self._require_time(pending)
        return used

    async def _answer(self, pending: Pending, answer: PersonalAnswer) -> Decided:
        self._hand_over(pending, answer)
        return await self._conclude(pending, answer)

    def _hand_over(self, pending: Pending, answer: PersonalAnswer) -> None:
        pending.taken = True
        if pending.answered.done() or pending.recorded.done():
            raise Refused("noLongerOpen", "this approval is no longer open; nothing ran", 409)
        pending.answered.set_result(answer)

    async def _conclude(self, pending: Pending, answer: PersonalAnswer) -> Decided:
        if isinstance(answer, Approved) and pending.is_early():
            return self._note_early(pending)
        status, grant = await asyncio.shield(pending.recorded)
        if status is not answer.resolved.status:
            # Cancelled in the same breath: what is on record counts, and it is not this answer.
            raise Refused("noLongerOpen", "this approval is no longer open; nothing ran", 409)
        return Decided(replace(pending.approval, status=status), grant)

    def _note_early(self, pending: Pending) -> Decided:
        """Its call waits for another one, and the answer goes on record with its intent: nobody is kept waiting."""
        pending.approval = replace(pending.approval, answered=True)
        self._audience.tell(pending, ApprovalChangedNotice(pending.approval))
        return Decided(pending.approval, None)

    def _require_time(self, pending: Pending) -> None:
        # By either clock: the ledger takes no approval that the record says came too late.
        if self._clock.monotonic() >= pending.deadline or self._clock.now() >= pending.approval.expires_at:
            raise Refused("approvalExpired", "this approval has expired; nothing ran", 410)

    def _require_open(self, pending: Pending) -> None:
        self._require_time(pending)
        if pending.taken:
            raise Refused("alreadyDecided", "this approval was answered a moment ago", 409)

    def _find(self, console: ConsoleSession, approval_id: str) -> Pending:
        pending, person = self._pending.get(approval_id), console.principal
        if pending is None or not is_for(pending.approval, person.id, operator=is_operator(person)):
            raise NotFound("unknown approval")
        return pending

    def _standing(self, pending: Pending, console: ConsoleSession, *, approve: bool) -> ApproverStanding:
        """What this person is to the question. A yes of before keeps nobody from a no."""
        person, approval = console.principal, pending.approval
        quorum = approval.quorum if approve else replace(approval.quorum, given=())
        return quorum.standing(person.id, operator=is_operator(person))
