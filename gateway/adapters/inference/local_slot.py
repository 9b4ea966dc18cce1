"""The place in this machine's memory for one local model: who is in it, who waits for it, when it is free."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, ModelUnavailable
from gateway.runtime.ports import ModelPhase

if TYPE_CHECKING:
    from gateway.adapters.inference.factory import LoadableBackend
    from gateway.adapters.inference.warm_prefix import PrefixState

SWITCH_SECONDS: Final = 120.0
"""How long a question waits for the answers of another model to end before it is given up."""

_WAITED: Final = "another model is still answering, or this one takes long to load; try again in a moment"

_log = logging.getLogger(__name__)


class LocalSlot:
    """At most one of several local models runs. A question for another one waits until the answers under way have ended, in the
    order of asking, so that no model can keep the others out."""

    def __init__(self, *, switch_seconds: float = SWITCH_SECONDS) -> None:
        self._switch_seconds = switch_seconds
        self._entry = asyncio.Lock()
        self._idle = asyncio.Event()
        self._idle.set()
        self._users = 0
        self._held: LoadableBackend | None = None
        self._unloaded: LoadableBackend | None = None
        self._exchange: asyncio.Task[None] | None = None
        self._messages: Sequence[Mapping[str, Json]] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no model is in memory."""
        return self._held is None

    def was_unloaded(self, model: object) -> bool:
        """Whether this model was there last, and gave up the place for want of memory."""
        return self._held is None and self._unloaded is model

    async def begin(self, model: LoadableBackend) -> None:
        """Begin to load the first one; returns at once."""
        self._held = model
        await model.start()

    async def close(self) -> None:
        """End an exchange that is under way. The models are for the caller to stop."""
        if self._exchange is not None:
            self._exchange.cancel()
            await asyncio.wait({self._exchange})

    @contextlib.asynccontextmanager
    async def use(self, model: LoadableBackend) -> AsyncGenerator[None]:
        """Have this model in memory. Raises ModelUnavailable when another one is kept busy too long, or it cannot be loaded."""
        try:
            async with asyncio.timeout(self._switch_seconds), self._entry:
                await self._settled()
                if self._held is not model:
                    await self._idle.wait()
                    await self._put(model)
                self._users += 1
                self._idle.clear()
        except TimeoutError:
            raise ModelUnavailable(_WAITED, ModelPhase.STARTING) from None
        try:
            yield
        finally:
            self._users -= 1
            if self._users == 0:
                self._idle.set()

    async def unload(self) -> bool:
        """Empty the place if nobody asks or waits; whether it was emptied."""
        if self._users or self._entry.locked() or self.is_empty:
            return False
        async with self._entry:
            await self._settled()
            held = self._held
            if held is None or self._users or held.state().phase is not ModelPhase.READY:
                return False
            await self._put(None)
            self._unloaded = held
        return True

    async def warm(self, messages: Sequence[Mapping[str, Json]]) -> PrefixState:
        """Keep this beginning evaluated in the model that is here, and in those that come. Raises ModelUnavailable."""
        self._messages = messages
        if self._held is None:
            raise ModelUnavailable("no local model is loaded", ModelPhase.ABSENT)
        return await self._held.warm(messages)

    async def _put(self, model: LoadableBackend | None) -> None:
        """Shielded: a client that leaves must not leave two models behind, or half of one."""
        self._exchange = asyncio.create_task(self._swap(model), name="model-exchange")
        await self._settled()

    async def _settled(self) -> None:
        if self._exchange is not None:
            await asyncio.shield(self._exchange)
            self._exchange = None

    async def _swap(self, model: LoadableBackend | None) -> None:
        held, self._held = self._held, model
        if held is not None:
            await held.stop()
        if model is None:
            return
        try:
            await model.start()
            await model.settle()
            if self._messages is not None and not any(info.supports_tools for info in await model.models()):
                # The beginning is that of the prompts for models that call no tools by themselves.
                await model.warm(self._messages)
        except GatewayError as error:
            # What it means for a question, the model itself says when it is asked.
            _log.info("the model was not warmed: %s", error.message)
