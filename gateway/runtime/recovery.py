"""What the last process left behind, put in order before this one answers anybody (row 16).

An intent without an outcome becomes `outcomeUnknown` and is never run again by itself. A question that waited waits on; one
that could let nothing run any more is withdrawn before anybody can see it. An open turn gets one grace period to be re-bound,
as after any lost connection.
"""

from __future__ import annotations

from gateway.core.errors import NotFound
from gateway.core.labels import Exposure
from gateway.core.ledger import CallFoundUnknown, GatewayStarted
from gateway.core.model import ToolRequest, ToolSpec
from gateway.core.vocabulary import Recovery
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversation import Conversation
from gateway.runtime.conversations import Conversations
from gateway.runtime.dispatch import Dispatcher
from gateway.runtime.grant_review import GrantReview
from gateway.runtime.ports import Clock, Entropy, Ledger, RecoveryRecords, Toolbox
from gateway.runtime.turns import Turns


async def recover(
    *,
    version: str,
    policy_version: str,
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
    await ledger.append(*found, *ended, GatewayStarted(now, version, policy_version, recovered=len(found)))
    waiting = await records.open_approvals()
    for conversation_id in await records.conversations_with_open_turns():
        conversation = await conversations.restore(conversation_id)
        if conversation.turn is not None:
            session = await records.session(conversation.turn.session_id)
            if session is not None:
                connections.live(session)
            turns.resume_suspended(conversation)
    for open_approval in waiting:
        await dispatcher.resume(await _conversation_of(open_approval.request, conversations), open_approval)
    return len(found)


def _recovery_of(spec: ToolSpec | None) -> Recovery:
    """What its author says may be done about a call that was left open; a tool that is gone says nothing, so nothing is safe."""
    return Recovery.UNSAFE if spec is None else spec.recovery


async def _conversation_of(request: ToolRequest, conversations: Conversations) -> Conversation:
    """Where the call belongs. One of a deleted conversation gets a closed one in its place, so that it is closed too."""
    try:
        return await conversations.restore(request.conversation_id)
    except NotFound:
        return Conversation(request.conversation_id, request.principal.id, "", Exposure(), None, 0, 0)
