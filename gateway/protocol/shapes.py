"""The objects of docs/PROTOCOL.md section 4, and a few more that both origins use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.core.attachments import MediaType
from gateway.core.canonical import Json
from gateway.core.vocabulary import (
    ApprovalKind,
    ApprovalStatus,
    Category,
    GrantScope,
    Outcome,
    PatternKind,
    PermissionMode,
    Reason,
    Role,
    Tier,
    Trust,
)
from gateway.protocol.wire import (
    CallId,
    ClaimedToolName,
    Count,
    Digest,
    Flag,
    FreeText,
    Identifier,
    JsonObject,
    ModelId,
    Timestamp,
    Title,
    ToolName,
    Wire,
)

LabelName = Literal["public", "internal", "confidential", "high"]
"""A confidentiality, in words."""


class ToolDescriptor(Wire):
    """One published tool, as browsers and models see it. `digest` covers every other member but `permission`."""

    name: ToolName
    title: str | None = None
    description: str
    interface_id: str
    method_name: str
    param_schema: JsonObject
    permission: PermissionMode
    category: Category
    source: str
    digest: Digest
    local: Literal[True] | None = None


class TurnSnapshot(Wire):
    """What may be called in one turn. `digest` covers all the other members."""

    id: Identifier
    session_id: Identifier
    connection_id: Identifier
    conversation_id: Identifier
    turn_id: Identifier
    turn_index: Count
    issued_at: Timestamp
    expires_at: Timestamp
    policy_version: str
    tools: tuple[ToolDescriptor, ...]
    digest: Digest


class WireToolCall(Wire):
    """A call that a model in the browser proposed. Untrusted."""

    id: CallId
    name: ClaimedToolName
    arguments: JsonObject


class WireModelRef(Wire):
    """The model that proposed a call, as the browser claims."""

    id: ModelId
    backend: Annotated[str, Field(max_length=64)] | None = None
    nonce: Annotated[str, Field(max_length=128)] | None = None


class WireAttachment(Wire):
    """Bytes that came with a result, for `GET /attachments/ID`. `mediaType` is what their first bytes say."""

    id: Identifier
    media_type: MediaType
    bytes: Count
    digest: Digest


class WireToolResult(Wire):
    """How a call closed. `replayed` marks the recorded answer to a call id that was seen before; `auditSeq` is the index of
    its closing leaf, absent only when the log could not be written. `own`: it is of the person's own workspace
    or record, which is no reason to believe it."""

    call_id: CallId
    outcome: Outcome
    reason: Reason | None = None
    content: FreeText
    structured: Json = None
    error: FreeText | None = None
    truncated: Flag
    redactions: Count
    labels: tuple[str, ...]
    trust: Trust
    duration_ms: Count
    replayed: Flag
    audit_seq: Count | None = None
    receipt_id: Identifier
    attachments: tuple[WireAttachment, ...] | None = None
    own: Literal[True] | None = None


class WireNeeds(Wire):
    """What an approval requires. `presence` requires the passkey even for a consent. `approvers` different people must approve;
    with `breakGlass` an operator may do so alone, for a reason."""

    presence: Flag
    approvers: Count
    requester_may_approve: Flag
    break_glass: Flag | None = None


class WireGivenApproval(Wire):
    """One person's yes to what takes several. The console is told who it was, the agent's origin is not."""

    at: Timestamp
    name: str | None = None
    principal: Identifier | None = None


class WireRuleReason(Wire):
    """A policy rule that led to the decision, and the sentence that its author wrote for people."""

    id: str
    why: str


class WirePattern(Wire):
    """Within what one argument may vary: `bound` is a folder, the origin of a URL, or the greatest amount."""

    argument: str
    kind: PatternKind
    bound: str | int | float


class WirePlanPlace(Wire):
    """Where a call stands in a plan: `first` is the call that it begins with, `after` the one that it follows, `step` from 1."""

    first: CallId
    after: CallId
    step: Count


class WireApproval(Wire):
    """A request for a person's decision. It holds nothing that could be used to decide it. Where it is for others than the
    requester alone, `given` are those who have approved so far, and the console is told whose call it is (a name and an id).
    `plan` is there for a call that follows another one; `answered`: it was approved, and its call waits for that one."""

    id: Identifier
    kind: ApprovalKind
    status: ApprovalStatus
    tool: ToolName
    arguments: JsonObject
    summary: FreeText
    effects: tuple[FreeText, ...]
    statement_digest: Digest
    conversation_id: Identifier
    turn_id: Identifier
    call_id: CallId
    requested_at: Timestamp
    expires_at: Timestamp
    needs: WireNeeds
    because: tuple[WireRuleReason, ...]
    offers: tuple[GrantScope, ...]
    withdrawn: FreeText | None = None
    patterns: tuple[WirePattern, ...] | None = None
    given: tuple[WireGivenApproval, ...] | None = None
    requester: str | None = None
    requester_id: Identifier | None = None
    plan: WirePlanPlace | None = None
    answered: Flag | None = None


class WireGrant(Wire):
    """A permission for several calls. `pins` holds the arguments that are fixed; `freed` names those that may vary, `within` a
    pattern where there is one."""

    id: Identifier
    approval_id: Identifier
    scope: GrantScope
    tool: ToolName
    conversation_id: Identifier
    turn_id: Identifier | None = None
    pins: JsonObject
    freed: tuple[str, ...]
    issued_at: Timestamp
    expires_at: Timestamp
    uses: Count
    max_uses: Count
    within: WirePattern | None = None


class WireModelInfo(Wire):
    """A model that can be used. `id` is weight digest plus architecture tag for local weights; memory in bytes.

    `tier`: the loop that it can carry, where the gateway knows it. `seesImages` is there where images can be shown to it.
    `trouble` says why it would not answer now; it may be chosen all the same, since the next question tries again.
    """

    id: ModelId
    display_name: str
    arch: str
    context_tokens: Count
    output_tokens: Count
    backend: str
    quantisation: str
    supports_tools: Flag
    licence: str
    local: Flag
    tool_call_rank: Count | None = None
    approx_peak_ram_bytes: Count | None = None
    tier: Tier | None = None
    sees_images: Flag | None = None
    trouble: FreeText | None = None


class ChatMessage(Wire):
    """One message in the model's chat format."""

    role: Role
    content: FreeText
    tool_call_id: CallId | None = None
    tool_calls: tuple[WireToolCall, ...] | None = None


class ClaimedMessage(Wire):
    """A message that a browser submits. Its role is `user` or `assistant`, never `tool`."""

    role: Literal[Role.USER, Role.ASSISTANT]
    content: FreeText
    tool_calls: Annotated[tuple[WireToolCall, ...], Field(max_length=64)] | None = None


class SpokenMessage(Wire):
    """The person's message, as the browser submits it."""

    role: Literal[Role.USER]
    content: FreeText


class StoredMessage(ChatMessage):
    """A message of a conversation, in order. `provenance` is its source: the browser (`claimed`, with the `index`
    that `messages/append` gave), a file that a browser took it from (`imported`: nothing vouches for who said it, and nothing
    that it tells of is on record here) or the gateway, with the `tool` whose result it is; `own` as with a `ToolResult`."""

    index: Count | None = None
    turn_id: Identifier
    provenance: Literal["claimed", "imported", "gateway"]
    tool: ClaimedToolName | None = None
    own: Literal[True] | None = None
    at: Timestamp


class WireConversation(Wire):
    """A conversation without its messages. `label` is the highest confidentiality of what it contains. `inheritedTurns` counts
    the turns that a copy took from `parentId`, or without one those that were imported; `turnCount` counts its own, which come
    after them."""

    id: Identifier
    title: Title
    created_at: Timestamp
    updated_at: Timestamp
    parent_id: Identifier | None = None
    inherited_turns: Count | None = None
    turn_count: Count
    message_count: Count
    tainted: Flag
    label: LabelName
    open_turn_id: Identifier | None = None


class CallView(Wire):
    """A recorded call and its state, so that a reloaded page can show it. `approval` is set while it waits for a
    person, `result` once it is closed."""

    call: WireToolCall
    turn_id: Identifier
    state: Literal["awaitingApproval", "running", "closed"]
    approval_id: Identifier | None = None
    approval: WireApproval | None = None
    received_at: Timestamp
    result: WireToolResult | None = None
