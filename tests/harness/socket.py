"""JSON-RPC over the gateway's WebSocket, as in docs/PROTOCOL.md section 2."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.harness.http import Browser

PATIENCE = 20.0
"""Seconds that any answer may take; a bound, not a measurement."""


class RpcError(Exception):
    """A JSON-RPC error object."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code: int = error["code"]
        self.error = error


class Socket:
    """One connection. `call` waits for its own answer; notifications are kept until a test reads them."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.notifications: list[Mapping[str, Any]] = []
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._next = 0
        self._news = asyncio.Condition()
        self._reader = asyncio.create_task(self._read())
        self.closed: tuple[int, str] | None = None

    @classmethod
    async def open(cls, browser: Browser, site: str, **options: Any) -> Socket:
        """Connect to a site, with the Origin of its own page unless another `origin` is given."""
        parts = urlsplit(site)
        jar = browser.cookies.get(parts.hostname or "", {})
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
        options.setdefault("origin", site)
        options.setdefault("subprotocols", ["countersign.v1"])
        connection = await connect(
            f"ws://{parts.netloc}/ws",
            host="127.0.0.1",
            port=browser.port,
            additional_headers=headers,
            compression=None,
            max_size=None,
            proxy=None,
            open_timeout=PATIENCE,
            **options,
        )
        return cls(connection)

    async def send(self, method: str, params: Mapping[str, Any] | None = None) -> asyncio.Future[Any]:
        """Send a request; returns the future of its answer."""
        self._next += 1
        number = self._next
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        frame: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
        frame["params"] = params if params is not None else {}
        await self.connection.send(orjson.dumps(frame).decode())
        return answer

    async def call(self, method: str, params: Mapping[str, Any] | None = None, *, patience: float = PATIENCE) -> Any:
        """The result. Raises RpcError, or ConnectionError when the gateway closed the connection instead."""
        async with asyncio.timeout(patience):
            return await (await self.send(method, params))

    async def notification(self, method: str, *, patience: float = PATIENCE, **matching: Any) -> Mapping[str, Any]:
        """The params of the first such notification, which is then removed."""

        def find() -> Mapping[str, Any] | None:
            for notification in self.notifications:
                params = notification["params"]
                if notification["method"] == method and all(params.get(k) == v for k, v in matching.items()):
                    self.notifications.remove(notification)
                    return params
            return None

        return await self._take(find, method, patience)

    async def approval_requested(self, call_id: str, *, patience: float = PATIENCE) -> str:
        """The id of the approval that is asked for a call. Notifications about other calls stay for whoever waits for them."""

        def find() -> Mapping[str, Any] | None:
            for notification in self.notifications:
                if notification["method"] == "approvals/requested":
                    approval = notification["params"]["approval"]
                    if approval["callId"] == call_id:
                        self.notifications.remove(notification)
                        return approval
            return None

        return str((await self._take(find, f"approvals/requested of {call_id}", patience))["id"])

    async def _take(self, find: Callable[[], Mapping[str, Any] | None], what: str, patience: float) -> Mapping[str, Any]:
        async with asyncio.timeout(patience), self._news:
            while (found := find()) is None:
                assert self.closed is None, f"closed with {self.closed} before `{what}` came"
                await self._news.wait()
            return found

    async def wait_closed(self, *, patience: float = PATIENCE) -> tuple[int, str]:
        """Close code and reason, after the gateway has closed."""
        async with asyncio.timeout(patience):
            await asyncio.shield(self._reader)
        assert self.closed is not None
        return self.closed

    async def close(self) -> None:
        """Close the connection."""
        await self.connection.close()
        await asyncio.shield(self._reader)

    def drop(self) -> None:
        """Drop the connection without a close frame."""
        self.connection.transport.abort()

    async def _read(self) -> None:
        try:
            async for raw in self.connection:
                frame = orjson.loads(raw)
                if "method" in frame:
                    async with self._news:
                        self.notifications.append(frame)
                        self._news.notify_all()
                    continue
                answer = self._waiting.pop(frame.get("id"), None)
                if answer is None or answer.done():
                    self.notifications.append({"method": "rpc/stray", "params": frame})
                elif "error" in frame:
                    answer.set_exception(RpcError(frame["error"]))
                else:
                    answer.set_result(frame["result"])
        except ConnectionClosed:
            pass
        finally:
            self.closed = (self.connection.close_code or 1006, self.connection.close_reason or "")
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionError(f"closed with {self.closed}"))
                    answer.exception()
            async with self._news:
                self._news.notify_all()


async def refused(socket: Socket, method: str, params: Any = None) -> str:
    """The code with which this request must be refused."""
    try:
        answer = await socket.call(method, params)
    except RpcError as refusal:
        return str(refusal.error["data"]["code"])
    raise AssertionError(f"{method} was not refused: {answer}")
