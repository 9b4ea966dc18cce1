"""A backend whose model is given the loop that it can carry: the one that is set, known, or found out at its first use."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol, runtime_checkable

from gateway.adapters.inference.backend_chat import BackendChat
from gateway.adapters.inference.factory import ManagedBackend
from gateway.adapters.inference.profiles import ModelProfile, ProfileStore
from gateway.adapters.inference.tier_probe import ReportProgress, probe_tier
from gateway.adapters.inference.warm_prefix import PrefixState
from gateway.agent.ports import ChatFailure
from gateway.agent.trajectory import TokenIds
from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, ModelUnavailable
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Tier
from gateway.runtime.ports import Clock, InferenceStream, ModelInfo, ModelPhase, ModelState

_LOG: Final = logging.getLogger(__name__)

_AGAIN_AFTER: Final = 30.0
"""Seconds between two tries of a model whose server failed: one question lists the models several times."""


@runtime_checkable
class TriableBackend(Protocol):
    """A backend of weights that can be tried."""

    async def settle(self) -> ModelState: ...
    async def takes_tools(self) -> bool:
        """Whether its chat template, or its server, has a place for declared tools."""
        ...


class StartedBackend(ManagedBackend, TriableBackend, Protocol):
    """What is tried here."""


class TieredBackend:
    """The InferenceBackend port over another one, whose models get their tier. `tier` None has it found out.

    `once_chosen` has it found out when a model is first asked, and not before: the requests may cost money.
    """

    def __init__(
        self, inner: StartedBackend, *, tier: Tier | None, profiles: ProfileStore, clock: Clock, once_chosen: bool = False
    ) -> None:
        self._inner = inner
        self._tier = tier
        self._profiles = profiles
        self._clock = clock
        self._found: dict[str, ModelProfile] = {}
        self._finding: asyncio.Task[None] | None = None
        self._trying = ""
        self._again_at = 0.0
        self._is_chosen = not once_chosen

    async def start(self) -> None:
        """Begin; what the model can carry is found out meanwhile."""
        await self._inner.start()
        self._find_out()

    async def stop(self) -> None:
        """End it, and the trying."""
        if self._finding is not None:
            self._finding.cancel()
            await asyncio.wait({self._finding})
        await self._inner.stop()

    async def settle(self) -> ModelState:
        """Wait until the model is ready and has been tried, or will not be."""
        if self._finding is not None:
            await asyncio.wait({self._finding})
        return await self._inner.settle()

    async def tried(self) -> None:
        """Wait until it is known which loop the model carries, or that this cannot be found out now."""
        if self._finding is not None:
            await asyncio.wait({self._finding})

    async def choose(self) -> None:
        """Somebody chose it: wait until it is known which loop it carries, or that this cannot be found out now."""
        await self._begin_use()
        await self.tried()

    async def models(self) -> Sequence[ModelInfo]:
        """Those of the inner backend. One that is being tried has no tier yet."""
        models = await self._inner.models()
        await self._look_up(models)
        if self._is_untried(models):
            self._find_out()
        return tuple(self._with_tier(model) for model in models)

    def state(self) -> ModelState:
        """The state now."""
        return ModelState(ModelPhase.STARTING, self._trying) if self._trying else self._inner.state()

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """POST to the inner backend. Raises ModelUnavailable while the model is tried."""
        await self._begin_use()
        if self._trying:
            raise ModelUnavailable(self._trying, ModelPhase.STARTING)
        async with self._inner.ask(path, body) as answer:
            yield answer

    async def _begin_use(self) -> None:
        """Have it tried if this is the first time that somebody asks it."""
        if self._is_chosen:
            return
        self._is_chosen = True
        models = await self.models()
        if self._finding is not None and not self._finding.done():
            self._trying = self._trying or _trying_first(models[0])

    def _is_untried(self, models: Sequence[ModelInfo]) -> bool:
        """Whether a server answers now that did not when the model was to be tried."""
        is_over = (self._finding is None or self._finding.done()) and self._clock.monotonic() >= self._again_at
        is_ready = self._inner.state().phase is ModelPhase.READY
        return is_over and is_ready and any(self._tier_of(model) is None for model in models)

    def _tier_of(self, model: ModelInfo) -> Tier | None:
        known = self._found.get(model.id)
        if self._tier is None and known is not None and known.is_checked:
            return known.tier
        return self._tier or model.tier or (None if known is None else known.tier)

    def _with_tier(self, model: ModelInfo) -> ModelInfo:
        tier, known = self._tier_of(model), self._found.get(model.id)
        if known is not None and model.tool_call_rank is None:
            model = replace(model, tool_call_rank=known.whole_rank)
        return model if tier is None else replace(model, tier=tier, supports_tools=tier is Tier.NATIVE)

    async def _look_up(self, models: Sequence[ModelInfo]) -> None:
        """Read what is kept of them: `countersign models check` may have measured one since."""
        for model in models if self._tier is None else ():
            known = await asyncio.to_thread(self._profiles.read, model.id)
            if known is not None:
                self._found[model.id] = known

    def _find_out(self) -> None:
        if self._tier is None and self._is_chosen:
            self._finding = asyncio.create_task(self._find(), name="model-trial")

    async def _find(self) -> None:
        models = await self._inner.models()
        await self._look_up(models)
        try:
            for model in models:
                if self._tier_of(model) is None and (await self._inner.settle()).phase is ModelPhase.READY:
                    await self._try(model)
        finally:
            self._trying = ""

    async def _try(self, model: ModelInfo) -> None:
        def report(tier: Tier, made: int, most: int) -> None:
            self._trying = f"{model.display_name} is tried ({tier.value}): {made} of at most {most} requests"
            _LOG.info("%s", self._trying)

        self._trying = _trying_first(model)
        _LOG.warning("%s; COUNTERSIGN_MODEL_TIER says it instead", self._trying)
        try:
            profile = await try_model(self._inner, model, self._clock, report)
        except (ChatFailure, GatewayError) as error:
            _LOG.warning("%s could not be tried: %s", model.display_name, error.message)
            self._again_at = self._clock.monotonic() + _AGAIN_AFTER
            return
        finally:
            self._trying = ""
        self._found[model.id] = profile
        await asyncio.to_thread(self._profiles.write, profile)
        _LOG.warning("%s: its loop is `%s`, after %d requests", model.display_name, profile.tier.value, profile.requests)


def _trying_first(model: ModelInfo) -> str:
    return f"{model.display_name} is used for the first time: trying which loop it can carry"


async def try_model(backend: StartedBackend, model: ModelInfo, clock: Clock, report: ReportProgress) -> ModelProfile:
    """What trying a model that is ready shows, not kept yet. Raises ChatFailure, GatewayError."""
    chat = BackendChat(backend, model.display_name)
    takes_tools = await backend.takes_tools()
    probe = await probe_tier(chat, takes_tools=takes_tools, context_tokens=model.context_tokens, report=report)
    return ModelProfile(
        id=model.id,
        title=model.display_name,
        tier=probe.tier,
        requests=probe.requests,
        on=rfc3339(clock.now())[:10],
        native=probe.native,
        chained=probe.chained,
    )


@runtime_checkable
class LocalModelBackend(Protocol):
    """What a model on this machine can do besides."""

    async def describe(self) -> None: ...
    async def warm(self, messages: Sequence[Mapping[str, Json]]) -> PrefixState: ...
    def keep_tokens(self) -> Callable[[], TokenIds | None]: ...


class TieredLocalBackend(TieredBackend):
    """The same over a model on this machine."""

    def __init__(
        self, inner: StartedBackend, local: LocalModelBackend, *, tier: Tier | None, profiles: ProfileStore, clock: Clock
    ) -> None:
        super().__init__(inner, tier=tier, profiles=profiles, clock=clock)
        self._local = local

    async def describe(self) -> None:
        """Find out which model it is, and whether its loop is known, without loading it."""
        await self._local.describe()
        self._find_out()

    async def warm(self, messages: Sequence[Mapping[str, Json]]) -> PrefixState:
        """Keep this beginning evaluated. Raises ModelUnavailable while there is no server."""
        return await self._local.warm(messages)

    def keep_tokens(self) -> Callable[[], TokenIds | None]:
        """From now on the server reports token ids; returns the function that takes the last ones."""
        return self._local.keep_tokens()
