"""The approvals of this process: the driver asks and waits, a person answers on the console, the driver tells how it ended."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from gateway.core.approval import Approval, Grant, compose_approval, grant_by
from gateway.core.canonical import Json
from gateway.core.errors import NotFound, Refused
from gateway.core.gate import NeedsConsent, NeedsStepUp, Refuse
from gateway.core.ledger import ApprovalRequested, ApprovalResolved, AssertionRefused, Passkey, PasskeyUsed
from gateway.core.lifecycle import CallEvent
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, GrantScope, Outcome, PatternKind, Reason
from gateway.runtime.approvals.challenges import Challenges, statement_challenge
from gateway.runtime.approvals.pending import Approved, Decided, Denied, Pending, PersonalAnswer, StepUpFailed
from gateway.runtime.calls import InFlightCall, cancelled_before_it_ran
from gateway.runtime.checks import CheckedCall
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.notices import ApprovalRequestedNotice, ApprovalResolvedNotice
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

APPROVAL_SECONDS = 120.0
"""How long a question waits where the policy says nothing: long enough to read, short enough that the person is still there."""

LISTED = 100


class Approvals:
    """Every approval that is pending in this process, and the answers to them."""

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
        approval_seconds: float = APPROVAL_SECONDS,
    ) -> None:
        self._ledger = ledger
        self._records = records
        self._policy = policy
        self._passkeys = passkeys
        self._connections = connections
        self._clock = clock
        self._entropy = entropy
        self._approval_seconds = approval_seconds
        self._challenges = Challenges(clock=clock, entropy=entropy)
        self._pending: dict[str, Pending] = {}
        self._asking: Counter[str] = Counter()

    # ── for the driver (rows 12 and 13) ──

    async def ask(
        self, call: InFlightCall, checked: CheckedCall, judged: PolicyVerdict, verdict: NeedsConsent | NeedsStepUp
    ) -> Pending | Refuse:
        """Put the question on record, then before the person."""
        person = checked.request.principal
        with self._reserve_slot(checked.request.session_id, self._policy.limits(person.profile).pending_approvals) as reserved:
            if not reserved:
                message = "too many approvals wait for an answer already"
                return Refuse(Outcome.REFUSED_BY_POLICY, Reason.QUOTA_EXCEEDED, message)
            approval = self._compose(checked, judged, verdict)
            if approval.needs_passkey and not await self._records.passkeys(person.id):
                message = "no passkey is registered for this account"
                return Refuse(Outcome.STEP_UP_FAILED, Reason.NO_CREDENTIAL, message, verdict.because)
            await self._ledger.append(ApprovalRequested(approval.requested_at, checked.request, checked.snapshot, approval))
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
        """Put it before the person: list it, and tell their consoles and the asking session."""
        self._pending[pending.approval.id] = pending
        self._tell(pending.approval, ApprovalRequestedNotice(pending.approval))
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
        self._tell(approval, ApprovalResolvedNotice(approval.id, approval.call_id, status, withdrawn))

    def withdraw(self, approval_id: str) -> None:
        """The driver broke down: whoever answered hears of it, and nobody may answer any more."""
        pending = self._pending.get(approval_id)
        if pending is not None:
            self.settle(pending, ApprovalStatus.CANCELLED)

    # ── for the console ──

    async def list(self, principal_id: str) -> Sequence[Approval]:
        """Pending and decided, newest first."""
        recorded = await self._records.approvals(principal_id, limit=LISTED)
        known = {approval.id for approval in recorded}
        # What waits is always listed, however many were asked and withdrawn since: nobody can be made to overlook it.
        waiting = [pending.approval for pending in self._pending.values() if pending.approval.principal_id == principal_id]
        return [*(approval for approval in waiting if approval.id not in known), *recorded]

    async def get(self, console: ConsoleSession, approval_id: str) -> tuple[Approval, Mapping[str, Json], str | None]:
        """The approval, its statement, and a fresh single-use challenge while it is pending. Raises NotFound."""
        pending = self._pending.get(approval_id)
        if pending is None or pending.approval.principal_id != console.principal.id:
            decided = next((each for each in await self.list(console.principal.id) if each.id == approval_id), None)
            if decided is None:
                raise NotFound("unknown approval")
            return decided, decided.read_statement(), None
        return pending.approval, pending.approval.read_statement(), self._challenges.issue(pending, console)

    async def assertion_options(self, console: ConsoleSession, approval_id: str) -> Mapping[str, Json]:
        """WebAuthn request options over the statement's digest, for this person's own passkeys. Raises NotFound, Refused."""
        pending = self._own(console, approval_id)
        passkeys = await self._records.passkeys(console.principal.id)
        if not passkeys:
            raise Refused("noCredential", "no passkey is registered for this account", 409)
        return self._passkeys.assertion_options(
            challenge=statement_challenge(pending.approval),
            allow=passkeys,
            user_verification=pending.approval.needs_verification,
        )

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
    ) -> Decided:
        """Take a person's answer. Raises NotFound, or Refused with what to do; returns once the answer is durable.

        `pins` names the arguments that a lasting approval holds fixed, all of them when None; `within` is what the other may
        vary in. Everything that could make the
        answer void is checked before it is taken, and `taken` is set without a wait in between: of two tabs that answer at
        once, one is told that it is too late.
        """
        pending = self._own(console, approval_id)
        approval = pending.approval
        self._require_time(pending)
        if pending.taken:
            raise Refused("alreadyDecided", "this approval was answered a moment ago", 409)
        self._challenges.spend(approval, console, challenge)
        if not approve:
            return await self._answer(pending, Denied(self._resolve(pending, console, ApprovalStatus.DENIED)))
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
            return await self._answer(pending, Approved(self._resolve(pending, console, ApprovalStatus.APPROVED), grant, None))
        return await self._verify(pending, console, grant, assertion)

    # ── inside ──

    def _tell(self, approval: Approval, notice: ApprovalRequestedNotice | ApprovalResolvedNotice) -> None:
        self._connections.notify(approval.session_id, notice)
        self._connections.notify_console(approval.principal_id, notice)

    @contextmanager
    def _reserve_slot(self, session_id: str, most: int) -> Generator[bool]:
        """Whether a session may put one more question to its person, `most` being what they can bear at once. For each session,
        so that a hostile one cannot keep the person's others from asking.

        Counted from before the question is on record: many calls at once must not all find room for one.
        """
        waiting = sum(pending.approval.session_id == session_id for pending in self._pending.values())
        if waiting + self._asking[session_id] >= most:
            yield False
            return
        self._asking[session_id] += 1
        try:
            yield True
        finally:
            self._asking[session_id] -= 1
            if not self._asking[session_id]:
                del self._asking[session_id]

    def _compose(self, checked: CheckedCall, judged: PolicyVerdict, verdict: NeedsConsent | NeedsStepUp) -> Approval:
        now = self._clock.now()
        seconds = judged.obligations.approval_ttl or self._approval_seconds
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

    async def _verify(
        self, pending: Pending, console: ConsoleSession, grant: Grant | None, assertion: Mapping[str, Json] | None
    ) -> Decided:
        approval = pending.approval
        if assertion is None:
            raise Refused("assertionMissing", "this approval needs your passkey", 409)
        pending.taken = True
        try:
            passkey = await self._own_passkey(console, self._passkeys.credential_id(assertion))
            verified = self._passkeys.verify_assertion(
                assertion,
                challenge=statement_challenge(approval),
                passkey=passkey,
                user_verification=approval.needs_verification,
            )
        except Refused as refusal:
            # No browser submits an assertion that does not verify: it is an attack or a fault, and the call ends here.
            refused = AssertionRefused(
                self._clock.now(),
                approval.id,
                approval.call_id,
                approval.conversation_id,
                console.principal.id,
                refusal.reason,
            )
            denied = self._resolve(pending, console, ApprovalStatus.DENIED, detail=refusal.reason)
            await self._answer(pending, StepUpFailed(denied, refused))
            raise Refused("assertionInvalid", refusal.message, 403) from None
        except BaseException:
            pending.taken = False
            raise
        self._require_time(pending)
        used = PasskeyUsed(self._clock.now(), console.principal.id, passkey.id, verified.sign_count, verified.backed_up)
        resolved = self._resolve(pending, console, ApprovalStatus.APPROVED, credential_id=passkey.id, assertion=assertion)
        return await self._answer(pending, Approved(resolved, grant, used))

    async def _answer(self, pending: Pending, answer: PersonalAnswer) -> Decided:
        pending.taken = True
        if pending.answered.done() or pending.recorded.done():
            raise Refused("noLongerOpen", "this approval is no longer open; nothing ran", 409)
        pending.answered.set_result(answer)
        status, grant = await asyncio.shield(pending.recorded)
        if status is not answer.resolved.status:
            # Cancelled in the same breath: what is on record counts, and it is not this answer.
            raise Refused("noLongerOpen", "this approval is no longer open; nothing ran", 409)
        return Decided(replace(pending.approval, status=status), grant)

    def _require_time(self, pending: Pending) -> None:
        # By either clock: the ledger takes no approval that the record says came too late.
        if self._clock.monotonic() >= pending.deadline or self._clock.now() >= pending.approval.expires_at:
            raise Refused("approvalExpired", "this approval has expired; nothing ran", 410)

    async def _own_passkey(self, console: ConsoleSession, credential_id: bytes) -> Passkey:
        passkey = await self._records.passkey(credential_id)
        if passkey is None or passkey.principal_id != console.principal.id:
            raise Refused("credential", "that passkey does not belong to this account")
        return passkey

    def _own(self, console: ConsoleSession, approval_id: str) -> Pending:
        pending = self._pending.get(approval_id)
        if pending is None or pending.approval.principal_id != console.principal.id:
            raise NotFound("that approval is not open")
        return pending

    def _resolve(
        self,
        pending: Pending,
        console: ConsoleSession,
        status: ApprovalStatus,
        *,
        credential_id: bytes | None = None,
        assertion: Mapping[str, Json] | None = None,
        detail: str | None = None,
    ) -> ApprovalResolved:
        approval = pending.approval
        return ApprovalResolved(
            at=self._clock.now(),
            approval_id=approval.id,
            call_id=approval.call_id,
            conversation_id=approval.conversation_id,
            status=status,
            approver_id=console.principal.id,
            console_session_id=console.id,
            credential_id=credential_id,
            assertion=assertion,
            detail=detail,
        )
