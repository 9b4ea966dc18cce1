"""Parameters and results of the console origin's methods (docs/PROTOCOL.md section 6, and more for the console pages)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.core.vocabulary import ApproverStanding, GrantScope, PatternKind, PermissionMode, Profile, Recovery
from gateway.protocol.shapes import ToolDescriptor, WireApproval, WireGrant, WireRuleReason
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
    ToolName,
    Wire,
)

PasskeyId = Annotated[str, Field(min_length=1, max_length=1400, pattern=r"^[A-Za-z0-9_-]+$")]
"""A credential id in base64url; WebAuthn L3 section 5.1 allows 1023 bytes of them."""


class ConsoleSessionView(Wire):
    """The console session: the person and the expiry."""

    id: Identifier
    principal: Identifier
    principal_name: str
    profile: Profile
    expires_at: Timestamp


class ConsoleDescription(Wire):
    """The data that every console page loads first. `at` is the gateway's time."""

    session: ConsoleSessionView
    connection_id: Identifier
    agent_origin: str
    at: Timestamp


class ApprovalPage(Wire):
    """Which approvals to list: the pending ones, or all, newest first."""

    status: Literal["pending", "all"] = "all"


class StoppedView(Wire):
    """A session that asks this person nothing more after `denials` noes in a row; with a turn, only that open turn of it."""

    session_id: Identifier
    denials: Count
    conversation_id: Identifier | None = None
    turn_id: Identifier | None = None


class BreakGlassView(Wire):
    """An operator, `name`, did alone what takes several people."""

    approval_id: Identifier
    tool: ToolName
    name: str
    at: Timestamp
    reason: FreeText


class ApprovalList(Wire):
    """Approvals that this person may see, and what asks them nothing more until they allow it. Operators get what one of them
    did alone in the last days that takes several people, newest first."""

    approvals: tuple[WireApproval, ...]
    stopped: tuple[StoppedView, ...]
    broken_glass: tuple[BreakGlassView, ...] | None = None


class ApprovalRef(Wire):
    """Which approval."""

    approval_id: Identifier


class WirePreviewLine(Wire):
    """A line of the thing that would change, or how many are left out."""

    mark: Literal["same", "removed", "added", "skipped"]
    text: str
    count: Count


class WirePreview(Wire):
    """What the call would change as things are now, or send. It is not signed; `digest` changes when the thing does.

    `impossible`: the call could not work any more, for the reason in `obstacle`.
    """

    change: Literal["create", "replace", "keep", "delete", "move", "make", "send", "impossible"]
    target: str
    bytes_before: Count | None = None
    bytes_after: Count | None = None
    digest: str
    lines: tuple[WirePreviewLine, ...]
    complete: Flag
    obstacle: str | None = None


class WireCopiedText(Wire):
    """A part of an argument that stands in an untrusted result of the conversation. `about` is what that call was made with, in
    short; it is empty where that is not known any more."""

    argument: str
    text: str
    tool: str
    call_id: str
    about: str


class CopiedArguments(Wire):
    """What of the arguments was taken from untrusted results, as things are now. Not `complete`: there was more than is compared,
    so that nobody can say that nothing else was. It is not signed."""

    copies: tuple[WireCopiedText, ...]
    complete: Flag


class OpenTurnRef(Wire):
    """Which open turn."""

    turn_id: Identifier


class AgentSessionRef(Wire):
    """Which agent session."""

    session_id: Identifier


class QuestionedCall(Wire):
    """Who decided, and what became of the call, as the log tells it: `outcome` is `open` while it waits or runs, `position` that
    of its first record. The names are absent where they are not known any more."""

    position: Count
    outcome: FreeText
    approver_name: FreeText | None = None
    decided_at: Timestamp | None = None
    passkey_name: FreeText | None = None
    closed_at: Timestamp | None = None
    duration_ms: Count | None = None


class QuestionBackground(Wire):
    """What led to a question, and what came of it. `request` is what the person wrote in that turn, as the tab says: nobody
    checked that a person typed it, and it is not signed. `call` is absent until the log has been read so far."""

    title: FreeText | None = None
    request: FreeText | None = None
    call: QuestionedCall | None = None


class ApprovalQuestion(Wire):
    """An approval, the statement to decide on, and, while it is pending, a single-use challenge for one decision.

    `statement` canonicalises (RFC 8785) to exactly the bytes whose SHA-256 is the approval's `statementDigest`. Where a
    passkey is required, `passkeyOptions` is a WebAuthn Level 3 PublicKeyCredentialRequestOptionsJSON over them. `standing`, where
    others may approve, is what this person may do; with `mayBreakGlass` they may approve alone, for a reason. `copied` is there
    where the arguments, or a part of them, count as taken from untrusted results. `background` is for the person who asked, and
    for whoever reads everybody's records.
    """

    approval: WireApproval
    statement: JsonObject
    challenge: str | None = None
    passkey_options: JsonObject | None = None
    order: tuple[str, ...] = ()
    preview: WirePreview | None = None
    copied: CopiedArguments | None = None
    background: QuestionBackground | None = None
    standing: ApproverStanding | None = None
    may_break_glass: Flag | None = None


class ApprovalAnswer(Wire):
    """A person's decision. Without `scope` an approval is for one call. `pins` names the arguments that a turn or session grant
    fixes, all of them when absent; the fixed values come from the statement, never from the browser. `within` is the kind of
    pattern that the argument left open keeps to, one of those that the approval shows. `breakGlass` is why an operator acts
    alone; the passkey then signs, user verified, the statement with `breakGlass: {principal, reason}` added to it."""

    approval_id: Identifier
    challenge: Annotated[str, Field(max_length=512)]
    decision: Literal["approve", "deny"]
    scope: GrantScope = GrantScope.ONCE
    pins: Annotated[tuple[str, ...], Field(max_length=256)] | None = None
    within: PatternKind | None = None
    assertion: JsonObject | None = None
    break_glass: Annotated[str, Field(max_length=2000)] | None = None


class ApprovalDecided(Wire):
    """The approval's new status, and the grant if one was issued."""

    approval: WireApproval
    grant: WireGrant | None = None


class PasskeyView(Wire):
    """A registered passkey, without its public key."""

    id: PasskeyId
    name: str
    created_at: Timestamp
    last_used_at: Timestamp | None = None
    transports: tuple[str, ...]
    backed_up: Flag


class PasskeyList(Wire):
    """The person's own passkeys."""

    passkeys: tuple[PasskeyView, ...]


class PasskeyName(Wire):
    """A new name for a passkey."""

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
    """One leaf of the log. `hash` is its RFC 6962 leaf hash; `payload` is absent after it was erased."""

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
    """The result of the gateway's own check: every leaf is hashed again into `root` and compared with the last signed
    checkpoint (a C2SP note). Only the offline verifiers are independent of the gateway."""

    verified: Flag
    detail: str
    size: Count
    root: Digest
    checkpoint: FreeText


class ProfilePolicy(Wire):
    """The limits of a profile; `sessionSeconds` is the lifetime of its sessions."""

    profile: Profile
    calls_per_turn: Count
    calls_per_session: Count
    calls_per_day: Count
    pending_approvals: Count
    shows_forbidden: Flag
    suppressed_tools: tuple[str, ...]
    session_seconds: Number


class ToolModes(Wire):
    """The mode of a tool in a new conversation's snapshot, by profile."""

    operator: PermissionMode
    guest: PermissionMode
    anonymous: PermissionMode


class PolicyTool(Wire):
    """A tool as the policy treats it. `descriptor.permission` is the mode for the person who asks; `unavailable` says why it
    cannot run here, `recovery` what may be done about a call of which nobody knows whether it took effect."""

    descriptor: ToolDescriptor
    modes: ToolModes
    recovery: Recovery
    unavailable: str | None = None


class PolicyDescription(Wire):
    """The policy in force, with the sentences of its authors."""

    version: str
    rules: tuple[WireRuleReason, ...]
    profiles: tuple[ProfilePolicy, ...]
    tools: tuple[PolicyTool, ...]
