"""Parameters and results of the agent origin's methods (docs/PROTOCOL.md section 5)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.core.vocabulary import Profile, Reason, Role
from gateway.protocol.shapes import (
    CallView,
    ClaimedMessage,
    LabelName,
    SpokenMessage,
    StoredMessage,
    ToolDescriptor,
    TurnSnapshot,
    WireConversation,
    WireGrant,
    WireModelInfo,
    WireModelRef,
    WireToolCall,
)
from gateway.protocol.wire import (
    CallId,
    ClaimedDigest,
    Count,
    Cursor,
    Flag,
    FreeText,
    Identifier,
    JsonObject,
    ModelId,
    SearchText,
    Timestamp,
    Title,
    ToolName,
    Wire,
)

MOST_IMPORTED = 1_000
"""Messages of one conversation that is imported."""


class AgentSession(Wire):
    """The session that was issued to this browser. `principal` is the person's id, `principalName` the name to display."""

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


class WireMissingModel(Wire):
    """A model that is configured and not there: what it is configured by, and why it cannot be chosen."""

    name: FreeText
    why: FreeText


class SessionDescription(Wire):
    """The session, its connection, its limits, and the models it may use. `at` is the gateway's time: what is left of a question
    is told by it, whatever the device's clock says."""

    session: AgentSession
    connection_id: Identifier
    limits: SessionLimits
    models: tuple[WireModelInfo, ...]
    missing_models: tuple[WireMissingModel, ...] | None = None
    console_origin: str
    at: Timestamp


class ConversationOpening(Wire):
    """Open a conversation by id, or a new one. `takeOver` moves its open turn here from a connection that is still open."""

    conversation_id: Identifier | None = None
    title: Title | None = None
    take_over: Flag = False


class WireOpenTurn(Wire):
    """The open turn. `snapshot` is present when the turn is bound to this connection, absent when it is bound to another."""

    turn_id: Identifier
    turn_index: Count
    model_id: ModelId | None = None
    snapshot: TurnSnapshot | None = None


class WireConversationOpened(Wire):
    """A conversation with its messages and its open turn."""

    conversation: WireConversation
    messages: tuple[StoredMessage, ...]
    open_turn: WireOpenTurn | None = None


class ConversationPage(Wire):
    """Which page of the conversations, most recently used first."""

    cursor: Cursor | None = None


class ConversationList(Wire):
    """One page. `nextCursor` is absent on the last."""

    conversations: tuple[WireConversation, ...]
    next_cursor: Cursor | None = None


class MessageSearch(Wire):
    """Which words to look for in what was said, and which page of it. Every word of `text` has to be in a message."""

    text: SearchText
    cursor: Cursor | None = None


class WireFoundMessage(Wire):
    """A message that has the words, with a piece of it around them. It is what was said, and as inert as any message."""

    conversation_id: Identifier
    title: Title
    turn_id: Identifier
    role: Role
    excerpt: FreeText
    at: Timestamp


class FoundMessages(Wire):
    """One page of what was found, newest first. `nextCursor` is absent on the last. Conversations above the session's label are
    not searched."""

    found: tuple[WireFoundMessage, ...]
    next_cursor: Cursor | None = None


class ImportedMessage(Wire):
    """A message of a file. `at` is when the file says that it was said, if it says so."""

    role: Literal[Role.USER, Role.ASSISTANT]
    content: FreeText
    at: Timestamp | None = None


class ConversationImport(Wire):
    """A conversation from a file, as a browser has read it: the body of `POST /conversations/import`. `source` is the program
    that wrote the file, and `label` the confidentiality that the file says it has."""

    source: Literal["countersign", "chatgpt", "claude", "openWebUi"]
    title: Title
    messages: Annotated[tuple[ImportedMessage, ...], Field(min_length=1, max_length=MOST_IMPORTED)]
    label: LabelName | None = None


class ConversationTitle(Wire):
    """A new title for a conversation."""

    conversation_id: Identifier
    title: Title


class ConversationHead(Wire):
    """A conversation without its messages."""

    conversation: WireConversation


class ConversationRef(Wire):
    """Which conversation."""

    conversation_id: Identifier


class ConversationExport(Wire):
    """A conversation as a file: all that its owner may see, including results."""

    format: Literal["countersign.conversation.v1"]
    exported_at: Timestamp
    conversation: WireConversation
    messages: tuple[StoredMessage, ...]
    calls: tuple[CallView, ...]


class ConversationFork(Wire):
    """Copy a conversation up to the turn with index `fromTurn`, without that turn. The turns that it inherited count first."""

    conversation_id: Identifier
    from_turn: Count


class ConversationForked(Wire):
    """The new conversation, with the messages that were copied."""

    conversation: WireConversation
    messages: tuple[StoredMessage, ...]


class MessageAppending(Wire):
    """Store a message. It is a claim of the browser and gives no permission."""

    conversation_id: Identifier
    turn_id: Identifier
    message: ClaimedMessage


class WireMessageAppended(Wire):
    """The message's position in its conversation."""

    index: Count


class WireToolObstacle(Wire):
    """Why these tools of a list cannot be called now, in words for a person. `reason` is `sourceUnavailable` where that may pass
    by itself."""

    reason: Reason
    why: FreeText
    tools: tuple[ToolName, ...]


class ToolList(Wire):
    """A preview that is bound to no turn; no tool can be called with it."""

    tools: tuple[ToolDescriptor, ...]
    obstacles: tuple[WireToolObstacle, ...] | None = None


class TurnBeginning(Wire):
    """Open a turn; the conversation's open turn ends. `message` is the person's message."""

    conversation_id: Identifier
    message: SpokenMessage | None = None
    model_id: ModelId | None = None


class WireSnapshotIssued(Wire):
    """The tools of the turn, bound to this connection."""

    snapshot: TurnSnapshot


class TurnRef(Wire):
    """Which turn."""

    conversation_id: Identifier
    turn_id: Identifier


class WireTurnEnding(Wire):
    """Close a turn. `usage` is what the browser counted, in the members of whoever counts there; it goes on record alone."""

    conversation_id: Identifier
    turn_id: Identifier
    usage: JsonObject | None = None


class TurnCancelled(Wire):
    """The calls that were cancelled with the turn."""

    cancelled: tuple[CallId, ...]


class WireToolRequest(Wire):
    """A proposed call. It names the snapshot that the client takes for the current one. `after` is the id of an open call of the
    same turn: this one is asked about at once, and runs only after that one closed `ok`."""

    conversation_id: Identifier
    turn_id: Identifier
    snapshot_id: Identifier
    snapshot_digest: ClaimedDigest
    call: WireToolCall
    model: WireModelRef | None = None
    after: CallId | None = None


class CallRef(Wire):
    """Which call."""

    conversation_id: Identifier
    call_id: CallId


class CallList(Wire):
    """The calls of a conversation, oldest first."""

    calls: tuple[CallView, ...]


class InferenceTokenRequest(Wire):
    """Request a token for one model in one turn."""

    conversation_id: Identifier
    turn_id: Identifier
    model_id: ModelId


class InferenceToken(Wire):
    """A bearer token for `endpoint`. It ends with the session, with the turn, or at `expiresAt`. `revocable` is false for a
    provider that is used directly and has no way to revoke it."""

    token: str
    endpoint: str
    provider: str
    model_id: ModelId
    expires_at: Timestamp
    revocable: Flag


class GrantList(Wire):
    """The valid grants."""

    grants: tuple[WireGrant, ...]


class GrantRef(Wire):
    """Which grant."""

    grant_id: Identifier
