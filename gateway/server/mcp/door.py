"""The door for MCP clients of this machine: over the control socket, as the person whose gateway it is.

Whoever can open the socket can read the database and the signing key, so it needs no credential to act as a person. What it gets
is all the same no more than a tab has: an agent session, which can propose calls and approve none.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import orjson

from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import GatewayError, Misconfigured, TooManyRequests
from gateway.core.model import Principal
from gateway.core.vocabulary import Runner
from gateway.runtime.clients import Clients
from gateway.runtime.gateway import Gateway
from gateway.runtime.people import People
from gateway.runtime.ports import ConsoleSession
from gateway.runtime.sessions import Sessions
from gateway.server.mcp.tool_client import ToolClient

if TYPE_CHECKING:
    from gateway.server.mcp.line_exchange import LineExchange

CLIENT_COMMAND: Final = "mcp"
"""The control command with which a client comes in."""

CONNECTIONS: Final = 32
"""Clients at once: a person has some editors open, each with a few windows."""

TITLE: Final = "MCP client"
"""Of the conversation that holds what a client did."""

_SDK_SIDE: Final = "gateway.server.mcp.line_exchange"

_log = logging.getLogger(__name__)


class ClientDoor:
    """Lets clients in, one session each, and sees them out."""

    def __init__(self, gateway: Gateway, sessions: Sessions, people: People, clients: Clients, *, console_origin: str) -> None:
        self._gateway = gateway
        self._sessions = sessions
        self._people = people
        self._clients = clients
        self._console_origin = console_origin
        self._inside: set[asyncio.Task[None] | None] = set()
        self._open: set[LineExchange] = set()
        self._one_left = asyncio.Event()
        self._denials: dict[str, int] = {}

    async def welcome(self, asked: Mapping[str, Json], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the client behind a connection of the control socket until it goes. The first line that it gets says as whom it
        acts, or why it may not come in."""
        task = asyncio.current_task()
        try:
            self._gateway.admission.check()
            if len(self._inside) >= CONNECTIONS:
                raise TooManyRequests(f"{CONNECTIONS} MCP clients are connected already")
            self._inside.add(task)
            person = await self._find(asked.get("as"))
        except GatewayError as error:
            self._inside.discard(task)
            writer.write(orjson.dumps({"error": {"code": error.code, "message": error.message}}) + b"\n")
            return
        try:
            console = await self._sessions.start_terminal(person)
            try:
                await self._serve(console, reader, writer)
            finally:
                await self._sessions.end_console(console, "signedOut")
        finally:
            self._inside.discard(task)
            self._one_left.set()

    async def drain(self) -> None:
        """Close each connection as soon as its requests are answered, and return when all are closed."""
        for exchange in tuple(self._open):
            exchange.leave()
        while self._inside:
            self._one_left.clear()
            await self._one_left.wait()

    async def _serve(self, console: ConsoleSession, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gateway, entropy = self._gateway, self._gateway.ports.entropy
        # Takes a second the first time, in which others are to be served.
        sdk_side = await asyncio.to_thread(importlib.import_module, _SDK_SIDE)
        state = entropy.secret()
        session = (await self._sessions.redeem(self._sessions.authorize(console, state), state)).session
        connection = gateway.connections.attach(session, entropy.identifier("con_"), Runner.MCP_CLIENT)
        connected = self._clients.attend(connection)
        try:
            person = session.principal
            # A client gets a new session whenever it connects; a person who said no six times is to be left alone all the same.
            gateway.connections.live(session).denials = self._denials.get(person.id, 0)
            conversation = await gateway.conversations.create(session, TITLE)

            def log(text: str) -> None:
                connection.outbox.put(f"# {escape(text)}".encode())

            client = ToolClient(gateway, connected, conversation.id, console_origin=self._console_origin, log=log)
            exchange: LineExchange = sdk_side.LineExchange(client, reader, writer, gateway.ports.clock)
            if writer.is_closing():
                return
            writer.write(orjson.dumps({"result": {"person": escape(person.name)}}) + b"\n")
            self._open.add(exchange)
            if not gateway.admission.is_open:
                exchange.leave()
            try:
                await exchange.run()
            finally:
                self._open.discard(exchange)
                self._denials[person.id] = gateway.connections.live(session).denials
        finally:
            self._clients.dismiss(connected)
            gateway.connections.detach(connection)

    async def _find(self, name: Json) -> Principal:
        """The person of that name or id, or the only one. Only those who can answer on the console: they have a passkey."""
        people = [each.person for each in await self._people.list() if each.passkeys and not each.person.suspended]
        meant = [person for person in people if name is None or name in (person.name, person.id)]
        match meant:
            case [person]:
                return person
            case [] if not people:
                raise Misconfigured(
                    "nobody is enrolled on this gateway; run `countersign enrol NAME --profile operator` and open its link"
                )
            case []:
                raise Misconfigured(f"nobody here is called `{escape(str(name))}`; `countersign people list` shows names and ids")
            case _:
                known = ", ".join(f"`{escape(person.name)}` ({person.id})" for person in meant)
                raise Misconfigured(f"several people are enrolled; say for whom with --as: {known}")
