"""MCP's tasks on the wire, in both of their forms.

In the revision 2025-11-25 a client asks for a task with its call and fetches the result by `tasks/result`. Since 2026-07-28 they
are an extension: a client says with each request that it takes tasks, the server gives one where the call has to wait for a
person, and the result comes with `tasks/get`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    GetTaskRequestParams,
    PaginatedRequestParams,
    RequestParams,
)
from mcp_types.methods import serialize_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from gateway.core.canonical import Json
from gateway.core.errors import InvalidRequest
from gateway.core.times import rfc3339
from gateway.server.mcp.call_tasks import POLL_MILLISECONDS, CallTask
from gateway.server.mcp.rpc_errors import typed_errors
from gateway.server.mcp.tool_client import Tell, ToolClient

EXTENSION: Final = "io.modelcontextprotocol/tasks"
RELATED: Final = "io.modelcontextprotocol/related-task"

TASK_VERSION: Final = "2025-11-25"
"""The one revision that has tasks of its own."""

CAPABILITY: Final[dict[str, Any]] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}

Context = ServerRequestContext[Any, Any]

Params = TypeVar("Params", bound=RequestParams)

Run = Callable[[ToolClient, str, CallToolRequestParams, Tell], Awaitable[CallToolResult]]
"""Makes a call and describes its answer. Raises MCPError."""


class TaskMethods:
    """The methods about tasks. `find` gives the client of a request, `name` the id of the call that it asks for."""

    def __init__(self, find: Callable[[Context], Awaitable[ToolClient]], name: Callable[[Context], str], run: Run) -> None:
        self._find = find
        self._name = name
        self._run = run

    def serve(self, server: Server[dict[str, Any]]) -> None:
        """Have a server answer them."""
        server.middleware.append(self._intercept)
        server.add_request_handler("tasks/get", GetTaskRequestParams, _typed(self._get))
        server.add_request_handler("tasks/cancel", GetTaskRequestParams, _typed(self._cancel))
        server.add_request_handler("tasks/result", GetTaskRequestParams, _typed(self._result))
        server.add_request_handler("tasks/list", PaginatedRequestParams, _typed(self._list))

    async def call(self, ctx: Context, client: ToolClient, params: CallToolRequestParams) -> HandlerResult | None:
        """A task in the place of an answer, where the client takes them and the call has to wait for a person; the answer where
        there is one before that. None where the client takes no tasks."""
        if not _takes_tasks(ctx):
            return None
        task = self._start(ctx, client, params)
        while task.state == "working" and not task.ended.is_set():
            task.changed.clear()
            try:
                await task.changed.wait()
            except asyncio.CancelledError:
                client.tasks.cancel(task)
                client.tasks.forget(task)
                raise
        if not task.ended.is_set():
            return {"resultType": "task", **_describe_extended(task)}
        client.tasks.forget(task)
        return _outcome_of(task)

    # ── the methods ──

    async def _intercept(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Calls that ask for a task in the form of 2025-11-25; their answers have a shape that the SDK does not know. A handshake
        of an older revision says nothing of them."""
        if ctx.method == "initialize":
            answer = await call_next(ctx)
            if isinstance(answer, dict) and answer.get("protocolVersion") != TASK_VERSION:
                answer.get("capabilities", {}).pop("tasks", None)
            return answer
        asked = ctx.params.get("task") if ctx.params is not None else None
        if ctx.method != "tools/call" or asked is None or ctx.protocol_version != TASK_VERSION:
            return await call_next(ctx)
        params = CallToolRequestParams.model_validate(ctx.params, by_name=False)
        milliseconds = None if params.task is None else params.task.ttl
        with typed_errors():
            client = await self._find(ctx)
            task = self._start(ctx, client, params, None if milliseconds is None else milliseconds / 1000)
        return {"task": _describe(task)}

    async def _get(self, ctx: Context, params: GetTaskRequestParams) -> HandlerResult:
        client = await self._client(ctx)
        task = client.tasks.find(params.task_id)
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return _describe(task)
        described = _describe_extended(task)
        if task.outcome is None:
            return described
        try:
            result = _outcome_of(task)
        except MCPError as error:
            return described | {"error": error.error.model_dump(by_alias=True, mode="json", exclude_none=True)}
        whole = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return described | {"status": "completed", "result": serialize_server_result("tools/call", ctx.protocol_version, whole)}

    async def _cancel(self, ctx: Context, params: GetTaskRequestParams) -> HandlerResult:
        client = await self._client(ctx)
        task = client.tasks.find(params.task_id)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            client.tasks.cancel(task)
            return {}
        if task.ended.is_set():
            raise MCPError(INVALID_PARAMS, f"this task is {task.state} already", {"code": "invalid_params"})
        client.tasks.cancel(task)
        return _describe(task)

    async def _result(self, ctx: Context, params: GetTaskRequestParams) -> HandlerResult:
        client = await self._client(ctx, TASK_VERSION)
        task = client.tasks.find(params.task_id)
        await task.ended.wait()
        result = _outcome_of(task)
        meta = {**(result.meta or {}), RELATED: {"taskId": task.id}}
        whole = result.model_copy(update={"meta": meta}).model_dump(by_alias=True, mode="json", exclude_none=True)
        return serialize_server_result("tools/call", ctx.protocol_version, whole)

    async def _list(self, ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        client = await self._client(ctx, TASK_VERSION)
        if params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "the list has one page, so there is no such cursor", {"code": "invalid_params"})
        return {"tasks": [_describe(task) for task in client.tasks.list()]}

    # ── inside ──

    def _start(self, ctx: Context, client: ToolClient, params: CallToolRequestParams, seconds: float | None = None) -> CallTask:
        call_id, arguments = self._name(ctx), params.arguments or {}
        if client.has_under_way(call_id) and client.tasks.of_call(call_id) is None:
            raise InvalidRequest("a request with this id is in flight already")

        async def work(task: CallTask) -> CallToolResult:
            return await self._run(client, call_id, params, task)

        return client.tasks.start(call_id, params.name, arguments, work, seconds)

    async def _client(self, ctx: Context, version: str | None = None) -> ToolClient:
        has_tasks = ctx.protocol_version == TASK_VERSION or ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not has_tasks or version not in (None, ctx.protocol_version):
            raise MCPError(METHOD_NOT_FOUND, "Method not found", ctx.method)
        return await self._find(ctx)


def _typed(
    answer: Callable[[Context, Params], Awaitable[HandlerResult]],
) -> Callable[[Context, Params], Awaitable[HandlerResult]]:
    async def answer_typed(ctx: Context, params: Params) -> HandlerResult:
        with typed_errors():
            return await answer(ctx, params)

    return answer_typed


def _takes_tasks(ctx: Context) -> bool:
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return False
    told = ctx.session.client_capabilities
    return told is not None and EXTENSION in (told.extensions or {})


def _outcome_of(task: CallTask) -> CallToolResult:
    if isinstance(task.outcome, Exception):
        raise task.outcome
    if task.outcome is None:
        raise MCPError(INVALID_PARAMS, f"this task was cancelled: {task.message}", {"code": "cancelled"})
    return cast("CallToolResult", task.outcome)


def _describe(task: CallTask) -> dict[str, Json]:
    """As 2025-11-25 has it."""
    return {
        "taskId": task.id,
        "status": task.state,
        **_message_of(task),
        "createdAt": rfc3339(task.created_at),
        "lastUpdatedAt": rfc3339(task.updated_at),
        "ttl": int(task.seconds * 1000),
        "pollInterval": POLL_MILLISECONDS,
    }


def _describe_extended(task: CallTask) -> dict[str, Any]:
    """As the extension has it. There `input_required` brings requests for the client to answer, and it can answer nothing here; a
    result that is an error completes a task."""
    return {
        "taskId": task.id,
        "status": "working" if task.state == "input_required" else task.state,
        **_message_of(task),
        "createdAt": rfc3339(task.created_at),
        "lastUpdatedAt": rfc3339(task.updated_at),
        "ttlMs": int(task.seconds * 1000),
        "pollIntervalMs": POLL_MILLISECONDS,
    }


def _message_of(task: CallTask) -> dict[str, str]:
    return {} if task.message is None else {"statusMessage": task.message}
