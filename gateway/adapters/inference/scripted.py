"""A model with scripted answers, for tests and demonstrations: same answers every time, no weights, no network.

It speaks chat completions as llama.cpp's server and OpenAI do, streamed and whole, tool calls and usage included.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import orjson

from gateway.core.canonical import Json
from gateway.core.errors import InvalidRequest, MalformedJson, ModelUnavailable, NotFound
from gateway.runtime.ports import InferenceStream, ModelInfo, ModelPhase, ModelState

PIECE: Final = 4
"""Characters per streamed piece: about what a token holds, so that clients see words torn apart."""

SCRIPTED: Final = ModelInfo(
    id="scripted:demonstration",
    display_name="Scripted model",
    arch="scripted",
    context_tokens=4096,
    output_tokens=1024,
    backend="scripted",
    quantisation="none",
    supports_tools=False,
    licence="Apache-2.0",
    local=True,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: text, calls of declared tools as (name, arguments), or both.

    With `stalls_after`, a stream stops after that many pieces, like a model that is thinking: until it is abandoned, or until
    `goes_on` is set.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Json]], ...] = ()
    stalls_after: int | None = None
    goes_on: asyncio.Event | None = None


Script = Callable[[Mapping[str, Any]], Reply]
"""From the request's body to the reply."""


def in_order(*replies: Reply) -> Script:
    """A script that gives the replies one after another, then raises ModelUnavailable."""
    remaining: Iterator[Reply] = iter(replies)

    def play(asked: Mapping[str, Any]) -> Reply:
        reply = next(remaining, None)
        if reply is None:
            raise ModelUnavailable("the script has no more replies", ModelPhase.ABSENT)
        return reply

    return play


@dataclass(slots=True)
class _ScriptedStream:
    content_type: str
    pieces: Sequence[bytes]
    stalls_after: int | None
    goes_on: asyncio.Event | None = None
    status: int = 200

    async def chunks(self) -> AsyncGenerator[bytes]:
        for number, piece in enumerate(self.pieces):
            if number == self.stalls_after:
                await (self.goes_on or asyncio.Event()).wait()
            # A turn for everybody else, cancellation included, as every real answer gives.
            await asyncio.sleep(0)
            yield piece


@dataclass(slots=True)
class ScriptedBackend:
    """The InferenceBackend port over a script. `asked` collects the bodies, `open_streams` counts answers under way."""

    script: Script
    info: ModelInfo = SCRIPTED
    asked: MutableSequence[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    open_streams: int = 0

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Nothing to stop."""

    async def models(self) -> Sequence[ModelInfo]:
        """The one."""
        return (self.info,)

    def state(self) -> ModelState:
        """Ready."""
        return ModelState(ModelPhase.READY, "")

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """The script's reply. Raises ModelUnavailable at the end of the script."""
        if path != "/v1/chat/completions":
            raise NotFound(f"there is no `{path[:64]}`")
        try:
            request = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise MalformedJson("the body is not JSON") from None
        if not isinstance(request, dict):
            raise InvalidRequest("the body is not an object")
        request = cast("dict[str, Any]", request)
        self.asked.append(request)
        reply = self.script(request)
        self.open_streams += 1
        try:
            yield _perform(reply, request, self.info.id)
        finally:
            self.open_streams -= 1


def _perform(reply: Reply, request: Mapping[str, Any], model: str) -> _ScriptedStream:
    head: dict[str, Any] = {"id": "chatcmpl-scripted", "created": 0, "model": model}
    prompt = sum(len(str(message.get("content") or "")) for message in request.get("messages", ()))
    usage = {"prompt_tokens": prompt // PIECE, "completion_tokens": len(reply.text) // PIECE + len(reply.calls)}
    usage["total_tokens"] = sum(usage.values())
    finish = "tool_calls" if reply.calls else "stop"
    if not request.get("stream"):
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [_call(index, name, arguments) for index, (name, arguments) in enumerate(reply.calls)]
        choice = {"index": 0, "message": message, "finish_reason": finish}
        whole = orjson.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        return _ScriptedStream("application/json", [whole], reply.stalls_after, reply.goes_on)
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": reply.text[start : start + PIECE]} for start in range(0, len(reply.text), PIECE)]
    deltas += [
        {"tool_calls": [{"index": index, **_call(index, name, arguments)}]} for index, (name, arguments) in enumerate(reply.calls)
    ]
    head["object"] = "chat.completion.chunk"
    events: list[dict[str, Any]] = [
        *({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas),
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**head, "choices": [], "usage": usage},
    ]
    lines = [b"data: %b\n\n" % orjson.dumps(event) for event in events]
    return _ScriptedStream("text/event-stream", [*lines, b"data: [DONE]\n\n"], reply.stalls_after, reply.goes_on)


def _call(index: int, name: str, arguments: Mapping[str, Json]) -> dict[str, Any]:
    function = {"name": name, "arguments": orjson.dumps(arguments).decode()}
    return {"id": f"call_{index}", "type": "function", "function": function}
