"""Asking a person (rows 12 and 13): the question on record, then on their console, then their answer or the clock."""

from __future__ import annotations

import asyncio

from gateway.core import effects
from gateway.core.approval import Approval, digest_of_statement, state
from gateway.core.errors import GatewayError, IllegalStep, LedgerUnavailable, Refused
from gateway.core.gate import NeedsConsent, NeedsStepUp, Refuse
from gateway.core.ledger import ApprovalRequested, ApprovalResolved, Entry
from gateway.core.lifecycle import CallEvent
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, Decision, GrantScope, Outcome, Reason
from gateway.runtime.approvals import ApprovalDesk, Approved, Denied, Pending, StepUpFailed
from gateway.runtime.checks import Checked
from gateway.runtime.closing import Closing
from gateway.runtime.flights import Answer, Flight
from gateway.runtime.ports import Clock, Entropy, Ledger, PolicyEngine, PolicyVerdict, Records

APPROVAL_SECONDS = 120.0
"""How long a question waits where the policy says nothing: the upper end of what the security research recommends."""


class Questions:
    """Puts calls before a person and takes what becomes of them."""

    def __init__(
        self,
        *,
        desk: ApprovalDesk,
        closing: Closing,
        policy: PolicyEngine,
        ledger: Ledger,
        records: Records,
        clock: Clock,
        entropy: Entropy,
        approval_seconds: float = APPROVAL_SECONDS,
    ) -> None:
        self._desk = desk
        self._closing = closing
        self._policy = policy
        self._ledger = ledger
        self._records = records
        self._clock = clock
        self._entropy = entropy
        self._approval_seconds = approval_seconds

    async def ask(
        self, flight: Flight, checked: Checked, judged: PolicyVerdict, verdict: NeedsConsent | NeedsStepUp
    ) -> Pending | Refuse:
        """Put the question on record, then before the person."""
        request = checked.request
        owner = request.principal.id
        with self._desk.one_more(owner, self._policy.limits(request.principal.profile).pending_approvals) as there_is_room:
            if there_is_room:
                return await self._put(flight, checked, judged, verdict)
        message = "too many approvals wait for an answer already"
        return Refuse(Outcome.REFUSED_BY_POLICY, Reason.QUOTA_EXCEEDED, message)

    async def _put(
        self, flight: Flight, checked: Checked, judged: PolicyVerdict, verdict: NeedsConsent | NeedsStepUp
    ) -> Pending | Refuse:
        request = checked.request
        kind = ApprovalKind.STEP_UP if isinstance(verdict, NeedsStepUp) else ApprovalKind.CONSENT
        if (kind is ApprovalKind.STEP_UP or verdict.needs.presence) and not await self._records.passkeys(request.principal.id):
            message = "no passkey is registered for this account"
            return Refuse(Outcome.STEP_UP_FAILED, Reason.NO_CREDENTIAL, message, verdict.because)
        approval = self._compose(checked, judged, verdict, kind)
        await self._ledger.append(ApprovalRequested(approval.requested_at, request, checked.snapshot, approval))
        flight.step(CallEvent.APPROVAL_REQUESTED)
        flight.approval_id = approval.id
        return self._desk.open(approval, request, checked.spec.digest)

    async def wait(self, flight: Flight, pending: Pending) -> Approved | Denied | StepUpFailed | Refuse:
        """The person's answer, or a refusal when the call was cancelled or nobody answered in time."""
        left = max(0.0, pending.deadline - self._clock.monotonic())
        await asyncio.wait({pending.answered, flight.stopped}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        # From here on an answer comes too late; the desk tells whoever still tries.
        pending.taken = True
        if flight.stopped.done():
            return Refuse(Outcome.CANCELLED, flight.stopped.result(), "the call was cancelled before anybody answered")
        if not pending.answered.done():
            return Refuse(Outcome.TIMED_OUT, Reason.APPROVAL_EXPIRED, "nobody answered in time; nothing ran")
        return pending.answered.result()

    async def close_answered(self, flight: Flight, checked: Checked, pending: Pending, answer: Denied | StepUpFailed) -> Answer:
        """Close a call that a person turned down, or whose passkey answer did not verify."""
        because = pending.approval.because
        match answer:
            case Denied(resolved):
                refusal = Refuse(Outcome.DENIED_BY_USER, Reason.DENIED, "the person said no", because)
                return await self._close(flight, checked, pending, (resolved,), refusal, Decision.DENIED)
            case StepUpFailed(resolved, refused):
                message = "the passkey answer did not verify over exactly this call"
                refusal = Refuse(Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID, message, because)
                return await self._close(flight, checked, pending, (refused, resolved), refusal, Decision.STEP_UP_FAILED)

    async def close_overtaken(
        self, flight: Flight, checked: Checked, pending: Pending, answer: Approved, refusal: Refuse
    ) -> Answer:
        """Close a call that was approved when it could not run any more (row 14). The yes goes on record all the same, and
        so does the use of the passkey that gave it."""
        given = (answer.resolved,) if answer.used is None else (answer.used, answer.resolved)
        return await self._close(flight, checked, pending, given, refusal, refusal.decision)

    async def close_unrecorded(
        self, flight: Flight, checked: Checked, pending: Pending, answer: Approved, error: LedgerUnavailable | IllegalStep
    ) -> Answer:
        """Close a call whose yes could not be put on record together with its intent, so that nothing ran."""
        match error:
            case LedgerUnavailable():
                refusal = Refuse(Outcome.EXECUTION_ERROR, Reason.LEDGER_UNAVAILABLE, f"nothing ran: {error.message}")
                return await self._close_without_answer(flight, checked, pending, refusal, error)
            case IllegalStep():
                # Its time ran out, or its passkey was used elsewhere or taken away, while the yes was on its way to the disk.
                if answer.used is None:
                    late = Refuse(Outcome.TIMED_OUT, Reason.APPROVAL_EXPIRED, "the yes came too late; nothing ran")
                else:
                    message = "the passkey's answer no longer holds; nothing ran"
                    late = Refuse(Outcome.STEP_UP_FAILED, Reason.ASSERTION_INVALID, message)
                refused = Refused("noLongerOpen", late.message, 409)
                return await self._close_without_answer(flight, checked, pending, late, refused)

    async def close_lapsed(self, flight: Flight, checked: Checked | None, pending: Pending, refusal: Refuse) -> Answer:
        """Close a call whose question nobody may answer any more."""
        return await self._close_without_answer(flight, checked, pending, refusal)

    async def _close_without_answer(
        self, flight: Flight, checked: Checked | None, pending: Pending, refusal: Refuse, error: GatewayError | None = None
    ) -> Answer:
        approval = pending.approval
        resolved = ApprovalResolved(
            at=self._clock.now(),
            approval_id=approval.id,
            call_id=approval.call_id,
            conversation_id=approval.conversation_id,
            status=ApprovalStatus.EXPIRED if refusal.outcome is Outcome.TIMED_OUT else ApprovalStatus.CANCELLED,
            approver_id=None,
            console_session_id=None,
            credential_id=None,
            assertion=None,
        )
        return await self._close(flight, checked, pending, (resolved,), refusal, Decision.DENIED, error)

    async def _close(
        self,
        flight: Flight,
        checked: Checked | None,
        pending: Pending,
        alongside: tuple[Entry, ...],
        refusal: Refuse,
        decision: Decision,
        error: GatewayError | None = None,
    ) -> Answer:
        """Record answer and outcome together; whoever answered hears of it once it is durable, or that it is not."""
        status = next(entry.status for entry in alongside if isinstance(entry, ApprovalResolved))
        try:
            answer = await self._closing.refuse(flight, refusal, checked, decision=decision, alongside=alongside)
        except LedgerUnavailable as unavailable:
            self._desk.close(pending, status, unavailable)
            raise
        self._desk.close(pending, status, error)
        return answer

    def _compose(
        self, checked: Checked, judged: PolicyVerdict, verdict: NeedsConsent | NeedsStepUp, kind: ApprovalKind
    ) -> Approval:
        request, spec = checked.request, checked.spec
        now = self._clock.now()
        expires_at = now + int((judged.approval_ttl or self._approval_seconds) * 1000)
        approval_id = self._entropy.identifier("apr_")
        statement = state(
            request,
            approval_id=approval_id,
            nonce=self._entropy.secret(),
            kind=kind,
            turn_index=checked.snapshot.turn_index,
            descriptor_digest=spec.digest,
            policy_version=checked.snapshot.policy_version,
            issued_at=now,
            expires_at=expires_at,
        )
        once_only = kind is ApprovalKind.STEP_UP or verdict.needs.presence
        return Approval(
            id=approval_id,
            kind=kind,
            principal_id=request.principal.id,
            session_id=request.session_id,
            conversation_id=request.conversation_id,
            turn_id=request.turn_id,
            call_id=request.call_id,
            tool=request.tool,
            arguments=request.arguments,
            summary=effects.summarise(spec, checked.arguments),
            effects=effects.list_effects(spec, checked.arguments),
            because=verdict.because,
            needs=verdict.needs,
            offers=(GrantScope.ONCE,) if once_only else (GrantScope.ONCE, GrantScope.TURN, GrantScope.SESSION),
            statement=statement,
            statement_digest=digest_of_statement(statement),
            requested_at=now,
            expires_at=expires_at,
        )
