"""The SDK's server with the gateway's tools behind it, in both eras of the protocol: with a handshake, and since 2026-07-28
without one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    ServerCapabilities,
    ServerTasksCapability,
)
from mcp_types.methods import serialize_server_result
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from gateway import __version__
from gateway.core.canonical import Json
from gateway.core.errors import InvalidRequest
from gateway.core.vocabulary import Outcome
from gateway.server.mcp.descriptions import describe_answer, describe_tool
from gateway.server.mcp.plain_calls import CALL, PlainCall
from gateway.server.mcp.rpc_errors import typed_errors
from gateway.server.mcp.task_methods import CAPABILITY, EXTENSION, TaskMethods
from gateway.server.mcp.tool_client import Tell, ToolClient, call_id_of

SUBSCRIPTIONS: Final = 4
"""Open `subscriptions/listen` of one connection; a client needs one."""

INSTRUCTIONS: Final = (
    "Tools of one person's Countersign gateway. A call may have to wait until that person approves it on the gateway's console; "
    "the first progress notification then has the link. A call that the person or the policy refused is not to be repeated."
)

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
        self.server: Server[dict[str, Any]] = _TaskServer(
            "countersign",
            version=__version__,
            title="Countersign",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_subscriptions_listen=self._listening,
        )
        # Not given above, where an answer may have no shape of an extension.
        self.server.add_request_handler(CALL, CallToolRequestParams, self._call_tool)
        self.server.extensions = {EXTENSION: {}}
        # Spans of another vendor's tracing would carry arguments; the record of calls is the audit log.
        self.server.middleware.clear()
        self._tasks = TaskMethods(self._client_of, name_call, self._run)
        self._tasks.serve(self.server)
        self.server.add_notification_handler("notifications/initialized", NotificationParams, self._begin)

    @property
    def options(self) -> InitializationOptions:
        """What the handshake answers."""
        return self.server.create_initialization_options()

    async def announce_changes(self, client: ToolClient) -> None:
        """Tell the client once that its list of tools is no longer what is offered."""
        if not await client.is_list_outdated():
            return
        await self._bus.publish(ToolsListChanged())
        if client in self._sessions:
            await self._sessions[client].send_tool_list_changed()

    def has_greeted(self, client: ToolClient) -> bool:
        """Whether its connection is of the handshake era and the handshake is over."""
        session = self._sessions.get(client)
        return session is not None and session.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS

    async def call_plainly(self, client: ToolClient, call: PlainCall, tell: Tell) -> dict[str, Any]:
        """Run a call that did not come through the SDK; its result as it stands on the wire in the client's revision.

        Raises MCPError.
        """
        call_id = call_id_of(call.request_id)
        with typed_errors():
            _refuse_task_id(client, call_id)
            result = await self._answer(client, call_id, call.name, call.arguments, tell)
            whole = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            return serialize_server_result(CALL, self._sessions[client].protocol_version, whole)

    def forget(self, client: ToolClient) -> None:
        """It has gone."""
        self._sessions.pop(client, None)

    def leave(self) -> None:
        """End what would stay open for ever."""
        self._listening.close()

    async def _client_of(self, ctx: Context) -> ToolClient:
        client = await self._find(ctx)
        told = ctx.session.client_params
        if told is not None:
            client.connected.introduce(told.client_info.name, told.client_info.version)
        return client

    async def _begin(self, ctx: Context, _params: NotificationParams) -> None:
        with typed_errors():
            self._sessions[await self._client_of(ctx)] = ctx.session

    async def _list_tools(self, ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "the list has one page, so there is no such cursor", {"code": "invalid_params"})
        with typed_errors():
            client = await self._client_of(ctx)
            return ListToolsResult(tools=[describe_tool(tool) for tool in await client.tools()])

    async def _call_tool(self, ctx: Context, params: CallToolRequestParams) -> HandlerResult:
        with typed_errors():
            client = await self._client_of(ctx)
            delegated = await self._tasks.call(ctx, client, params)
            if delegated is not None:
                return delegated
            call_id = self._name_call(ctx)
            _refuse_task_id(client, call_id)
        return await self._run(client, call_id, params, _Progress(ctx))

    async def _run(self, client: ToolClient, call_id: str, params: CallToolRequestParams, tell: Tell) -> CallToolResult:
        return await self._answer(client, call_id, params.name, params.arguments or {}, tell)

    async def _answer(
        self, client: ToolClient, call_id: str, name: str, arguments: Mapping[str, Json], tell: Tell
    ) -> CallToolResult:
        with typed_errors():
            answer = await client.call(call_id, name, arguments, tell)
        if answer.result.outcome is Outcome.UNKNOWN_TOOL:
            # The specification wants this one as an error of the protocol.
            data = {"code": Outcome.UNKNOWN_TOOL.value}
            raise MCPError(INVALID_PARAMS, f"there is no tool `{name}` here", data)
        await self.announce_changes(client)
        return describe_answer(name, answer, await client.attachments(answer.result))


def _refuse_task_id(client: ToolClient, call_id: str) -> None:
    if client.tasks.of_call(call_id) is not None:
        raise InvalidRequest("a task of a request with this id is there already")


class _TaskServer(Server[dict[str, Any]]):
    """Says in each revision what that one knows of tasks: a capability in one, an extension in the next.

    Whoever runs it over whatever transport says by it that changes of the tools are told.
    """

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **options: Any
    ) -> InitializationOptions:
        told = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(told, *args, **options)

    def get_capabilities(self, *args: Any, protocol_version: str | None = None, **options: Any) -> ServerCapabilities:
        said = super().get_capabilities(*args, protocol_version=protocol_version, **options)
        if protocol_version in MODERN_PROTOCOL_VERSIONS:
            return said
        return said.model_copy(update={"tasks": ServerTasksCapability.model_validate(CAPABILITY), "extensions": None})


class _Progress:
    """Sends what a call says while it waits, to a client that asked for progress. The number only counts the messages."""

    def __init__(self, ctx: Context) -> None:
        self._session = ctx.session
        self._count = 0

    async def __call__(self, message: str, *, asks: bool = False) -> None:
        self._count += 1
        await self._session.report_progress(self._count, message=message)
