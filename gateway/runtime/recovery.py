"""What the last process left behind, put in order before this one answers anybody (row 16).

An intent without an outcome becomes `outcomeUnknown` and is never run again by itself. A question that waited waits on, or
expires if its time is over. An open turn gets one grace period to be re-bound, as after any lost connection.
"""

from __future__ import annotations

from gateway.core.errors import NotFound
from gateway.core.labels import Exposure
from gateway.core.ledger import CallFoundUnknown, GatewayStarted
from gateway.core.model import ToolRequest
from gateway.runtime.connections import Hub
from gateway.runtime.conversations import Conversation, Conversations
from gateway.runtime.dispatch import Dispatcher
from gateway.runtime.ports import Clock, Entropy, Ledger, Records
from gateway.runtime.turns import Turns


async def recover(
    *,
    version: str,
    policy_version: str,
    ledger: Ledger,
    records: Records,
    clock: Clock,
    entropy: Entropy,
    hub: Hub,
    conversations: Conversations,
    turns: Turns,
    dispatcher: Dispatcher,
) -> int:
    """Close, resume or suspend everything that was under way. Gives how many calls were found unknown."""
    unfinished = await records.unfinished_calls()
    now = clock.now()
    found = [
        CallFoundUnknown(now, call.principal_id, call.conversation_id, call.call_id, entropy.identifier("rcp_"))
        for call in unfinished
    ]
    await ledger.append(*found, GatewayStarted(now, version, policy_version, recovered=len(found)))
    waiting = await records.open_approvals()
    for conversation_id in await records.conversations_with_open_turns():
        conversation = await conversations.restore(conversation_id)
        if conversation.turn is not None:
            session = await records.session(conversation.turn.session_id)
            if session is not None:
                hub.live(session)
            turns.resume_suspended(conversation)
    for open_approval in waiting:
        dispatcher.resume(await _conversation_of(open_approval.request, conversations), open_approval)
    return len(found)


async def _conversation_of(request: ToolRequest, conversations: Conversations) -> Conversation:
    """Where the call belongs. One of a deleted conversation gets a closed one in its place, so that it is closed too."""
    try:
        return await conversations.restore(request.conversation_id)
    except NotFound:
        return Conversation(request.conversation_id, request.principal.id, "", Exposure(), None, 0, 0)
