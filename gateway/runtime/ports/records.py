"""Reading back, one protocol for each room that reads. `Records` is all of them, for whoever holds the whole store.

Every method is safe to call while writes go on, and sees all that `Ledger.append` has returned for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from gateway.core.approval import Approval, Grant
from gateway.core.canonical import Json
from gateway.core.ledger import Message, Passkey, PushDevice
from gateway.core.model import Principal, Session
from gateway.core.quorum import GivenApproval
from gateway.core.sources import AddedSource, SourceTool
from gateway.runtime.ports.erasing import ErasureRecordsReader
from gateway.runtime.ports.recorded import (
    AuditQuery,
    AuditRow,
    CallRecord,
    ConsoleSession,
    ConversationRecord,
    EnrolmentOffer,
    FoundMessage,
    KeptResult,
    OpenApproval,
    PolicyFreeze,
    StartedShadow,
    StoredAttachment,
    StoredClientGrant,
    StoredSignIn,
    UnfinishedCall,
    UnfinishedTurn,
)

# ── what several rooms read ──


class OpenApprovalRecords(Protocol):
    """The questions that wait for a person."""

    async def open_approvals(self) -> Sequence[OpenApproval]:
        """Every pending approval with its request, oldest first."""
        ...


class CallRecords(Protocol):
    """The recorded calls of a conversation."""

    async def call(self, conversation_id: str, call_id: str) -> CallRecord | None: ...
    async def call_digest(self, conversation_id: str, call_id: str) -> str | None:
        """The request digest of a recorded call, without the rest: asked before each call of a long conversation."""
        ...

    async def calls(self, conversation_id: str) -> Sequence[CallRecord]:
        """Every recorded call of a conversation, in the order of the record, results included."""
        ...


class LiveSessionRecords(Protocol):
    """Agent sessions by their public id."""

    async def session(self, session_id: str) -> Session | None:
        """The agent session, if it has not ended; the caller checks expiry."""
        ...


class PasskeyRecords(Protocol):
    """Registered passkeys."""

    async def passkey(self, credential_id: bytes) -> Passkey | None: ...
    async def passkeys(self, principal_id: str) -> Sequence[Passkey]: ...


# ── one for each reader ──


class PeopleRecords(PasskeyRecords, Protocol):
    """For enrolment and sign-in."""

    async def principals(self) -> Sequence[Principal]: ...
    async def principal(self, principal_id: str) -> Principal | None: ...
    async def enrolment(self, token_hash: str) -> EnrolmentOffer | None:
        """The unused offer of that token, expired or not."""
        ...


class SessionRecords(LiveSessionRecords, Protocol):
    """For sessions: those that have not ended, by the hash of their secret. The caller checks expiry."""

    async def console_session(self, secret_hash: str) -> ConsoleSession | None: ...
    async def agent_session(self, secret_hash: str) -> Session | None: ...
    async def console_sessions_of(self, principal_id: str) -> Sequence[ConsoleSession]:
        """Every console session of a person."""
        ...

    async def live_sessions(self, console_session_id: str) -> Sequence[Session]:
        """The agent sessions that a console session lent."""
        ...


class ConversationRecords(CallRecords, OpenApprovalRecords, Protocol):
    """For conversations and what was said in them."""

    async def conversations(
        self, principal_id: str, *, before: tuple[int, str] | None, limit: int
    ) -> Sequence[ConversationRecord]:
        """Most recently used first; `before` is the (updated_at, id) of the last row already seen."""
        ...

    async def conversation(self, conversation_id: str) -> ConversationRecord | None: ...
    async def messages(self, conversation_id: str) -> Sequence[Message]: ...
    async def find_messages(
        self, principal_id: str, words: Sequence[str], *, label: int, before: tuple[int, str, int] | None, limit: int
    ) -> Sequence[FoundMessage]:
        """What was said with all of the words in it, in somebody's conversations up to a label, newest first; `before` is the
        (at, conversation, index) of the last one already seen."""
        ...

    async def turn_indices(self, conversation_id: str) -> Mapping[str, int]:
        """Every turn of a conversation, id to index."""
        ...


class DispatchRecords(CallRecords, LiveSessionRecords, Protocol):
    """For the driver of calls: replays, lists, and the session and the plan of a call that waited through a restart."""

    async def approval(self, approval_id: str) -> Approval | None: ...


class QuotaCount(NamedTuple):
    """How much was used, in units of the meter: by whom (`holder`), in which minute or day (`period`)."""

    span: str
    holder: str
    meter: str
    period: int
    used: int


class QuotaRecords(Protocol):
    """For quotas and the policy: how many calls were made, and what ran."""

    async def calls_in_session(self, session_id: str) -> int: ...
    async def tools_in_session(self, session_id: str) -> frozenset[str]:
        """The names of the tools that were run, or may have been."""
        ...

    async def quota_counts(self, holders: Collection[str]) -> Sequence[QuotaCount]:
        """Every count of these people, sessions and turns."""
        ...

    async def calls_since(self, principal_id: str, since: int) -> int: ...


class ApprovalRecords(PasskeyRecords, Protocol):
    """For approvals: what was asked, and the passkeys that may answer."""

    async def approvals(self, principal_id: str, *, limit: int) -> Sequence[Approval]:
        """Pending and decided, newest first: those of this person's calls, and those that they approved with a passkey."""
        ...

    async def approval(self, approval_id: str) -> Approval | None: ...
    async def answers(self, approval_ids: Sequence[str]) -> Mapping[str, Sequence[GivenApproval]]:
        """Who approved, oldest first: of questions that wait, the approvals that still count."""
        ...

    async def principals(self) -> Sequence[Principal]: ...


class GrantRecords(Protocol):
    """For grants: those that were not revoked. The caller checks expiry and uses."""

    async def grant(self, grant_id: str) -> Grant | None: ...
    async def grants(self, session_id: str) -> Sequence[Grant]: ...
    async def grants_of(self, principal_id: str) -> Sequence[Grant]:
        """Those that a call could still come for: session and conversation stand, and so does the turn of a turn's grant."""
        ...


class GrantReviewRecords(LiveSessionRecords, Protocol):
    """For reviewing grants under another policy: all that stand, and what they were given in."""

    async def live_grants(self, now: int) -> Sequence[Grant]:
        """Everybody's grants that were not revoked and have not expired, oldest first."""
        ...

    async def conversation(self, conversation_id: str) -> ConversationRecord | None: ...


class RecoveryRecords(OpenApprovalRecords, LiveSessionRecords, Protocol):
    """For recovery: what the last process left under way."""

    async def newest_time(self) -> int | None:
        """The latest time in the newest records, since the clock was last found set back; None in an empty log."""
        ...

    async def open_console_sessions(self) -> Sequence[ConsoleSession]:
        """Everybody's console sessions whose end is not on record, expired or not."""
        ...

    async def policy_on_record(self) -> str | None:
        """The version of the policy that came into force last, with its texts; None where none has."""
        ...

    async def open_freeze(self) -> PolicyFreeze | None:
        """The freeze that nobody has ended; of several the first."""
        ...

    async def open_shadow(self) -> StartedShadow | None:
        """The candidate policy that runs beside the one in force."""
        ...

    async def unfinished_calls(self) -> Sequence[UnfinishedCall]: ...
    async def unfinished_turns(self) -> Sequence[UnfinishedTurn]: ...


class AuditRecords(Protocol):
    """For the audit pages and the verifiers."""

    async def audit(self, query: AuditQuery) -> Sequence[AuditRow]: ...
    async def audit_at(self, positions: Sequence[int]) -> Sequence[AuditRow]:
        """The records at those positions, in their order; those that are not there are left out."""
        ...

    async def snapshot(self, digest: str) -> Mapping[str, Json] | None:
        """What a turn had on offer, as it was issued."""
        ...

    async def request_of(self, conversation_id: str, turn_id: str) -> str | None:
        """What the person wrote in a turn, as the tab says: its message and what was added later; None where nothing is kept."""
        ...

    async def model_of_turn(self, conversation_id: str, turn_id: str) -> str | None:
        """The model that a turn began with; None where it named none."""
        ...

    async def audit_size(self) -> int: ...
    async def checkpoint(self) -> str | None:
        """The newest signed checkpoint, as a note; None before the first."""
        ...


class SettingRecords(Protocol):
    """For settings that are changed while the gateway runs."""

    async def chosen_settings(self) -> Mapping[str, int | str]:
        """What was chosen and not put back, by name."""
        ...


class PushRecords(PasskeyRecords, Protocol):
    """For devices that are told of questions: which there are, whose, and whether the question still waits."""

    async def approval(self, approval_id: str) -> Approval | None: ...
    async def principals(self) -> Sequence[Principal]: ...
    async def principal(self, principal_id: str) -> Principal | None: ...
    async def push_devices(self, principal_id: str) -> Sequence[PushDevice]:
        """Those of a person, oldest first."""
        ...

    async def push_device_of(self, digest: str) -> PushDevice | None:
        """The device with this address and these keys, whoever's it is."""
        ...


class SourceRecords(Protocol):
    """For sources of tools."""

    async def sources(self) -> Sequence[AddedSource]:
        """Every source that was added and not removed, by name."""
        ...

    async def source_tools(self, source: str) -> Sequence[SourceTool]:
        """Every tool that a source ever offered, by its own name there."""
        ...

    async def sealed_secrets(self) -> Mapping[str, bytes]: ...

    async def source_sign_ins(self) -> Mapping[str, StoredSignIn]:
        """Every sign-in, by the name of its source."""
        ...


class ClientRecords(Protocol):
    """For clients that act for people, after a restart."""

    async def client_grants(self) -> Sequence[StoredClientGrant]:
        """Every grant that was not revoked and whose session's end is not on record, oldest first."""
        ...

    async def spent_client_secrets(self) -> Sequence[tuple[str, str]]:
        """The grant and the hash of every code and refresh token that was used."""
        ...


class KeptRecords(Protocol):
    """For the tool that reads on in a long result."""

    async def kept_result(self, principal_id: str, conversation_id: str, result_id: str) -> KeptResult | None:
        """The result of that id, if it is one of that person in that conversation and was not erased."""
        ...


class AttachmentRecords(Protocol):
    """For the bytes that came with results."""

    async def attachment(self, principal_id: str, attachment_id: str) -> StoredAttachment | None:
        """The bytes of that id, if they came with a result of that person and were not erased."""
        ...


class ReadinessRecords(Protocol):
    """For `/readyz`."""

    async def ready(self) -> bool:
        """Whether the database answers a read."""
        ...


class Records(
    PeopleRecords,
    SessionRecords,
    ConversationRecords,
    DispatchRecords,
    QuotaRecords,
    ApprovalRecords,
    GrantRecords,
    GrantReviewRecords,
    RecoveryRecords,
    AuditRecords,
    SettingRecords,
    PushRecords,
    SourceRecords,
    ClientRecords,
    AttachmentRecords,
    KeptRecords,
    ErasureRecordsReader,
    ReadinessRecords,
    Protocol,
):
    """Everything that can be read back."""
