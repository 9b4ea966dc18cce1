"""Parameters and results of the console origin's methods (protocol.md section 6 and what the console pages show)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.core.vocabulary import GrantScope, PermissionMode, Profile
from gateway.protocol.shapes import Approval, Grant, Principal, RuleReason, ToolDescriptor
from gateway.protocol.wire import (
    Count,
    Cursor,
    Digest,
    Flag,
    FreeText,
    Identifier,
    JsonObject,
    Name,
    Number,
    PageSize,
    Timestamp,
    Wire,
)

PasskeyId = Annotated[str, Field(min_length=1, max_length=1400, pattern=r"^[A-Za-z0-9_-]+$")]
"""A credential id in base64url; WebAuthn L3 section 5.1 allows 1023 bytes of them."""


class ConsoleSessionView(Wire):
    """Who is signed in on the console, and until when."""

    id: Identifier
    principal: Identifier
    principal_name: str
    profile: Profile
    expires_at: Timestamp


class ConsoleDescription(Wire):
    """What a console page needs first."""

    session: ConsoleSessionView
    connection_id: Identifier
    agent_origin: str


class ApprovalPage(Wire):
    """Which approvals: those that wait, or all, newest first."""

    status: Literal["pending", "all"] = "all"


class ApprovalList(Wire):
    """Approvals that this person may see."""

    approvals: tuple[Approval, ...]


class ApprovalRef(Wire):
    """Which approval."""

    approval_id: Identifier


class ApprovalQuestion(Wire):
    """An approval, the statement that is decided on, and, while it waits, a single-use challenge for one answer to it.

    `statement` canonicalises (RFC 8785) to exactly the bytes whose SHA-256 is the approval's `statementDigest`. Where a
    passkey must answer, `passkeyOptions` is a WebAuthn Level 3 PublicKeyCredentialRequestOptionsJSON over them.
    """

    approval: Approval
    statement: JsonObject
    challenge: str | None = None
    passkey_options: JsonObject | None = None


class ApprovalAnswer(Wire):
    """A person's answer. Without `scope` a yes is for once. `pins` names the arguments that must stay as shown in a turn or
    session grant, all of them when absent; their values are the statement's own, never the browser's."""

    approval_id: Identifier
    challenge: Annotated[str, Field(max_length=512)]
    decision: Literal["approve", "deny"]
    scope: GrantScope = GrantScope.ONCE
    pins: Annotated[tuple[str, ...], Field(max_length=256)] | None = None
    assertion: JsonObject | None = None


class ApprovalDecided(Wire):
    """How the approval stands now, and the grant if the yes lasts."""

    approval: Approval
    grant: Grant | None = None


class PasskeyView(Wire):
    """A registered passkey, without its key."""

    id: PasskeyId
    name: str
    created_at: Timestamp
    last_used_at: Timestamp | None = None
    transports: tuple[str, ...]
    backed_up: Flag


class PasskeyList(Wire):
    """One's own passkeys."""

    passkeys: tuple[PasskeyView, ...]


class PasskeyName(Wire):
    """Another name for a passkey."""

    passkey_id: PasskeyId
    name: Name


class PasskeyRef(Wire):
    """Which passkey."""

    passkey_id: PasskeyId


FilterWord = Annotated[str, Field(min_length=1, max_length=128)]


class AuditFilter(Wire):
    """Which audit entries; an absent member means any."""

    principal_id: Identifier | None = None
    conversation_id: Identifier | None = None
    event: FilterWord | None = None
    tool: FilterWord | None = None
    outcome: FilterWord | None = None


class AuditPage(Wire):
    """Which page of the log, newest first."""

    filter: AuditFilter | None = None
    cursor: Cursor | None = None
    limit: PageSize | None = None


class AuditEntry(Wire):
    """One leaf of the log. `hash` is its RFC 6962 leaf hash; `payload` is absent once it was erased."""

    index: Count
    hash: Digest
    body: JsonObject
    payload: JsonObject | None = None


class AuditList(Wire):
    """One page; `size` is the number of leaves in the whole log. `nextCursor` is absent on the last page."""

    entries: tuple[AuditEntry, ...]
    size: Count
    next_cursor: Cursor | None = None


class AuditVerification(Wire):
    """The log's head as the gateway itself sees it: every leaf hashed again into `root`, compared with the last signed
    checkpoint (a C2SP note). A gateway vouching for itself; the offline verifiers need no such trust."""

    verified: Flag
    detail: str
    size: Count
    root: Digest
    checkpoint: FreeText


class PrincipalList(Wire):
    """Everybody who is enrolled."""

    principals: tuple[Principal, ...]


class ProfilePolicy(Wire):
    """What a profile may use up; `sessionSeconds` is how long its sessions last."""

    profile: Profile
    calls_per_turn: Count
    calls_per_session: Count
    calls_per_day: Count
    pending_approvals: Count
    shows_forbidden: Flag
    suppressed_tools: tuple[str, ...]
    session_seconds: Number


class ToolModes(Wire):
    """The mode a snapshot would publish a tool with, before anything was read, by profile."""

    operator: PermissionMode
    guest: PermissionMode
    anonymous: PermissionMode


class PolicyTool(Wire):
    """A tool as the policy treats it. `descriptor.permission` is the mode for the person who asks; `unavailable` says why it
    cannot run here."""

    descriptor: ToolDescriptor
    modes: ToolModes
    unavailable: str | None = None


class PolicyDescription(Wire):
    """The policy in force, in its authors' words."""

    version: str
    rules: tuple[RuleReason, ...]
    profiles: tuple[ProfilePolicy, ...]
    tools: tuple[PolicyTool, ...]
