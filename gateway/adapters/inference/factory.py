"""From plain settings to a backend: a local model, somebody's server, or none."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from gateway.adapters.inference.absent import AbsentModel
from gateway.adapters.inference.engine import Threads
from gateway.adapters.inference.local import LocalBackend
from gateway.adapters.inference.openai_api import RemoteBackend
from gateway.runtime.ports import Clock, InferenceBackend

NO_MODEL: Final = "none"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What the operator chose. `url` wins over `model`; folders need not exist.

    `model` is a catalogue name, `default`, the path of a file that ends in `.gguf`, or `none`. `origins` are our own, the only
    ones that a browser may read the sidecar from; `threads` None means what fits this machine. In `prompt_cache` a local model
    keeps evaluated prompts for other state folders too.
    """

    model: str
    models: Path
    state: Path
    context_tokens: int = 4096
    threads: Threads | None = None
    llama_server: str = ""
    origins: tuple[str, ...] = ()
    url: str = ""
    url_model: str = ""
    url_key: str = field(default="", repr=False)
    prompt_cache: Path | None = None


class ManagedBackend(InferenceBackend, Protocol):
    """A backend with a life of its own. `start` returns before the model is ready; `state` tells."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...


def build_backend(choice: ModelChoice, clock: Clock) -> ManagedBackend:
    """The backend of a choice, not started yet. Raises Misconfigured for an unusable URL or prompt cache."""
    if choice.url:
        return RemoteBackend(
            choice.url,
            model=choice.url_model,
            key=choice.url_key,
            context_tokens=choice.context_tokens,
            clock=clock,
        )
    if choice.model == NO_MODEL:
        return AbsentModel()
    return LocalBackend(
        choice.model,
        models=choice.models,
        state=choice.state,
        context_tokens=choice.context_tokens,
        threads=choice.threads,
        llama_server=choice.llama_server,
        origins=choice.origins,
        clock=clock,
        prompt_cache=choice.prompt_cache,
    )
