"""Rows 3 and 4: a call id that was seen before. Never a second execution."""

from __future__ import annotations

from gateway.core.model import ToolRequest
from gateway.runtime.calls import CallAnswer, ClosedCall, InFlightCall
from gateway.runtime.conversation import Conversation
from gateway.runtime.endings import CallEnding, IdConflict, ResultLost
from gateway.runtime.ports import CallRecord, CallRecords, CallState


async def recall(conversation: Conversation, call_id: str, records: CallRecords) -> None:
    """Have the conversation know the call of that id again, if it has forgotten one. Only after that may a new one begin."""
    while conversation.may_have_forgotten(call_id):
        forgotten = conversation.forgotten.count
        digest = await records.call_digest(conversation.id, call_id)
        if digest is not None:
            conversation.remember(call_id, ClosedCall(digest, None, None))
        elif conversation.forgotten.count == forgotten:
            # Nothing was forgotten while the database was asked, so whatever began meanwhile is still known.
            return


async def replay(earlier: InFlightCall | ClosedCall, request: ToolRequest, records: CallRecords) -> CallAnswer | CallEnding:
    """The answer of the earlier call, once it has one, or how this message ends when the id belongs to another call."""
    if earlier.request_digest != request.digest:
        return IdConflict(request)
    if isinstance(earlier, InFlightCall):
        answer = await earlier.answer_future()
        return CallAnswer(answer.result, answer.closing_index, replayed=True)
    if earlier.result is not None:
        return CallAnswer(earlier.result, earlier.closing_index, replayed=True)
    record = await records.call(request.conversation_id, request.call_id)
    if record is None or record.result is None:
        return ResultLost(request)
    return CallAnswer(record.result, record.closing_index, replayed=True)


def undecided(call: InFlightCall) -> CallRecord:
    """A call under way of which nothing is on record yet."""
    request = call.request
    return CallRecord(
        conversation_id=request.conversation_id,
        turn_id=request.turn_id,
        call_id=request.call_id,
        tool=request.tool,
        arguments=request.parsed_arguments,
        request_digest=request.digest,
        state=CallState.RUNNING,
        approval_id=None,
        received_at=request.received_at,
        result=None,
        closing_index=None,
    )
