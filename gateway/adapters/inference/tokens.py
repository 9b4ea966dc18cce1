"""The token ids of prompt and answer as the model's own server reports them, for callers that keep trajectories.

llama.cpp's server streams one id per piece of text, not one per token: what it holds back until a character or a code fence
is complete, and the end of the turn, it streams without their ids (measured: 7 of 14 for two emoji and six letters; `logprobs`
lose the same ones, whole answers included). Only a whole answer under `return_tokens` and `verbose` has them all. So a
request for ids asks for a whole answer, and returns it here as the usual event stream. The costs: nothing to read before the
answer is complete, and a server that notices within a second, not at once, that the client is gone.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

import orjson

from gateway.agent.trajectory import TokenIds
from gateway.core.canonical import Json
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import InferenceStream

CHAT: Final = "/v1/chat/completions"

_log = logging.getLogger(__name__)


class TokenTellingServer(Protocol):
    """A llama.cpp server, which can be asked for ids."""

    def ask(self, path: str, body: bytes) -> AbstractAsyncContextManager[InferenceStream]: ...
    async def tokenise(self, prompt: str) -> tuple[int, ...]: ...


class TokenKeeper:
    """Asks for ids with each chat, and keeps those of the last answer until they are taken.

    For one conversation inside this process. Whatever else is asked meanwhile is answered as ever, and costs at most ids.
    """

    def __init__(self) -> None:
        self._tokens: TokenIds | None = None
        self._untaken = 0

    def take(self) -> TokenIds | None:
        """The ids of the one chat that was answered since the last time. None when the server reported none that can be trusted,
        or when there was another answer, because then it is not known to which one they belong."""
        tokens = self._tokens if self._untaken == 1 else None
        self._tokens, self._untaken = None, 0
        return tokens

    @contextlib.asynccontextmanager
    async def ask(self, server: TokenTellingServer, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """POST to the server; a chat that wants a stream gets it once the answer is whole. What the server says under
        `verbose` ends here. Raises ModelUnavailable."""
        asked: dict[str, Any] = orjson.loads(body) if path == CHAT else {}
        if not asked.get("stream"):
            async with server.ask(path, body) as answer:
                yield answer
            return
        whole = {name: value for name, value in asked.items() if name not in ("stream", "stream_options")}
        whole |= {"stream": False, "return_tokens": True, "verbose": True}
        async with server.ask(path, orjson.dumps(whole)) as answer:
            body = b"".join([chunk async for chunk in answer.chunks()])
            if answer.status != 200:
                yield BufferedStream(answer.status, answer.content_type, (body,))
                return
        document = _read(body)
        tokens = await _tokens_of(server, document.get("__verbose"))
        self._tokens, self._untaken = tokens, self._untaken + 1
        yield BufferedStream(200, "text/event-stream", tuple(_as_events(document)))


@dataclass(frozen=True, slots=True)
class BufferedStream:
    """The InferenceStream port over bytes that are all there."""

    status: int
    content_type: str
    pieces: tuple[bytes, ...]

    async def chunks(self) -> AsyncGenerator[bytes]:
        for piece in self.pieces:
            yield piece


async def _tokens_of(server: TokenTellingServer, verbose: Json) -> TokenIds | None:
    match verbose:
        case {"prompt": str(prompt), "tokens": [*ids], "tokens_predicted": int(sampled), "tokens_evaluated": int(fed)}:
            sampled_ids = tuple(ids)
        case _:
            return None
    tokens = TokenIds(await server.tokenise(prompt), sampled_ids)
    # The server counted both while it worked. Where the counts differ, these are not the ids it worked with.
    if (len(tokens.fed), len(tokens.sampled)) == (fed, sampled) and all(type(each) is int for each in sampled_ids):
        return tokens
    _log.warning("the model server counts other tokens than it reports; this step is kept without ids")
    return None


def _read(body: bytes) -> Mapping[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        raise ModelUnavailable("the model server's answer does not read", "crashed")
    return cast("Mapping[str, Any]", document)


def _as_events(document: Mapping[str, Any]) -> list[bytes]:
    """A whole chat completion as the stream of it: each choice in one piece, then how it ended, then the counts."""
    head = {name: document[name] for name in ("id", "created", "model", "system_fingerprint") if name in document}
    head["object"] = "chat.completion.chunk"
    events: list[dict[str, Any]] = []
    for choice in document.get("choices", ()):
        message: dict[str, Any] = dict(choice.get("message") or {})
        if calls := message.get("tool_calls"):
            message["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
        for delta, finish in ((message, None), ({}, choice.get("finish_reason"))):
            events.append({"choices": [{"index": choice.get("index", 0), "delta": delta, "finish_reason": finish}]})
    counts = {name: document[name] for name in ("usage", "timings") if name in document}
    events.append({"choices": [], **counts})
    return [b"data: %b\n\n" % orjson.dumps({**head, **event}) for event in events] + [b"data: [DONE]\n\n"]
