"""Asking a model server one thing and counting what it cost."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import InferenceBackend, ModelPhase

COMPLETIONS = "/v1/chat/completions"


class RequestRefused(ModelUnavailable):
    """The server took the request for wrong: longer than its context, or a schema that it cannot hold to."""


@dataclass(slots=True)
class Meter:
    """What a case cost so far, what the model wrote, reply by reply, and whether it got to read `looks_for`."""

    looks_for: str = ""
    reached: bool = False
    steps: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    replies: list[str] = field(default_factory=list[str])
    asked: str = ""
    """A digest of all requests so far."""

    def watch(self, request: bytes) -> None:
        """Count a request, as the bytes that the model server gets."""
        self.steps += 1
        self.asked = hashlib.sha256(self.asked.encode() + request).hexdigest()[:16]
        # As it stands inside a text of JSON, without the quotes.
        wanted = orjson.dumps(self.looks_for)[1:-1]
        self.reached = self.reached or (bool(wanted) and wanted in request)


@contextlib.asynccontextmanager
async def ask(
    backend: InferenceBackend,
    messages: Sequence[Mapping[str, Any]],
    meter: Meter,
    max_tokens: int,
    schema: Mapping[str, Any] | None = None,
    tools: Sequence[Any] = (),
) -> AsyncGenerator[AsyncIterator[bytes]]:
    """A streamed reply at temperature 0; leaving stops the model. Raises ModelUnavailable."""
    body: dict[str, Any] = {
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": max_tokens,
        "temperature": 0,
    }
    if tools:
        body["tools"] = tools
    if schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "step", "strict": True, "schema": schema}}
    request = orjson.dumps(body)
    meter.watch(request)
    async with backend.ask(COMPLETIONS, request) as answer:
        if 400 <= answer.status < 500:
            raise RequestRefused(f"the model server refuses the request with status {answer.status}", ModelPhase.READY)
        if answer.status != 200:
            raise ModelUnavailable(f"the model server answers with status {answer.status}", ModelPhase.CRASHED)
        yield answer.chunks()


async def complete(
    backend: InferenceBackend,
    messages: Sequence[Mapping[str, Any]],
    meter: Meter,
    *,
    max_tokens: int,
    schema: Mapping[str, Any] | None = None,
) -> str:
    """The whole reply. Raises ModelUnavailable."""
    pieces: list[str] = []
    async with ask(backend, messages, meter, max_tokens, schema) as chunks:
        async for event in events_of(chunks):
            pieces += [choice["delta"].get("content") or "" for choice in event.get("choices", ())]
            usage: dict[str, int] = event.get("usage") or {}
            meter.prompt_tokens += usage.get("prompt_tokens", 0)
            meter.completion_tokens += usage.get("completion_tokens", 0)
    text = "".join(pieces)
    meter.replies.append(text)
    return text


async def events_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """The JSON documents of a stream of server-sent events, without its end mark."""
    rest = b""
    async for chunk in chunks:
        *events, rest = (rest + chunk).split(b"\n\n")
        for event in events:
            if event.startswith(b"data: {"):
                yield orjson.loads(event.removeprefix(b"data: "))
