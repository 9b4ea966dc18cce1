"""The gateway's notifications (docs/PROTOCOL.md section 5); the console gets a part of them."""

from __future__ import annotations

from gateway.core.vocabulary import ApprovalStatus
from gateway.protocol.shapes import WireApproval
from gateway.protocol.wire import CallId, FreeText, Identifier, Number, Timestamp, ToolName, Wire


class SnapshotRevokedParams(Wire):
    """A snapshot is no longer valid. `reason` is a stable code."""

    snapshot_id: Identifier
    reason: str


class ApprovalRequestedParams(Wire):
    """A call waits for a person's decision."""

    approval: WireApproval


class ApprovalChangedParams(Wire):
    """It still waits, and other people have approved it than before."""

    approval: WireApproval


class BreakGlassParams(Wire):
    """An operator, `name`, did alone what takes several people. Operators' consoles are told."""

    approval_id: Identifier
    tool: ToolName
    name: str
    at: Timestamp
    reason: FreeText


class ApprovalResolvedParams(Wire):
    """An approval is no longer pending. `status` is final. `withdrawn` says why it ended without anybody's answer, if it did."""

    approval_id: Identifier
    call_id: CallId
    status: ApprovalStatus
    withdrawn: FreeText | None = None


class ToolProgressParams(Wire):
    """A line from a running tool; `fraction` goes from 0 to 1."""

    call_id: CallId
    message: FreeText
    fraction: Number | None = None


class SessionEndedParams(Wire):
    """The session has ended and nothing of it runs any more; the connection closes next."""

    reason: str


class GrantsChangedParams(Wire):
    """A grant of this person began, was used or ended; which there are now has to be asked."""


class SourcesChangedParams(Wire):
    """A source, a decision about a tool, or a stored secret is not as it was; what it is now has to be asked."""


class PolicyChangedParams(Wire):
    """A new policy is in force; snapshots of the policy before it are revoked."""

    policy_version: str
