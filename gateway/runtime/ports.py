"""What the runtime needs from the world. Each port has one contract suite in `tests/adapters`, run over fake and real.

Times are epoch milliseconds unless a name says otherwise. Ports raise only errors of `gateway.core.errors`.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from gateway.core.approval import Approval, Grant, Needs, RuleReason
from gateway.core.canonical import Json
from gateway.core.ledger import Entry, Message, Passkey, ToolResult
from gateway.core.model import CallFacts, Principal, Session, ToolOutput, ToolRequest, ToolSpec
from gateway.core.vocabulary import Outcome, PermissionMode, Profile, Reason

# ── system ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Clock(Protocol):
    """Time. Deadlines inside one process use `monotonic`, so that setting the clock back opens nothing."""

    def now(self) -> int:
        """Wall clock, epoch milliseconds."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...


class Entropy(Protocol):
    """Randomness."""

    def identifier(self, prefix: str) -> str:
        """An opaque id, `apr_` plus at least 120 random bits in URL-safe characters; at most 64 characters."""
        ...

    def secret(self) -> str:
        """A bearer secret of 256 bits, URL-safe."""
        ...

    def octets(self, count: int) -> bytes:
        """Random bytes."""
        ...


# ── the ledger and what can be read back ────────────────────────────────────────────────────────────────────────────────


class Ledger(Protocol):
    """The one door to durable state. Writes are grouped: one transaction holds state, audit leaves and checkpoint."""

    async def append(self, *entries: Entry) -> tuple[int | None, ...]:
        """Make the entries durable, together, in order. Gives each entry's audit index, None for an unaudited one.

        Returns only after the commit. Raises LedgerUnavailable when it cannot commit; nothing was written then.
        """
        ...


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
class ConversationRecord:
    """A conversation's head. `open_turn_*` describe the turn that is open, if one is."""

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
    arguments: bytes
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


class Records(Protocol):
    """Reading back. Every method is safe to call while writes go on, and sees all that `append` has returned for."""

    async def principals(self) -> Sequence[Principal]: ...
    async def principal(self, principal_id: str) -> Principal | None: ...
    async def principal_of_handle(self, user_handle: bytes) -> Principal | None: ...
    async def passkeys(self, principal_id: str) -> Sequence[Passkey]: ...
    async def passkey(self, credential_id: bytes) -> Passkey | None: ...
    async def enrolment(self, token_hash: str) -> EnrolmentOffer | None:
        """The unused offer of that token, expired or not."""
        ...

    async def console_session(self, secret_hash: str) -> ConsoleSession | None:
        """Not ended; the caller checks expiry."""
        ...

    async def agent_session(self, secret_hash: str) -> Session | None:
        """Not ended; the caller checks expiry."""
        ...

    async def live_sessions(self, console_session_id: str) -> Sequence[Session]: ...
    async def session(self, session_id: str) -> Session | None:
        """The agent session, if it has not ended; the caller checks expiry."""
        ...

    async def conversations(
        self, principal_id: str, *, before: tuple[int, str] | None, limit: int
    ) -> Sequence[ConversationRecord]:
        """Most recently used first; `before` is the (updated_at, id) of the last row already seen."""
        ...

    async def conversation(self, conversation_id: str) -> ConversationRecord | None: ...
    async def messages(self, conversation_id: str) -> Sequence[Message]: ...
    async def turn_indices(self, conversation_id: str) -> Mapping[str, int]:
        """Every turn of a conversation, id to index."""
        ...

    async def calls(self, conversation_id: str) -> Sequence[CallRecord]:
        """Every recorded call of a conversation, oldest first, results included."""
        ...

    async def call(self, conversation_id: str, call_id: str) -> CallRecord | None: ...
    async def calls_in_session(self, session_id: str) -> int: ...
    async def calls_since(self, principal_id: str, since: int) -> int: ...
    async def open_approvals(self) -> Sequence[OpenApproval]: ...
    async def approvals(self, principal_id: str, *, limit: int) -> Sequence[Approval]:
        """Pending and decided, newest first."""
        ...

    async def grants(self, session_id: str) -> Sequence[Grant]:
        """Not revoked; the caller checks expiry and uses."""
        ...

    async def grants_of(self, principal_id: str) -> Sequence[Grant]: ...
    async def grant(self, grant_id: str) -> Grant | None: ...
    async def conversations_with_open_turns(self) -> Sequence[str]: ...
    async def unfinished_calls(self) -> Sequence[UnfinishedCall]: ...
    async def audit(self, query: AuditQuery) -> Sequence[AuditRow]: ...
    async def audit_size(self) -> int: ...
    async def checkpoint(self) -> str | None:
        """The newest signed checkpoint, as a note; None before the first."""
        ...

    async def ready(self) -> bool:
        """Whether the database answers a read."""
        ...


# ── policy ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PolicySubject:
    """Who the policy judges: a principal in a session with a confidentiality label (0 to 3)."""

    principal: Principal
    label: int


@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """A mode with its reasons. `forbidden` may have none: no rule permitted it.

    `approval_ttl` is in seconds; `result_cap` in bytes, None where the tool's own holds; `redact` names redaction classes.
    """

    mode: PermissionMode
    because: tuple[RuleReason, ...]
    needs: Needs = field(default_factory=Needs)
    approval_ttl: float | None = None
    result_cap: int | None = None
    redact: tuple[str, ...] = ("secrets",)


@dataclass(frozen=True, slots=True)
class ProfileLimits:
    """What a profile may use up, and what it sees. Durations in seconds."""

    calls_per_turn: int
    calls_per_session: int
    calls_per_principal_per_day: int
    pending_approvals: int
    shows_forbidden: bool
    suppressed_tools: tuple[str, ...]
    session_seconds: float
    stored_bytes_per_session: int
    tokens_per_session: int


class PolicyEngine(Protocol):
    """Verdicts over tools. Deterministic for a version; any error in evaluation is `forbidden`."""

    @property
    def version(self) -> str:
        """Hex digest of the documents in force."""
        ...

    def judge(self, subject: PolicySubject, spec: ToolSpec, facts: CallFacts | None, *, taint: int, label: int) -> PolicyVerdict:
        """The verdict for one call. With None: the mode to publish in a snapshot, before there are arguments.

        Empty facts are not None: they are a call about which its tool says nothing, and are judged as warily.
        """
        ...

    def may_infer(self, subject: PolicySubject, *, local: bool, label: int) -> PolicyVerdict:
        """Whether prompts of this subject may go to that kind of model; auto or forbidden."""
        ...

    def limits(self, profile: Profile) -> ProfileLimits: ...
    def rules(self) -> Sequence[RuleReason]:
        """Every rule in force with its author's sentence, by id."""
        ...

    def reload(self) -> None:
        """Read the documents again. Raises PolicyUnusable and keeps the policy in force when they do not load."""
        ...


# ── tools ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """One way in which arguments miss their schema. `path` is a JSON pointer into the arguments."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running tool may know and use. `cancelled` is set when nobody waits for it any more."""

    principal: Principal
    session_id: str
    conversation_id: str
    turn_id: str
    call_id: str
    idempotency_key: str
    cancelled: threading.Event
    progress: Callable[[str, float | None], None]
    """Report a line and a fraction from 0 to 1; callable from any thread."""


class Toolbox(Protocol):
    """The published tools and how they run."""

    def specs(self) -> Sequence[ToolSpec]:
        """All tools, in a stable order. A spec with `unavailable` set is shown to operators with that reason."""
        ...

    def find(self, name: str) -> ToolSpec | None:
        """The tool of that name as it is now."""
        ...

    def find_faults(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """Every fault of the arguments against the spec's schema; empty when they fit."""
        ...

    def facts(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> CallFacts:
        """What the policy may know about this call. Raises ToolFailed when the arguments cannot be understood."""
        ...

    async def execute(self, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Run it, once. Raises ToolFailed. Cancelling the awaiting task sets `context.cancelled`."""
        ...


# ── identity ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """A verified registration, before it is given to anyone."""

    credential_id: bytes
    public_key: bytes
    sign_count: int
    backup_eligible: bool
    backed_up: bool
    transports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VerifiedAssertion:
    """A verified assertion and the counter to store."""

    credential_id: bytes
    sign_count: int
    backed_up: bool
    user_verified: bool


class PasskeyVerifier(Protocol):
    """WebAuthn ceremonies, without state: challenges come in as values. Bodies are the Level 3 JSON forms.

    Both `verify_*` raise Refused with a stable reason (`challenge`, `origin`, `crossOrigin`, `rpId`, `userPresence`,
    `userVerification`, `signature`, `counter`, `backupEligibility`, `credential`, `malformed`).
    """

    def registration_options(
        self, *, challenge: bytes, user_handle: bytes, user_name: str, exclude: Sequence[Passkey]
    ) -> dict[str, Json]: ...

    def assertion_options(
        self, *, challenge: bytes, allow: Sequence[Passkey], user_verification: bool = True
    ) -> dict[str, Json]: ...

    def verify_registration(self, credential: Mapping[str, Json], *, challenge: bytes) -> NewPasskey: ...

    def verify_assertion(
        self,
        credential: Mapping[str, Json],
        *,
        challenge: bytes,
        passkey: Passkey,
        user_verification: bool = True,
        discoverable: bool = False,
    ) -> VerifiedAssertion:
        """`discoverable`: nobody said who signs in, so the answer must name its user (WebAuthn L3 section 7.2 step 6)."""
        ...

    def credential_id(self, credential: Mapping[str, Json]) -> bytes:
        """The raw id a response claims, so that its passkey can be looked up. Raises Refused `malformed`."""
        ...


class CookieSigner(Protocol):
    """Signs opaque values for cookies and links."""

    def sign(self, value: str, *, purpose: str) -> str: ...
    def unsign(self, signed: str, *, purpose: str, max_age: int | None = None) -> str | None:
        """The value, or None when the signature, purpose or age (seconds) is wrong."""
        ...


# ── inference ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that can be asked, in the words of protocol.md section 4."""

    id: str
    display_name: str
    arch: str
    context_tokens: int
    output_tokens: int
    backend: str
    quantisation: str
    supports_tools: bool
    licence: str
    local: bool
    tool_call_rank: int | None = None
    approx_peak_ram_bytes: int | None = None
    more: bool = False
    """Whether it can be asked to say beside a call that further ones follow; others are asked about that apart."""


class ModelPhase(StrEnum):
    """The state of the sidecar, for people and for `/readyz`."""

    ABSENT = "absent"
    STARTING = "starting"
    READY = "ready"
    CRASHED = "crashed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ModelState:
    """The phase and one sentence that says what to do about it."""

    phase: ModelPhase
    detail: str


class InferenceStream(Protocol):
    """An upstream answer under way."""

    @property
    def status(self) -> int: ...
    @property
    def content_type(self) -> str: ...
    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives. Closing the surrounding context aborts generation upstream."""
        ...


class InferenceBackend(Protocol):
    """The models that can be asked."""

    async def models(self) -> Sequence[ModelInfo]: ...
    def state(self) -> ModelState: ...
    def ask(self, path: str, body: bytes) -> AbstractAsyncContextManager[InferenceStream]:
        """POST an OpenAI-shaped body to `/v1/…`. Raises ModelUnavailable."""
        ...


# ── observation ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Step(StrEnum):
    """The steps of one dispatch, in order; telemetry counts them and the crash tests kill the process at each."""

    RECEIVED = "received"
    BOUND = "bound"
    DECIDED = "decided"
    APPROVED = "approved"
    INTENT = "intent"
    STARTED = "started"
    DONE = "done"
    RECORDED = "recorded"
    REPLIED = "replied"


class Observer(Protocol):
    """Told of steps and outcomes; must not block, must not raise, decides nothing."""

    def step(self, step: Step, call_id: str) -> None: ...
    def closed(self, tool: str, outcome: Outcome, reason: Reason | None, seconds: float) -> None: ...
