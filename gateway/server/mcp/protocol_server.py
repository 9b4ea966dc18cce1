"""The SDK's server with the gateway's tools behind it, in both eras of the protocol: with a handshake, and since 2026-07-28
without one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
)

from gateway import __version__
from gateway.core.errors import GatewayError, InvalidParams
from gateway.core.vocabulary import Outcome
from gateway.protocol.codec import describe_error
from gateway.server.mcp.descriptions import describe_answer, describe_tool
from gateway.server.mcp.tool_client import ToolClient, call_id_of

SUBSCRIPTIONS: Final = 4
"""Open `subscriptions/listen` of one connection; a client needs one."""

SERVER_ERROR: Final = -32000
"""JSON-RPC leaves -32000 to servers. MCP has used up several of the numbers of docs/PROTOCOL.md, so the word tells them apart."""

INSTRUCTIONS: Final = (
    "Tools of one person's Countersign gateway. A call may have to wait until that person approves it on the gateway's console; "
    "the first progress notification then has the link. A call that the person or the policy refused is not to be repeated."
)

_log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]


Find = Callable[[Context], Awaitable[ToolClient]]
"""The client that sends a request."""

NameCall = Callable[[Context], str]
"""The gateway's id of the call that a request asks for."""


def name_after_request(ctx: Context) -> str:
    """For connections on which a client uses each id once."""
    assert ctx.request_id is not None, "a call is a request"
    return call_id_of(ctx.request_id)


class ProtocolServer:
    """Serves the clients that `find` finds. `server` and `options` are for the SDK to run over pairs of streams."""

    def __init__(self, find: Find, name_call: NameCall = name_after_request) -> None:
        self._find = find
        self._name_call = name_call
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus, max_subscriptions=SUBSCRIPTIONS, max_buffered_events=8)
        self._sessions: dict[ToolClient, ServerSession] = {}
        self.server: Server[dict[str, Any]] = Server(
            "countersign",
            version=__version__,
            title="Countersign",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=self._listening,
        )
        # Spans of another vendor's tracing would carry arguments; the record of calls is the audit log.
        self.server.middleware.clear()
        self.server.add_notification_handler("notifications/initialized", NotificationParams, self._begin)

    @property
    def options(self) -> InitializationOptions:
        """What the handshake answers."""
        return self.server.create_initialization_options(NotificationOptions(tools_changed=True))

    async def announce_changes(self, client: ToolClient) -> None:
        """Tell the client once that its list of tools is no longer what is offered."""
        if not await client.is_list_outdated():
            return
        await self._bus.publish(ToolsListChanged())
        if client in self._sessions:
            await self._sessions[client].send_tool_list_changed()

    def forget(self, client: ToolClient) -> None:
        """It has gone."""
        self._sessions.pop(client, None)

    def leave(self) -> None:
        """End what would stay open for ever."""
        self._listening.close()

    async def _begin(self, ctx: Context, _params: NotificationParams) -> None:
        with _typed_errors():
            self._sessions[await self._find(ctx)] = ctx.session

    async def _list_tools(self, ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "the list has one page, so there is no such cursor", {"code": "invalid_params"})
        with _typed_errors():
            client = await self._find(ctx)
            return ListToolsResult(tools=[describe_tool(tool) for tool in await client.tools()])

    async def _call_tool(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        with _typed_errors():
            client = await self._find(ctx)
            answer = await client.call(self._name_call(ctx), params.name, params.arguments or {}, _Progress(ctx))
        if answer.result.outcome is Outcome.UNKNOWN_TOOL:
            # The specification wants this one as an error of the protocol.
            data = {"code": Outcome.UNKNOWN_TOOL.value}
            raise MCPError(INVALID_PARAMS, f"there is no tool `{params.name}` here", data)
        await self.announce_changes(client)
        return describe_answer(params.name, answer)


class _Progress:
    """Sends what a call says while it waits, to a client that asked for progress. The number only counts the messages."""

    def __init__(self, ctx: Context) -> None:
        self._session = ctx.session
        self._count = 0

    async def __call__(self, message: str) -> None:
        self._count += 1
        await self._session.report_progress(self._count, message=message)


@contextmanager
def _typed_errors() -> Generator[None]:
    """Errors of the gateway's tree as errors of JSON-RPC; of anything else no more than that it is internal."""
    try:
        yield
    except GatewayError as error:
        raise as_rpc_error(error) from None
    except Exception:  # noqa: BLE001 - whatever broke, the client gets an answer
        _log.exception("a request of an MCP client failed")
        raise MCPError(INTERNAL_ERROR, "internal error", {"code": "internal"}) from None


def as_rpc_error(error: GatewayError) -> MCPError:
    """An error of the tree, with its stable word as `data.code`."""
    _, code, message = describe_error(error)
    return MCPError(INVALID_PARAMS if isinstance(error, InvalidParams) else SERVER_ERROR, message, {"code": code})
