"""One tool call from proposal to answer, read top to bottom. Row numbers are those of protocol.md section 7.

The connection that asks does not drive the call: `invoke` starts a flight in a task of its own and waits for its answer,
and so does everyone who sends the same call again. `_fly` is the straight line; everything it calls either gives a value
to go on with or a refusal to close with.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from gateway.core import gate
from gateway.core.approval import Grant, RuleReason
from gateway.core.canonical import Json
from gateway.core.errors import IllegalStep, LedgerUnavailable, NotFound, NotSignedIn
from gateway.core.gate import Allow, NeedsConsent, NeedsStepUp, Refuse
from gateway.core.ledger import CallIntended, Entry, GrantIssued, ToolResult
from gateway.core.lifecycle import CallEvent, Phase
from gateway.core.model import ModelRef, Session, ToolCall, ToolOutput, ToolRequest, bind
from gateway.core.redaction import cap_text, redact_text
from gateway.core.results import present_output, refused_result
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, Decision, Outcome, Reason
from gateway.runtime.allowances import Allowances
from gateway.runtime.approvals import ApprovalDesk, Approved, Denied, Pending, StepUpFailed
from gateway.runtime.checks import Checked, Checks
from gateway.runtime.closing import Closing
from gateway.runtime.connections import Connection, Hub
from gateway.runtime.conversations import Conversation, Conversations
from gateway.runtime.execution import Execution
from gateway.runtime.flights import Answer, Flight, Settled
from gateway.runtime.grants import Grants
from gateway.runtime.ports import (
    CallRecord,
    CallState,
    Clock,
    Ledger,
    Observer,
    OpenApproval,
    PolicyVerdict,
    Records,
    Step,
)
from gateway.runtime.questions import Questions
from gateway.runtime.tasks import Tasks

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A `tools/invoke` as it came in. Untrusted."""

    conversation_id: str
    turn_id: str
    snapshot_id: str
    snapshot_digest: str
    call: ToolCall
    model_id: str | None = None


@dataclass(frozen=True, slots=True)
class Clearance:
    """Leave to run, with what has to be recorded together with the intent."""

    decision: Decision
    because: tuple[RuleReason, ...]
    approval_id: str | None = None
    grant_id: str | None = None
    issues: Grant | None = None
    alongside: tuple[Entry, ...] = ()


class Dispatcher:
    """Drives calls."""

    def __init__(
        self,
        *,
        conversations: Conversations,
        allowances: Allowances,
        checks: Checks,
        questions: Questions,
        desk: ApprovalDesk,
        grants: Grants,
        execution: Execution,
        closing: Closing,
        ledger: Ledger,
        records: Records,
        hub: Hub,
        clock: Clock,
        observer: Observer,
        tasks: Tasks,
    ) -> None:
        self._conversations = conversations
        self._allowances = allowances
        self._checks = checks
        self._questions = questions
        self._desk = desk
        self._grants = grants
        self._execution = execution
        self._closing = closing
        self._ledger = ledger
        self._records = records
        self._hub = hub
        self._clock = clock
        self._observer = observer
        self._tasks = tasks

    # ── what agents ask ──

    async def invoke(self, connection: Connection, proposal: Proposal) -> Answer:
        """Run a proposal through every check and give its answer, however long a person takes.

        Raises NotSignedIn (row 1) and NotFound (row 2), and TooManyRequests for a session that has filled its part of the
        disk; everything else about a well-formed call is an answer.
        """
        session = connection.session
        self._observer.step(Step.RECEIVED, proposal.call.id)
        if not self._hub.is_live(session.id, self._clock.now()):
            raise NotSignedIn("the session has ended")
        conversation = await self._conversations.enter(session, proposal.conversation_id)
        request = self._bind(connection, conversation, proposal)
        self._observer.step(Step.BOUND, request.call_id)
        flight = conversation.flights.get(request.call_id)
        settled = conversation.settled.get(request.call_id)
        earlier = flight.request.digest if flight is not None else settled.request_digest if settled is not None else None
        if earlier != request.digest:
            # Asking for a known answer writes nothing. Anything else leaves a record, if only of its refusal.
            self._allowances.take_room(session, len(request.arguments))
        if flight is not None:
            return await self._replay_flight(flight, request)
        if settled is not None:
            return await self._replay_settled(settled, request)
        # From the look-ups above to here nothing else can run, so an id is never taken twice.
        flight = Flight(request, self._clock.monotonic())
        conversation.flights[request.call_id] = flight
        self._tasks.spawn(self._land(conversation, flight, self._fly(conversation, flight, session)))
        answer = await flight.landing()
        self._observer.step(Step.REPLIED, request.call_id)
        return answer

    async def cancel(self, session: Session, conversation_id: str, call_id: str) -> None:
        """Stop one call. A closed one stays as it is. Raises NotFound for an id never seen."""
        conversation = await self._conversations.enter(session, conversation_id)
        flight = conversation.flights.get(call_id)
        if flight is not None:
            flight.stop(None)
        elif call_id not in conversation.settled:
            raise NotFound("unknown call")

    async def list_calls(self, session: Session, conversation_id: str) -> Sequence[CallRecord]:
        """Every call of the conversation with its state, oldest first; what is not yet on disk comes last."""
        conversation = await self._conversations.enter(session, conversation_id)
        recorded = await self._records.calls(conversation_id)
        known = {call.call_id for call in recorded}
        flights = conversation.flights.values()
        return [*recorded, *(_undecided(flight) for flight in flights if flight.request.call_id not in known)]

    # ── what recovery asks ──

    def resume(self, conversation: Conversation, waiting: OpenApproval) -> None:
        """Go on waiting for an approval that was pending when the process ended."""
        flight = Flight(waiting.request, self._clock.monotonic())
        flight.step(CallEvent.APPROVAL_REQUESTED)
        flight.approval_id = waiting.approval.id
        conversation.flights[waiting.request.call_id] = flight
        self._tasks.spawn(self._land(conversation, flight, self._fly_on(conversation, flight, waiting)))

    # ── the straight line ──

    async def _fly(self, conversation: Conversation, flight: Flight, session: Session) -> Answer:
        checked = self._checks.examine(conversation, flight.request)
        if isinstance(checked, Refuse):
            return await self._closing.refuse(flight, checked)
        exhausted = await self._checks.count(conversation, session)
        if exhausted is not None:
            return await self._closing.refuse(flight, exhausted, checked)
        grants = await self._grants.of_session(session.id)
        overtaken = self._checks.recheck(conversation, checked)
        if overtaken is not None:
            return await self._closing.refuse(flight, overtaken, checked)
        judged = self._checks.judge(conversation, session, checked)
        verdict = gate.decide(
            checked.request,
            checked.published,
            mode=judged.mode,
            because=judged.because,
            needs=judged.needs,
            grants=grants,
            now=self._clock.now(),
        )
        self._observer.step(Step.DECIDED, flight.request.call_id)
        match verdict:
            case Refuse():
                return await self._closing.refuse(flight, verdict, checked)
            case Allow():
                flight.step(CallEvent.ALLOWED)
                return await self._run_allowed(conversation, flight, checked, judged, verdict)
            case NeedsConsent() | NeedsStepUp():
                pending = await self._questions.ask(flight, checked, judged, verdict)
                if isinstance(pending, Refuse):
                    return await self._closing.refuse(flight, pending, checked)
                return await self._run_approved(conversation, flight, checked, judged, pending)

    async def _fly_on(self, conversation: Conversation, flight: Flight, waiting: OpenApproval) -> Answer:
        """The second half of `_fly`, from a question that was on record before this process started."""
        statement: Mapping[str, Json] = orjson.loads(waiting.approval.statement)
        pending = self._desk.open(waiting.approval, waiting.request, str(statement["descriptorDigest"]))
        checked = self._checks.restore(waiting.request, statement)
        session = await self._records.session(waiting.request.session_id)
        if isinstance(checked, Refuse):
            return await self._questions.close_lapsed(flight, None, pending, checked)
        if session is None:
            ended = Refuse(Outcome.CANCELLED, Reason.SESSION_ENDED, "the session has ended")
            return await self._questions.close_lapsed(flight, checked, pending, ended)
        overtaken = self._checks.recheck(conversation, checked)
        if overtaken is not None:
            # Nobody should be asked about what could not run any more.
            return await self._questions.close_lapsed(flight, checked, pending, overtaken)
        judged = self._checks.judge(conversation, session, checked)
        return await self._run_approved(conversation, flight, checked, judged, pending)

    async def _run_allowed(
        self, conversation: Conversation, flight: Flight, checked: Checked, judged: PolicyVerdict, allowed: Allow
    ) -> Answer:
        grant = allowed.grant
        if grant is None:
            clearance = Clearance(allowed.decision, allowed.because)
            return await self._run(conversation, flight, checked, judged, clearance)
        # Counted before the record of it is awaited, so that two calls at once never share the last use.
        self._grants.use(grant)
        clearance = Clearance(allowed.decision, allowed.because, grant_id=grant.id)
        try:
            return await self._run(conversation, flight, checked, judged, clearance)
        except LedgerUnavailable:
            self._grants.unuse(grant)
            raise
        except IllegalStep:
            if flight.phase is not Phase.CLEARED:
                raise
            # The ledger knows better: the grant ran out or was taken back while its use was on its way to the disk.
            self._grants.drop(grant)
            gone = Refuse(Outcome.CANCELLED, None, "the yes that covered this call no longer holds; propose it again")
            return await self._closing.refuse(flight, gone, checked)

    async def _run_approved(
        self, conversation: Conversation, flight: Flight, checked: Checked, judged: PolicyVerdict, pending: Pending
    ) -> Answer:
        """Rows 12 to 14: the person's answer, then everything that could have changed meanwhile."""
        answer = await self._questions.wait(flight, pending)
        match answer:
            case Refuse():
                return await self._questions.close_lapsed(flight, checked, pending, answer)
            case Denied() | StepUpFailed():
                return await self._questions.close_answered(flight, checked, pending, answer)
            case Approved():
                self._observer.step(Step.APPROVED, flight.request.call_id)
        changed = self._checks.recheck(conversation, checked)
        if changed is not None:
            return await self._questions.close_overtaken(flight, checked, pending, answer, changed)
        flight.step(CallEvent.APPROVAL_GIVEN)
        clearance = _clear(pending, answer)
        try:
            return await self._run(conversation, flight, checked, judged, clearance, pending)
        except (LedgerUnavailable, IllegalStep) as error:
            if flight.phase is not Phase.CLEARED:
                raise
            return await self._questions.close_unrecorded(flight, checked, pending, answer, error)

    async def _run(
        self,
        conversation: Conversation,
        flight: Flight,
        checked: Checked,
        judged: PolicyVerdict,
        clearance: Clearance,
        pending: Pending | None = None,
    ) -> Answer:
        """Rows 15 and 17: intent on disk, then the tool, once; outcome on disk, then the answer."""
        request = checked.request
        await self._record_intent(checked, clearance, pending)
        flight.step(CallEvent.INTENDED)
        self._observer.step(Step.INTENT, request.call_id)
        if flight.stopped.done():
            ran: ToolOutput | Refuse = Refuse(Outcome.CANCELLED, flight.stopped.result(), "the call was cancelled before it ran")
            executed, elapsed = False, 0
        else:
            began = self._clock.monotonic()
            self._observer.step(Step.STARTED, request.call_id)
            ran = await self._execution.run(flight, checked)
            executed, elapsed = True, int((self._clock.monotonic() - began) * 1000)
        self._observer.step(Step.DONE, request.call_id)
        result = self._present(ran, checked, judged, elapsed)
        answer = await self._closing.close(
            conversation, flight, checked, clearance.decision, clearance.because, result, executed=executed
        )
        self._observer.step(Step.RECORDED, request.call_id)
        return answer

    # ── the steps ──

    def _bind(self, connection: Connection, conversation: Conversation, proposal: Proposal) -> ToolRequest:
        turn = conversation.turn
        # The gateway's own knowledge of which model was asked beats what the browser says.
        vouched = turn.model_id if turn is not None and turn.leases and turn.id == proposal.turn_id else None
        model_id = vouched or proposal.model_id
        return bind(
            proposal.call,
            session=connection.session,
            connection_id=connection.id,
            conversation_id=conversation.id,
            turn_id=proposal.turn_id,
            snapshot_id=proposal.snapshot_id,
            snapshot_digest=proposal.snapshot_digest,
            model=None if model_id is None else ModelRef(model_id, claimed=vouched is None),
            received_at=self._clock.now(),
            runner=connection.runner,
        )

    async def _record_intent(self, checked: Checked, clearance: Clearance, pending: Pending | None) -> None:
        """The yes, what it grants and the intent it allows, in one transaction: no crash can part them."""
        intent = CallIntended(
            at=self._clock.now(),
            request=checked.request,
            snapshot=checked.snapshot,
            descriptor_digest=checked.spec.digest,
            decision=clearance.decision,
            because=clearance.because,
            approval_id=clearance.approval_id,
            grant_id=clearance.grant_id,
        )
        await self._ledger.append(*clearance.alongside, intent)
        # Only now: a yes that is not on record covers nothing.
        if clearance.issues is not None:
            self._grants.hold(clearance.issues)
        if pending is not None:
            self._desk.close(pending, ApprovalStatus.APPROVED, grant=clearance.issues)

    def _present(self, ran: ToolOutput | Refuse, checked: Checked, judged: PolicyVerdict, elapsed: int) -> ToolResult:
        call_id, receipt = checked.request.call_id, self._closing.receipt()
        cap = min(checked.spec.result_cap, judged.result_cap or checked.spec.result_cap)
        if isinstance(ran, Refuse):
            # The words may be the tool's own, and a tool's words leave like its results do.
            message, _ = cap_text(redact_text(ran.message, judged.redact).text, cap)
            result = refused_result(call_id, ran.outcome, ran.reason, message, receipt_id=receipt, duration_ms=elapsed)
            if ran.outcome is not Outcome.EXECUTION_ERROR:
                return result
            # What a tool says of its failure may come from where its results come from, and is believed no more than they.
            return replace(result, trust=checked.spec.trust, labels=tuple(sorted(checked.spec.labels)))
        return present_output(call_id, checked.spec, ran, receipt_id=receipt, duration_ms=elapsed, cap=cap, redact=judged.redact)

    async def _replay_flight(self, flight: Flight, request: ToolRequest) -> Answer:
        """Rows 3 and 4 for a call that is still under way."""
        if flight.request.digest != request.digest:
            return await self._closing.conflict(request)
        answer = await flight.landing()
        return Answer(answer.result, answer.closing_index, replayed=True)

    async def _replay_settled(self, settled: Settled, request: ToolRequest) -> Answer:
        """Rows 3 and 4 for a call that has closed."""
        if settled.request_digest != request.digest:
            return await self._closing.conflict(request)
        if settled.result is not None:
            return Answer(settled.result, settled.closing_index, replayed=True)
        record = await self._records.call(request.conversation_id, request.call_id)
        if record is None or record.result is None:
            return self._closing.unknown(request)
        return Answer(record.result, record.closing_index, replayed=True)

    async def _land(self, conversation: Conversation, flight: Flight, course: Coroutine[Any, Any, Answer]) -> None:
        """See a flight to its end: whatever happens on the way, whoever waits for it gets an answer."""
        request = flight.request
        try:
            answer = await course
        except LedgerUnavailable as error:
            answer = self._closing.unavailable(request, error)
        except asyncio.CancelledError:
            # The gateway stops. What waits stays pending on disk, what runs is found unknown at the next start.
            flight.abandon()
            raise
        except Exception:  # noqa: BLE001 - whatever broke, whoever waits is told, and the call is closed
            _log.exception("call %s failed inside the gateway", request.call_id)
            answer = await self._closing.give_up(flight)
            if flight.approval_id is not None:
                self._desk.withdraw(flight.approval_id)
        del conversation.flights[request.call_id]
        unrecorded = answer.result if answer.closing_index is None else None
        conversation.settled[request.call_id] = Settled(request.digest, unrecorded, answer.closing_index)
        seconds = self._clock.monotonic() - flight.started
        self._observer.closed(request.tool, answer.result.outcome, answer.result.reason, seconds)
        flight.land(answer)


def _clear(pending: Pending, answer: Approved) -> Clearance:
    """What a yes allows, with the entries that must become durable together with the intent."""
    resolved, grant, used = answer.resolved, answer.grant, answer.used
    return Clearance(
        decision=Decision.STEP_UP_SUCCEEDED if pending.approval.kind is ApprovalKind.STEP_UP else Decision.CONSENTED,
        because=pending.approval.because,
        approval_id=pending.approval.id,
        issues=grant,
        alongside=(
            *(() if used is None else (used,)),
            resolved,
            *(() if grant is None else (GrantIssued(resolved.at, grant),)),
        ),
    )


def _undecided(flight: Flight) -> CallRecord:
    request = flight.request
    return CallRecord(
        conversation_id=request.conversation_id,
        turn_id=request.turn_id,
        call_id=request.call_id,
        tool=request.tool,
        arguments=request.arguments,
        request_digest=request.digest,
        state=CallState.RUNNING,
        approval_id=None,
        received_at=request.received_at,
        result=None,
        closing_index=None,
    )
