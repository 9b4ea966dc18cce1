"""Calls to a server of the handshake era over two pipes: written and answered here.

The SDK passes each through four streams and two tasks, which took several times as long as the rest of a call. Its own requests
and those of the server go on as before; ids tell whose answer is whose.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

FIRST_ID: Final = 1 << 30
"""The SDK counts its own from 1."""

PROGRESS: Final = "notifications/progress"

Write = Callable[[JSONRPCMessage], Awaitable[None]]
Progress = Callable[[float, float | None, str | None], None]
Outcome = dict[str, Any] | ErrorData


@dataclass(slots=True)
class PlainRequests:
    """What was asked and is not answered. `write` sends a message and raises OSError where the server is gone."""

    write: Write
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(FIRST_ID))
    _waiting: dict[RequestId, tuple[asyncio.Future[Outcome], Progress]] = field(
        default_factory=dict[RequestId, "tuple[asyncio.Future[Outcome], Progress]"]
    )
    _cancelling: set[asyncio.Task[None]] = field(default_factory=set["asyncio.Task[None]"])
    _is_over: bool = False

    async def call(self, name: str, arguments: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """The result of one call as the server sent it. A cancelled caller has it cancelled at the server. Raises MCPError."""
        if self._is_over:
            raise MCPError(CONNECTION_CLOSED, "Connection closed")
        number = next(self._numbers)
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer, progress
        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": number}}
        try:
            try:
                await self.write(JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/call", params=params))
            except OSError:
                raise MCPError(CONNECTION_CLOSED, "Connection closed") from None
            outcome = await answer
        except asyncio.CancelledError:
            self._cancel(number)
            raise
        finally:
            del self._waiting[number]
        if isinstance(outcome, ErrorData):
            raise MCPError(outcome.code, outcome.message, outcome.data)
        return outcome

    def take(self, message: JSONRPCMessage) -> bool:
        """Hear a message; whether it was about one of these requests and nobody else needs it."""
        match message:
            case JSONRPCResponse(id=number, result=result):
                return self._settle(number, result)
            case JSONRPCError(id=number, error=error):
                return self._settle(number, error)
            case JSONRPCNotification(method=method, params=dict() as params) if method == PROGRESS:
                return self._tell_progress(params)
            case _:
                return False

    def end(self) -> None:
        """Nothing more comes from the server."""
        self._is_over = True
        for number in tuple(self._waiting):
            self._settle(number, ErrorData(code=CONNECTION_CLOSED, message="Connection closed"))

    def _settle(self, number: RequestId | None, outcome: Outcome) -> bool:
        number = None if number is None else coerce_request_id(number)
        if not isinstance(number, int) or number < FIRST_ID:
            return False
        # One that was given up may be answered all the same.
        waiting = self._waiting.get(number)
        if waiting is not None and not waiting[0].done():
            waiting[0].set_result(outcome)
        return True

    def _tell_progress(self, params: dict[str, Any]) -> bool:
        match params:
            case {"progressToken": int() as number, "progress": int() | float() as progress} if number in self._waiting:
                total, message = params.get("total"), params.get("message")
                _, tell = self._waiting[number]
                tell(progress, total if isinstance(total, int | float) else None, message if isinstance(message, str) else None)
                return True
            case _:
                return False

    def _cancel(self, number: int) -> None:
        async def cancel() -> None:
            params = {"requestId": number, "reason": "caller cancelled"}
            await self.write(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))

        # In a task of its own, since who asked is leaving.
        task = asyncio.get_running_loop().create_task(cancel())
        self._cancelling.add(task)
        task.add_done_callback(self._cancelled)

    def _cancelled(self, task: asyncio.Task[None]) -> None:
        self._cancelling.discard(task)
        if not task.cancelled():
            # A server that is gone needs no notice.
            task.exception()
