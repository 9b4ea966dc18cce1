"""A proposal tied to who asks, on which connection and with which model."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.core.model import ModelRef, ToolCall, ToolRequest, bind
from gateway.core.value_types import quick
from gateway.runtime.connections import Connection
from gateway.runtime.conversation import Conversation


@quick
@dataclass(frozen=True, slots=True)
class Proposal:
    """A `tools/invoke` as it came in. Untrusted."""

    conversation_id: str
    turn_id: str
    snapshot_id: str
    snapshot_digest: str
    call: ToolCall
    model: ModelRef | None = None
    after: str | None = None


def bind_proposal(connection: Connection, conversation: Conversation, proposal: Proposal, received_at: int) -> ToolRequest:
    """The frozen request. The gateway's own knowledge of which model was asked, and under which nonce, beats what the client
    says."""
    turn = conversation.turn
    claimed = proposal.model
    nonce = None if claimed is None else claimed.nonce or None
    vouched = turn.vouch(nonce) if turn is not None and turn.id == proposal.turn_id else None
    return bind(
        proposal.call,
        session=connection.session,
        connection_id=connection.id,
        conversation_id=conversation.id,
        turn_id=proposal.turn_id,
        snapshot_id=proposal.snapshot_id,
        snapshot_digest=proposal.snapshot_digest,
        model=vouched or claimed,
        received_at=received_at,
        runner=connection.runner,
    )
