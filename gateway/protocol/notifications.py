"""What the gateway says unasked (protocol.md section 5); the console hears a part of it."""

from __future__ import annotations

from gateway.core.vocabulary import ApprovalStatus
from gateway.protocol.shapes import Approval
from gateway.protocol.wire import CallId, FreeText, Identifier, Number, Wire


class SnapshotRevoked(Wire):
    """A snapshot no longer allows anything. `reason` is a stable word."""

    snapshot_id: Identifier
    reason: str


class ApprovalRequested(Wire):
    """A call waits for a person."""

    approval: Approval


class ApprovalResolved(Wire):
    """It waits no longer. `status` is final."""

    approval_id: Identifier
    call_id: CallId
    status: ApprovalStatus


class ToolProgress(Wire):
    """A line from a running tool; `fraction` goes from 0 to 1."""

    call_id: CallId
    message: FreeText
    fraction: Number | None = None


class SessionEnded(Wire):
    """Nothing of this session runs any more; the connection closes next."""

    reason: str


class PolicyChanged(Wire):
    """Another policy is in force; snapshots taken under the one before are revoked."""

    policy_version: str
