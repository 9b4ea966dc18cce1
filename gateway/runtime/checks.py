"""The checks of docs/PROTOCOL.md section 7 that need more than the pure gate: definitions, schemas, quotas, the policy.

Each method gives a value to go on with or a `Refuse`. None of them waits for a person, and only the first call of a session
or a day waits for anything at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from gateway.core import gate
from gateway.core.approval import Approval
from gateway.core.budget import DAY_MS, Exhausted, QuotaMeter, Tally, find_exhausted
from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from gateway.core.gate import Refuse
from gateway.core.judgement import Judgement, Question
from gateway.core.model import CallFacts, PublishedTool, Session, Snapshot, ToolRequest, ToolSpec, apply_defaults
from gateway.core.value_types import quick
from gateway.core.vocabulary import Outcome, PermissionMode, Reason
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversation import Conversation
from gateway.runtime.freeze_state import FreezeState
from gateway.runtime.moments import Moments
from gateway.runtime.ports import Clock, PolicyEngine, PolicyVerdict, ProfileLimits, QuotaRecords, Toolbox
from gateway.runtime.usage import QuotaUsage, Reservation

FAULTS_TOLD = 8
"""Faults of the arguments that are spelt out; a model mends no more than that in one go."""

_OF_CALLS = (QuotaMeter.CALLS, QuotaMeter.SECONDS, QuotaMeter.RELEASED_BYTES)


@quick
@dataclass(frozen=True, slots=True)
class CheckedCall:
    """A call that passed rows 5 to 9: what is published under its name, and what the policy may know about it."""

    request: ToolRequest
    published: PublishedTool
    snapshot: Snapshot
    facts: CallFacts

    @property
    def spec(self) -> ToolSpec:
        """The tool's definition."""
        return self.published.spec

    @property
    def arguments(self) -> Mapping[str, Json]:
        """What the tool is given."""
        return self.request.parsed_arguments


class Rejected(NamedTuple):
    """A call that did not pass them, and what was known of it by then: its tool, once its snapshot had it."""

    refusal: Refuse
    checked: CheckedCall | None = None


class Judged(NamedTuple):
    """What the policy said about a call, and what a record keeps of that."""

    verdict: PolicyVerdict
    judgement: Judgement


class CallChecks:
    """Rows 5 to 11, and row 14."""

    def __init__(
        self,
        *,
        policy: PolicyEngine,
        toolbox: Toolbox,
        records: QuotaRecords,
        connections: ConnectionRegistry,
        moments: Moments,
        usage: QuotaUsage,
        clock: Clock,
        freeze: FreezeState,
    ) -> None:
        self._policy = policy
        self._moments = moments
        self._freeze = freeze
        self._usage = usage
        self._toolbox = toolbox
        self._records = records
        self._connections = connections
        self._clock = clock
        self._today: dict[str, tuple[int, int]] = {}

    def examine(self, conversation: Conversation, request: ToolRequest) -> CheckedCall | Rejected:
        """Rows 5 to 9: turn, snapshot, tool, definition, arguments; defaults are applied here, before anybody sees them."""
        if self._freeze.holding is not None:
            return Rejected(gate.POLICY_FROZEN)
        published = gate.check_binding(request, conversation.turn_state(self._clock.now()))
        if isinstance(published, Refuse):
            return Rejected(published)
        snapshot = conversation.turn.snapshot if conversation.turn is not None else None
        assert snapshot is not None, "check_binding refuses a turn without a snapshot"
        found, spec = CheckedCall(request, published, snapshot, CallFacts()), published.spec
        changed = self._check_definition(conversation, snapshot, spec)
        if changed is not None:
            return Rejected(changed, found)
        faults = self._toolbox.find_faults(spec, request.parsed_arguments)
        if faults:
            told = "; ".join(f"{fault.path or '/'}: {fault.message}" for fault in faults[:FAULTS_TOLD])
            return Rejected(Refuse(Outcome.INVALID_ARGUMENTS, Reason.SCHEMA, told), found)
        request = apply_defaults(request, spec.param_schema)
        try:
            facts = self._toolbox.facts(spec, request.parsed_arguments)
        except ToolFailed as error:
            return Rejected(Refuse(Outcome.INVALID_ARGUMENTS, Reason.SCHEMA, error.message), found)
        return CheckedCall(request, published, snapshot, facts)

    async def count(self, conversation: Conversation, session: Session) -> Refuse | None:
        """Row 10. Every call that got this far counts, whatever becomes of it."""
        limits = self._policy.limits(session.principal.profile)
        await self._moments.recall(session)
        live = self._connections.live(session)
        assert live.calls is not None, "recalled just now"
        day = await self._calls_today(session.principal.id)
        turn = conversation.turn
        used = Tally(turn=turn.calls if turn is not None else 0, session=live.calls, day=day)
        exhausted = find_exhausted(used, _allowance(limits))
        if exhausted is not None:
            return self._refuse_exhausted(exhausted)
        turn_id = None if turn is None else turn.id
        await self._usage.recall(session, turn_id)
        used_up = self._usage.find_exhausted(session, turn_id, _OF_CALLS)
        if used_up is not None:
            return self._refuse_exhausted(used_up)
        live.calls += 1
        self._today[session.principal.id] = (self._clock.now() // DAY_MS, day + 1)
        if turn is not None:
            turn.count_call()
        return None

    def reserve(self, session: Session, checked: CheckedCall, verdict: PolicyVerdict) -> Reservation | Refuse:
        """Set aside what the call may use of quotas; the first thing that is done for it once nothing else stands in its way."""
        spec, bound = checked.spec, verdict.obligations
        wanted = {
            QuotaMeter.CALLS: 1,
            QuotaMeter.SECONDS: int(min(spec.timeout, bound.timeout or spec.timeout) * 1000),
            # As many of text and of structure.
            QuotaMeter.RELEASED_BYTES: 2 * min(spec.result_cap, bound.max_result_bytes or spec.result_cap),
        }
        reserved = self._usage.reserve(session, checked.request.turn_id, wanted)
        return self._refuse_exhausted(reserved) if isinstance(reserved, Exhausted) else reserved

    def _refuse_exhausted(self, exhausted: Exhausted) -> Refuse:
        return Refuse(Outcome.REFUSED_BY_POLICY, Reason.QUOTA_EXCEEDED, exhausted.tell(self._clock.now()))

    async def recall(self, session: Session, turn_id: str) -> None:
        """What the session did and used before this process, for a call that waited through a restart."""
        await self._moments.recall(session)
        await self._usage.recall(session, turn_id)

    def note_use(self, checked: CheckedCall) -> None:
        """The tool of this call is about to run, and that is on record."""
        live = self._connections.find(checked.request.session_id)
        if live is not None:
            live.tools_used.add(checked.spec.name)

    def judge(self, conversation: Conversation, session: Session, checked: CheckedCall) -> Judged:
        """Row 11: the policy over this call's own facts."""
        subject, exposure = self._moments.subject(session, conversation, checked.arguments), conversation.exposure
        verdict = self._policy.judge(subject, checked.spec, checked.facts, taint=exposure.taint, label=exposure.label)
        label = max(subject.label, exposure.label)
        question = Question(subject.principal, checked.spec, checked.facts, exposure.taint, label, subject.moment)
        return Judged(verdict, Judgement(question, verdict.mode, tuple(rule.id for rule in verdict.because)))

    def recheck(self, conversation: Conversation, checked: CheckedCall) -> Refuse | None:
        """Row 14: session, turn, snapshot, policy and tool, once more."""
        now = self._clock.now()
        request = checked.request
        if not self._connections.is_live(request.session_id, now):
            return Refuse(Outcome.CANCELLED, Reason.SESSION_ENDED, "the session has ended; nothing ran")
        if self._freeze.holding is not None:
            return gate.POLICY_FROZEN
        stale = gate.recheck(request, conversation.turn_state(now))
        return stale or self._check_definition(conversation, checked.snapshot, checked.spec)

    def rejudge(self, conversation: Conversation, session: Session, checked: CheckedCall, approval: Approval) -> Judged | Refuse:
        """Row 14 for a call that a person is asked about: what `recheck` asks, and then row 11 over the call's own facts,
        labels and taint as they are now. What became stricter than the approval is a refusal."""
        changed = self.recheck(conversation, checked)
        if changed is not None:
            return changed
        try:
            facts = self._toolbox.facts(checked.spec, checked.arguments)
        except ToolFailed as error:
            return Refuse(Outcome.INVALID_ARGUMENTS, Reason.SCHEMA, error.message)
        judged = self.judge(conversation, session, replace(checked, facts=facts))
        stricter = gate.check_approved(
            checked.published,
            approval.kind,
            approval.needs,
            mode=judged.verdict.mode,
            because=judged.verdict.because,
            needs=judged.verdict.needs,
        )
        return judged if stricter is None else stricter

    def may_begin(self, conversation: Conversation, checked: CheckedCall) -> bool:
        """Whether a call that runs could begin now: its tool is what it was, and the policy does not forbid it under the
        labels of this moment. Its turn is not asked, which may have got another snapshot."""
        current = self._toolbox.find(checked.spec.name)
        if current is None or current.digest != checked.spec.digest or self._freeze.holding is not None:
            return False
        live = self._connections.find(checked.request.session_id)
        return live is not None and self.judge(conversation, live.session, checked).verdict.mode is not PermissionMode.FORBIDDEN

    def restore(self, conversation: Conversation, request: ToolRequest, statement: Mapping[str, Json]) -> CheckedCall | Refuse:
        """A call that was waiting when the process ended, from the statement that the person was shown."""
        turn = _statement_turn(request, statement)
        spec = self._toolbox.find(request.tool)
        if spec is None or spec.digest != statement["descriptorDigest"]:
            return gate.POLICY_CHANGED
        changed = self._check_definition(conversation, turn, spec)
        if changed is not None:
            return changed
        # The mode was settled when the question was asked; whether it may still run is the recheck's business.
        published = PublishedTool(spec, PermissionMode.CONSENT)
        try:
            facts = self._toolbox.facts(spec, request.parsed_arguments)
        except ToolFailed as error:
            return Refuse(Outcome.INVALID_ARGUMENTS, Reason.SCHEMA, error.message)
        return CheckedCall(request, published, turn, facts)

    async def _calls_today(self, principal_id: str) -> int:
        today = self._clock.now() // DAY_MS
        day, used = self._today.get(principal_id, (-1, 0))
        if day != today:
            used = await self._records.calls_since(principal_id, today * DAY_MS)
            # Another call may have counted the same day while this one was reading.
            day, counted = self._today.get(principal_id, (-1, 0))
            used = counted if day == today else used
        return used

    def _check_definition(self, conversation: Conversation, snapshot: Snapshot, spec: ToolSpec) -> Refuse | None:
        current = self._toolbox.find(spec.name)
        return gate.check_definition(
            snapshot.policy_version,
            spec.digest,
            policy_version=self._policy.version,
            current=None if current is None else current.digest,
            revoked=conversation.turn is not None and snapshot.id in conversation.turn.revoked,
        )


def _allowance(limits: ProfileLimits) -> Tally:
    return Tally(limits.calls_per_turn, limits.calls_per_session, limits.calls_per_principal_per_day)


def _statement_turn(request: ToolRequest, statement: Mapping[str, Json]) -> Snapshot:
    """The head of the snapshot that the call was made under, as far as records name it."""
    return Snapshot(
        id=request.snapshot_id,
        session_id=request.session_id,
        connection_id=request.connection_id,
        conversation_id=request.conversation_id,
        turn_id=request.turn_id,
        turn_index=int(statement["turnIndex"]),
        issued_at=request.received_at,
        expires_at=request.received_at,
        policy_version=str(statement["policyVersion"]),
        tools=(),
    )
