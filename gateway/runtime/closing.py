"""Closing entries: every request gets exactly one, durable before anybody hears of it (row 17).

A call that did not run and cannot be recorded has simply not happened. A call that ran and cannot be recorded is answered
with `outcomeUnknown`, the one honest answer. What is owed to calls that are on record already, their outcome or their
refusal, is tried again for as long as the process lives.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from gateway.core.errors import GatewayError, IllegalStep, LedgerUnavailable
from gateway.core.gate import Refuse
from gateway.core.ledger import (
    CallClosed,
    CallFoundUnknown,
    CallRefusedUnrecorded,
    Entry,
    ToolResult,
)
from gateway.core.lifecycle import CallEvent, Phase
from gateway.core.model import ToolRequest
from gateway.core.results import refused_result
from gateway.core.vocabulary import ApprovalStatus, Outcome, Reason
from gateway.runtime.approvals import Approvals, resolve_without_answer
from gateway.runtime.calls import CallAnswer, ClosedCall, InFlightCall
from gateway.runtime.conversation import Conversation
from gateway.runtime.endings import Broken, CallEnding, IdConflict, NotRecordable, NotRun, Ran, ResultLost
from gateway.runtime.exposures import Exposures
from gateway.runtime.ports import Clock, Entropy, Ledger
from gateway.runtime.tasks import Tasks
from gateway.runtime.timing import Timing
from gateway.runtime.untrusted_results import note_result

RETRY_SECONDS = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Waits between attempts to record an outcome that the ledger would not take; the last one repeats."""

_log = logging.getLogger(__name__)


class Closing:
    """Writes how calls ended."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        exposures: Exposures,
        approvals: Approvals,
        clock: Clock,
        entropy: Entropy,
        tasks: Tasks,
        timing: Timing,
    ) -> None:
        self._ledger = ledger
        self._exposures = exposures
        self._approvals = approvals
        self._clock = clock
        self._entropy = entropy
        self._tasks = tasks
        self._timing = timing

    async def close(self, ending: CallEnding) -> CallAnswer:
        """Put the end of a call on record and give its answer. The one way a call ends.

        Raises LedgerUnavailable for `NotRun`: nothing was written, and `NotRecordable` is the end of the call then.
        """
        match ending:
            case NotRun():
                return await self._close_not_run(ending)
            case Ran():
                return await self._close_ran(ending)
            case IdConflict(request):
                message = "this call id was used for another call; use a new id"
                result = self._refused(request, Refuse(Outcome.REFUSED_BY_POLICY, Reason.REPLAY_CONFLICT, message))
                try:
                    (index,) = await self._ledger.append(CallRefusedUnrecorded(self._clock.now(), request, result))
                except LedgerUnavailable as error:
                    return await self.close(NotRecordable(request, error))
                return CallAnswer(result, index, replayed=False)
            case NotRecordable(request, error):
                refusal = Refuse(Outcome.EXECUTION_ERROR, Reason.LEDGER_UNAVAILABLE, f"nothing ran: {error.message}")
                return CallAnswer(self._refused(request, refusal), None, replayed=False)
            case ResultLost(request):
                return CallAnswer(self._find_unknown(request).result(), None, replayed=False)
            case Broken(call):
                return await self._close_broken(call)
            case _:
                assert_never(ending)

    def erase_at(self, call: InFlightCall, at: int) -> int | None:
        """When the content of a call that closes at that time is to go."""
        return self._timing.retention.erase_at(call.request.tool, at, call.retain_days)

    # ── each way ──

    async def _close_not_run(self, ending: NotRun) -> CallAnswer:
        """The refusal together with what led to it; whoever answered the question hears of it once it is durable."""
        refusal, checked, resolution = ending.refusal, ending.checked, ending.resolution
        request = ending.call.request if checked is None else checked.request
        result, now = self._refused(request, refusal), self._clock.now()
        entry = CallClosed(
            at=now,
            request=request,
            snapshot=None if checked is None else checked.snapshot,
            descriptor_digest=None if checked is None else checked.spec.digest,
            decision=ending.decision or refusal.decision,
            because=refusal.because,
            result=result,
            executed=False,
            judgement=ending.call.judgement,
            erase_at=self.erase_at(ending.call, now),
        )
        after: tuple[Entry, ...] = ()
        if (conversation := ending.told_in) is not None:
            await note_result(conversation, request.call_id, request.tool, request.parsed_arguments, result)
            after = await self._exposures.let_in(conversation, request.session_id, result.trust, result.labels, request.call_id)
        try:
            indices = await self._ledger.append(*ending.alongside, entry, *after)
        except LedgerUnavailable as unavailable:
            if ending.alongside or after:
                # Its question is on record, and would be asked again after a restart; what was let in is in force already.
                self._tasks.spawn(self._record_later(entry, before=ending.alongside, after=after))
            if resolution is not None:
                self._approvals.settle(resolution.pending, resolution.status, unavailable)
            raise
        ending.call.step(CallEvent.CLOSED)
        if resolution is not None:
            unanswered = resolution.status in (ApprovalStatus.CANCELLED, ApprovalStatus.EXPIRED)
            withdrawn = refusal.message if unanswered else None
            self._approvals.settle(resolution.pending, resolution.status, resolution.told, withdrawn=withdrawn)
        return CallAnswer(result, indices[-1], replayed=False)

    async def _close_ran(self, ending: Ran) -> CallAnswer:
        """The outcome, and what comes back with it: the exposure of conversation and session rises."""
        conversation, checked, result, now = ending.conversation, ending.checked, ending.result, self._clock.now()
        entry = CallClosed(
            at=now,
            request=checked.request,
            snapshot=checked.snapshot,
            descriptor_digest=checked.spec.digest,
            decision=ending.clearance.decision,
            because=ending.clearance.because,
            result=result,
            executed=ending.executed,
            kept=ending.kept,
            settled=ending.settled,
            attachments=ending.attachments,
            erase_at=self.erase_at(ending.call, now),
        )
        after: tuple[Entry, ...] = ()
        if ending.executed:
            request = checked.request
            await note_result(conversation, request.call_id, request.tool, request.parsed_arguments, result)
            after = await self._exposures.let_in(conversation, request.session_id, result.trust, result.labels, request.call_id)
        try:
            index, *_ = await self._ledger.append(entry, *after)
        except LedgerUnavailable:
            self._tasks.spawn(self._record_later(entry, after=after, conversation=conversation))
            return await self.close(ResultLost(checked.request))
        ending.call.step(CallEvent.CLOSED)
        return CallAnswer(result, index, replayed=False)

    async def _close_broken(self, call: InFlightCall) -> CallAnswer:
        """What was not intended did not run; of the rest nobody knows."""
        try:
            if call.phase is Phase.RUNNING:
                found = self._find_unknown(call.request)
                (index,) = await self._ledger.append(found)
                return CallAnswer(found.result(), index, replayed=False)
            message = "nothing ran: the gateway could not carry this call through"
            refusal = Refuse(Outcome.EXECUTION_ERROR, Reason.SOURCE_UNAVAILABLE, message)
            return await self.close(NotRun(call, refusal, alongside=self._cancel_question(call)))
        except GatewayError:
            return await self.close(ResultLost(call.request))
        finally:
            if call.approval_id is not None:
                self._approvals.withdraw(call.approval_id)

    # ── parts ──

    def _cancel_question(self, call: InFlightCall) -> tuple[Entry, ...]:
        if call.approval_id is None:
            return ()
        return (resolve_without_answer(call.request, call.approval_id, ApprovalStatus.CANCELLED, self._clock.now()),)

    def _find_unknown(self, request: ToolRequest) -> CallFoundUnknown:
        receipt_id = self._entropy.identifier("rcp_")
        return CallFoundUnknown(self._clock.now(), request.principal.id, request.conversation_id, request.call_id, receipt_id)

    def _refused(self, request: ToolRequest, refusal: Refuse) -> ToolResult:
        receipt_id = self._entropy.identifier("rcp_")
        result = refused_result(request.call_id, refusal.outcome, refusal.reason, refusal.message, receipt_id=receipt_id)
        return replace(result, trust=refusal.trust, labels=refusal.labels, own=refusal.own)

    async def _record_later(
        self,
        entry: CallClosed,
        before: Sequence[Entry] = (),
        after: Sequence[Entry] = (),
        conversation: Conversation | None = None,
    ) -> None:
        attempt = 0
        while True:
            await asyncio.sleep(RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)])
            attempt += 1
            try:
                indices = await self._ledger.append(*before, entry, *after)
            except LedgerUnavailable:
                _log.warning("the outcome of call %s is still not on record", entry.request.call_id)
                continue
            except IllegalStep as error:
                # Its conversation was deleted meanwhile. The next start finds the call open and closes it.
                _log.warning("the outcome of call %s cannot be put on record: %s", entry.request.call_id, error.message)
                return
            if conversation is not None:
                closed = ClosedCall(entry.request.digest, None, indices[len(before)])
                conversation.close_call(entry.request.call_id, closed)
            return
