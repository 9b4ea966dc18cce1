"""One connection of an MCP client, as the gateway sees it: the tools that it is offered and the calls that it has under way.

Knows nothing of the protocol's messages. `tell` is how a call says something to its client while it waits; a client that wants to
hear nothing gets its answer all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gateway.core.approval import Approval
from gateway.core.attachments import KeptAttachment
from gateway.core.canonical import Json, digest
from gateway.core.errors import GatewayError, InvalidParams, NotFound, Refused
from gateway.core.local_tools import ATTACHMENT
from gateway.core.model import PublishedTool, ToolCall
from gateway.core.results import ToolResult
from gateway.core.vocabulary import ApprovalStatus, PermissionMode
from gateway.runtime.attachments import Attachments
from gateway.runtime.binding import Proposal
from gateway.runtime.calls import CallAnswer
from gateway.runtime.clients import ConnectedClient
from gateway.runtime.gateway import Gateway
from gateway.runtime.notices import ApprovalRequestedNotice, ApprovalResolvedNotice, Notice, ToolProgressNotice
from gateway.server.mcp.call_tasks import CallTasks
from gateway.server.mcp.client_turn import ClientTurn

REMIND_SECONDS: Final = 15.0
"""Clients that give up after a minute without news wait on as long as some comes."""

NAME_LENGTH: Final = 64
"""docs/PROTOCOL.md section 4: the longest name of a tool."""

_PLAIN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")


class Tell(Protocol):
    """Hears what a call says while it waits. `asks`: it waits for a person."""

    async def __call__(self, message: str, *, asks: bool = False) -> None: ...


Log = Callable[[str], None]


@dataclass(eq=False, slots=True)
class _Waiting:
    """A call under way. `reminding` runs while a person is asked."""

    tell: Tell
    reminding: asyncio.Task[None] | None = None

    def stop_reminding(self) -> None:
        if self.reminding is not None:
            self.reminding.cancel()
            self.reminding = None


class ToolClient:
    """The tools and calls of one connection. `log` takes sentences for whoever started the client."""

    def __init__(
        self,
        gateway: Gateway,
        connected: ConnectedClient,
        conversation_id: str,
        *,
        console_origin: str,
        log: Log = lambda _: None,
    ) -> None:
        self.connected = connected
        self.connection = connection = connected.connection
        self._gateway = gateway
        self._conversation_id = conversation_id
        self._console_origin = console_origin
        self._log = log
        self._attachments = Attachments(records=gateway.ports.records, exposures=gateway.exposures)
        self._turn = ClientTurn(gateway, connection, conversation_id)
        self._calls: dict[str, _Waiting] = {}
        self._listed: str | None = None
        self._compared: Sequence[PublishedTool] | None = None
        self.tasks = CallTasks(gateway.ports.clock, gateway.ports.entropy)

    def has_under_way(self, call_id: str) -> bool:
        """Whether a call of that id goes on."""
        return call_id in self._calls

    @property
    def is_live(self) -> bool:
        """Whether its session may still act."""
        return self._gateway.connections.is_live(self.connection.session.id, self._gateway.ports.clock.now())

    async def attachments(self, result: ToolResult) -> Sequence[KeptAttachment]:
        """The bytes that came with a result of this client, fetched under its session as any other client's are. What was erased
        since is left out: the answer to a call that was sent again is its text."""
        found: list[KeptAttachment] = []
        for each in result.attachments:
            with contextlib.suppress(NotFound, Refused):
                found.append(await self._attachments.fetch(self.connection.session, each.id))
        return found

    async def tools(self) -> Sequence[PublishedTool]:
        """What it may call now: nothing that is forbidden, cannot be had, or belongs to the loop of a browser."""
        snapshot = await self._turn.enter()
        try:
            offered = _offered(snapshot.tools)
        finally:
            self._turn.leave()
        self._listed, self._compared = _fingerprint(offered), snapshot.tools
        return offered

    async def call(self, call_id: str, name: str, arguments: Mapping[str, Json], tell: Tell) -> CallAnswer:
        """Run a call through the gate, however long a person takes. Whoever cancels this cancels the call."""
        if not 1 <= len(name) <= NAME_LENGTH:
            raise InvalidParams(f"a tool's name has 1 to {NAME_LENGTH} characters")
        snapshot = await self._turn.enter()
        self.connected.last_call_at = self._gateway.ports.clock.now()
        waiting = self._calls[call_id] = _Waiting(tell)
        proposal = Proposal(
            self._conversation_id, snapshot.turn_id, snapshot.id, snapshot.digest, ToolCall(call_id, name, arguments)
        )
        try:
            return await self._gateway.dispatcher.invoke(self.connection, proposal)
        except asyncio.CancelledError:
            self._gateway.tasks.spawn(self._cancel(call_id))
            raise
        finally:
            waiting.stop_reminding()
            if self._calls.get(call_id) is waiting:
                del self._calls[call_id]
            self._turn.leave()

    async def hear(self, notice: Notice) -> None:
        """Something that the runtime says unasked about this connection's session."""
        match notice:
            case ApprovalRequestedNotice(approval) if approval.conversation_id == self._conversation_id:
                await self._ask(approval)
            case ApprovalResolvedNotice(call_id=call_id, status=status) if (waiting := self._calls.get(call_id)) is not None:
                waiting.stop_reminding()
                if status is ApprovalStatus.APPROVED:
                    await waiting.tell("approved; it runs now")
            case ToolProgressNotice(call_id, message, fraction) if (waiting := self._calls.get(call_id)) is not None:
                await waiting.tell(message if fraction is None else f"{message} ({fraction:.0%})")
            case _:
                pass

    async def is_list_outdated(self) -> bool:
        """Whether the list that the client has is no longer what is offered. Said once for each list."""
        if self._listed is None:
            return False
        try:
            tools = await self._gateway.turns.describe_tools(self.connection.session, self._conversation_id)
        except GatewayError:
            return False
        # Asked after each call; what did not change is published as the same object.
        if tools is self._compared:
            return False
        if self._listed == _fingerprint(_offered(tools)):
            self._compared = tools
            return False
        self._listed = None
        return True

    def close(self) -> None:
        """The connection is gone."""
        self.tasks.close()
        self._turn.close()
        for waiting in self._calls.values():
            waiting.stop_reminding()

    async def _ask(self, approval: Approval) -> None:
        waiting = self._calls.get(approval.call_id)
        if waiting is None:
            return
        link = f"{self._console_origin}/approvals/{approval.id}"
        several = approval.needs.approvers > 1
        how = f"{approval.needs.approvers} people's passkeys" if several else "a passkey" if approval.needs_passkey else "a click"
        self._log(f"`{approval.tool}` waits for a person: {link}")
        waiting.reminding = asyncio.get_running_loop().create_task(self._remind(waiting, link))
        await waiting.tell(f"waiting for a person to approve `{approval.tool}` with {how}: {link}", asks=True)

    async def _remind(self, waiting: _Waiting, link: str) -> None:
        seconds = 0.0
        while True:
            await asyncio.sleep(REMIND_SECONDS)
            seconds += REMIND_SECONDS
            await waiting.tell(f"still waiting for a person, {seconds:.0f} s so far: {link}", asks=True)

    async def _cancel(self, call_id: str) -> None:
        try:
            await self._gateway.dispatcher.cancel(self.connection.session, self._conversation_id, call_id)
        except GatewayError:
            # It had not begun, or its session is over and took it along.
            return


def call_id_of(request_id: str | int) -> str:
    """The gateway's id of a call out of the id that the client gave its request, so that the same request sent again is
    recognised as the same. Texts that no call id may hold are told apart by their digest."""
    if isinstance(request_id, int):
        return f"n:{request_id}"
    if _PLAIN_ID.fullmatch(request_id):
        return f"s:{request_id}"
    return f"h:{hashlib.sha256(request_id.encode()).hexdigest()}"


def _offered(tools: Sequence[PublishedTool]) -> tuple[PublishedTool, ...]:
    return tuple(
        tool
        for tool in tools
        if tool.permission is not PermissionMode.FORBIDDEN and tool.spec.unavailable is None and not _is_for_pages(tool)
    )


def _is_for_pages(tool: PublishedTool) -> bool:
    return tool.spec.local or tool.spec.name == ATTACHMENT


def _fingerprint(tools: Sequence[PublishedTool]) -> str:
    return digest([[tool.spec.digest, tool.permission.value] for tool in tools])
