"""The runtime put together from its ports: what the servers and the command line talk to."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.core.ledger import PolicyLoaded
from gateway.runtime.allowances import Allowances
from gateway.runtime.approvals import ApprovalDesk
from gateway.runtime.checks import Checks
from gateway.runtime.closing import Closing
from gateway.runtime.connections import Hub
from gateway.runtime.conversations import Conversations
from gateway.runtime.dispatch import Dispatcher
from gateway.runtime.execution import Execution
from gateway.runtime.grants import Grants
from gateway.runtime.inference import InferenceDesk
from gateway.runtime.ports import (
    Clock,
    Entropy,
    InferenceBackend,
    Ledger,
    Observer,
    PasskeyVerifier,
    PolicyEngine,
    Records,
    Toolbox,
)
from gateway.runtime.questions import APPROVAL_SECONDS, Questions
from gateway.runtime.recovery import recover
from gateway.runtime.tasks import Tasks
from gateway.runtime.turns import GRACE_SECONDS, SNAPSHOT_SECONDS, Turns


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything the runtime needs from the world."""

    ledger: Ledger
    records: Records
    policy: PolicyEngine
    toolbox: Toolbox
    passkeys: PasskeyVerifier
    inference: InferenceBackend
    clock: Clock
    entropy: Entropy
    observer: Observer


@dataclass(frozen=True, slots=True)
class Timing:
    """How long things last, in seconds."""

    snapshot: float = SNAPSHOT_SECONDS
    grace: float = GRACE_SECONDS
    approval: float = APPROVAL_SECONDS


@dataclass(frozen=True, slots=True)
class Gateway:
    """The running gateway. Servers call its rooms; nothing calls back."""

    ports: Ports
    hub: Hub
    conversations: Conversations
    turns: Turns
    dispatcher: Dispatcher
    approvals: ApprovalDesk
    grants: Grants
    inference: InferenceDesk
    tasks: Tasks

    async def start(self, version: str) -> int:
        """Recover what the last process left behind. Gives how many calls were found unknown."""
        ports = self.ports
        return await recover(
            version=version,
            policy_version=ports.policy.version,
            ledger=ports.ledger,
            records=ports.records,
            clock=ports.clock,
            entropy=ports.entropy,
            hub=self.hub,
            conversations=self.conversations,
            turns=self.turns,
            dispatcher=self.dispatcher,
        )

    async def reload_policy(self) -> str:
        """Read the policy again; open snapshots are void if it changed. Raises PolicyUnusable and keeps the last good one."""
        before = self.ports.policy.version
        self.ports.policy.reload()
        version = self.ports.policy.version
        if version != before:
            self.turns.revoke_snapshots("policyChanged")
            self.hub.broadcast("policy/changed", {"policyVersion": version})
            await self.ports.ledger.append(PolicyLoaded(self.ports.clock.now(), version))
        return version

    async def stop(self) -> None:
        """Let go of everything under way; the ledger is closed by whoever opened it."""
        self.turns.stop()
        await self.tasks.stop()


def assemble(ports: Ports, timing: Timing | None = None) -> Gateway:
    """Build the runtime. Starts nothing."""
    times = timing or Timing()
    hub = Hub()
    tasks = Tasks()
    ledger, records, clock, entropy = ports.ledger, ports.records, ports.clock, ports.entropy
    allowances = Allowances(hub=hub, policy=ports.policy)
    conversations = Conversations(ledger=ledger, records=records, allowances=allowances, clock=clock, entropy=entropy)
    turns = Turns(
        conversations=conversations,
        allowances=allowances,
        policy=ports.policy,
        toolbox=ports.toolbox,
        ledger=ledger,
        hub=hub,
        clock=clock,
        entropy=entropy,
        tasks=tasks,
        snapshot_seconds=times.snapshot,
        grace_seconds=times.grace,
    )
    desk = ApprovalDesk(ledger=ledger, records=records, passkeys=ports.passkeys, hub=hub, clock=clock, entropy=entropy)
    grants = Grants(ledger=ledger, records=records, hub=hub, clock=clock)
    closing = Closing(ledger=ledger, grants=grants, clock=clock, entropy=entropy, tasks=tasks)
    dispatcher = Dispatcher(
        conversations=conversations,
        allowances=allowances,
        checks=Checks(policy=ports.policy, toolbox=ports.toolbox, records=records, hub=hub, clock=clock),
        questions=Questions(
            desk=desk,
            closing=closing,
            policy=ports.policy,
            ledger=ledger,
            records=records,
            clock=clock,
            entropy=entropy,
            approval_seconds=times.approval,
        ),
        desk=desk,
        grants=grants,
        execution=Execution(toolbox=ports.toolbox, ledger=ledger, hub=hub, clock=clock, tasks=tasks),
        closing=closing,
        ledger=ledger,
        records=records,
        hub=hub,
        clock=clock,
        observer=ports.observer,
        tasks=tasks,
    )
    inference = InferenceDesk(
        backend=ports.inference, allowances=allowances, policy=ports.policy, ledger=ledger, hub=hub, clock=clock, entropy=entropy
    )
    return Gateway(
        ports=ports,
        hub=hub,
        conversations=conversations,
        turns=turns,
        dispatcher=dispatcher,
        approvals=desk,
        grants=grants,
        inference=inference,
        tasks=tasks,
    )
