"""Both sockets on a real uvicorn, over a runtime of fakes. Cookies name the session directly; signing in has tests of its own."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import uvicorn
from starlette.requests import HTTPConnection
from websockets.asyncio.client import connect

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.workshop import CedarWorkshop
from gateway.adapters.storage.secret_box import SecretBox
from gateway.adapters.tools.added import AddedSources, Secrets
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.changeable_settings import operator_settings
from gateway.core.ledger import AgentSessionStarted, ConsoleSessionStarted, EnrolmentOffered, Passkey, PrincipalEnrolled
from gateway.core.model import Principal, Session
from gateway.core.vocabulary import Label, Outcome, Profile, Reason
from gateway.runtime.announcements import SourceAnnouncements
from gateway.runtime.client_grants import ClientGrants
from gateway.runtime.clients import Clients
from gateway.runtime.connections import Connection
from gateway.runtime.erasures import ErasingRecords, Erasures
from gateway.runtime.gateway import Gateway, Ports, assemble
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.people import People
from gateway.runtime.policies import PolicySource, assemble_policies
from gateway.runtime.policies.rehearsals import Rehearsals
from gateway.runtime.policies.shadowing import ShadowReading
from gateway.runtime.ports import ConsoleSession, PolicyDraft, StartedShadow, Step
from gateway.runtime.rehearsal import Rehearsal
from gateway.runtime.sessions import Sessions
from gateway.runtime.sources import Sources
from gateway.runtime.timing import Timing
from gateway.sandbox.job import SandboxUnavailable
from gateway.server.access import Origins
from gateway.server.listener import listener
from gateway.server.methods.agent import AgentMethods
from gateway.server.methods.audit import AuditMethods
from gateway.server.methods.backups import BackupMethods, NewBackup
from gateway.server.methods.call_filters import CallFilters
from gateway.server.methods.clients import ClientMethods
from gateway.server.methods.console import ConsoleMethods
from gateway.server.methods.erasures import ErasureMethods
from gateway.server.methods.people import PeopleMethods
from gateway.server.methods.policies import PolicyMethods
from gateway.server.methods.push import PushMethods
from gateway.server.methods.settings import SettingMethods
from gateway.server.methods.sources import SourceMethods
from gateway.server.methods.verification import AuditVerifier
from gateway.server.middleware.hosts import HostGate
from gateway.server.reading_turns import ReadingTurns
from gateway.server.responses import WRONG_HOST
from gateway.server.signposts import signpost
from gateway.server.websocket import agent_socket, console_socket
from gateway.settings import Settings
from tests.fakes.call_history import MemoryCallHistory
from tests.fakes.clock import FakeClock
from tests.fakes.drivers import ScriptedDriver, scripted_kinds
from tests.fakes.entropy import FakeEntropy
from tests.fakes.inference import SilentBackend
from tests.fakes.ledger import MemoryLedger
from tests.fakes.passkeys import PlainAuthenticator, PlainVerifier
from tests.fakes.policy import TablePolicy
from tests.fakes.redactor import RedactionAtOnce
from tests.fakes.sign_ins import make_sign_ins
from tests.fakes.toolbox import CountingToolbox
from tests.harness.socket import Socket

POLICY = Path(__file__).parents[2] / "policy"

PATIENCE = 20.0
"""Seconds that any wait of a test may take; never a duration that is measured."""

_Value = TypeVar("_Value")


def read_no_shadow(shadow: StartedShadow) -> ShadowReading:
    raise AssertionError("no candidate runs here")


def rehearse_nothing(draft: PolicyDraft, days: int, tell: Callable[[int], None]) -> Rehearsal:
    """A rehearsal over an empty record."""
    return Rehearsal()


def make_no_backup() -> NewBackup:
    """Nothing here is worth one."""
    raise AssertionError


class Unobserved:
    """An Observer port that records nothing."""

    def step(self, step: Step, call_id: str) -> None: ...
    def closed(self, tool: str, outcome: Outcome, reason: Reason | None, seconds: float) -> None: ...


@dataclass
class Stage:
    """Two served sockets, and Ada, an operator with one passkey, signed in at both. Eve is a guest."""

    port: int
    gateway: Gateway
    ledger: MemoryLedger
    policy: TablePolicy
    toolbox: CountingToolbox
    clock: FakeClock
    authenticator: PlainAuthenticator
    agents: dict[str, Session] = field(default_factory=dict[str, Session])
    consoles: dict[str, ConsoleSession] = field(default_factory=dict[str, ConsoleSession])
    drivers: dict[str, ScriptedDriver] = field(default_factory=dict[str, ScriptedDriver])
    _sockets: list[Socket] = field(default_factory=list[Socket])

    def origin(self, site: str) -> str:
        """`agent` or `console`."""
        return f"http://{site}.localhost:{self.port}"

    async def connect(self, site: str, session: str | None = None, **options: Any) -> Socket:
        """Open a socket as a page of that site, with Ada's session unless another is given; `options` are websockets'."""
        headers = {"Cookie": f"session={session or f'ses_ada_{site}'}", **options.pop("headers", {})}
        options.setdefault("subprotocols", ["countersign.v1"])
        options.setdefault("origin", self.origin(site))
        options.setdefault("compression", None)
        options.setdefault("max_size", None)
        connection = await connect(
            f"ws://{site}.localhost:{self.port}/ws",
            host="127.0.0.1",
            port=self.port,
            additional_headers=headers,
            proxy=None,
            open_timeout=PATIENCE,
            **options,
        )
        opened = Socket(connection)
        self._sockets.append(opened)
        return opened

    async def connection_of(self, opened: Socket) -> Connection:
        """The gateway's side of Ada's socket at the agent."""
        name = (await opened.call("session/describe"))["connectionId"]
        connection = self.gateway.connections.connection("ses_ada_agent", name)
        assert connection is not None
        return connection

    async def until(self, look: Callable[[], _Value]) -> _Value:
        """The first true value of `look`."""
        async with asyncio.timeout(PATIENCE):
            while not (value := look()):
                await asyncio.sleep(0.01)
            return value

    async def leave(self) -> None:
        """Close every socket."""
        await asyncio.gather(*(opened.close() for opened in self._sockets), return_exceptions=True)


@dataclass
class Turn:
    """An open turn on a socket."""

    socket: Socket
    conversation_id: str
    snapshot: Mapping[str, Any]
    calls: int = 0

    @classmethod
    async def begin(cls, opened: Socket) -> Turn:
        """In a new conversation."""
        conversation_id = (await opened.call("conversations/open"))["conversation"]["id"]
        begun = await opened.call("turns/begin", {"conversationId": conversation_id})
        return cls(opened, conversation_id, begun["snapshot"])

    def request(self, tool: str, call_id: str | None = None, **arguments: Any) -> dict[str, Any]:
        """A well-formed ToolRequest."""
        self.calls += 1
        call = {"id": call_id or f"call-{self.calls}", "name": tool, "arguments": arguments or {"path": "notes/a.txt"}}
        return {**self.ref, "snapshotId": self.snapshot["id"], "snapshotDigest": self.snapshot["digest"], "call": call}

    @property
    def ref(self) -> dict[str, Any]:
        """Which turn."""
        return {"conversationId": self.conversation_id, "turnId": self.snapshot["turnId"]}

    async def invoke(self, tool: str, call_id: str | None = None, **arguments: Any) -> Any:
        """Invoke and wait for the result."""
        return await self.socket.call("tools/invoke", self.request(tool, call_id, **arguments))

    async def start(self, tool: str, call_id: str | None = None, **arguments: Any) -> asyncio.Future[Any]:
        """Invoke; the future of the result."""
        return await self.socket.send("tools/invoke", self.request(tool, call_id, **arguments))


@asynccontextmanager
async def serve_sockets() -> AsyncGenerator[Stage]:
    """Serve while the context lasts."""
    with tempfile.TemporaryDirectory() as state:
        async with _serve_sockets(Path(state)) as stage:
            yield stage


@asynccontextmanager
async def _serve_sockets(state: Path) -> AsyncGenerator[Stage]:
    listening = socket.create_server(("127.0.0.1", 0))
    port: int = listening.getsockname()[1]
    agent_host, console_host = f"agent.localhost:{port}", f"console.localhost:{port}"
    ledger, clock, entropy, policy = MemoryLedger(), FakeClock(), FakeEntropy(), TablePolicy()
    toolbox = CountingToolbox()
    origin = f"http://{console_host}"
    verifier = PlainVerifier(rp_id="console.localhost", origin=origin)
    gateway = assemble(
        Ports(
            ledger=ledger,
            records=ledger,
            policy=policy,
            toolbox=toolbox,
            redactor=RedactionAtOnce(),
            passkeys=verifier,
            inference=SilentBackend(),
            clock=clock,
            entropy=entropy,
            observer=Unobserved(),
        ),
        Timing(grace=60.0),
    )
    sessions = Sessions(
        ledger=ledger, records=ledger, connections=gateway.connections, policy=policy, clock=clock, entropy=entropy
    )
    passkeys = PasskeyCeremonies(
        sessions=sessions, verifier=verifier, ledger=ledger, records=ledger, clock=clock, entropy=entropy
    )
    stage = Stage(port, gateway, ledger, policy, toolbox, clock, PlainAuthenticator(origin=origin))
    await _introduce(stage, verifier)

    def named(connection: HTTPConnection) -> str:
        return connection.cookies.get("session", "")

    async def agent_of(connection: HTTPConnection) -> Session | None:
        return stage.agents.get(named(connection))

    async def console_of(connection: HTTPConnection) -> ConsoleSession | None:
        return stage.consoles.get(named(connection))

    agent = AgentMethods(gateway, agent_origin=f"http://{agent_host}", console_origin=origin)
    catalog, shelf = ToolCatalog(), Secrets()
    host = AddedSources(
        catalog,
        shelf,
        state=state,
        private=(),
        find_sandbox=lambda: SandboxUnavailable("none here"),
        kinds=scripted_kinds(stage.drivers),
    )
    sources = Sources(
        ledger=ledger,
        records=ledger,
        host=host,
        sealer=SecretBox(state),
        shelf=shelf,
        sign_ins=make_sign_ins(ledger, state, clock=clock),
        declared=(),
        clock=clock,
        on_withdrawn=gateway.withdraw_tools,
        on_changed=SourceAnnouncements(gateway.connections).changed,
    )
    await sources.start(connect=True)
    grants = ClientGrants(
        sessions=sessions, connections=gateway.connections, ledger=ledger, records=ledger, clock=clock, entropy=entropy
    )
    people = People(
        ledger=ledger,
        records=ledger,
        sessions=sessions,
        connections=gateway.connections,
        exposures=gateway.exposures,
        turns=gateway.turns,
        clock=clock,
    )
    drafted = CedarPolicy(POLICY)
    policies = assemble_policies(gateway, CedarWorkshop(drafted, POLICY), PolicySource.FILES, verifier, read_no_shadow)
    console = ConsoleMethods(
        gateway,
        passkeys,
        AuditMethods(
            gateway, history := MemoryCallHistory(ledger), CallFilters(ledger, clock, history), AuditVerifier(ledger.check)
        ),
        SourceMethods(sources, policy),
        ClientMethods(Clients(grants, sessions, gateway.connections, clock)),
        PolicyMethods(policies.publishing, policies.freezing, policies.shadow, Rehearsals(rehearse_nothing), ledger),
        PeopleMethods(people, passkeys, Origins(f"http://{agent_host}", origin), gateway.timing),
        BackupMethods(state / "backups", make=make_no_backup, find=tuple, require_fresh=sessions.require_fresh),
        ErasureMethods(Erasures(ledger, cast("ErasingRecords", ledger), gateway.conversations, gateway.grants, sessions, clock)),
        SettingMethods(operator_settings(Settings.model_validate({}), gateway)),
        PushMethods(None, None),
        agent_origin=f"http://{agent_host}",
    )
    reads = ReadingTurns()
    app = HostGate(
        {
            agent_host: agent_socket(
                gateway, agent, host=agent_host, origin=f"http://{agent_host}", recognise=agent_of, reads=reads
            ),
            console_host: console_socket(gateway, console, host=console_host, origin=origin, recognise=console_of, reads=reads),
        },
        signpost(WRONG_HOST, Origins(f"http://{agent_host}", origin)),
    )
    server = uvicorn.Server(listener(app, host="127.0.0.1", port=port))
    task = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        await stage.until(lambda: server.started)
        yield stage
    finally:
        await stage.leave()
        server.should_exit = True
        async with asyncio.timeout(PATIENCE):
            await task
        await gateway.stop()
        await host.close()


async def _introduce(stage: Stage, verifier: PlainVerifier) -> None:
    ada, eve = Principal("usr_ada", "Ada", Profile.OPERATOR), Principal("usr_eve", "Eve", Profile.GUEST)
    now = stage.clock.now()
    until = now + 8 * 3_600_000
    for principal, handle in ((ada, b"ada"), (eve, b"eve")):
        name = principal.name.lower()
        options = verifier.registration_options(challenge=b"c" * 32, user_handle=handle, user_name=name, exclude=())
        new = verifier.verify_registration(stage.authenticator.create(options), challenge=b"c" * 32)
        passkey = Passkey(
            new.credential_id, principal.id, new.public_key, 0, new.backup_eligible, new.backed_up, handle, (), f"{name}'s", now
        )
        console = ConsoleSession(f"ses_{name}_console", principal, now, until)
        agent = Session(f"ses_{name}_agent", principal, console.id, (), Label.PUBLIC, now, until)
        await stage.ledger.append(
            EnrolmentOffered(now, name, principal.name, principal.profile, until),
            PrincipalEnrolled(now, name, principal, passkey),
            ConsoleSessionStarted(now, console.id, f"{name} console", principal.id, until),
            AgentSessionStarted(now, agent, f"{name} agent"),
        )
        stage.consoles[console.id] = console
        stage.agents[agent.id] = agent
