"""A model behind a URL: a server that an operator names, or one of the presets."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import SplitResult, urlsplit

from gateway.adapters.inference.openai_api import Upstream, check_path, with_members
from gateway.adapters.inference.presets import PRESETS
from gateway.adapters.inference.reach import LONGEST_NAME, ask_what_is_there, is_name, words_of
from gateway.adapters.inference.served_context import ServedContext, ask_context
from gateway.adapters.inference.served_sight import ask_sight
from gateway.core.errors import Misconfigured, ModelUnavailable
from gateway.runtime.ports import Clock, InferenceStream, ModelInfo, ModelPhase, ModelState

LIST_AGAIN_SECONDS: Final = 10.0
"""Between two attempts to learn what an unreachable server offers, so that nobody waits for it on every page."""

REMOTE_OUTPUT_TOKENS: Final = 4096
_LONGEST_HOST: Final = 64
"""Part of an id, which has at most 200 characters."""


class RemoteBackend:
    """The InferenceBackend port over a server that an operator names. Its models count as remote, on this machine too.

    Which server answers at a URL, even on loopback, is not known here; weights have no digest, so `id` names host and model.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str,
        key: str,
        clock: Clock,
        context_tokens: int | None = None,
        preset: str = "",
        sees_images: bool | None = None,
    ) -> None:
        """`url` with or without its `/v1`; an empty `model` takes the first one that the server lists. With the name of a
        `preset`, its URL is used. `context_tokens` and `sees_images` are what the operator has set, None for what the server
        says."""
        self._preset_name = preset
        self._preset = PRESETS[preset] if preset else None
        url = url if self._preset is None else self._preset.url
        parts = _split(url)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise Misconfigured("COUNTERSIGN_MODEL_URL must be a base URL like http://localhost:11434/v1")
        if parts.username is not None or parts.password is not None:
            raise Misconfigured("COUNTERSIGN_MODEL_URL must not hold a password; set COUNTERSIGN_MODEL_KEY")
        if not is_name(model):
            raise Misconfigured(f"a model's name is at most {LONGEST_NAME} characters that can be seen")
        self._host = parts.netloc
        self._model = model
        self._context_tokens = context_tokens
        self._clock = clock
        self._key = key
        words = None if self._preset is None else words_of(self._preset)
        self._upstream = Upstream(url.rstrip("/").removesuffix("/v1"), key=key, keep_alive=True, words=words)
        self._info: ModelInfo | None = None
        self._context = ServedContext()
        self._wants_images = sees_images
        self._sees_images = bool(sees_images)
        self._has_answered = False
        self._is_missing = False
        self._asked_at: float | None = None
        self._state = ModelState(ModelPhase.STARTING, f"the model server at {self._host} has not been asked yet")

    async def start(self) -> None:
        """Make ready, and learn what the server offers if it answers now."""
        await self._upstream.open()
        await self._learn()

    async def stop(self) -> None:
        """Close every connection."""
        await self._upstream.close()
        self._state = ModelState(ModelPhase.STOPPED, "the gateway is stopping")

    async def models(self) -> Sequence[ModelInfo]:
        """The one model; nothing while an unnamed one cannot be learned."""
        # Some load a model when it is first asked, and can say only then what they serve it with.
        if self._state.phase is not ModelPhase.READY or (self._has_answered and self._context.served is None):
            await self._learn()
        if self._info is not None:
            return (replace(self._info, trouble=self._trouble_now()),)
        return (self._describe(self._model),) if self._model and not self._is_missing else ()

    async def settle(self) -> ModelState:
        """As of the last question: a server that does not answer now is not waited for."""
        return self._state

    async def takes_tools(self) -> bool:
        """Servers of this kind take them; what their models make of them is another matter."""
        return True

    def state(self) -> ModelState:
        """As of the last question."""
        return self._state

    @property
    def serves(self) -> ServedContext:
        """What the server said about the model's context."""
        return self._context

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """POST with the server's own name for the model. Raises ModelUnavailable."""
        check_path(path)
        models = await self.models()
        if not models:
            raise ModelUnavailable(self._state.detail, self._state.phase)
        try:
            async with self._upstream.ask(path, with_members(body, {"model": models[0].display_name})) as answer:
                self._state = ModelState(ModelPhase.READY, "")
                yield answer
                self._has_answered = True
        except ModelUnavailable as error:
            self._state = self._trouble(error)
            raise

    async def _learn(self) -> None:
        now = self._clock.monotonic()
        if self._asked_at is not None and now - self._asked_at < LIST_AGAIN_SECONDS:
            return
        self._asked_at = now
        reached = await ask_what_is_there(self._upstream, self._model, preset=self._preset, key=self._key)
        if reached.phase is not ModelPhase.READY:
            self._state = ModelState(reached.phase, f"{self._host}: {reached.detail}")
            if reached.offers:
                # It answered, and the model is not there: nothing to offer.
                self._info, self._is_missing = None, True
            return
        self._is_missing = False
        offer = reached.offers.get(reached.model, {})
        self._context = await ask_context(self._upstream, reached.model, offer, self._preset_name)
        if self._wants_images is None:
            self._sees_images = await ask_sight(self._upstream, reached.model, offer, self._preset_name)
        # Once is enough for a server that does not say it even of a model that has answered.
        self._has_answered = False
        self._info = self._describe(reached.model)
        self._state = ModelState(ModelPhase.READY, "")

    def _trouble(self, error: ModelUnavailable) -> ModelState:
        return ModelState(ModelPhase(error.state), f"{self._host}: {error.message}")

    def _trouble_now(self) -> str:
        """Why the server did not answer the last time, so that its model is not chosen in the belief that it does."""
        return self._state.detail if self._state.phase in (ModelPhase.ABSENT, ModelPhase.CRASHED) else ""

    def _describe(self, name: str) -> ModelInfo:
        context = self._context.tokens(self._context_tokens)
        return ModelInfo(
            id=f"remote:{self._host[:_LONGEST_HOST]}:{name}",
            display_name=name,
            arch="unknown",
            context_tokens=context,
            output_tokens=min(REMOTE_OUTPUT_TOKENS, context),
            backend="openai-compatible",
            quantisation="unknown",
            supports_tools=True,
            licence="unknown",
            local=False,
            sees_images=self._sees_images,
            trouble=self._trouble_now(),
        )


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        # Raises for a name that could not be looked up.
        (parts.hostname or "").encode("idna")
        return None if parts.port == 0 else parts
    except ValueError:
        return None
