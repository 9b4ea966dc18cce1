"""What may be written: every entry of the ledger, as frozen values.

One entry is one step that happened. The same value is the state change, the audit leaf and the recovery plan: storage has
one exhaustive `match` over this union, `gateway.core.audit.leaf` another. Entries submitted together are durable together
or not at all. Times are epoch milliseconds; `*_hash` are hex SHA-256 of secrets that are themselves never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.core.approval import Approval, Grant, RuleReason
from gateway.core.canonical import Json
from gateway.core.model import Principal, Session, Snapshot, ToolRequest
from gateway.core.vocabulary import ApprovalStatus, Decision, Outcome, Profile, Reason, Role, Trust


@dataclass(frozen=True, slots=True)
class GatewayStarted:
    """The first entry of each run. `recovered` counts calls closed as unknown."""

    at: int
    version: str
    policy_version: str
    recovered: int


@dataclass(frozen=True, slots=True)
class PolicyLoaded:
    """Another policy is in force from here on."""

    at: int
    version: str


@dataclass(frozen=True, slots=True)
class EnrolmentOffered:
    """A one-time enrolment link was printed."""

    at: int
    token_hash: str
    name: str
    profile: Profile
    expires_at: int


@dataclass(frozen=True, slots=True)
class Passkey:
    """A registered credential. `public_key` is COSE bytes; `backup_eligible` may never change (WebAuthn L3 section 7.2)."""

    id: bytes
    principal_id: str
    public_key: bytes
    sign_count: int
    backup_eligible: bool
    backed_up: bool
    user_handle: bytes
    transports: tuple[str, ...]
    name: str
    created_at: int
    last_used_at: int | None = None


@dataclass(frozen=True, slots=True)
class LocalOperatorAdded:
    """Whoever owns the state folder worked at its terminal before anybody was enrolled: a person without a passkey yet."""

    at: int
    principal: Principal


@dataclass(frozen=True, slots=True)
class PrincipalEnrolled:
    """An enrolment link was used up: a person and their first passkey. `known`: they worked at the terminal before."""

    at: int
    token_hash: str
    principal: Principal
    passkey: Passkey
    known: bool = False


@dataclass(frozen=True, slots=True)
class PasskeyAdded:
    """A further passkey, after a fresh step-up with an existing one."""

    at: int
    passkey: Passkey


@dataclass(frozen=True, slots=True)
class PasskeyRenamed:
    """Another name for a passkey, so that a person can tell theirs apart."""

    at: int
    principal_id: str
    credential_id: bytes
    name: str


@dataclass(frozen=True, slots=True)
class PasskeyRemoved:
    """A passkey was taken away; it answers nothing from here on."""

    at: int
    principal_id: str
    credential_id: bytes


@dataclass(frozen=True, slots=True)
class PasskeyUsed:
    """A verified assertion moved the signature counter."""

    at: int
    principal_id: str
    credential_id: bytes
    sign_count: int
    backed_up: bool


@dataclass(frozen=True, slots=True)
class SignInRefused:
    """A ceremony failed verification. `reason` is the verifier's stable word."""

    at: int
    purpose: str
    reason: str
    principal_id: str | None


@dataclass(frozen=True, slots=True)
class ConsoleSessionStarted:
    """Someone signed in on the console. `id` is public; the cookie's secret is kept only as `secret_hash`. `terminal`: nobody
    did; the owner of the state folder started an agent at its terminal."""

    at: int
    id: str
    secret_hash: str
    principal_id: str
    expires_at: int
    terminal: bool = False


@dataclass(frozen=True, slots=True)
class ConsoleSessionRenewed:
    """The same person answered with their passkey again: a new cookie secret replaces the old one, and what the session
    lent goes on. A step-up that does not cost the person their running agent."""

    at: int
    id: str
    secret_hash: str
    principal_id: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class ConsoleSessionEnded:
    """Signed out, expired or revoked."""

    at: int
    id: str
    principal_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class AgentSessionStarted:
    """A console session lent an agent session to a browser."""

    at: int
    session: Session
    secret_hash: str


@dataclass(frozen=True, slots=True)
class AgentSessionEnded:
    """The agent session is over; nothing of it runs any more."""

    at: int
    id: str
    principal_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ConversationOpened:
    """A new conversation, empty or forked (`parent_id`, `fork_at` turn index)."""

    at: int
    id: str
    principal_id: str
    title: str
    parent_id: str | None = None
    fork_at: int | None = None


@dataclass(frozen=True, slots=True)
class ConversationRenamed:
    """Another title."""

    at: int
    id: str
    principal_id: str
    title: str


@dataclass(frozen=True, slots=True)
class ConversationDeleted:
    """Its messages are gone; audit leaves stay."""

    at: int
    id: str
    principal_id: str


@dataclass(frozen=True, slots=True)
class ConversationTainted:
    """Untrusted or labelled content entered; `taint` and `label` only rise."""

    at: int
    id: str
    principal_id: str
    taint: int
    label: int
    call_id: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. `provenance` is `claimed` for what a browser sent, `gateway` for tool results."""

    conversation_id: str
    turn_id: str
    index: int
    role: Role
    content: str
    provenance: str
    at: int
    call_id: str | None = None
    tool_calls: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class MessageAppended:
    """A message was stored. Only its role, length and hash reach the audit log."""

    at: int
    principal_id: str
    message: Message


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """A turn opened under its first snapshot."""

    at: int
    principal_id: str
    snapshot: Snapshot
    model_id: str | None


@dataclass(frozen=True, slots=True)
class SnapshotIssued:
    """A further snapshot for the same turn: `refresh`, `rebind` after a reconnect."""

    at: int
    principal_id: str
    snapshot: Snapshot
    cause: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """`ended`, `cancelled`, `superseded`, `sessionEnded` or `connectionLost`."""

    at: int
    principal_id: str
    conversation_id: str
    turn_id: str
    reason: str
    usage: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """How a call closed, as recorded: everything of the wire result but `replayed`, `auditSeq` (the closing leaf's index)
    and the conversation's message. `result_digest` covers `content` and `structured`."""

    call_id: str
    outcome: Outcome
    reason: Reason | None
    content: str
    structured: Json
    error: str | None
    truncated: bool
    redactions: int
    labels: tuple[str, ...]
    trust: Trust
    duration_ms: int
    receipt_id: str
    result_digest: str


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call waits for a person: call row and approval row, durable before anybody is asked."""

    at: int
    request: ToolRequest
    snapshot: Snapshot
    approval: Approval


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    """A person said yes or no, or time or a cancel did. The only way out of pending, and only once."""

    at: int
    approval_id: str
    call_id: str
    conversation_id: str
    status: ApprovalStatus
    approver_id: str | None
    console_session_id: str | None
    credential_id: bytes | None
    assertion: Mapping[str, Json] | None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class AssertionRefused:
    """A passkey answer to an approval did not verify; its call ends with that."""

    at: int
    approval_id: str
    call_id: str
    conversation_id: str
    approver_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class GrantIssued:
    """A yes that lasts."""

    at: int
    grant: Grant


@dataclass(frozen=True, slots=True)
class GrantRevoked:
    """By the person, or because what carried it ended."""

    at: int
    grant_id: str
    principal_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class CallIntended:
    """About to run: durable before the tool starts. Consumes the approval or one use of the grant in the same transaction."""

    at: int
    request: ToolRequest
    snapshot: Snapshot
    descriptor_digest: str
    decision: Decision
    because: tuple[RuleReason, ...]
    approval_id: str | None
    grant_id: str | None


@dataclass(frozen=True, slots=True)
class CallClosed:
    """A closing entry; every request has exactly one. Ran or not, this is the result that replays see."""

    at: int
    request: ToolRequest
    snapshot: Snapshot | None
    descriptor_digest: str | None
    decision: Decision
    because: tuple[RuleReason, ...]
    result: ToolResult
    executed: bool


@dataclass(frozen=True, slots=True)
class CallRefusedUnrecorded:
    """A refusal that must not touch the call's own row: `replayConflict` leaves the original as it was."""

    at: int
    request: ToolRequest
    result: ToolResult


@dataclass(frozen=True, slots=True)
class LateResultDiscarded:
    """The tool finished after its call was closed (cancelled, timed out). Recorded, never sent."""

    at: int
    principal_id: str
    conversation_id: str
    call_id: str
    result_digest: str


@dataclass(frozen=True, slots=True)
class CallFoundUnknown:
    """Recovery: an intent without an outcome. The tool may or may not have acted; it is never run again by itself."""

    at: int
    principal_id: str
    conversation_id: str
    call_id: str
    receipt_id: str


@dataclass(frozen=True, slots=True)
class InferenceTokenMinted:
    """A short-lived token for `/v1`, bound to session, conversation, turn and model."""

    at: int
    principal_id: str
    session_id: str
    conversation_id: str
    turn_id: str
    model_id: str
    token_hash: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class InferenceFinished:
    """One request through `/v1` ended: `completed`, `aborted` or `failed`, with the sidecar's own counts."""

    at: int
    principal_id: str
    conversation_id: str
    turn_id: str
    model_id: str
    outcome: str
    prompt_tokens: int | None
    completion_tokens: int | None


Entry = (
    GatewayStarted
    | PolicyLoaded
    | EnrolmentOffered
    | LocalOperatorAdded
    | PrincipalEnrolled
    | PasskeyAdded
    | PasskeyRenamed
    | PasskeyRemoved
    | PasskeyUsed
    | SignInRefused
    | ConsoleSessionStarted
    | ConsoleSessionRenewed
    | ConsoleSessionEnded
    | AgentSessionStarted
    | AgentSessionEnded
    | ConversationOpened
    | ConversationRenamed
    | ConversationDeleted
    | ConversationTainted
    | MessageAppended
    | TurnBegun
    | SnapshotIssued
    | TurnEnded
    | ApprovalRequested
    | ApprovalResolved
    | AssertionRefused
    | GrantIssued
    | GrantRevoked
    | CallIntended
    | CallClosed
    | CallRefusedUnrecorded
    | LateResultDiscarded
    | CallFoundUnknown
    | InferenceTokenMinted
    | InferenceFinished
)
