"""A sidecar whose context grows: a request that needs more than there is waits until the server was started again with more."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from typing import Final, Protocol

from gateway.adapters.inference.context_size import ContextPlan, reply_tokens, tokens_needed, tokens_refused
from gateway.adapters.inference.memory_pressure import left_memory
from gateway.adapters.inference.openai_api import CHAT
from gateway.adapters.inference.tokens import BufferedStream, TokenTellingServer
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import InferenceStream

WAIT_SECONDS: Final = 120.0
"""For the answers under way to end. A request that has waited so long is sent as it is."""

REFUSAL_BYTES: Final = 1 << 16

_SPARE: Final = 2
"""Growing may take one part in so many of the memory that is left then."""

_log = logging.getLogger(__name__)


class GrowableServer(TokenTellingServer, Protocol):
    """A sidecar that can be started again with more context."""

    @property
    def context_tokens(self) -> int: ...
    async def grow(self, context_tokens: int) -> bool: ...


class GrowingServer:
    """Asks the server, with as much context as the request needs, up to the plan's largest."""

    def __init__(self, server: GrowableServer, plan: ContextPlan, *, memory: Callable[[], int | None] = left_memory) -> None:
        self._server = server
        self._plan = plan
        self._memory = memory
        self._entry = asyncio.Lock()
        self._idle = asyncio.Event()
        self._idle.set()
        self._users = 0
        self._growing: asyncio.Task[bool] | None = None
        self._has_failed = False

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """POST to the server; a chat that it finds too long is asked once more, with room for it. Raises ModelUnavailable."""
        needed = tokens_needed(body) if path == CHAT else 0
        async with self._entered(needed), self._server.ask(path, body) as answer:
            if path != CHAT or answer.status != 400 or not self._may_grow():
                yield answer
                return
            refusal = b"".join([chunk async for chunk in answer.chunks()])[:REFUSAL_BYTES]
            content_type = answer.content_type
        refused = tokens_refused(refusal)
        if refused is None:
            yield BufferedStream(400, content_type, (refusal,))
            return
        async with self._entered(refused + reply_tokens(body)), self._server.ask(path, body) as answer:
            yield answer

    async def tokenise(self, prompt: str) -> tuple[int, ...]:
        """As the server does. Raises ModelUnavailable."""
        return await self._server.tokenise(prompt)

    async def close(self) -> None:
        """Give up growing. The server is for the caller to stop."""
        if self._growing is not None:
            self._growing.cancel()
            await asyncio.wait({self._growing})

    def _may_grow(self) -> bool:
        return not self._has_failed and self._server.context_tokens < self._plan.largest

    @contextlib.asynccontextmanager
    async def _entered(self, needed: int) -> AsyncGenerator[None]:
        async with self._entry:
            await self._finish_growing()
            if needed > self._server.context_tokens and self._may_grow():
                await self._grow(self._plan.next_size(needed, self._server.context_tokens))
            self._users += 1
            self._idle.clear()
        try:
            yield
        finally:
            self._users -= 1
            if self._users == 0:
                self._idle.set()

    async def _grow(self, size: int) -> None:
        if not self._is_there_memory(size):
            _log.warning("the model's context stays at %d tokens: memory is short", self._server.context_tokens)
            return
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._idle.wait()
        except TimeoutError:
            return
        _log.info("the model's context grows from %d to %d tokens", self._server.context_tokens, size)
        self._growing = asyncio.create_task(self._server.grow(size), name="context-growth")
        await self._finish_growing()

    async def _finish_growing(self) -> None:
        """Whoever asked may be gone; the server is not left half way."""
        if self._growing is None:
            return
        await asyncio.wait({self._growing})
        ended, self._growing = self._growing, None
        if ended.cancelled():
            return
        if (error := ended.exception()) is not None and not isinstance(error, ModelUnavailable):
            raise error
        if error is None and not ended.result():
            self._has_failed = True
            _log.warning("the model does not start with a longer context; it stays at %d tokens", self._server.context_tokens)

    def _is_there_memory(self, size: int) -> bool:
        cache_bytes, left = self._plan.cache_bytes, self._memory()
        if cache_bytes is None or left is None:
            return True
        return (size - self._server.context_tokens) * cache_bytes <= left // _SPARE
