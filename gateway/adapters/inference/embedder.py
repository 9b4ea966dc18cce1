"""Vectors of texts, from a sentence model on this machine: its server runs while somebody asks and a little longer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from gateway.adapters.inference.sentence_file import SHA256, find_sentence_model
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import Clock, ModelPhase

if TYPE_CHECKING:
    from gateway.adapters.inference.factory import ModelChoice
    from gateway.adapters.inference.sidecar import Sidecar

FOLDER: Final = "embedding"
"""Inside the state folder, private to the server."""

IDLE_SECONDS: Final = 60.0
"""How long the server is kept after the last text; starting it takes a tenth of a second."""

START_SECONDS: Final = 30.0
ASK_SECONDS: Final = 30.0

CONTEXT_TOKENS: Final = 512


class LocalEmbedder:
    """The TextEmbedder port. Starts nothing until it is asked."""

    def __init__(self, weights: Path, choice: ModelChoice, clock: Clock, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._weights = weights
        self._choice = choice
        self._clock = clock
        self._idle_seconds = idle_seconds
        self.start_seconds = START_SECONDS
        self._lock = asyncio.Lock()
        self._sidecar: Sidecar | None = None
        self._ending: asyncio.TimerHandle | None = None
        self._ended: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        """The digest of the weights: vectors of another model cannot be compared with these."""
        return SHA256

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of length one for each text. Raises ModelUnavailable, also for a text of more than 512 tokens."""
        async with self._lock:
            if self._ending is not None:
                self._ending.cancel()
            try:
                async with asyncio.timeout(self.start_seconds + ASK_SECONDS):
                    return await self._ask(texts)
            except TimeoutError:
                raise ModelUnavailable("the sentence model does not answer", ModelPhase.CRASHED) from None
            finally:
                self._ending = asyncio.get_running_loop().call_later(self._idle_seconds, self._end_later)

    async def close(self) -> None:
        """End the server."""
        if self._ending is not None:
            self._ending.cancel()
        async with self._lock:
            await self._end()

    async def _ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        sidecar = self._sidecar or await self._begin()
        async with asyncio.timeout(self.start_seconds):
            state = await sidecar.settle()
        if state.phase is not ModelPhase.READY:
            raise ModelUnavailable(state.detail, state.phase)
        match await sidecar.post_json("/v1/embeddings", {"input": list(texts), "encoding_format": "float"}):
            case 200, {"data": [*entries]} if len(entries) == len(texts):
                vectors = [cast("dict[str, Any]", entry)["embedding"] for entry in entries]
                return [[float(each) for each in vector] for vector in vectors]
            case _:
                raise ModelUnavailable("the sentence model does not take these texts", ModelPhase.READY)

    async def _begin(self) -> Sidecar:
        # Brings an HTTP client; whoever never searches does without.
        from gateway.adapters.inference.confinement import choose_confinement
        from gateway.adapters.inference.engine import default_threads, find_engine
        from gateway.adapters.inference.sidecar import Sidecar
        from gateway.adapters.inference.sidecar_plan import SidecarPlan

        choice = self._choice
        engine = await asyncio.to_thread(find_engine, choice.llama_server)
        sandbox = None if choice.sandbox is None else await asyncio.to_thread(choose_confinement, choice.sandbox, choice.state)
        plan = SidecarPlan(
            weights=self._weights,
            weights_id=SHA256,
            folder=choice.state / FOLDER,
            context_tokens=CONTEXT_TOKENS,
            threads=choice.threads or default_threads(),
            repack=False,
            origins=choice.origins,
            embeds=True,
        )
        self._sidecar = Sidecar(plan, engine, clock=self._clock, sandbox=sandbox)
        await self._sidecar.start()
        return self._sidecar

    def _end_later(self) -> None:
        self._ended = asyncio.create_task(self.close(), name="embedder-end")

    async def _end(self) -> None:
        sidecar, self._sidecar = self._sidecar, None
        if sidecar is not None:
            await sidecar.stop()


def build_embedder(choice: ModelChoice, clock: Clock) -> LocalEmbedder | None:
    """The embedder, None where its model was not fetched."""
    weights = find_sentence_model(choice.models)
    return None if weights is None else LocalEmbedder(weights, choice, clock)


async def close_embedder(embedder: LocalEmbedder | None) -> None:
    """End its server, if there is one."""
    if embedder is not None:
        await embedder.close()
