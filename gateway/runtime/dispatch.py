"""One tool call from proposal to answer, read top to bottom. Row numbers are those of docs/PROTOCOL.md section 7.

The connection that asks does not drive the call: `invoke` starts it in a task of its own and waits for its answer, and so
does everyone who sends the same call again. `_drive` is the straight line: each step gives a value to go on with, or the
way in which the call ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import Any

from gateway.core import gate
from gateway.core.errors import GatewayError, IllegalStep, LedgerUnavailable, NotFound, NotSignedIn
from gateway.core.gate import Allow, NeedsConsent, NeedsStepUp, Refuse
from gateway.core.lifecycle import CallEvent, Phase
from gateway.core.model import Session
from gateway.core.vocabulary import ApprovalStatus, Decision, Outcome, Reason
from gateway.runtime.admission import Admission
from gateway.runtime.approvals import Approvals, Approved, Denied, Pending, StepUpFailed
from gateway.runtime.binding import Proposal, bind_proposal
from gateway.runtime.calls import CallAnswer, ClosedCall, InFlightCall, cancelled_before_it_ran
from gateway.runtime.checks import CallChecks, CheckedCall, Rejected
from gateway.runtime.clearance import Clearance, clear_allowed, clear_approved
from gateway.runtime.closing import Closing
from gateway.runtime.connections import Connection, ConnectionRegistry
from gateway.runtime.conversation import Conversation
from gateway.runtime.conversations import Conversations
from gateway.runtime.denials import Denials
from gateway.runtime.endings import (
    Broken,
    CallEnding,
    NotRecordable,
    NotRun,
    Ran,
    approval_not_recorded,
    at_once,
    denied,
    lapsed,
    overtaken,
)
from gateway.runtime.execution import Execution, PreparedRun, present
from gateway.runtime.exposures import Exposures
from gateway.runtime.grants import Grants
from gateway.runtime.order import find_failure, find_place_again, is_early, place, wait_for_earlier
from gateway.runtime.ports import (
    CallRecord,
    Clock,
    DispatchRecords,
    Entropy,
    Ledger,
    Observer,
    OpenApproval,
    PolicyVerdict,
    Step,
)
from gateway.runtime.quotas import Quotas
from gateway.runtime.replay import recall, replay, undecided
from gateway.runtime.tasks import Tasks
from gateway.runtime.usage import QuotaUsage, Reservation, bound_by, measure

_log = logging.getLogger(__name__)


class Dispatcher:
    """Drives calls."""

    def __init__(
        self,
        *,
        admission: Admission,
        conversations: Conversations,
        exposures: Exposures,
        quotas: Quotas,
        usage: QuotaUsage,
        checks: CallChecks,
        approvals: Approvals,
        denials: Denials,
        grants: Grants,
        execution: Execution,
        closing: Closing,
        ledger: Ledger,
        records: DispatchRecords,
        connections: ConnectionRegistry,
        clock: Clock,
        entropy: Entropy,
        observer: Observer,
        tasks: Tasks,
    ) -> None:
        self._admission = admission
        self._conversations = conversations
        self._exposures = exposures
        self._quotas = quotas
        self._usage = usage
        self._checks = checks
        self._approvals = approvals
        self._denials = denials
        self._grants = grants
        self._execution = execution
        self._closing = closing
        self._ledger = ledger
        self._records = records
        self._connections = connections
        self._clock = clock
        self._entropy = entropy
        self._observer = observer
        self._tasks = tasks

    # ── what agents ask ──

    async def invoke(self, connection: Connection, proposal: Proposal) -> CallAnswer:
        """Run a proposal through every check and give its answer, however long a person takes.

        Raises NotSignedIn (row 1) and NotFound (row 2), GatewayStopping before anything is on record, and TooManyRequests for
        a session that has filled its part of the disk; everything else about a well-formed call is an answer.
        """
        session = connection.session
        self._observer.step(Step.RECEIVED, proposal.call.id)
        if not self._connections.is_live(session.id, self._clock.now()):
            raise NotSignedIn("the session has ended; nothing ran")
        conversation = await self._conversations.enter(session, proposal.conversation_id)
        await self._exposures.write(session, conversation)
        await recall(conversation, proposal.call.id, self._records)
        request = bind_proposal(connection, conversation, proposal, self._clock.now())
        self._observer.step(Step.BOUND, request.call_id)
        earlier = conversation.find_call(request.call_id)
        if earlier is None or earlier.request_digest != request.digest:
            # Asking for a known answer writes nothing. Anything else leaves a record, if only of its refusal.
            self._quotas.charge_storage(session, len(request.arguments))
        if earlier is not None:
            replayed = await replay(earlier, request, self._records)
            return replayed if isinstance(replayed, CallAnswer) else await self._closing.close(replayed)
        self._admission.check()
        # From the look-up above to here nothing else can run, so an id is never taken twice.
        placed = place(conversation, request, proposal.after)
        call = InFlightCall(placed.request, self._clock.monotonic(), earlier=placed.earlier, misplaced=placed.misplaced)
        conversation.begin_call(call)
        self._tasks.spawn(self._complete(conversation, call, self._drive(conversation, call, session)))
        answer = await call.answer_future()
        self._observer.step(Step.REPLIED, request.call_id)
        return answer

    async def cancel(self, session: Session, conversation_id: str, call_id: str) -> None:
        """Stop one call. A closed one stays as it is. Raises NotFound for an id never seen."""
        conversation = await self._conversations.enter(session, conversation_id)
        await recall(conversation, call_id, self._records)
        call = conversation.in_flight.get(call_id)
        if call is not None:
            call.stop(None)
        elif call_id not in conversation.closed:
            raise NotFound("unknown call")

    async def list_calls(self, session: Session, conversation_id: str) -> Sequence[CallRecord]:
        """Every call of the conversation with its state, oldest first; what is not yet on disk comes last."""
        conversation = await self._conversations.enter(session, conversation_id)
        recorded = await self._records.calls(conversation_id)
        known = {call.call_id for call in recorded}
        in_flight = conversation.in_flight.values()
        return [*recorded, *(undecided(call) for call in in_flight if call.request.call_id not in known)]

    # ── what recovery asks ──

    async def resume(self, conversation: Conversation, waiting: OpenApproval) -> None:
        """Go on waiting for an approval that was pending when the process ended. One that could let nothing run is withdrawn
        before this returns, and nobody ever sees it."""
        call = InFlightCall(waiting.request, self._clock.monotonic())
        call.step(CallEvent.APPROVAL_REQUESTED)
        call.approval_id = waiting.approval.id
        failed = await find_place_again(conversation, call, self._records)
        conversation.begin_call(call)
        pending = self._approvals.recall(waiting)
        resumed = await self._restore(conversation, call, pending, failed)
        if isinstance(resumed, NotRun):
            await self._complete(conversation, call, at_once(resumed))
            return
        checked, session = resumed
        self._approvals.put(pending)
        self._tasks.spawn(self._complete(conversation, call, self._run_approved(conversation, call, session, checked, pending)))

    # ── the straight line ──

    async def _drive(self, conversation: Conversation, call: InFlightCall, session: Session) -> CallEnding:
        checked = self._checks.examine(conversation, call.request)
        if isinstance(checked, Rejected):
            return NotRun(call, *checked)
        exhausted = call.misplaced or await self._checks.count(conversation, session)
        if exhausted is not None:
            return NotRun(call, exhausted, checked)
        return await self._decide(conversation, call, session, checked)

    async def _decide(self, conversation: Conversation, call: InFlightCall, session: Session, checked: CheckedCall) -> CallEnding:
        """Rows 11 to 13. A call that needs nobody's yes, and follows one that is still open, is judged once more after that."""
        if (failed := find_failure(call)) is not None:
            return NotRun(call, failed, checked)
        grants = await self._grants.of_session(session.id)
        if call.stopped.done():
            # Before the recheck, which would find the turn closed that was cancelled with this call.
            return NotRun(call, cancelled_before_it_ran(call), checked)
        changed = self._checks.recheck(conversation, checked)
        if changed is not None:
            return NotRun(call, changed, checked)
        judged = call.note(*self._checks.judge(conversation, session, checked))
        verdict = gate.decide(
            checked.request,
            checked.published,
            mode=judged.mode,
            because=judged.because,
            needs=judged.needs,
            grants=grants,
            now=self._clock.now(),
        )
        self._observer.step(Step.DECIDED, call.request.call_id)
        match verdict:
            case Refuse():
                return NotRun(call, verdict, checked)
            case Allow() if call.earlier is not None:
                if (failed := await wait_for_earlier(call)) is not None:
                    return NotRun(call, failed, checked)
                return await self._decide(conversation, call, session, checked)
            case Allow():
                reserved = self._checks.reserve(session, checked, judged)
                if isinstance(reserved, Refuse):
                    return NotRun(call, reserved, checked)
                call.step(CallEvent.ALLOWED)
                return await self._run_allowed(conversation, call, checked, judged, verdict, reserved)
            case NeedsConsent() | NeedsStepUp():
                told = self._denials.may_ask(conversation, session, checked.request)
                if told is not None:
                    return NotRun(call, told, checked, decision=Decision.DENIED)
                hopeless = await self._execution.find_obstacle(conversation, checked, judged)
                if hopeless is not None:
                    return NotRun(call, hopeless, checked, told_in=conversation)
                pending = await self._approvals.ask(call, checked, judged, verdict, conversation.find_copies(checked.arguments))
                if isinstance(pending, Refuse):
                    return NotRun(call, pending, checked)
                return await self._run_approved(conversation, call, session, checked, pending)

    async def _restore(
        self, conversation: Conversation, call: InFlightCall, pending: Pending, failed: Refuse | None
    ) -> tuple[CheckedCall, Session] | NotRun:
        """The first half of `_drive` once more, for a question that was on record before this process started."""
        now = self._clock.now()
        session = await self._records.session(pending.request.session_id)
        checked = self._checks.restore(conversation, pending.request, pending.approval.read_statement())
        if isinstance(checked, Refuse):
            return lapsed(call, None, pending, checked, now)
        if session is None:
            ended = Refuse(Outcome.CANCELLED, Reason.SESSION_ENDED, "the session has ended")
            return lapsed(call, checked, pending, ended, now)
        if now >= pending.approval.expires_at:
            late = Refuse(Outcome.TIMED_OUT, Reason.APPROVAL_EXPIRED, "nobody answered in time; nothing ran")
            return lapsed(call, checked, pending, late, now)
        if failed is not None:
            return lapsed(call, checked, pending, failed, now)
        await self._checks.recall(session, checked.request.turn_id)
        judged = self._checks.rejudge(conversation, session, checked, pending.approval)
        if isinstance(judged, Refuse):
            return lapsed(call, checked, pending, judged, now)
        call.note(*judged)
        return checked, session

    async def _run_allowed(
        self,
        conversation: Conversation,
        call: InFlightCall,
        checked: CheckedCall,
        judged: PolicyVerdict,
        allowed: Allow,
        reserved: Reservation,
    ) -> CallEnding:
        clearance, grant = clear_allowed(allowed, reserved), allowed.grant
        if grant is None:
            return await self._run(conversation, call, checked, judged, clearance)
        # Counted before the record of it is awaited, so that two calls at once never share the last use.
        self._grants.use(grant)
        try:
            return await self._run(conversation, call, checked, judged, clearance)
        except LedgerUnavailable:
            self._grants.unuse(grant)
            raise
        except IllegalStep:
            if call.phase is not Phase.CLEARED:
                raise
            # The ledger knows better: the grant ran out or was taken back while its use was on its way to the disk.
            self._grants.drop(grant)
            gone = Refuse(Outcome.CANCELLED, None, "the grant that covered this call no longer holds; nothing ran")
            return NotRun(call, gone, checked)

    async def _run_approved(
        self, conversation: Conversation, call: InFlightCall, session: Session, checked: CheckedCall, pending: Pending
    ) -> CallEnding:
        """Rows 12 to 14: the person's answer, and everything that may change before it and after it."""

        def judge() -> Refuse | None:
            judged = find_failure(call) or self._checks.rejudge(conversation, session, checked, pending.approval)
            return judged if isinstance(judged, Refuse) else None

        pending.is_early = lambda: is_early(call)
        answer = await self._approvals.wait(call, pending, judge)
        match answer:
            case Refuse():
                return lapsed(call, checked, pending, answer, self._clock.now())
            case Denied() | StepUpFailed():
                self._denials.note_denial(conversation, session, checked.request)
                return denied(call, checked, pending, answer)
            case Approved():
                self._observer.step(Step.APPROVED, call.request.call_id)
        held_up = await wait_for_earlier(call) or await self._approvals.find_lapse(pending, answer)
        judged = held_up or self._checks.rejudge(conversation, session, checked, pending.approval)
        if isinstance(judged, Refuse):
            return overtaken(call, checked, pending, answer, judged, self._clock.now())
        reserved = self._checks.reserve(session, checked, judged.verdict)
        if isinstance(reserved, Refuse):
            return overtaken(call, checked, pending, answer, reserved, self._clock.now())
        call.note(*judged)
        call.step(CallEvent.APPROVAL_GIVEN)
        self._denials.note_approval(session)
        try:
            return await self._run(conversation, call, checked, judged.verdict, clear_approved(pending, answer, reserved))
        except (LedgerUnavailable, IllegalStep) as error:
            if call.phase is not Phase.CLEARED:
                raise
            return approval_not_recorded(call, checked, pending, answer, error, self._clock.now())

    async def _run(
        self, conversation: Conversation, call: InFlightCall, checked: CheckedCall, judged: PolicyVerdict, clearance: Clearance
    ) -> Ran:
        """Row 15: intent on disk, then the tool, once."""
        judged = bound_by(judged, clearance.reserved)
        prepared = await self._record_intent(conversation, call, checked, judged, clearance)
        call.step(CallEvent.INTENDED)
        self._observer.step(Step.INTENT, call.request.call_id)
        executed, began = not call.stopped.done(), self._clock.monotonic()
        if executed:
            self._observer.step(Step.STARTED, call.request.call_id)
            ran, executed = await self._execution.run(call, prepared)
        else:
            ran = cancelled_before_it_ran(call)
        elapsed = int((self._clock.monotonic() - began) * 1000) if executed else 0
        self._observer.step(Step.DONE, call.request.call_id)
        receipt_id = self._entropy.identifier("rcp_")

        def keep(size: int) -> str | None:
            return self._entropy.identifier("res_") if self._quotas.may_keep(call.request.session_id, size) else None

        shown = await present(ran, prepared, elapsed=elapsed, receipt_id=receipt_id, keep=keep)
        reserved = clearance.reserved
        settled = self._usage.settle(reserved, measure(shown.result, elapsed)) if reserved.uses else ()
        return Ran(conversation, call, checked, clearance, shown.result, shown.kept, shown.attachments, executed, settled)

    async def _record_intent(
        self, conversation: Conversation, call: InFlightCall, checked: CheckedCall, judged: PolicyVerdict, clearance: Clearance
    ) -> PreparedRun:
        try:
            now = self._clock.now()
            recorded = self._ledger.append(*clearance.intend(checked, now, call.judgement, self._closing.erase_at(call, now)))
            # Meanwhile the intent is on its way to the disk.
            prepared = self._execution.prepare(conversation, checked, judged, self._checks.may_begin)
            await recorded
        except GatewayError:
            self._usage.give_back(clearance.reserved)
            raise
        self._checks.note_use(checked)
        if clearance.issued is not None:  # only now: an approval that is not on record covers nothing
            self._grants.hold(clearance.issued)
        if clearance.pending is not None:
            self._approvals.settle(clearance.pending, ApprovalStatus.APPROVED, grant=clearance.issued)
        return prepared

    # ── the end ──

    async def _complete(self, conversation: Conversation, call: InFlightCall, course: Coroutine[Any, Any, CallEnding]) -> None:
        """See a call to its end (row 17): whatever happens on the way, whoever waits for it gets an answer."""
        request = call.request
        try:
            ending = await course
            answer = await self._closing.close(ending)
            if isinstance(ending, Ran):
                self._observer.step(Step.RECORDED, request.call_id)
        except LedgerUnavailable as error:
            answer = await self._closing.close(NotRecordable(request, error))
        except asyncio.CancelledError:
            # The gateway stops. What waits stays pending on disk, what runs is found unknown at the next start.
            call.abandon()
            raise
        except Exception:  # noqa: BLE001 - whatever broke, whoever waits is told, and the call is closed
            _log.exception("call %s failed inside the gateway", request.call_id)
            answer = await self._closing.close(Broken(call))
        unrecorded = answer.result if answer.closing_index is None else None
        conversation.close_call(request.call_id, ClosedCall(request.digest, unrecorded, answer.closing_index))
        if answer.result.outcome is Outcome.OK:
            conversation.note_success(request)
        seconds = self._clock.monotonic() - call.started
        self._observer.closed(request.tool, answer.result.outcome, answer.result.reason, seconds)
        call.answer(answer)
        if call.followed:
            # What followed it may have nothing left to wait for.
            self._approvals.judge_again()
