"""The protocol over HTTP for one grant: its MCP sessions, each with a connection, a conversation and turns of its own.

One of the SDK's session managers for each grant, so that no session of one can be reached with the token of another, and the end
of a grant ends its streams at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from gateway.core.errors import NotSignedIn, TooManyRequests
from gateway.core.vocabulary import Reason, Runner
from gateway.protocol.frames import MAX_MESSAGE_BYTES
from gateway.runtime.client_grants import ClientGrant
from gateway.runtime.notices import PolicyChangedNotice, SnapshotRevokedNotice
from gateway.server.mcp.client_site import ClientSiteParts
from gateway.server.mcp.door import TITLE
from gateway.server.mcp.protocol_server import Context, ProtocolServer, name_after_request
from gateway.server.mcp.tool_client import ToolClient
from gateway.server.message_budget import MessageBudget

SESSIONS: Final = 16
"""Of one grant at once; an editor opens one for each window."""

IDLE_SECONDS: Final = 1_800.0

_log = logging.getLogger(__name__)


class GrantServer:
    """Serves the requests of one grant until its session ends."""

    def __init__(self, parts: ClientSiteParts, grant: ClientGrant) -> None:
        self._parts = parts
        self._grant = grant
        self._clients: dict[str, ToolClient] = {}
        self._used: dict[str, float] = {}
        self._opening = asyncio.Lock()
        self._protocol = ProtocolServer(self._find, self._name_call)
        self._manager = StreamableHTTPSessionManager(
            self._protocol.server,
            max_request_body_size=MAX_MESSAGE_BYTES,
            session_idle_timeout=IDLE_SECONDS,
            max_sessions=SESSIONS,
        )
        self._ready = asyncio.Event()
        self._ended = asyncio.Event()
        self._one_answered = asyncio.Event()
        self.budget = MessageBudget(parts.gateway.ports.clock)
        self.in_flight: set[tuple[str, str]] = set()
        connections = parts.gateway.connections
        connections.on_session_end(grant.session.id, f"mcp-{grant.id}", self._end)
        parts.gateway.tasks.spawn(self._run())

    @property
    def has_ended(self) -> bool:
        """Whether it takes no more requests."""
        return self._ended.is_set()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, whose token was judged. Broken off when the session ends: a stream then comes to its end like any other,
        and where nothing was said yet NotSignedIn is raised."""
        await self._ready.wait()
        answer = _Answer(send)
        serving = _start(self._manager.handle_request(scope, receive, answer.send))
        ending = _start(self._wait_for_end())
        try:
            await asyncio.wait((serving, ending), return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
        finally:
            ending.cancel()
            serving.cancel()
            await asyncio.gather(serving, ending, return_exceptions=True)
        if self.has_ended:
            await answer.end()
        if scope["method"] == "DELETE":
            self._let_go(session_of(scope))

    def answered(self, key: tuple[str, str]) -> None:
        """A request has its answer."""
        self.in_flight.discard(key)
        self._one_answered.set()

    async def drain(self) -> None:
        """End the streams as soon as every request has its answer."""
        while self.in_flight:
            self._one_answered.clear()
            await self._one_answered.wait()
        self._ended.set()

    def _end(self, _reason: Reason) -> None:
        self._ended.set()

    async def _wait_for_end(self) -> None:
        await self._ended.wait()

    async def _run(self) -> None:
        try:
            async with self._manager.run():
                self._ready.set()
                await self._ended.wait()
        finally:
            self._ended.set()
            self._ready.set()
            for key in tuple(self._clients):
                self._let_go(key)

    async def _find(self, ctx: Context) -> ToolClient:
        key = session_of(ctx.request.scope) if ctx.request is not None else ""
        async with self._opening:
            self._used[key] = self._parts.gateway.ports.clock.monotonic()
            client = self._clients.get(key)
            return client if client is not None else await self._open(key)

    async def _open(self, key: str) -> ToolClient:
        gateway, session = self._parts.gateway, self._grant.session
        if self.has_ended:
            raise NotSignedIn("the session has ended; nothing ran")
        idle_since = self._used[key] - IDLE_SECONDS
        for other in [each for each in self._clients if self._used[each] < idle_since]:
            self._let_go(other)
        if len(self._clients) > SESSIONS:
            raise TooManyRequests(f"{SESSIONS} sessions of this client are open already")
        connection = gateway.connections.attach(session, gateway.ports.entropy.identifier("con_"), Runner.MCP_CLIENT)
        try:
            conversation = await gateway.conversations.create(session, TITLE)
        except BaseException:
            gateway.connections.detach(connection)
            raise
        connected = self._parts.clients.attend(connection, self._grant.id)
        client = ToolClient(gateway, connected, conversation.id, console_origin=self._parts.console_origin)
        self._clients[key] = client
        gateway.tasks.spawn(self._listen(client))
        return client

    async def _listen(self, client: ToolClient) -> None:
        """Hand over what the runtime says unasked."""
        outbox = client.connection.outbox
        while outbox.closing is None and not self.has_ended:
            await outbox.wait()
            while (message := outbox.take()) is not None:
                if isinstance(message, bytes):
                    continue
                await client.hear(message)
                if isinstance(message, PolicyChangedNotice | SnapshotRevokedNotice):
                    await self._protocol.announce_changes(client)

    def _let_go(self, key: str) -> None:
        client = self._clients.pop(key, None)
        self._used.pop(key, None)
        if client is not None:
            self._protocol.forget(client)
            client.close()
            client.connection.outbox.close(4403, "")
            self._parts.clients.dismiss(client.connected)
            self._parts.gateway.connections.detach(client.connection)

    def _name_call(self, ctx: Context) -> str:
        # Since 2026-07-28 requests stand alone, and clients may give each the same id.
        if ctx.request is not None and not session_of(ctx.request.scope):
            return f"u:{self._parts.gateway.ports.entropy.identifier('')}"
        return name_after_request(ctx)


class _Answer:
    """How much was said of an answer, so that one that is broken off can be ended."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False
        self._is_whole = False

    async def send(self, message: Message) -> None:
        """ASGI."""
        self._has_begun = True
        self._is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """Say the rest. Raises NotSignedIn where nothing was said yet."""
        if not self._has_begun:
            raise NotSignedIn("the session has ended; nothing ran")
        if not self._is_whole:
            await self._send({"type": "http.response.body", "body": b""})


def session_of(scope: Any) -> str:
    """The MCP session that a request names, or nothing."""
    name = MCP_SESSION_ID_HEADER.lower().encode()
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _start(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(work)
