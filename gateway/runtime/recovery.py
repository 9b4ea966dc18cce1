"""What the last process left behind, put in order before this one answers anybody (row 16).

An intent without an outcome becomes `outcomeUnknown` and is never run again by itself. A question that waited waits on; one
that could let nothing run any more is withdrawn before anybody can see it. An open turn gets one grace period to be re-bound,
as after any lost connection, and not another one at each further start.

Where the clock is behind the newest record, nobody can say how much time has really passed, and what had run out would count
again: every session ends, and with it what its questions, grants and turns were for.
"""

from __future__ import annotations

import logging

from gateway.core.errors import NotFound
from gateway.core.labels import Exposure
from gateway.core.ledger import CallFoundUnknown, ClockSetBack, ConsoleSessionEnded, GatewayStarted, PolicyLoaded
from gateway.core.model import ToolRequest, ToolSpec
from gateway.core.vocabulary import Recovery
from gateway.runtime.approvals.slots import step_of
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversation import Conversation
from gateway.runtime.conversations import Conversations
from gateway.runtime.dispatch import Dispatcher
from gateway.runtime.grant_review import GrantReview
from gateway.runtime.ports import Clock, Entropy, Ledger, PolicyEngine, RecoveryRecords, Toolbox
from gateway.runtime.turns import Turns

_log = logging.getLogger(__name__)


async def recover(
    *,
    version: str,
    policy: PolicyEngine,
    ledger: Ledger,
    records: RecoveryRecords,
    clock: Clock,
    entropy: Entropy,
    toolbox: Toolbox,
    review: GrantReview,
    connections: ConnectionRegistry,
    conversations: Conversations,
    turns: Turns,
    dispatcher: Dispatcher,
) -> int:
    """Close, resume or suspend everything that was under way. Gives how many calls were found unknown."""
    await _end_what_the_clock_would_revive(ledger, records, clock)
    unfinished = await records.unfinished_calls()
    now = clock.now()
    found = [
        CallFoundUnknown(
            now,
            call.principal_id,
            call.conversation_id,
            call.call_id,
            entropy.identifier("rcp_"),
            recovery=_recovery_of(toolbox.find(call.tool)),
        )
        for call in unfinished
    ]
    # The policy may be another one than when they were given.
    ended = await review.end_refused()
    opened = await records.unfinished_turns()
    suspended = tuple(each.turn_id for each in opened if each.suspended_at is None)
    started = GatewayStarted(now, version, policy.version, recovered=len(found), suspended=suspended)
    changed = await records.policy_on_record() != policy.version
    loaded = (PolicyLoaded(now, policy.version, policy.documents),) if changed else ()
    await ledger.append(*found, *ended, started, *loaded)
    # A later step of a plan finds what it follows only where that is back already, and may have been asked about before it.
    waiting = sorted(await records.open_approvals(), key=lambda each: step_of(each.approval))
    for each in opened:
        turn = (await conversations.restore(each.conversation_id)).turn
        session = None if turn is None else await records.session(turn.session_id)
        if session is not None:
            connections.live(session)
    for open_approval in waiting:
        await dispatcher.resume(await _conversation_of(open_approval.request, conversations), open_approval)
    # Now that its questions are back, for a turn whose grace period is over takes them along.
    for each in opened:
        waited = 0.0 if each.suspended_at is None else max(0, now - each.suspended_at) / 1000
        turns.resume_suspended(await conversations.restore(each.conversation_id), waited)
    return len(found)


async def _end_what_the_clock_would_revive(ledger: Ledger, records: RecoveryRecords, clock: Clock) -> None:
    sessions = await records.open_console_sessions()
    recorded = await records.newest_time()
    newest = max((session.created_at for session in sessions), default=0)
    newest = newest if recorded is None else max(newest, recorded)
    now = clock.now()
    if now >= newest:
        return
    _log.warning("the clock is %.0f s behind the newest record: every session ends", (newest - now) / 1000)
    ended = [ConsoleSessionEnded(now, session.id, session.principal.id, "clockSetBack") for session in sessions]
    await ledger.append(ClockSetBack(now, newest), *ended)


def _recovery_of(spec: ToolSpec | None) -> Recovery:
    """What its author says may be done about a call that was left open; a tool that is gone says nothing, so nothing is safe."""
    return Recovery.UNSAFE if spec is None else spec.recovery


async def _conversation_of(request: ToolRequest, conversations: Conversations) -> Conversation:
    """Where the call belongs. One of a deleted conversation gets a closed one in its place, so that it is closed too."""
    try:
        return await conversations.restore(request.conversation_id)
    except NotFound:
        return Conversation(request.conversation_id, request.principal.id, "", Exposure(), None, 0, 0)
