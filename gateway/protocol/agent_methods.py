"""Parameters and results of the agent origin's methods (protocol.md section 5)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.core.vocabulary import Profile
from gateway.protocol.shapes import (
    CallView,
    ClaimedMessage,
    Conversation,
    Grant,
    ModelInfo,
    ModelRef,
    SpokenMessage,
    StoredMessage,
    ToolCall,
    ToolDescriptor,
    TurnSnapshot,
)
from gateway.protocol.wire import (
    CallId,
    ClaimedDigest,
    Count,
    Cursor,
    Flag,
    Identifier,
    ModelId,
    Number,
    Timestamp,
    Title,
    Wire,
)


class AgentSession(Wire):
    """Authority lent to this browser. `principal` is the person's id, `principalName` what screens show."""

    id: Identifier
    principal: Identifier
    principal_name: str
    profile: Profile
    labels: tuple[str, ...]
    expires_at: Timestamp


class SessionLimits(Wire):
    """What this session may use. `messageBytes` counts one message in UTF-8, `messageDepth` its nesting."""

    message_bytes: Count
    message_depth: Count
    requests_in_flight: Count
    calls_per_turn: Count
    calls_per_session: Count
    calls_per_day: Count
    pending_approvals: Count


class SessionDescription(Wire):
    """Who this is, on which connection, and what it may ask."""

    session: AgentSession
    connection_id: Identifier
    limits: SessionLimits
    models: tuple[ModelInfo, ...]
    console_origin: str


class ConversationOpening(Wire):
    """Open a conversation by id, or a new one. `takeOver` moves its open turn here from a connection that still lives."""

    conversation_id: Identifier | None = None
    title: Title | None = None
    take_over: Flag = False


class OpenTurn(Wire):
    """The turn that is open. `snapshot` is there when it binds the turn to this connection, absent while another holds it."""

    turn_id: Identifier
    turn_index: Count
    model_id: ModelId | None = None
    snapshot: TurnSnapshot | None = None


class ConversationOpened(Wire):
    """A conversation as a page needs it to go on."""

    conversation: Conversation
    messages: tuple[StoredMessage, ...]
    open_turn: OpenTurn | None = None


class ConversationPage(Wire):
    """Which page of the conversations, most recently used first."""

    cursor: Cursor | None = None


class ConversationList(Wire):
    """One page. `nextCursor` is absent on the last."""

    conversations: tuple[Conversation, ...]
    next_cursor: Cursor | None = None


class ConversationTitle(Wire):
    """Another title for a conversation."""

    conversation_id: Identifier
    title: Title


class ConversationHead(Wire):
    """A conversation without its messages."""

    conversation: Conversation


class ConversationRef(Wire):
    """Which conversation."""

    conversation_id: Identifier


class ConversationExport(Wire):
    """A conversation as a file: everything its owner may see, results included."""

    format: Literal["countersign.conversation.v1"]
    exported_at: Timestamp
    conversation: Conversation
    messages: tuple[StoredMessage, ...]
    calls: tuple[CallView, ...]


class ConversationFork(Wire):
    """Branch off before the turn with index `fromTurn`."""

    conversation_id: Identifier
    from_turn: Count


class ConversationForked(Wire):
    """The branch, with the messages it starts from."""

    conversation: Conversation
    messages: tuple[StoredMessage, ...]


class MessageAppending(Wire):
    """Store what was said. A claim: never authority."""

    conversation_id: Identifier
    turn_id: Identifier
    message: ClaimedMessage


class MessageAppended(Wire):
    """Where the message stands in its conversation."""

    index: Count


class ToolList(Wire):
    """An unbound preview: none of these may be called on the strength of it."""

    tools: tuple[ToolDescriptor, ...]


class TurnBeginning(Wire):
    """Open a turn; an open one of the conversation ends. `message` is what the person said."""

    conversation_id: Identifier
    message: SpokenMessage | None = None
    model_id: ModelId | None = None


class SnapshotIssued(Wire):
    """The tools of the turn, bound to this connection."""

    snapshot: TurnSnapshot


class TurnRef(Wire):
    """Which turn."""

    conversation_id: Identifier
    turn_id: Identifier


class TurnEnding(Wire):
    """Close a turn. `usage` is what the browser counted: token counts and the like, by name."""

    conversation_id: Identifier
    turn_id: Identifier
    usage: Annotated[dict[Annotated[str, Field(max_length=64)], Number], Field(max_length=32)] | None = None


class TurnCancelled(Wire):
    """The calls that were cancelled with the turn."""

    cancelled: tuple[CallId, ...]


class ToolRequest(Wire):
    """A proposed call, under the snapshot that the client believes current."""

    conversation_id: Identifier
    turn_id: Identifier
    snapshot_id: Identifier
    snapshot_digest: ClaimedDigest
    call: ToolCall
    model: ModelRef | None = None


class CallRef(Wire):
    """Which call."""

    conversation_id: Identifier
    call_id: CallId


class CallList(Wire):
    """The calls of a conversation, oldest first."""

    calls: tuple[CallView, ...]


class InferenceTokenRequest(Wire):
    """Ask to infer with one model in one turn."""

    conversation_id: Identifier
    turn_id: Identifier
    model_id: ModelId


class InferenceToken(Wire):
    """A bearer token for `endpoint`, dead as soon as session, turn or expiry is. `revocable` is false for direct providers
    that cannot be told."""

    token: str
    endpoint: str
    provider: str
    model_id: ModelId
    expires_at: Timestamp
    revocable: Flag


class GrantList(Wire):
    """The grants that are live."""

    grants: tuple[Grant, ...]


class GrantRef(Wire):
    """Which grant."""

    grant_id: Identifier
