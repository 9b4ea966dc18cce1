"""The model as the loop calls it: `/v1` of the gateway in this process, asked as any program asks it, without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

import orjson

from gateway.agent.completion_request import completion_body
from gateway.agent.completion_stream import CompletionStream, read_failure
from gateway.agent.ports import ChatDelta, ChatRequest
from gateway.agent.trajectory import TokenIds

PATH: Final = "/v1/chat/completions"

_REFUSAL: Final = 1 << 16

Message: TypeAlias = Mapping[str, Any]
AsgiApp: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]
"""scope, receive, send."""


class LocalChat:
    """The Chat port over the gateway's ASGI app. `host` is the agent origin's, `token` an `InferenceToken`.

    `take_tokens` gives the ids of the answer that was given last, where somebody keeps them.
    """

    def __init__(
        self, app: AsgiApp, host: str, token: Mapping[str, Any], take_tokens: Callable[[], TokenIds | None] = lambda: None
    ) -> None:
        self._app = app
        self._host = host
        self._token = token
        self._take_tokens = take_tokens

    async def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """Stream the reply; closing the stream stops the model."""
        request.stop.check()
        exchange = _Exchange(self._app, self._scope(), orjson.dumps(completion_body(request, self._token["modelId"])))
        forget = request.stop.listen(exchange.hang_up)
        reply = CompletionStream()
        taken = False
        try:
            async for piece in exchange.pieces():
                # Before the text, because the reader may stop before its end.
                if not taken and (tokens := self._take_tokens()) is not None:
                    yield tokens
                taken = True
                for delta in reply.feed(piece):
                    yield delta
            request.stop.check()
            for delta in reply.finish():
                yield delta
        finally:
            forget()
            await exchange.close()

    def _scope(self) -> dict[str, Any]:
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": PATH,
            "raw_path": PATH.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [
                (b"host", self._host.encode()),
                (b"authorization", f"Bearer {self._token['token']}".encode()),
                (b"content-type", b"application/json"),
            ],
            "client": ("127.0.0.1", 0),
            "server": None,
        }


class _Exchange:
    """One request to an ASGI app, in a task of its own, and the answer as it comes."""

    def __init__(self, app: AsgiApp, scope: dict[str, Any], body: bytes) -> None:
        self._body: bytes | None = body
        self._answer: asyncio.Queue[Message | None] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._task = asyncio.ensure_future(self._run(app, scope))

    def hang_up(self) -> None:
        """As if the client had disconnected: work on the answer stops."""
        self._gone.set()
        self._answer.put_nowait(None)

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The body. Raises ChatFailure for an answer that is a refusal."""
        status, refusal = 0, b""
        while (message := await self._answer.get()) is not None:
            if message["type"] == "http.response.start":
                status = int(message["status"])
            elif status == 200:
                yield message.get("body", b"")
            elif len(refusal) < _REFUSAL:
                refusal += message.get("body", b"")
        if not self._gone.is_set() and status != 200:
            raise read_failure(status, refusal)

    async def close(self) -> None:
        """End it, and wait until it has."""
        self.hang_up()
        await asyncio.wait({self._task})

    async def _run(self, app: AsgiApp, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        finally:
            self._answer.put_nowait(None)

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self._answer.put_nowait(message)
