"""What the runtime tells a client unasked, as values. The server puts them into notifications of the wire.

A result, an approval or a cancel goes ahead of progress; only progress may be dropped for a client that is slow or away.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from gateway.core.approval import Approval
from gateway.core.elicitation import MAX_MESSAGE, MAX_SCHEMA, ElicitationForm, ElicitationStatus
from gateway.core.model import ToolRequest
from gateway.core.vocabulary import ApprovalStatus
from gateway.runtime.ports.recorded import PolicyFreeze

_ENVELOPE_BYTES = 256
"""What a notification without long text takes on the wire, at most."""


class Urgency(Enum):
    """Results, approvals and cancels go ahead of progress."""

    FIRST = auto()
    LATER = auto()


@dataclass(frozen=True, slots=True)
class SnapshotRevokedNotice:
    """A snapshot no longer allows anything. `reason` is a stable word."""

    snapshot_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ApprovalRequestedNotice:
    """A call waits for a person."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class ApprovalResolvedNotice:
    """It waits no longer. `status` is final; `withdrawn` says why it ended without anybody's answer, if it did."""

    approval_id: str
    call_id: str
    status: ApprovalStatus
    withdrawn: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalChangedNotice:
    """It still waits, and one more person has approved it, or somebody who had counts no more."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class GrantsChangedNotice:
    """A grant of this person began, was used or ended. For consoles alone."""


@dataclass(frozen=True, slots=True)
class BreakGlassNotice:
    """An operator does alone what needs several people. For operators' consoles alone."""

    approval_id: str
    tool: str
    name: str
    at: int
    reason: str


@dataclass(frozen=True, slots=True)
class ToolProgressNotice:
    """A line from a running tool; `fraction` goes from 0 to 1."""

    call_id: str
    message: str
    fraction: float | None


@dataclass(frozen=True, slots=True)
class SessionEndedNotice:
    """Nothing of this session runs any more; the connection closes next."""

    reason: str


@dataclass(frozen=True, slots=True)
class SourcesChangedNotice:
    """Sources, what is decided about their tools, or secrets are not as they were."""


@dataclass(frozen=True, slots=True)
class SettingsChangedNotice:
    """A setting was changed while the gateway runs. For operators' consoles alone."""


@dataclass(frozen=True, slots=True)
class PolicyChangedNotice:
    """Another policy is in force; snapshots taken under the one before are revoked."""

    policy_version: str


@dataclass(frozen=True, slots=True)
class PolicyStateNotice:
    """The freeze, or what waits for signatures, is not as it was. For operators' consoles alone."""

    freeze: PolicyFreeze | None
    proposals: int


@dataclass(frozen=True, slots=True)
class RehearsalProgressNotice:
    """So many calls of a rehearsal were judged again. For the console that asked."""

    judged: int


@dataclass(frozen=True, slots=True)
class Elicitation:
    """A form of a tool's server that waits for a person. `source` is the name that the operator gave the server."""

    id: str
    source: str
    request: ToolRequest
    form: ElicitationForm
    asked_at: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class ElicitationRequestedNotice:
    """A tool's server asks this person something. For consoles alone."""

    elicitation: Elicitation


@dataclass(frozen=True, slots=True)
class ElicitationResolvedNotice:
    """It waits no longer."""

    elicitation_id: str
    status: ElicitationStatus


Notice = (
    SnapshotRevokedNotice
    | ApprovalRequestedNotice
    | ApprovalResolvedNotice
    | ApprovalChangedNotice
    | GrantsChangedNotice
    | BreakGlassNotice
    | ToolProgressNotice
    | SessionEndedNotice
    | SourcesChangedNotice
    | SettingsChangedNotice
    | PolicyChangedNotice
    | PolicyStateNotice
    | RehearsalProgressNotice
    | ElicitationRequestedNotice
    | ElicitationResolvedNotice
)


def urgency_of(notice: Notice) -> Urgency:
    """Whether it may wait, and be dropped."""
    return Urgency.LATER if isinstance(notice, ToolProgressNotice | RehearsalProgressNotice) else Urgency.FIRST


def size_of(notice: Notice) -> int:
    """About how many bytes it takes on the wire, for what may be queued on a connection."""
    match notice:
        case ApprovalRequestedNotice(approval) | ApprovalChangedNotice(approval):
            told = (approval.summary, *approval.effects, *(rule.why for rule in approval.because))
            # Twice: JSON spells a character out in up to six bytes, most of them in one.
            return _ENVELOPE_BYTES * 4 + len(approval.arguments) + 2 * sum(len(text.encode()) for text in told)
        case (
            ToolProgressNotice(_, text, _) | SnapshotRevokedNotice(_, text) | SessionEndedNotice(text) | PolicyChangedNotice(text)
        ):
            return _ENVELOPE_BYTES + len(text.encode())
        case ElicitationRequestedNotice(elicitation):
            # A form's schema has at most as many bytes, and its texts are in it.
            return _ENVELOPE_BYTES * 4 + 6 * MAX_MESSAGE + 2 * MAX_SCHEMA + len(elicitation.source)
        case PolicyStateNotice(freeze):
            return _ENVELOPE_BYTES + (0 if freeze is None else len(freeze.why.encode()))
        case (
            GrantsChangedNotice()
            | SourcesChangedNotice()
            | SettingsChangedNotice()
            | RehearsalProgressNotice()
            | ElicitationResolvedNotice()
        ):
            return _ENVELOPE_BYTES
        case BreakGlassNotice():
            return _ENVELOPE_BYTES * 2 + 2 * len(notice.reason.encode())
        case ApprovalResolvedNotice():
            return _ENVELOPE_BYTES + len((notice.withdrawn or "").encode())
