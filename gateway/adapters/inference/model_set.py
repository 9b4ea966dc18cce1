"""Several models as one backend: each is asked by its id, and of the local ones at most one is loaded.

The id in a request is the one that its token stands for, so what is recorded is what answers: a model whose file was exchanged
has another id, and is not asked in the place of the old one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from gateway.adapters.inference.factory import LazilyTriedBackend, LoadableBackend, ManagedBackend, TriedBackend
from gateway.adapters.inference.local_slot import LocalSlot
from gateway.adapters.inference.memory_pressure import describe_pressure
from gateway.agent.trajectory import TokenIds
from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, InvalidRequest, MalformedJson, ModelUnavailable
from gateway.runtime.ports import InferenceStream, ModelInfo, ModelPhase, ModelState

if TYPE_CHECKING:
    from gateway.adapters.inference.warm_prefix import PrefixState

WATCH_SECONDS: Final = 5.0
"""Between two looks at the machine's memory."""

_log = logging.getLogger(__name__)


class ModelSet:
    """The InferenceBackend port over others, the first of which is the one to take when nobody chooses."""

    def __init__(
        self,
        members: Sequence[ManagedBackend],
        *,
        pressure: Callable[[], str | None] = describe_pressure,
        watch_seconds: float = WATCH_SECONDS,
        names: Sequence[str] = (),
    ) -> None:
        """`names` are what the members are configured by, where somebody wants to be told of those that are missing."""
        self._members = members
        self._names = names
        self._pressure = pressure
        self._watch_seconds = watch_seconds
        self._slot = LocalSlot()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start all but the local ones; of those, load the first model if it is one, and find out what the others are."""
        for member in self._members:
            if not isinstance(member, LoadableBackend):
                await member.start()
            elif member is self._members[0]:
                await self._slot.begin(member)
            else:
                self._tasks.append(asyncio.create_task(member.describe(), name="model-description"))
        if any(isinstance(member, LoadableBackend) for member in self._members):
            self._tasks.append(asyncio.create_task(self._watch_memory(), name="memory-watch"))

    async def stop(self) -> None:
        """Stop all. Safe to call twice."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._slot.close()
        for member in self._members:
            await member.stop()

    async def models(self) -> Sequence[ModelInfo]:
        """All that can be asked, the first one first; each id once."""
        found: dict[str, ModelInfo] = {}
        for member in self._members:
            for model in await member.models():
                found.setdefault(model.id, model)
        return tuple(found.values())

    async def missing(self) -> Sequence[tuple[str, str]]:
        """The models that are configured and cannot be chosen, each by its name, with the reason."""
        found: list[tuple[str, str]] = []
        for name, member in zip(self._names, self._members, strict=False):
            offered = await member.models()
            state = member.state()
            if not offered and state.phase in (ModelPhase.ABSENT, ModelPhase.CRASHED):
                found.append((name, state.detail or state.phase.value))
        return found

    def state(self) -> ModelState:
        """The state of the first model."""
        first = self._members[0]
        if self._slot.was_unloaded(first):
            return ModelState(ModelPhase.READY, "not in memory now; the next question loads it")
        return first.state()

    async def settle(self) -> ModelState:
        """Wait until the first model is ready or given up, if it is a local one."""
        first = self._members[0]
        return await first.settle() if isinstance(first, LoadableBackend) else first.state()

    async def tried(self) -> None:
        """Wait until it is known which loop the first model carries, or that this cannot be found out now."""
        first = self._members[0]
        if isinstance(first, TriedBackend):
            await first.tried()

    async def choose(self, model_id: str) -> None:
        """Wait until it is known which loop this model carries, if that takes no loading. Raises ModelUnavailable."""
        member = await self._find(model_id)
        if isinstance(member, LazilyTriedBackend) and not isinstance(member, LoadableBackend):
            await member.choose()

    async def warm(self, messages: Sequence[Mapping[str, Json]]) -> PrefixState:
        """Keep this beginning evaluated in whichever local model is loaded. Raises ModelUnavailable where none is."""
        return await self._slot.warm(messages)

    def keep_tokens(self) -> Callable[[], TokenIds | None]:
        """As `LocalBackend.keep_tokens`, of the first model; ids of none where it is not local."""
        first = self._members[0]
        return first.keep_tokens() if isinstance(first, LoadableBackend) else lambda: None

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """POST to the model that the body names, loading it if need be. Raises ModelUnavailable."""
        wanted = _model_of(body)
        member = await self._find(wanted)
        async with contextlib.AsyncExitStack() as held:
            if isinstance(member, LoadableBackend):
                await held.enter_async_context(self._slot.use(member))
                await _require(member, wanted)
            yield await held.enter_async_context(member.ask(path, body))

    async def _find(self, wanted: str | None) -> ManagedBackend:
        if wanted is None:
            return self._members[0]
        for member in self._members:
            if any(model.id == wanted for model in await member.models()):
                return member
        raise ModelUnavailable(f"this gateway has no model `{wanted[:64]}` any more", ModelPhase.ABSENT)

    async def _watch_memory(self) -> None:
        """Unload the local model when memory is short and nobody is asking it."""
        while True:
            await asyncio.sleep(self._watch_seconds)
            if self._slot.is_empty:
                continue
            why = self._pressure()
            try:
                if why is not None and await self._slot.unload():
                    _log.warning("the model was unloaded: %s; the next question loads it again", why)
            except GatewayError as error:
                _log.warning("the model was not unloaded: %s", error.message)


async def _require(member: ManagedBackend, wanted: str | None) -> None:
    """Its file may have been exchanged before it was loaded."""
    if wanted is not None and all(model.id != wanted for model in await member.models()):
        raise ModelUnavailable("the model's file was exchanged; begin a new turn", ModelPhase.ABSENT)


def _model_of(body: bytes) -> str | None:
    try:
        asked = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise MalformedJson("the body is not JSON") from None
    if not isinstance(asked, dict):
        raise InvalidRequest("the body is not an object")
    named = cast("dict[str, Any]", asked).get("model")
    return named if isinstance(named, str) else None
