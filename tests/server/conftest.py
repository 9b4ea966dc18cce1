"""The real HTTP server on a free loopback port: uvicorn with the product's settings, real passkeys and cookies, fake ports."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from gateway.adapters.identity.cookies import ItsdangerousSigner
from gateway.adapters.identity.passkeys import WebAuthnVerifier
from gateway.adapters.system.entropy import SystemEntropy
from gateway.adapters.telemetry.metrics import Metrics
from gateway.core.errors import ModelUnavailable, NotFound
from gateway.core.ledger import AgentSessionStarted
from gateway.core.model import Session, Snapshot
from gateway.core.vocabulary import Outcome, Profile, Reason
from gateway.runtime.attachments import Attachments
from gateway.runtime.client_grants import ClientGrants
from gateway.runtime.connections import Connection
from gateway.runtime.gateway import Gateway, Ports, assemble
from gateway.runtime.inference import Lease
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.ports import InferenceStream, ModelInfo, ModelPhase, ModelState, Step
from gateway.runtime.sessions import Sessions
from gateway.server.access import Access, Origins
from gateway.server.app import create_app
from gateway.server.assets import WebApp
from gateway.server.call_files import CallFiles
from gateway.server.listener import listener
from gateway.server.methods.call_filters import CallFilters
from gateway.server.parts import ServerParts
from gateway.server.receipts import Receipts
from tests.authenticator import HONEST, Authenticator, Forgery
from tests.fakes.call_history import MemoryCallHistory
from tests.fakes.clock import FakeClock
from tests.fakes.inference import TINY
from tests.fakes.ledger import MemoryLedger
from tests.fakes.policy import TablePolicy
from tests.fakes.redactor import RedactionAtOnce
from tests.fakes.toolbox import CountingToolbox
from tests.harness.http import Browser, Reply

PATIENCE = 10.0
"""Seconds that any wait of a test may take; never a duration that is measured."""

METRICS_TOKEN = "token-of-the-metrics-collector"


class Unobserved:
    """An Observer port that records nothing."""

    def step(self, step: Step, call_id: str) -> None: ...
    def closed(self, tool: str, outcome: Outcome, reason: Reason | None, seconds: float) -> None: ...


def no_receipt(_conversation_id: str, _call_id: str, _owner_id: str | None) -> bytes:
    """Nothing has closed here."""
    raise NotFound("there is no such call that has closed")


class NothingAttached:
    """Records without attachments."""

    async def attachment(self, principal_id: str, attachment_id: str) -> None:
        return None


@dataclass
class ScriptedStream:
    """An upstream answer: the chunks that a test adds, None for the end, an exception for a failure."""

    status: int = 200
    content_type: str = "text/event-stream"
    queue: asyncio.Queue[bytes | Exception | None] = field(default_factory=asyncio.Queue[bytes | None | Exception])

    async def chunks(self) -> AsyncIterator[bytes]:
        while (chunk := await self.queue.get()) is not None:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk


@dataclass
class ScriptedBackend:
    """The InferenceBackend port. Every request waits for `streams`; `closed` is set when a stream was closed."""

    phase: ModelPhase = ModelPhase.READY
    asked: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    stream: ScriptedStream = field(default_factory=ScriptedStream)
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def models(self) -> list[ModelInfo]:
        return [TINY]

    def state(self) -> ModelState:
        return ModelState(self.phase, "as the test says")

    @asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        if self.phase is not ModelPhase.READY:
            raise ModelUnavailable("the model is starting; try again in a moment", self.phase.value)
        self.asked.append((path, body))
        self.opened.set()
        try:
            yield self.stream
        finally:
            self.closed.set()


@dataclass
class Running:
    """The served gateway, and a person with a passkey at one browser."""

    port: int
    parts: ServerParts
    gateway: Gateway
    ledger: MemoryLedger
    clock: FakeClock
    backend: ScriptedBackend
    passkeys: PasskeyCeremonies
    sockets: list[str]
    browser: Browser
    authenticator: Authenticator

    @property
    def agent(self) -> str:
        """The agent origin."""
        return self.parts.access.origins.agent

    @property
    def console(self) -> str:
        """The console origin."""
        return self.parts.access.origins.console

    def another_browser(self) -> Browser:
        """A browser without the cookies of the first."""
        return Browser(self.port)

    async def enrol(self, name: str = "Ada", profile: Profile = Profile.OPERATOR, forgery: Forgery = HONEST) -> Reply:
        """Use an enrolment link in the browser."""
        token = await self.passkeys.offer(name, profile)
        options = await self.browser.post(f"{self.console}/enrol/options", {"token": token})
        assert options.status == 200, options.body
        credential = self.authenticator.create(options.json, forgery)
        return await self.browser.post(f"{self.console}/enrol/verify", {"token": token, "credential": credential})

    async def sign_in(self, forgery: Forgery = HONEST) -> Reply:
        """Sign in with the passkey."""
        options = await self.browser.post(f"{self.console}/signin/options")
        assert options.status == 200, options.body
        credential = self.authenticator.get(options.json, forgery)
        return await self.browser.post(f"{self.console}/signin/verify", {"credential": credential})

    async def start_login(self) -> str:
        """Request `/login`; returns the state in its redirect to the console."""
        reply = await self.browser.get(f"{self.agent}/login")
        assert reply.status == 303
        return parse_qs(urlsplit(reply.headers["Location"]).query)["state"][0]

    async def authorize(self, state: str) -> str:
        """The URL of the redirect back to the shell."""
        reply = await self.browser.post(f"{self.console}/authorize", {"state": state})
        assert reply.status == 200, reply.body
        return reply.json["location"]

    async def open_shell(self) -> Reply:
        """The whole sign-in of the shell, over the console."""
        return await self.browser.get(await self.authorize(await self.start_login()))

    async def arrive(self) -> None:
        """Enrol, and open the shell."""
        assert (await self.enrol()).status == 204
        assert (await self.open_shell()).status == 303

    def session(self) -> Session:
        """The agent session that was issued last, from the ledger."""
        return [entry.session for entry in self.ledger.entries if isinstance(entry, AgentSessionStarted)][-1]

    async def begin_turn(self) -> Turn:
        """An open turn of the shell, with a token for it."""
        session = self.session()
        connection = self.gateway.connections.attach(session, "con_1")
        conversation_id = (await self.gateway.conversations.create(session, None)).id
        snapshot = await self.gateway.turns.begin(connection, conversation_id)
        conversation = await self.gateway.conversations.enter(session, conversation_id)
        assert conversation.turn is not None
        token, lease = await self.gateway.inference.mint(session, conversation, conversation.turn, TINY.id)
        return Turn(self, session, connection, snapshot, token, lease)


@dataclass
class Turn:
    """An open turn and the token to ask a model in it."""

    running: Running
    session: Session
    connection: Connection
    snapshot: Snapshot
    token: str
    lease: Lease

    @property
    def bearer(self) -> dict[str, str]:
        """The header."""
        return {"Authorization": f"Bearer {self.token}"}

    async def ask(self, body: Any, path: str = "/v1/chat/completions", **options: Any) -> Reply:
        """One request, with its whole answer."""
        return await self.running.browser.post(f"{self.running.agent}{path}", body, headers=self.bearer, **options)


def headers_of(reply: Reply) -> dict[str, str]:
    """Lower-case names; the client capitalises known ones."""
    return {name.lower(): value for name, value in reply.headers.items()}


PAGES = {"shell": ["/", "/c/:id"], "console": ["/", "/authorize", "/approvals", "/approvals/:id"], "verifier": []}
"""The paths of each app's pages in a tiny build."""


def build_web_app(folder: Path, name: str) -> WebApp:
    """A tiny build, as Vite lays one out."""
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(f"<!doctype html><title>{name}</title>")
    (folder / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "assets" / f"{name}-abc123.js").write_text(f"console.log('{name}')")
    (folder / "assets" / f"{name}-abc123.js.gz").write_bytes(gzip.compress(f"console.log('{name}')".encode()))
    (folder / "pages.json").write_text(json.dumps(PAGES[name]))
    (folder / "preloads.json").write_text(json.dumps({"/approvals": ["assets/Inbox-a1.js", "assets/Inbox-b2.css"]}))
    (folder / ".vite").mkdir()
    (folder / ".vite" / "manifest.json").write_text("{}")
    return WebApp.load(folder)


class PromptServer(uvicorn.Server):
    """uvicorn that stops at once: its own loop checks ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.leaving = asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.leaving.wait()


@asynccontextmanager
async def serve(tmp_path: Path, *, scheme: str = "http") -> AsyncGenerator[Running]:
    """Serve while the context lasts."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    origins = Origins(agent=f"{scheme}://agent.localhost:{port}", console=f"{scheme}://console.localhost:{port}")
    ledger, clock, entropy, backend = MemoryLedger(), FakeClock(), SystemEntropy(), ScriptedBackend()
    verifier = WebAuthnVerifier(rp_id="console.localhost", rp_name="Countersign", origin=origins.console)
    gateway = assemble(
        Ports(
            ledger=ledger,
            records=ledger,
            policy=TablePolicy(),
            toolbox=CountingToolbox(),
            redactor=RedactionAtOnce(),
            passkeys=verifier,
            inference=backend,
            clock=clock,
            entropy=entropy,
            observer=Unobserved(),
        )
    )
    sessions = Sessions(
        ledger=ledger, records=ledger, connections=gateway.connections, policy=gateway.ports.policy, clock=clock, entropy=entropy
    )
    passkeys = PasskeyCeremonies(
        sessions=sessions, verifier=verifier, ledger=ledger, records=ledger, clock=clock, entropy=entropy
    )
    access = Access(
        origins=origins,
        sessions=sessions,
        inference=gateway.inference,
        signer=ItsdangerousSigner(bytes(32)),
        metrics_token=METRICS_TOKEN,
    )
    sockets: list[str] = []

    def socket_of(site: str) -> Any:
        async def accept(scope: Scope, receive: Receive, send: Send) -> None:
            sockets.append(site)
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": 1000})

        return accept

    parts = ServerParts(
        admission=gateway.admission,
        client_grants=ClientGrants(
            sessions=sessions, connections=gateway.connections, ledger=ledger, records=ledger, clock=clock, entropy=entropy
        ),
        access=access,
        passkeys=passkeys,
        inference=gateway.inference,
        records=ledger,
        receipts=Receipts(no_receipt),
        call_files=CallFiles(history := MemoryCallHistory(ledger), CallFilters(ledger, clock, history), log="test", version="1"),
        attachments=Attachments(records=NothingAttached(), exposures=gateway.exposures),
        conversations=gateway.conversations,
        imports=gateway.imports,
        toolbox=gateway.ports.toolbox,
        entropy=entropy,
        metrics=Metrics(),
        shell=build_web_app(tmp_path / "shell", "shell"),
        console=build_web_app(tmp_path / "console", "console"),
        verifier=build_web_app(tmp_path / "verifier", "verifier"),
        agent_socket=socket_of("agent"),
        console_socket=socket_of("console"),
    )
    server = PromptServer(listener(create_app(parts), host="127.0.0.1", port=port))
    task = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(PATIENCE):
            while not server.started:
                await asyncio.sleep(0)
        authenticator = Authenticator(origin=origins.console)
        yield Running(port, parts, gateway, ledger, clock, backend, passkeys, sockets, Browser(port), authenticator)
    finally:
        server.leaving.set()
        async with asyncio.timeout(PATIENCE):
            await task
        await gateway.stop()


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    async with serve(tmp_path) as served:
        yield served
