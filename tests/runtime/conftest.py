"""A runtime over fakes, with one person, one browser and one console."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace

import orjson
import pytest

from gateway.core.canonical import Json
from gateway.core.ledger import AgentSessionStarted, ConsoleSessionStarted, EnrolmentOffered, Passkey, PrincipalEnrolled
from gateway.core.model import Principal, Session, Snapshot, ToolCall
from gateway.core.vocabulary import Label, Outcome, Profile, Reason
from gateway.runtime.binding import Proposal
from gateway.runtime.calls import CallAnswer
from gateway.runtime.connections import Connection
from gateway.runtime.gateway import Gateway, Ports, assemble
from gateway.runtime.ports import ConsoleSession, Step
from gateway.runtime.timing import Timing
from gateway.server.notifications import encode_notice
from tests.fakes.clock import FakeClock
from tests.fakes.entropy import FakeEntropy
from tests.fakes.inference import SilentBackend
from tests.fakes.ledger import MemoryLedger
from tests.fakes.passkeys import PlainAuthenticator, PlainVerifier
from tests.fakes.policy import TablePolicy
from tests.fakes.redactor import RedactionAtOnce
from tests.fakes.toolbox import CountingToolbox
from tests.runtime.accounts import Accounts

PATIENCE = 5.0
"""Seconds that any wait of a test may take; never a duration that is measured."""


@dataclass
class Steps:
    """The Observer port, remembering."""

    seen: list[tuple[Step, str]] = field(default_factory=list[tuple[Step, str]])

    def step(self, step: Step, call_id: str) -> None:
        self.seen.append((step, call_id))

    def closed(self, tool: str, outcome: Outcome, reason: Reason | None, seconds: float) -> None:
        pass


@dataclass
class Stage:
    """Everything a test talks to."""

    gateway: Gateway
    ledger: MemoryLedger
    policy: TablePolicy
    toolbox: CountingToolbox
    clock: FakeClock
    steps: Steps
    authenticator: PlainAuthenticator
    ada: Principal
    session: Session
    console: ConsoleSession
    connection: Connection
    conversation_id: str = ""
    snapshot: Snapshot | None = None
    _calls: int = 0

    async def begin(self) -> Snapshot:
        """Open a conversation once, and a turn in it."""
        if not self.conversation_id:
            self.conversation_id = (await self.gateway.conversations.create(self.session, None)).id
        self.snapshot = await self.gateway.turns.begin(self.connection, self.conversation_id)
        return self.snapshot

    async def sign_in_elsewhere(self) -> None:
        """Go on in another session of the same person, on a connection of its own, with nothing open."""
        other = replace(self.session, id="ses_2", label=Label.PUBLIC)
        await self.ledger.append(AgentSessionStarted(self.clock.now(), other, "secret3"))
        self.session, self.connection = other, self.gateway.connections.attach(other, "con_2")
        self.conversation_id, self.snapshot = "", None

    def propose(self, tool: str, call_id: str | None = None, **arguments: Json) -> Proposal:
        """A well-formed proposal under the current snapshot."""
        assert self.snapshot is not None
        self._calls += 1
        return Proposal(
            self.conversation_id,
            self.snapshot.turn_id,
            self.snapshot.id,
            self.snapshot.digest,
            ToolCall(call_id or f"call-{self._calls}", tool, arguments or {"path": "notes/a.txt"}),
        )

    async def invoke(self, proposal: Proposal) -> CallAnswer:
        """Invoke, and wait no longer than a test may."""
        async with asyncio.timeout(PATIENCE):
            return await self.gateway.dispatcher.invoke(self.connection, proposal)

    def start(self, proposal: Proposal) -> asyncio.Task[CallAnswer]:
        """Invoke beside the test."""
        return asyncio.get_running_loop().create_task(self.invoke(proposal))

    async def told(self, method: str, connection: Connection | None = None) -> Mapping[str, Json]:
        """The next notification of that method on the connection."""
        outbox = (connection or self.connection).outbox
        async with asyncio.timeout(PATIENCE):
            while True:
                await outbox.wait()
                message = outbox.take()
                assert message is not None, f"the connection closed before `{method}`"
                frame = orjson.loads(message if isinstance(message, bytes) else encode_notice(message))
                if frame.get("method") == method:
                    return frame["params"]

    async def asked(self) -> Mapping[str, Json]:
        """The approval that was just requested."""
        return (await self.told("approvals/requested"))["approval"]


@pytest.fixture
def policy() -> TablePolicy:
    return TablePolicy()


@pytest.fixture
async def stage(policy: TablePolicy) -> AsyncIterator[Stage]:
    ledger, clock, entropy, toolbox, steps = MemoryLedger(), FakeClock(), FakeEntropy(), CountingToolbox(), Steps()
    rp_id, origin = "console.localhost", "http://console.localhost:8765"
    gateway = assemble(
        Ports(
            ledger=ledger,
            records=ledger,
            policy=policy,
            toolbox=toolbox,
            redactor=RedactionAtOnce(),
            passkeys=PlainVerifier(rp_id=rp_id, origin=origin),
            inference=SilentBackend(),
            clock=clock,
            entropy=entropy,
            observer=steps,
        ),
        Timing(grace=60.0),
    )
    ada = Principal("prn_ada", "Ada", Profile.OPERATOR)
    authenticator = PlainAuthenticator(origin=origin)
    options = gateway.ports.passkeys.registration_options(challenge=b"c" * 32, user_handle=b"ada", user_name="Ada", exclude=())
    new = gateway.ports.passkeys.verify_registration(authenticator.create(options), challenge=b"c" * 32)
    now = clock.now()
    passkey = Passkey(new.credential_id, ada.id, new.public_key, 0, new.backup_eligible, new.backed_up, b"ada", (), "key", now)
    hours = now + 8 * 3_600_000
    session = Session("ses_1", ada, "cse_1", (), Label.PUBLIC, now, hours)
    await ledger.append(
        EnrolmentOffered(now, "offer", "Ada", Profile.OPERATOR, hours),
        PrincipalEnrolled(now, "offer", ada, passkey),
        ConsoleSessionStarted(now, "cse_1", "secret", ada.id, hours),
        AgentSessionStarted(now, session, "secret2"),
    )
    connection = gateway.connections.attach(session, "con_1")
    console = ConsoleSession("cse_1", ada, now, hours)
    yield Stage(gateway, ledger, policy, toolbox, clock, steps, authenticator, ada, session, console, connection)
    await gateway.stop()


@pytest.fixture
def people() -> Accounts:
    return Accounts()
