"""The order of calls that follow one another in a turn: which call follows which, and whether it may run yet.

A call names an earlier one of its turn with `after`. It is bound, judged and asked about at once, and runs once the earlier call
has closed `ok`. A person's no takes one call out and leaves the rest as it was asked; whatever else went wrong may be what the
rest stands on, and closes it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from gateway.core.gate import Refuse
from gateway.core.model import ToolRequest
from gateway.core.plans import PLAN_STEPS, PlanPlace
from gateway.core.value_types import quick
from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.calls import InFlightCall, cancelled_before_it_ran
from gateway.runtime.conversation import Conversation
from gateway.runtime.ports import DispatchRecords


@quick
@dataclass(frozen=True, slots=True)
class PlacedRequest:
    """A request with its place in a plan, and the call that it follows; or why it can follow none."""

    request: ToolRequest
    earlier: InFlightCall | None = None
    misplaced: Refuse | None = None


def place(conversation: Conversation, request: ToolRequest, after: str | None) -> PlacedRequest:
    """Put a new call behind the one that it names: an open call of the same turn, which no other follows. Behind one that has
    closed `ok` it is a call like any other. No call can follow itself or a later one, for it only ever names what is open
    before it is."""
    if after is None:
        return PlacedRequest(request)
    earlier, turn = conversation.in_flight.get(after), conversation.turn
    if earlier is None:
        is_done = turn is not None and turn.id == request.turn_id and after in turn.succeeded
        return PlacedRequest(request, misplaced=None if is_done else _NOT_OPEN)
    if earlier.request.turn_id != request.turn_id:
        return PlacedRequest(request, misplaced=_NOT_OPEN)
    if earlier.followed:
        return PlacedRequest(request, misplaced=_FOLLOWED)
    before = earlier.request.plan
    step = 2 if before is None else before.step + 1
    if step > PLAN_STEPS:
        return PlacedRequest(request, misplaced=_TOO_LONG)
    earlier.followed = True
    first = after if before is None else before.first
    return PlacedRequest(replace(request, plan=PlanPlace(first, after, step)), earlier)


async def find_place_again(conversation: Conversation, call: InFlightCall, records: DispatchRecords) -> Refuse | None:
    """Put a call that waited when the process ended behind what still waits of its plan, which has to be back before it. Why it
    can run no more, if it cannot.

    Only what is on record counts: a step that asked nobody and had not run left nothing, and so what follows it is not run.
    """
    after = None if call.request.plan is None else call.request.plan.after
    while after is not None:
        earlier = conversation.in_flight.get(after)
        if earlier is not None:
            call.earlier, earlier.followed = earlier, True
            return None
        record = await records.call(conversation.id, after)
        outcome = None if record is None or record.result is None else record.result.outcome
        if outcome is Outcome.OK:
            return None
        # Without a question nobody can tell what the denied call followed.
        asked = None if record is None or record.approval_id is None else await records.approval(record.approval_id)
        if outcome is not Outcome.DENIED_BY_USER or asked is None:
            return _FAILED
        after = None if asked.plan is None else str(asked.plan["after"])
    return None


def is_early(call: InFlightCall) -> bool:
    """Whether a call has to wait for one before it."""
    earlier = _first_undenied(call)
    return earlier is not None and not earlier.closed.done()


def find_failure(call: InFlightCall) -> Refuse | None:
    """Why a call can run no more because of those before it, as far as they have closed."""
    earlier = _first_undenied(call)
    if earlier is None or not earlier.closed.done() or earlier.closed.result() is Outcome.OK:
        return None
    return _FAILED


async def wait_for_earlier(call: InFlightCall) -> Refuse | None:
    """Wait until the calls before this one have closed. Why it must not run, if it must not."""
    while (earlier := _first_undenied(call)) is not None and not earlier.closed.done():
        await asyncio.wait({earlier.closed, call.stopped}, return_when=asyncio.FIRST_COMPLETED)
        if call.stopped.done():
            return cancelled_before_it_ran(call)
    failed = find_failure(call)
    if failed is None:
        call.earlier = None
    return failed


def _first_undenied(call: InFlightCall) -> InFlightCall | None:
    earlier = call.earlier
    while earlier is not None and earlier.closed.done() and earlier.closed.result() is Outcome.DENIED_BY_USER:
        earlier = earlier.earlier
    return earlier


def _refuse(message: str) -> Refuse:
    return Refuse(Outcome.REFUSED_BY_POLICY, Reason.NOT_IN_ORDER, message)


_NOT_OPEN = _refuse("`after` names no call that is open in this turn")
_FOLLOWED = _refuse("another call follows the one that `after` names")
_TOO_LONG = _refuse(f"at most {PLAN_STEPS} calls may follow one another")
_FAILED = Refuse(
    Outcome.CANCELLED, Reason.EARLIER_CALL_FAILED, "the call before it did not go well, so that this one was not run"
)
