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
from gateway.adapters.inference.context_size import UNPLANNED, ContextPlan, plan_context
from gateway.adapters.inference.engine import Threads, default_threads, find_engine
from gateway.adapters.inference.fetch import is_present, weights_path
from gateway.adapters.inference.gguf import read_head
from gateway.adapters.inference.growing import GrowingServer
from gateway.adapters.inference.memory_pressure import left_memory
from gateway.adapters.inference.openai_api import CHAT, check_path, with_members
from gateway.adapters.inference.prompt_cache import CacheKey, PromptCache
from gateway.adapters.inference.sidecar import Sidecar
from gateway.adapters.inference.sidecar_plan import SidecarPlan
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
    context: ContextPlan = UNPLANNED


@dataclass(frozen=True, slots=True)
class ContextWish:
    """What a context is planned by: tokens that the operator has set, None for as many as fit; the bytes of memory that can still
    be had, None if unknown; and whether all of it is taken at the start."""

    tokens: int | None = None
    available: int | None = None
    preallocate: bool = False

    def plan(self, path: Path, trained: int | None) -> ContextPlan:
        """The plan for a file. One that is missing or does not read gets what every model has."""
        try:
            head, weights = read_head(path), path.stat().st_size
        except (GatewayError, OSError):
            head, weights = None, 0
        most = trained or (None if head is None else head.context_tokens)
        return plan_context(
            head, weights, wanted=self.tokens, trained=most, available=self.available, preallocate=self.preallocate
        )


def named_entry(model: str, models: Path) -> ModelEntry | None:
    """The catalogue's entry for `model`, None when it is the path of a GGUF file. Raises Misconfigured."""
    return None if model.lower().endswith(".gguf") else load_catalog(models).find(model)


def describe_entry(entry: ModelEntry, context: int) -> ModelInfo:
    """What is known of a catalogue model before its file is there."""
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


def identify(model: str, *, models: Path, state: Path, context: ContextWish) -> Weights:
    """The file that `model` names, with its digest checked or, for a path, taken. Reads the file whole the first time.

    Raises ModelUnavailable when it is not there, Misconfigured when it is no model.
    """
    entry = named_entry(model, models)
    if entry is None:
        return _identify_file(expand(model), state, context)
    if not is_present(entry, models):
        raise ModelUnavailable(
            f"{entry.title} is not on this machine; run `countersign models fetch {entry.name}`", ModelPhase.ABSENT
        )
    path = weights_path(entry, models)
    plan = context.plan(path, entry.context_tokens)
    return Weights(path, describe_entry(entry, plan.largest), entry.repack, entry.template_flags, plan)


def _identify_file(path: Path, state: Path, context: ContextWish) -> Weights:
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
    plan = context.plan(path, head.context_tokens)
    info = ModelInfo(
        id=f"{sha256}:{head.arch}",
        display_name=head.name or path.stem,
        arch=head.arch,
        context_tokens=plan.largest,
        output_tokens=min(OUTPUT_TOKENS, plan.largest),
        backend=BACKEND,
        quantisation=head.quantisation,
        # Examples and a schema work with any model; declared tools only with some. A catalogue entry of one's own can say so.
        supports_tools=False,
        licence=head.licence,
        local=True,
        approx_peak_ram_bytes=peak,
    )
    return Weights(path, info, repack=True, context=plan)


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
        context_tokens: int | None,
        threads: Threads | None,
        llama_server: str,
        origins: tuple[str, ...],
        clock: Clock,
        sandbox: SandboxPreference | None,
        prompt_cache: Path | None = None,
        llama_server_arguments: tuple[str, ...] = (),
        preallocate: bool = False,
        template: str = "",
    ) -> None:
        """`context_tokens` None takes as many as model and memory allow; with `preallocate` all of them at the start. `sandbox`
        None runs the server unconfined. `prompt_cache` is a folder for evaluated prompts that outlive `state`,
        `template` the text of a chat template in place of the weights' own.

        Raises Misconfigured for an unfit `prompt_cache`.
        """
        self._model = model
        self._models = models
        self._state_folder = state
        # Looked at once, so that the model is the same whenever it is loaded.
        self._context = ContextWish(context_tokens, left_memory(), preallocate)
        self._threads = threads or default_threads()
        self._llama_server = llama_server
        self._llama_server_arguments = llama_server_arguments
        self._origins = origins
        self._clock = clock
        self._sandbox = sandbox
        self._template = template
        self._state = ModelState(ModelPhase.STOPPED, "the model server has not been started")
        self._preparing: asyncio.Task[None] | None = None
        self._info: ModelInfo | None = None
        self._weights: Weights | None = None
        self._cache = None if prompt_cache is None else PromptCache(prompt_cache)
        self._keeper: TokenKeeper | None = None
        self._sidecar: Sidecar | None = None
        self._growing: GrowingServer | None = None

    async def start(self) -> None:
        """Begin: check the weights, find the server, start it."""
        entry = named_entry(self._model, self._models)
        self._info = None if entry is None else await asyncio.to_thread(self._describe, entry)
        self._state = ModelState(ModelPhase.STARTING, "the model file is being checked")
        self._preparing = asyncio.create_task(self._prepare(), name="model-preparation")

    async def describe(self) -> None:
        """Find out which model it is without loading it; reads a file whole the first time."""
        try:
            entry = named_entry(self._model, self._models)
            if entry is not None:
                self._info = await asyncio.to_thread(self._describe, entry)
                return
            weights = await asyncio.to_thread(self._identify)
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
        growing, self._growing = self._growing, None
        if growing is not None:
            await growing.close()
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
        return mentions_tools(self._template or await asyncio.to_thread(read_chat_template, self._weights.path))

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
        self._running()
        assert self._growing is not None, "it is made with the sidecar"
        server = self._growing
        if path == CHAT and self._weights is not None and self._weights.template_flags:
            # In place of what the client says: which family this is, the catalogue knows.
            body = with_members(body, {"chat_template_kwargs": dict(self._weights.template_flags)})
        request = server.ask(path, body) if self._keeper is None else self._keeper.ask(server, path, body)
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
            context_tokens=sidecar.context_tokens,
        )

    async def _prepare(self) -> None:
        try:
            weights = await asyncio.to_thread(self._identify)
            engine = await asyncio.to_thread(find_engine, self._llama_server, arguments=self._llama_server_arguments)
            if self._template and not engine.takes_template:
                raise Misconfigured(f"the model server `{engine.name}` takes no chat template; use a newer build of llama.cpp")
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
            context_tokens=weights.context.start,
            threads=self._threads,
            repack=weights.repack,
            origins=self._origins,
            template=self._template,
        )
        self._sidecar = Sidecar(plan, engine, clock=self._clock, sandbox=sandbox)
        self._growing = GrowingServer(self._sidecar, weights.context)
        await self._sidecar.start()

    def _describe(self, entry: ModelEntry) -> ModelInfo:
        return describe_entry(entry, self._context.plan(weights_path(entry, self._models), entry.context_tokens).largest)

    def _identify(self) -> Weights:
        return identify(self._model, models=self._models, state=self._state_folder, context=self._context)

    def _choose_sandbox(self) -> Sandbox | None:
        return None if self._sandbox is None else choose_confinement(self._sandbox, self._state_folder)
