"""Closing entries: every request gets exactly one, durable before anybody hears of it (row 17).

A call that did not run and cannot be recorded has simply not happened. A call that ran and cannot be recorded is answered
with `outcomeUnknown`, the one honest answer. What is owed to calls that are on record already, their outcome or their
refusal, is tried again for as long as the process lives.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from gateway.core.approval import RuleReason
from gateway.core.errors import GatewayError, IllegalStep, LedgerUnavailable
from gateway.core.gate import Refuse
from gateway.core.labels import Exposure, expose
from gateway.core.ledger import (
    ApprovalResolved,
    CallClosed,
    CallFoundUnknown,
    CallRefusedUnrecorded,
    ConversationTainted,
    Entry,
    ToolResult,
)
from gateway.core.lifecycle import CallEvent, Phase
from gateway.core.model import ToolRequest
from gateway.core.results import refused_result, unknown_result
from gateway.core.vocabulary import ApprovalStatus, Decision, Outcome, Reason
from gateway.runtime.checks import Checked
from gateway.runtime.conversations import Conversation
from gateway.runtime.flights import Answer, Flight, Settled
from gateway.runtime.grants import Grants
from gateway.runtime.ports import Clock, Entropy, Ledger
from gateway.runtime.tasks import Tasks

RETRY_SECONDS = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Waits between attempts to record an outcome that the ledger would not take; the last one repeats."""

_log = logging.getLogger(__name__)


class Closing:
    """Writes how calls ended."""

    def __init__(self, *, ledger: Ledger, grants: Grants, clock: Clock, entropy: Entropy, tasks: Tasks) -> None:
        self._ledger = ledger
        self._grants = grants
        self._clock = clock
        self._entropy = entropy
        self._tasks = tasks

    def receipt(self) -> str:
        """A fresh receipt id."""
        return self._entropy.identifier("rcp_")

    async def refuse(
        self,
        flight: Flight,
        refusal: Refuse,
        checked: Checked | None = None,
        *,
        decision: Decision | None = None,
        alongside: Sequence[Entry] = (),
    ) -> Answer:
        """Close a call that did not run, together with what led to it. Raises LedgerUnavailable: nothing was written yet."""
        request = flight.request if checked is None else checked.request
        result = self._refused(request, refusal)
        entry = self._entry(request, checked, decision or refusal.decision, refusal.because, result, executed=False)
        try:
            indices = await self._ledger.append(*alongside, entry)
        except LedgerUnavailable:
            if alongside:
                # Its question is on record, and would be asked again after a restart.
                self._tasks.spawn(self._record_later(entry, alongside))
            raise
        flight.step(CallEvent.CLOSED)
        return Answer(result, indices[-1], replayed=False)

    async def close(
        self,
        conversation: Conversation,
        flight: Flight,
        checked: Checked,
        decision: Decision,
        because: tuple[RuleReason, ...],
        result: ToolResult,
        *,
        executed: bool,
    ) -> Answer:
        """Close a call whose intent is on record, and let the conversation's exposure rise by what came back."""
        entry = self._entry(checked.request, checked, decision, because, result, executed=executed)
        exposed = expose(conversation.exposure, result.trust, result.labels) if executed else conversation.exposure
        entries: tuple[Entry, ...] = (entry,)
        if exposed != conversation.exposure:
            # Before the await: a call that is decided while this one is being written must see what it let in.
            rose, conversation.exposure = exposed.label > conversation.exposure.label, exposed
            entries = (entry, _taint(conversation, entry, exposed))
            if rose:
                entries = (*entries, *await self._grants.lapse(conversation.id, conversation.principal_id))
        try:
            index, *_ = await self._ledger.append(*entries)
        except LedgerUnavailable:
            self._tasks.spawn(self._record_later(entry, after=entries[1:], conversation=conversation))
            return self.unknown(checked.request)
        flight.step(CallEvent.CLOSED)
        return Answer(result, index, replayed=False)

    async def give_up(self, flight: Flight) -> Answer:
        """Close a call in whose course something broke that nobody foresaw. What was not intended did not run."""
        request = flight.request
        try:
            if flight.phase is not Phase.RUNNING:
                message = "nothing ran: the gateway could not carry this call through"
                refusal = Refuse(Outcome.EXECUTION_ERROR, Reason.SOURCE_UNAVAILABLE, message)
                withdrawn = () if flight.approval_id is None else (self._withdraw(request, flight.approval_id),)
                return await self.refuse(flight, refusal, alongside=withdrawn)
            found = self._found_unknown(request)
            (index,) = await self._ledger.append(found)
            return Answer(unknown_result(found), index, replayed=False)
        except GatewayError:
            return self.unknown(request)

    async def conflict(self, request: ToolRequest) -> Answer:
        """Row 4: refused and audited, while the call that owns the id stays as it is."""
        refusal = Refuse(
            Outcome.REFUSED_BY_POLICY, Reason.REPLAY_CONFLICT, "this call id was used for another call; use a new id"
        )
        result = self._refused(request, refusal)
        try:
            (index,) = await self._ledger.append(CallRefusedUnrecorded(self._clock.now(), request, result))
        except LedgerUnavailable as error:
            return self.unavailable(request, error)
        return Answer(result, index, replayed=False)

    def unknown(self, request: ToolRequest) -> Answer:
        """The answer for a call of which nobody can say whether it took effect."""
        return Answer(unknown_result(self._found_unknown(request)), None, replayed=False)

    def unavailable(self, request: ToolRequest, error: LedgerUnavailable) -> Answer:
        """The answer for a call that did not run and could not be recorded."""
        refusal = Refuse(Outcome.EXECUTION_ERROR, Reason.LEDGER_UNAVAILABLE, f"nothing ran: {error.message}")
        return Answer(self._refused(request, refusal), None, replayed=False)

    def _found_unknown(self, request: ToolRequest) -> CallFoundUnknown:
        return CallFoundUnknown(self._clock.now(), request.principal.id, request.conversation_id, request.call_id, self.receipt())

    def _withdraw(self, request: ToolRequest, approval_id: str) -> ApprovalResolved:
        return ApprovalResolved(
            at=self._clock.now(),
            approval_id=approval_id,
            call_id=request.call_id,
            conversation_id=request.conversation_id,
            status=ApprovalStatus.CANCELLED,
            approver_id=None,
            console_session_id=None,
            credential_id=None,
            assertion=None,
        )

    def _refused(self, request: ToolRequest, refusal: Refuse) -> ToolResult:
        return refused_result(request.call_id, refusal.outcome, refusal.reason, refusal.message, receipt_id=self.receipt())

    def _entry(
        self,
        request: ToolRequest,
        checked: Checked | None,
        decision: Decision,
        because: tuple[RuleReason, ...],
        result: ToolResult,
        *,
        executed: bool,
    ) -> CallClosed:
        return CallClosed(
            at=self._clock.now(),
            request=request,
            snapshot=None if checked is None else checked.snapshot,
            descriptor_digest=None if checked is None else checked.spec.digest,
            decision=decision,
            because=because,
            result=result,
            executed=executed,
        )

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
                settled = Settled(entry.request.digest, None, indices[len(before)])
                conversation.settled[entry.request.call_id] = settled
            return


def _taint(conversation: Conversation, entry: CallClosed, exposed: Exposure) -> ConversationTainted:
    request = entry.request
    return ConversationTainted(entry.at, conversation.id, request.principal.id, exposed.taint, exposed.label, request.call_id)
