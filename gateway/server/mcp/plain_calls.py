"""Calls of a client of the handshake era that ask for nothing but a tool: made and answered here.

The SDK passes a request through three streams and two tasks and validates it four times, which took as long as the gate. What is
read here is the common form alone; a call with anything more in it goes to the SDK as before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError

from gateway.core.canonical import Json
from gateway.protocol.codec import CallKey

CALL: Final = "tools/call"
CANCELLED: Final = "notifications/cancelled"

_PARAMS: Final = frozenset({"name", "arguments", "_meta"})
_META: Final = frozenset({"progressToken"})


@dataclass(frozen=True, slots=True)
class PlainCall:
    """A call in the common form. `token` is what its progress is told under; None where the client asked for none."""

    request_id: CallKey
    name: str
    arguments: dict[str, Json]
    token: CallKey | None

    @classmethod
    def read(cls, request_id: CallKey, message: Mapping[str, Any]) -> PlainCall | None:
        """The call that a request in form asks for; None for another method and for a call that asks for more."""
        params = _object(message.get("params", {}))
        if message["method"] != CALL or params is None or not params.keys() <= _PARAMS:
            return None
        name, arguments, meta = params.get("name"), _object(params.get("arguments", {})), _object(params.get("_meta", {}))
        if not isinstance(name, str) or arguments is None or meta is None or not meta.keys() <= _META:
            return None
        token = meta.get("progressToken")
        if not meta:
            return cls(request_id, name, arguments, None)
        is_token = isinstance(token, str | int) and not isinstance(token, bool)
        return cls(request_id, name, arguments, token) if is_token else None


def _object(value: object) -> dict[str, Json] | None:
    return cast("dict[str, Json]", value) if isinstance(value, dict) else None


Put = Callable[[bytes], None]


class PlainProgress:
    """Sends what a call says while it waits, to a client that asked for progress. The number only counts the messages."""

    def __init__(self, token: CallKey | None, put: Put) -> None:
        self._token = token
        self._put = put
        self._count = 0

    async def __call__(self, message: str, *, asks: bool = False) -> None:
        if self._token is None:
            return
        self._count += 1
        params = {"progressToken": self._token, "progress": self._count, "message": message}
        self._put(orjson.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))


class PlainCalls:
    """Those under way on one connection. `run` gives a result as it stands on the wire and raises MCPError; `put` sends a
    message, and `answered` is told of each request that is over."""

    def __init__(
        self, run: Callable[[PlainCall, PlainProgress], Awaitable[dict[str, Any]]], put: Put, answered: Callable[[CallKey], None]
    ) -> None:
        self._run = run
        self._put = put
        self._answered = answered
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._is_closed = False

    def start(self, call: PlainCall) -> None:
        """Begin a call, which is answered when it is closed."""
        task = self._tasks[str(call.request_id)] = asyncio.get_running_loop().create_task(self._serve(call))
        task.add_done_callback(lambda _: self._settle(call.request_id))

    def cancel(self, message: Mapping[str, Any]) -> bool:
        """Cancel the call that a notification speaks of; False where it is none of these. It is not answered any more."""
        asked = (_object(message.get("params")) or {}).get("requestId")
        # 7 and "7" are one id, see `LineExchange`; true is none.
        task = None if isinstance(asked, bool) else self._tasks.get(str(asked))
        if task is not None:
            task.cancel()
        return task is not None

    async def close(self) -> None:
        """Cancel all, and answer them where somebody still reads."""
        self._is_closed = True
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _serve(self, call: PlainCall) -> None:
        try:
            result = await self._run(call, PlainProgress(call.token, self._put))
        except MCPError as error:
            self._put(_encode_error(call.request_id, error.error))
        except asyncio.CancelledError:
            if self._is_closed:
                closed = ErrorData(code=CONNECTION_CLOSED, message="Connection closed")
                self._put(_encode_error(call.request_id, closed))
            raise
        else:
            self._put(orjson.dumps({"jsonrpc": "2.0", "id": call.request_id, "result": result}))

    def _settle(self, request_id: CallKey) -> None:
        del self._tasks[str(request_id)]
        self._answered(request_id)


def _encode_error(request_id: CallKey, error: ErrorData) -> bytes:
    answer = JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
    return answer.model_dump_json(by_alias=True, exclude_unset=True).encode()
