"""A model on this machine: weights that were identified, and the sidecar that runs them."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gateway.adapters.inference.catalog import ModelEntry, expand, load_catalog
from gateway.adapters.inference.chat_template import mentions_tools, read_chat_template
from gateway.adapters.inference.confinement import choose_confinement
from gateway.adapters.inference.engine import Threads, default_threads, find_engine
from gateway.adapters.inference.fetch import is_present, weights_path
from gateway.adapters.inference.gguf import read_head
from gateway.adapters.inference.openai_api import CHAT, check_path, with_members
from gateway.adapters.inference.prompt_cache import CacheKey, PromptCache
from gateway.adapters.inference.sidecar import Sidecar, SidecarPlan
from gateway.adapters.inference.tokens import TokenKeeper
from gateway.adapters.inference.warm_prefix import PrefixState, closed
from gateway.adapters.inference.weights import known_digest
from gateway.agent.trajectory import TokenIds
from gateway.core.canonical import Json
from gateway.core.errors import GatewayError, Misconfigured, ModelUnavailable
from gateway.core.vocabulary import Tier
from gateway.runtime.ports import Clock, InferenceStream, ModelInfo, ModelPhase, ModelState
from gateway.sandbox.job import Sandbox, SandboxPreference

FOLDER: Final = "inference"
"""Inside the state folder, private to the sidecar."""

BACKEND: Final = "llama.cpp"

UNTOLD_CONTEXT: Final = 4096
"""For a file that does not say what it was trained for."""

OUTPUT_TOKENS: Final = 1024

CACHE_DTYPE: Final = "f16"
"""The type in which llama.cpp's server keeps keys and values by default; no setting here changes it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file whose digest is known."""

    path: Path
    info: ModelInfo
    repack: bool
    template_flags: Mapping[str, bool] = field(default_factory=dict[str, bool])


def named_entry(model: str, models: Path) -> ModelEntry | None:
    """The catalogue's entry for `model`, None when it is the path of a GGUF file. Raises Misconfigured."""
    return None if model.lower().endswith(".gguf") else load_catalog(models).find(model)


def describe_entry(entry: ModelEntry, context_tokens: int) -> ModelInfo:
    """What is known of a catalogue model before its file is there."""
    context = min(context_tokens, entry.context_tokens)
    return ModelInfo(
        id=entry.id,
        display_name=entry.title,
        arch=entry.arch,
        context_tokens=context,
        output_tokens=min(entry.output_tokens, context),
        backend=BACKEND,
        quantisation=entry.quantisation,
        supports_tools=entry.tier is Tier.NATIVE,
        licence=entry.licence,
        local=True,
        tool_call_rank=entry.tool_call_rank,
        approx_peak_ram_bytes=entry.approx_peak_ram_bytes,
        tier=entry.tier,
    )


def identify(model: str, *, models: Path, state: Path, context_tokens: int) -> Weights:
    """The file that `model` names, with its digest checked or, for a path, taken. Reads the file whole the first time.

    Raises ModelUnavailable when it is not there, Misconfigured when it is no model.
    """
    entry = named_entry(model, models)
    if entry is None:
        return _identify_file(expand(model), state, context_tokens)
    if not is_present(entry, models):
        raise ModelUnavailable(
            f"{entry.title} is not on this machine; run `countersign models fetch {entry.name}`", ModelPhase.ABSENT
        )
    return Weights(weights_path(entry, models), describe_entry(entry, context_tokens), entry.repack, entry.template_flags)


def _identify_file(path: Path, state: Path, context_tokens: int) -> Weights:
    head = read_head(path)
    try:
        path = path.resolve(strict=True)
        # Beside the state, for the file may lie where nothing can be written.
        stamps = state / FOLDER / "stamps"
        stamps.mkdir(parents=True, exist_ok=True)
        sha256 = known_digest(path, stamps / hashlib.sha256(str(path).encode()).hexdigest())
        peak = path.stat().st_size * 3 // 2
    except OSError as error:
        raise Misconfigured(f"the model file `{path.name}` cannot be read: {error.strerror}") from None
    context = min(context_tokens, head.context_tokens or UNTOLD_CONTEXT)
    info = ModelInfo(
        id=f"{sha256}:{head.arch}",
        display_name=head.name or path.stem,
        arch=head.arch,
        context_tokens=context,
        output_tokens=min(OUTPUT_TOKENS, context),
        backend=BACKEND,
        quantisation=head.quantisation,
        # Examples and a schema work with any model; declared tools only with some. A catalogue entry of one's own can say so.
        supports_tools=False,
        licence=head.licence,
        local=True,
        approx_peak_ram_bytes=peak,
    )
    return Weights(path, info, repack=True)


@dataclass(frozen=True, slots=True)
class _CachedPrefix:
    """The PrefixStore port: one place in a prompt cache."""

    cache: PromptCache
    key: CacheKey

    def fetch(self, into: Path) -> bool:
        return self.cache.fetch(self.key, into)

    def store(self, saved: Path) -> None:
        self.cache.store(self.key, saved)


class LocalBackend:
    """The InferenceBackend port over a supervised sidecar. `start` returns at once; weights are checked meanwhile."""

    def __init__(
        self,
        model: str,
        *,
        models: Path,
        state: Path,
        context_tokens: int,
        threads: Threads | None,
        llama_server: str,
        origins: tuple[str, ...],
        clock: Clock,
        sandbox: SandboxPreference | None,
        prompt_cache: Path | None = None,
        llama_server_arguments: tuple[str, ...] = (),
    ) -> None:
        """`sandbox` None runs the server unconfined. `prompt_cache` is a folder for evaluated prompts that outlive `state`.

        Raises Misconfigured for an unfit `prompt_cache`.
        """
        self._model = model
        self._models = models
        self._state_folder = state
        self._context_tokens = context_tokens
        self._threads = threads or default_threads()
        self._llama_server = llama_server
        self._llama_server_arguments = llama_server_arguments
        self._origins = origins
        self._clock = clock
        self._sandbox = sandbox
        self._state = ModelState(ModelPhase.STOPPED, "the model server has not been started")
        self._preparing: asyncio.Task[None] | None = None
        self._info: ModelInfo | None = None
        self._weights: Weights | None = None
        self._cache = None if prompt_cache is None else PromptCache(prompt_cache)
        self._keeper: TokenKeeper | None = None
        self._sidecar: Sidecar | None = None

    async def start(self) -> None:
        """Begin: check the weights, find the server, start it."""
        entry = named_entry(self._model, self._models)
        self._info = None if entry is None else describe_entry(entry, self._context_tokens)
        self._state = ModelState(ModelPhase.STARTING, "the model file is being checked")
        self._preparing = asyncio.create_task(self._prepare(), name="model-preparation")

    async def describe(self) -> None:
        """Find out which model it is without loading it; reads a file whole the first time."""
        try:
            entry = named_entry(self._model, self._models)
            if entry is not None:
                self._info = describe_entry(entry, self._context_tokens)
                return
            weights = await asyncio.to_thread(
                identify, self._model, models=self._models, state=self._state_folder, context_tokens=self._context_tokens
            )
            self._info = weights.info
        except GatewayError as error:
            self._state = ModelState(ModelPhase.ABSENT, error.message)

    async def settle(self) -> ModelState:
        """Wait until the model is ready, absent, or given up."""
        if self._preparing is not None:
            await asyncio.wait({self._preparing})
        return self._state if self._sidecar is None else await self._sidecar.settle()

    async def stop(self) -> None:
        """End the sidecar. Safe to call twice."""
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.wait({self._preparing})
        sidecar, self._sidecar = self._sidecar, None
        if sidecar is not None:
            await sidecar.stop()
        self._state = ModelState(ModelPhase.STOPPED, "the model server is stopped")

    async def models(self) -> Sequence[ModelInfo]:
        """The one model. For a file, once its digest is known."""
        if self._info is None and self._preparing is not None:
            await asyncio.wait({self._preparing})
        return () if self._info is None else (self._info,)

    async def takes_tools(self) -> bool:
        """Whether the chat template has a place for declared tools. Raises Misconfigured."""
        if self._weights is None:
            return False
        return mentions_tools(await asyncio.to_thread(read_chat_template, self._weights.path))

    def state(self) -> ModelState:
        """The state now."""
        return self._state if self._sidecar is None else self._sidecar.state()

    async def warm(self, messages: Sequence[Mapping[str, Json]]) -> PrefixState:
        """Keep the beginning that all conversations share evaluated, from the prompt cache if there is one.

        Raises ModelUnavailable while there is no server.
        """
        sidecar, cache = self._running(), self._cache
        store = None if cache is None else _CachedPrefix(cache, await self._cache_key(sidecar, messages))
        return await sidecar.warm(messages, store)

    def keep_tokens(self) -> Callable[[], TokenIds | None]:
        """From now on the server reports the token ids of each chat; returns the function that takes the last ones."""
        self._keeper = self._keeper or TokenKeeper()
        return self._keeper.take

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        """POST to the sidecar; leaving stops its generation. Raises ModelUnavailable."""
        check_path(path)
        sidecar = self._running()
        if path == CHAT and self._weights is not None and self._weights.template_flags:
            # In place of what the client says: which family this is, the catalogue knows.
            body = with_members(body, {"chat_template_kwargs": dict(self._weights.template_flags)})
        request = sidecar.ask(path, body) if self._keeper is None else self._keeper.ask(sidecar, path, body)
        async with request as answer:
            yield answer

    def _running(self) -> Sidecar:
        if self._sidecar is None:
            raise ModelUnavailable(self._state.detail, self._state.phase)
        return self._sidecar

    async def _cache_key(self, sidecar: Sidecar, messages: Sequence[Mapping[str, Json]]) -> CacheKey:
        weights = self._weights
        assert weights is not None, "there is a sidecar, so there are weights"
        facts, prompt = await sidecar.facts(), await sidecar.render(closed(messages))
        try:
            head, seen = await asyncio.to_thread(lambda: (read_head(weights.path), weights.path.stat()))
        except OSError as error:
            raise Misconfigured(f"the model file `{weights.path.name}` cannot be read: {error.strerror}") from None
        return CacheKey(
            model=weights.info.display_name,
            weights=weights.info.id,
            weights_bytes=seen.st_size,
            weights_mtime=seen.st_mtime_ns,
            prompt=prompt,
            vocab=facts.vocab,
            layers=head.layers or 0,
            dtype=f"{weights.info.quantisation}, cache {CACHE_DTYPE}, repacked {weights.repack}",
            build=facts.build,
            context_tokens=weights.info.context_tokens,
        )

    async def _prepare(self) -> None:
        try:
            weights = await asyncio.to_thread(
                identify, self._model, models=self._models, state=self._state_folder, context_tokens=self._context_tokens
            )
            engine = await asyncio.to_thread(find_engine, self._llama_server, arguments=self._llama_server_arguments)
            sandbox = await asyncio.to_thread(self._choose_sandbox)
        except GatewayError as error:
            self._state = ModelState(ModelPhase.ABSENT, error.message)
            return
        self._info = weights.info
        self._weights = weights
        plan = SidecarPlan(
            weights=weights.path,
            weights_id=weights.info.id,
            folder=self._state_folder / FOLDER,
            context_tokens=weights.info.context_tokens,
            threads=self._threads,
            repack=weights.repack,
            origins=self._origins,
        )
        self._sidecar = Sidecar(plan, engine, clock=self._clock, sandbox=sandbox)
        await self._sidecar.start()

    def _choose_sandbox(self) -> Sandbox | None:
        return None if self._sandbox is None else choose_confinement(self._sandbox, self._state_folder)
