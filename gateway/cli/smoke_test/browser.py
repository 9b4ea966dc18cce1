"""What a browser sends: requests with its cookies and the page's Origin, and JSON-RPC over a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from http.cookies import SimpleCookie
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import aiohttp
import orjson

from gateway.cli.smoke_test.differences import Difference

ANSWER_SECONDS: Final = 30.0
"""Seconds for one answer."""

SUBPROTOCOL: Final = "countersign.v1"

_Answer: TypeAlias = tuple[int, Mapping[str, str], Any]


class SmokeBrowser:
    """One browser. Whatever the host of a URL, it connects to this machine: nobody else has to resolve *.localhost."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._cookies: dict[str, dict[str, str]] = {}

    async def request(self, method: str, url: str, body: object = None, *, bearer: str = "") -> _Answer:
        """Status, headers and JSON of one request; redirects are not followed."""
        headers = self._headers(url)
        if method != "GET":
            headers |= {"Origin": _origin(url), "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        data = None if body is None else orjson.dumps(body)
        async with (
            asyncio.timeout(ANSWER_SECONDS),
            self._session.request(method, _target(url), data=data, headers=headers, allow_redirects=False) as response,
        ):
            jar = self._cookies.setdefault(urlsplit(url).hostname or "", {})
            for header in response.headers.getall("Set-Cookie", ()):
                jar.update({name: morsel.value for name, morsel in SimpleCookie(header).items() if morsel["max-age"] != "0"})
            content = await response.read()
        with contextlib.suppress(orjson.JSONDecodeError):
            return response.status, response.headers, orjson.loads(content)
        return response.status, response.headers, None

    async def post(self, url: str, body: object, *, bearer: str = "") -> Any:
        """The JSON of a POST that is answered well. Raises Difference."""
        status, _, answer = await self.request("POST", url, body, bearer=bearer)
        if status >= 300:
            raise Difference(f"POST {urlsplit(url).path} was answered with {status}")
        return answer

    @contextlib.asynccontextmanager
    async def socket(self, origin: str) -> AsyncGenerator[SmokeSocket]:
        """The WebSocket of a site's page."""
        headers = {**self._headers(origin), "Origin": origin}
        async with self._session.ws_connect(
            _target(f"{origin}/ws").replace("http", "ws", 1), headers=headers, protocols=[SUBPROTOCOL], max_msg_size=0
        ) as connection:
            socket = SmokeSocket(connection)
            try:
                yield socket
            finally:
                await socket.close()

    def _headers(self, url: str) -> dict[str, str]:
        parts = urlsplit(url)
        jar = self._cookies.get(parts.hostname or "", {})
        cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
        return {"Host": parts.netloc, **cookies}


class SmokeSocket:
    """JSON-RPC over one connection. Notifications of approvals are kept, others dropped."""

    def __init__(self, connection: aiohttp.ClientWebSocketResponse) -> None:
        self._connection = connection
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())

    async def start(self, method: str, params: Mapping[str, Any]) -> asyncio.Future[Any]:
        """Send a request; the future of its result."""
        number = len(self._waiting) + 1
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._connection.send_str(
            orjson.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).decode()
        )
        return answer

    async def call(self, method: str, **params: object) -> Any:
        """The result of a method. Raises Difference for an error."""
        return await settled(await self.start(method, params))

    async def approval(self) -> Mapping[str, Any]:
        """The next approval that is asked for."""
        async with asyncio.timeout(ANSWER_SECONDS):
            return await self._asked.get()

    async def close(self) -> None:
        """End the connection; what still waits fails."""
        await self._connection.close()
        self._reading.cancel()
        await asyncio.wait({self._reading})

    async def _read(self) -> None:
        async for message in self._connection:
            frame = orjson.loads(message.data)
            if frame.get("method") == "approvals/requested":
                self._asked.put_nowait(frame["params"]["approval"])
            answer = self._waiting.get(frame.get("id", 0))
            if answer is None or answer.done():
                continue
            if "error" in frame:
                answer.set_exception(Difference(f"refused with {frame['error']['code']}: {frame['error']['message']}"))
            else:
                answer.set_result(frame["result"])


async def settled(answer: asyncio.Future[Any]) -> Any:
    """The result of a request. Raises Difference, TimeoutError."""
    async with asyncio.timeout(ANSWER_SECONDS):
        return await answer


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _target(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://127.0.0.1:{parts.port}{parts.path}" + (f"?{parts.query}" if parts.query else "")
