"""What is read back from the ledger, as values. Times are epoch milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gateway.core.approval import Approval
from gateway.core.attachments import KeptAttachment
from gateway.core.canonical import Json
from gateway.core.judgement import Judgement
from gateway.core.ledger import Message, ToolResult
from gateway.core.model import Principal, ToolRequest
from gateway.core.results import KeptText
from gateway.core.vocabulary import Profile, Trust


@dataclass(frozen=True, slots=True)
class EnrolmentOffer:
    """An unused enrolment link."""

    name: str
    profile: Profile
    expires_at: int


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """A live console session."""

    id: str
    principal: Principal
    created_at: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class StoredSignIn:
    """A sign-in to a source: the sealed tokens, the authorization server that gave them, and who signed in when."""

    sealed: bytes
    server: str
    principal_id: str | None
    signed_in_at: int


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A conversation's head. `open_turn_*` describe the turn that is open, if one is; `inherited_turns` counts those that a fork
    copied or that were imported, which come before its own."""

    id: str
    principal_id: str
    title: str
    created_at: int
    updated_at: int
    parent_id: str | None
    taint: int
    label: int
    turn_count: int
    message_count: int
    open_turn_id: str | None
    open_turn_index: int | None
    open_turn_model_id: str | None = None
    open_turn_session_id: str | None = None
    inherited_turns: int = 0


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message that has what was looked for, and the title of its conversation."""

    message: Message
    title: str


@dataclass(frozen=True, slots=True)
class KeptResult:
    """The whole text of a result that was too long, with what the result raised when it was let in. `own` as with a result."""

    kept: KeptText
    trust: Trust
    labels: tuple[str, ...]
    own: bool


@dataclass(frozen=True, slots=True)
class StoredAttachment:
    """Bytes that came with a result, with what the result raised when it was let in, and the label that its conversation has."""

    conversation_id: str
    attachment: KeptAttachment
    trust: Trust
    labels: tuple[str, ...]
    conversation_label: int


@dataclass(frozen=True, slots=True)
class StoredClientGrant:
    """A client that a person let act in a session of theirs, with the hashes of the tokens that are good."""

    id: str
    session_id: str
    client_id: str
    client: str
    resource: str
    granted_at: int
    access_hash: str
    access_until: int
    refresh_hash: str


class CallState(StrEnum):
    """Where a recorded call stands."""

    AWAITING_APPROVAL = "awaitingApproval"
    RUNNING = "running"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A recorded call. `result` and `closing_index` are set once it is closed."""

    conversation_id: str
    turn_id: str
    call_id: str
    tool: str
    arguments: Mapping[str, Json]
    request_digest: str
    state: CallState
    approval_id: str | None
    received_at: int
    result: ToolResult | None
    closing_index: int | None
    closed_at: int | None = None


@dataclass(frozen=True, slots=True)
class OpenApproval:
    """A pending approval with the request it is about, enough to go on waiting after a restart."""

    approval: Approval
    request: ToolRequest


@dataclass(frozen=True, slots=True)
class UnfinishedCall:
    """An intent without an outcome."""

    principal_id: str
    conversation_id: str
    turn_id: str
    call_id: str
    tool: str


@dataclass(frozen=True, slots=True)
class UnfinishedTurn:
    """An open turn. `suspended_at` is when a start of the gateway first found it without its connection; None where none did
    since it was bound last."""

    conversation_id: str
    turn_id: str
    suspended_at: int | None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One leaf, with its payload if that still exists. `index` is its place in the tree, `hash` the leaf hash in hex."""

    index: int
    hash: str
    body: Mapping[str, Json]
    payload: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """A filter over the audit log; newest first from `before` (exclusive index). None means any."""

    principal_id: str | None = None
    conversation_id: str | None = None
    event: str | None = None
    tool: str | None = None
    outcome: str | None = None
    before: int | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """A policy that came into force with the record `index`. `documents` is None where its texts were erased."""

    version: str
    at: int
    documents: Mapping[str, str] | None
    index: int = 0


@dataclass(frozen=True, slots=True)
class DamagedPolicy:
    """A policy that came into force, whose record is not what was recorded."""

    version: str
    index: int
    message: str


@dataclass(frozen=True, slots=True)
class PolicyFreeze:
    """Everything is forbidden since then, whatever the policy says. `why` is for people."""

    id: str
    at: int
    why: str


@dataclass(frozen=True, slots=True)
class StartedShadow:
    """A candidate policy that runs beside the one in force, from the record `index` on, whose payload holds its texts."""

    id: str
    at: int
    version: str
    index: int


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """What was decided about a call. `version` is that of the policy, None for a call that was refused before any was asked;
    `asked` says that the question went to a person, `ran` that the call was carried out or at least begun."""

    at: int
    index: int
    principal_id: str
    conversation_id: str
    call_id: str
    tool: str | None
    version: str | None
    judgement: Judgement | None
    asked: bool
    ran: bool
