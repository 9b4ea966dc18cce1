"""A model as the loop asks it, straight from its backend: for trying it before anybody talks to it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

import orjson

from gateway.adapters.inference.openai_api import CHAT
from gateway.agent.completion_request import completion_body
from gateway.agent.completion_stream import CompletionStream, read_failure
from gateway.agent.ports import ChatDelta, ChatFailure, ChatFailureKind, ChatRequest
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import InferenceBackend

_TOO_MANY: Final = 429
"""A limit of requests or money: it says nothing of the model that is tried, though to the loop the request was refused."""

_REFUSAL: Final = 1 << 16
"""Bytes that are read of an answer that refuses."""


class BackendChat:
    """The Chat port over an InferenceBackend."""

    def __init__(self, backend: InferenceBackend, model: str) -> None:
        self._backend = backend
        self._model = model

    async def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """Stream the reply. Raises ChatFailure."""
        reply, refusal = CompletionStream(), b""
        try:
            async with self._backend.ask(CHAT, orjson.dumps(completion_body(request, self._model))) as answer:
                async for piece in answer.chunks():
                    if answer.status != 200:
                        refusal += piece[: _REFUSAL - len(refusal)]
                        continue
                    for delta in reply.feed(piece):
                        yield delta
                if answer.status != 200:
                    failure = read_failure(answer.status, refusal)
                    if answer.status == _TOO_MANY:
                        failure = ChatFailure(ChatFailureKind.MODEL_UNAVAILABLE, failure.message)
                    raise failure
        except ModelUnavailable as error:
            raise ChatFailure(ChatFailureKind.MODEL_UNAVAILABLE, error.message, error.state) from None
        for delta in reply.finish():
            yield delta
