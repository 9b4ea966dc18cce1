"""The runtime put together from its ports: what the servers and the command line talk to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gateway.core.approval import Approval
from gateway.core.errors import LedgerUnavailable
from gateway.core.judgement import Judgement
from gateway.core.ledger import Entry, PolicyLoaded
from gateway.core.lifecycle import Phase
from gateway.core.untrusted_text import Comparison
from gateway.core.vocabulary import Reason
from gateway.runtime.admission import Admission
from gateway.runtime.approvals import Approvals
from gateway.runtime.asking import ChangeLock
from gateway.runtime.calls import InFlightCall
from gateway.runtime.checks import CallChecks
from gateway.runtime.closing import Closing
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversations import Conversations
from gateway.runtime.denials import Denials
from gateway.runtime.dispatch import Dispatcher
from gateway.runtime.elicitations import Elicitations
from gateway.runtime.execution import Execution
from gateway.runtime.exposures import Exposures
from gateway.runtime.freeze_state import FreezeState
from gateway.runtime.grant_announcements import AnnouncedLedger
from gateway.runtime.grant_review import GrantReview
from gateway.runtime.grants import Grants
from gateway.runtime.imports import ConversationImports
from gateway.runtime.inference import InferenceBroker
from gateway.runtime.moments import Moments
from gateway.runtime.notices import PolicyChangedNotice
from gateway.runtime.ports import (
    Clock,
    Entropy,
    InferenceBackend,
    Ledger,
    Observer,
    PasskeyVerifier,
    PolicyDraft,
    PolicyEngine,
    Records,
    Redactor,
    Toolbox,
)
from gateway.runtime.quotas import Quotas
from gateway.runtime.recovery import recover
from gateway.runtime.releases import Releases
from gateway.runtime.tasks import Tasks
from gateway.runtime.timing import Timing
from gateway.runtime.turns import Turns
from gateway.runtime.usage import QuotaUsage


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything the runtime needs from the world."""

    ledger: Ledger
    records: Records
    policy: PolicyEngine
    toolbox: Toolbox
    redactor: Redactor
    passkeys: PasskeyVerifier
    inference: InferenceBackend
    clock: Clock
    entropy: Entropy
    observer: Observer


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Gateway:
    """The running gateway. Servers call its rooms; nothing calls back."""

    ports: Ports
    admission: Admission
    connections: ConnectionRegistry
    exposures: Exposures
    conversations: Conversations
    imports: ConversationImports
    turns: Turns
    dispatcher: Dispatcher
    approvals: Approvals
    elicitations: Elicitations
    denials: Denials
    grants: Grants
    grant_review: GrantReview
    inference: InferenceBroker
    tasks: Tasks
    freeze: FreezeState
    timing: Timing
    reloading: ChangeLock = field(default_factory=ChangeLock)
    unrecorded: set[str] = field(default_factory=set[str])
    """Policies that were read and are in force, and are not on record yet."""

    async def start(self, version: str) -> int:
        """Recover what the last process left behind. Gives how many calls were found unknown."""
        ports = self.ports
        return await recover(
            version=version,
            policy=ports.policy,
            ledger=ports.ledger,
            records=ports.records,
            clock=ports.clock,
            entropy=ports.entropy,
            toolbox=ports.toolbox,
            review=self.grant_review,
            connections=self.connections,
            conversations=self.conversations,
            turns=self.turns,
            dispatcher=self.dispatcher,
        )

    async def reload_policy(self) -> str:
        """Read the policy again. If it changed, open snapshots are void, and so is what it would not allow: questions that
        wait, of tools' servers too, inference tokens, grants. Raises PolicyUnusable and keeps the last good one."""
        # One after another: what one policy ended, the next one must find ended.
        async with self.reloading:
            before = self.ports.policy.version
            self.ports.policy.reload()
            version = self.ports.policy.version
            if version != before or self.unrecorded:
                self.unrecorded.add(version)
                loaded = PolicyLoaded(self.ports.clock.now(), version, self.ports.policy.documents)
                try:
                    # On its way before the calls that it closes: who reads the record in its order finds their reason there.
                    recorded = self.ports.ledger.append(loaded)
                finally:
                    # Also where it cannot be recorded: it is in force, and what the one before allowed is over.
                    self.void_what_was_allowed("policyChanged")
                    self.connections.broadcast(PolicyChangedNotice(version))
                    ended = await self.grant_review.end_refused()
                try:
                    await recorded
                    if ended:
                        await self.ports.ledger.append(*ended)
                except LedgerUnavailable as error:
                    message = f"policy {version[:12]} is in force; {error.message}; reload it once more then"
                    raise LedgerUnavailable(message) from None
                self.unrecorded.clear()
            return version

    async def find_copies(self, approval: Approval) -> Comparison:
        """What of the arguments of a call that waits was taken from untrusted results of its conversation, as things are now."""
        conversation = await self.conversations.restore(approval.conversation_id)
        return conversation.untrusted.compare(approval.parsed_arguments)

    async def activate(self, draft: PolicyDraft, enact: Callable[[], None], *signed: Entry) -> None:
        """Put another policy in force that was signed: first on record, with the grants that it ends, then in force. Nothing
        waits in between."""
        refused = await self.grant_review.find_refused(draft)
        await self.ports.ledger.append(*signed, *self.grant_review.end(refused))
        enact()
        for grant in refused:
            self.grants.drop(grant)
        self.void_what_was_allowed("policyChanged")
        self.connections.broadcast(PolicyChangedNotice(self.ports.policy.version))
        # Those that were given while that was on its way to the disk.
        if ended := await self.grant_review.end_refused():
            try:
                await self.ports.ledger.append(*ended)
            except LedgerUnavailable:
                # The next start finds them refused as well.
                _log.warning("grants that the policy does not allow cover nothing any more, and their end is not on record yet")

    def void_what_was_allowed(self, reason: str) -> None:
        """What was allowed before is to be judged anew: open snapshots are void for that reason, and what waits is withdrawn
        where it could not run any more."""
        self.turns.revoke_snapshots(reason)
        self.approvals.judge_again()
        self.elicitations.withdraw_all()
        self.inference.judge_again()

    def withdraw_tools(self) -> None:
        """Tools that could be called were changed or taken away: open snapshots are void, and what waits is judged again."""
        self.turns.revoke_snapshots("toolsChanged")
        self.approvals.judge_again()
        self.elicitations.judge_again()
        self.inference.judge_again()

    async def withdraw_waiting_calls(self) -> None:
        """Cancel every call that has not begun to run, its question to a person too, and wait until that is on record."""
        waiting = [call for call in self._calls_in_flight() if call.phase is not Phase.RUNNING]
        for call in waiting:
            call.stop(None)
        await _answered(waiting)

    async def finish_running_calls(self) -> None:
        """Wait until every call has ended, for as long as that takes."""
        await _answered(self._calls_in_flight())

    def revoke_leases(self) -> None:
        """End what models are still saying."""
        for conversation in self.conversations.in_use():
            for lent in () if conversation.turn is None else conversation.turn.lent:
                lent.revoke(Reason.SESSION_ENDED)

    def find_judgement(self, conversation_id: str, call_id: str) -> Judgement | None:
        """What the policy in force was asked about a call that is under way, such as one that waits for a person."""
        under_way = (call for call in self._calls_in_flight() if call.request.conversation_id == conversation_id)
        return next((call.judgement for call in under_way if call.request.call_id == call_id), None)

    def _calls_in_flight(self) -> Sequence[InFlightCall]:
        return [call for conversation in self.conversations.in_use() for call in conversation.in_flight.values()]

    async def stop(self) -> None:
        """Let go of everything under way; the ledger is closed by whoever opened it."""
        self.turns.stop()
        await self.tasks.stop()


async def _answered(calls: Sequence[InFlightCall]) -> None:
    await asyncio.gather(*(call.answer_future() for call in calls), return_exceptions=True)


def assemble(ports: Ports, timing: Timing | None = None) -> Gateway:
    """Build the runtime. Starts nothing."""
    times = timing or Timing()
    freeze = FreezeState()
    admission = Admission()
    connections = ConnectionRegistry()
    ports = replace(ports, ledger=AnnouncedLedger(ports.ledger, connections))
    tasks = Tasks()
    ledger, records, clock, entropy = ports.ledger, ports.records, ports.clock, ports.entropy
    usage = QuotaUsage(policy=ports.policy, records=records, clock=clock)
    quotas = Quotas(connections=connections, policy=ports.policy)
    grants = Grants(ledger=ledger, records=records, connections=connections, clock=clock)
    exposures = Exposures(ledger=ledger, grants=grants, connections=connections, clock=clock)
    conversations = Conversations(
        ledger=ledger, records=records, quotas=quotas, exposures=exposures, clock=clock, entropy=entropy
    )
    moments = Moments(
        policy=ports.policy, exposures=exposures, records=records, connections=connections, clock=clock, zone=times.zone
    )
    turns = Turns(
        conversations=conversations,
        moments=moments,
        quotas=quotas,
        policy=ports.policy,
        toolbox=ports.toolbox,
        exposures=exposures,
        ledger=ledger,
        connections=connections,
        clock=clock,
        entropy=entropy,
        tasks=tasks,
        timing=times,
    )
    approvals = Approvals(
        ledger=ledger,
        records=records,
        policy=ports.policy,
        passkeys=ports.passkeys,
        connections=connections,
        clock=clock,
        entropy=entropy,
        timing=times,
    )
    elicitations = Elicitations(
        ledger=ledger,
        policy=ports.policy,
        connections=connections,
        clock=clock,
        entropy=entropy,
        tasks=tasks,
        timing=times,
    )
    denials = Denials(conversations=conversations, connections=connections, ledger=ledger, clock=clock)
    dispatcher = Dispatcher(
        admission=admission,
        usage=usage,
        conversations=conversations,
        exposures=exposures,
        quotas=quotas,
        checks=CallChecks(
            policy=ports.policy,
            toolbox=ports.toolbox,
            records=records,
            connections=connections,
            moments=moments,
            usage=usage,
            clock=clock,
            freeze=freeze,
        ),
        approvals=approvals,
        denials=denials,
        grants=grants,
        execution=Execution(
            releases=Releases(policy=ports.policy, exposures=exposures, connections=connections),
            toolbox=ports.toolbox,
            redactor=ports.redactor,
            elicitations=elicitations,
            exposures=exposures,
            ledger=ledger,
            records=records,
            connections=connections,
            clock=clock,
            tasks=tasks,
        ),
        closing=Closing(
            ledger=ledger,
            exposures=exposures,
            approvals=approvals,
            clock=clock,
            entropy=entropy,
            tasks=tasks,
            timing=times,
        ),
        ledger=ledger,
        records=records,
        connections=connections,
        clock=clock,
        entropy=entropy,
        observer=ports.observer,
        tasks=tasks,
    )
    inference = InferenceBroker(
        usage=usage,
        backend=ports.inference,
        quotas=quotas,
        exposures=exposures,
        policy=ports.policy,
        ledger=ledger,
        connections=connections,
        clock=clock,
        entropy=entropy,
        freeze=freeze,
    )
    exposures.on_rise(approvals.judge_again)
    exposures.on_rise(elicitations.judge_again)
    exposures.on_rise(inference.judge_again)
    turns.on_replaced(approvals.judge_again)
    return Gateway(
        ports=ports,
        admission=admission,
        connections=connections,
        exposures=exposures,
        conversations=conversations,
        imports=ConversationImports(ledger=ledger, quotas=quotas, exposures=exposures, clock=clock, entropy=entropy),
        turns=turns,
        dispatcher=dispatcher,
        approvals=approvals,
        elicitations=elicitations,
        denials=denials,
        grants=grants,
        grant_review=GrantReview(
            grants=grants, records=records, policy=ports.policy, toolbox=ports.toolbox, clock=clock, freeze=freeze
        ),
        inference=inference,
        tasks=tasks,
        freeze=freeze,
        timing=times,
    )
