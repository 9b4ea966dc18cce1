"""The model as the loop calls it: `/v1` of the gateway in this process, asked as any program asks it, without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from typing import Any, Final, TypeAlias, cast

import orjson

from gateway.agent.ports import CallDelta, ChatDelta, ChatFailure, ChatFailureKind, ChatRequest, TextDelta, Usage
from gateway.agent.trajectory import TokenIds

PATH: Final = "/v1/chat/completions"

_LINE: Final = 1 << 20
"""Bytes of one event; a server that sends more without a line end never meant to end it."""

_REFUSAL: Final = 1 << 16
_MESSAGE: Final = 500
"""Characters of a foreign error message that are kept."""

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
        exchange = _Exchange(self._app, self._scope(), orjson.dumps(self._body(request)))
        forget = request.stop.listen(exchange.hang_up)
        events = _EventReader()
        complete = taken = False
        try:
            async for piece in exchange.pieces():
                for data in events.feed(piece):
                    # Before the text, because the reader may stop before its end.
                    if not taken and (tokens := self._take_tokens()) is not None:
                        yield tokens
                    taken = True
                    complete = complete or data == b"[DONE]"
                    for delta in _read_chunk(data):
                        yield delta
            request.stop.check()
        finally:
            forget()
            await exchange.close()
        if not complete:
            raise ChatFailure(ChatFailureKind.UNREACHABLE, "the reply broke off")

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

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._token["modelId"],
            "messages": request.messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
        }
        if request.tools:
            body["tools"] = request.tools
        if request.schema is not None:
            schema = {"name": "step", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


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
            raise _failure_of(status, refusal)

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


class _EventReader:
    """Server-sent events out of bytes: the data of each, as far as one `data:` line holds it."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        if len(self._rest) > _LINE:
            raise ChatFailure(ChatFailureKind.UNREACHABLE, "the reply is garbled")
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return [line.removeprefix(b"data:").strip() for line in lines if line.startswith(b"data:")]


def _read_chunk(data: bytes) -> Generator[ChatDelta]:
    if data == b"[DONE]":
        return
    try:
        chunk = _object(orjson.loads(data))
    except orjson.JSONDecodeError:
        raise ChatFailure(ChatFailureKind.UNREACHABLE, "the reply is garbled") from None
    if "error" in chunk:
        raise _error_of(_object(chunk["error"]), 502)
    delta = _object(_object(next(iter(_list(chunk.get("choices"))), None)).get("delta"))
    if text := _text(delta.get("content")):
        yield TextDelta(text)
    for place, fragment in enumerate(map(_object, _list(delta.get("tool_calls")))):
        function, index = _object(fragment.get("function")), fragment.get("index")
        yield CallDelta(index if isinstance(index, int) else place, _text(function.get("name")), _text(function.get("arguments")))
    match _object(chunk.get("usage")):
        case {"prompt_tokens": int(prompt), "completion_tokens": int(completion)}:
            yield Usage(prompt, completion)
        case _:
            pass


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _failure_of(status: int, body: bytes) -> ChatFailure:
    try:
        return _error_of(_object(_object(orjson.loads(body)).get("error")), status)
    except orjson.JSONDecodeError:
        return _error_of({}, status)


def _error_of(error: Mapping[str, Any], status: int) -> ChatFailure:
    message = _text(error.get("message"))[:_MESSAGE] or f"status {status}"
    if status in (401, 403):
        return ChatFailure(ChatFailureKind.UNAUTHORISED, message)
    if status == 503 or error.get("code") == "model_unavailable":
        return ChatFailure(ChatFailureKind.MODEL_UNAVAILABLE, message, _text(error.get("reason")) or None)
    return ChatFailure(ChatFailureKind.UNREACHABLE if status >= 500 or status == 0 else ChatFailureKind.REFUSED, message)
