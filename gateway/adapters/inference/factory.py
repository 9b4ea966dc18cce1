"""From plain settings to a backend: a local model, somebody's server, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from gateway.adapters.inference.absent import AbsentModel
from gateway.adapters.inference.chat_template import read_template_file
from gateway.adapters.inference.engine import Threads
from gateway.adapters.inference.presets import preset_of
from gateway.core.canonical import Json
from gateway.core.vocabulary import Tier
from gateway.runtime.ports import Clock, InferenceBackend, ModelInfo, ModelState
from gateway.sandbox.job import SandboxPreference

if TYPE_CHECKING:
    from gateway.adapters.inference.profiles import ProfileStore
    from gateway.adapters.inference.remote import RemoteBackend
    from gateway.adapters.inference.warm_prefix import PrefixState
    from gateway.agent.trajectory import TokenIds

NO_MODEL: Final = "none"
STUB_MODEL: Final = "stub"
"""Fixed rules in place of weights."""

WEIGHTLESS: Final = frozenset({NO_MODEL, STUB_MODEL})
"""What is neither in the catalogue nor a file."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What the operator chose. `url` wins over `model`; folders need not exist.

    `model` is a catalogue name, `default`, the path of a file that ends in `.gguf`, `PRESET/NAME`, `stub` or `none`. `origins`
    are our own, the only ones that a browser may read the sidecar from; `threads` None means what fits this machine. In
    `prompt_cache` a local model keeps evaluated prompts for other state folders too. `sandbox` confines a local model's server;
    None does not. `tier` is the loop that the model gets, None for the one that it can carry. `keys` are those of the presets'
    own variables, by preset: a server gets no key but its own.
    `other_models`, named like `model`, can be chosen beside the first one. `template` is a file with a chat template for a local
    first model, in place of the weights' own.
    """

    model: str
    models: Path
    state: Path
    context_tokens: int | None = None
    sees_images: bool | None = None
    preallocate: bool = False
    threads: Threads | None = None
    llama_server: str = ""
    llama_server_arguments: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    url: str = ""
    url_model: str = ""
    url_key: str = field(default="", repr=False)
    keys: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    prompt_cache: Path | None = None
    sandbox: SandboxPreference | None = SandboxPreference.AUTO
    tier: Tier | None = None
    other_models: tuple[str, ...] = ()
    template: Path | None = None

    def others(self) -> list[ModelChoice]:
        """A choice for each further model, `none` left out."""
        return [
            replace(self, model=model, url="", url_model="", url_key="", tier=None, other_models=(), template=None)
            for model in dict.fromkeys(self.other_models)
            if model not in (NO_MODEL, "" if self.url else self.model)
        ]


class ManagedBackend(InferenceBackend, Protocol):
    """A backend that is started and stopped. `start` returns before the model is ready; `state` reports when it is."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...


@runtime_checkable
class WarmingBackend(Protocol):
    """A backend that can evaluate in advance what every conversation begins with: a local model."""

    async def settle(self) -> ModelState: ...
    async def warm(self, messages: Sequence[Mapping[str, Json]]) -> PrefixState: ...


@runtime_checkable
class TriedBackend(Protocol):
    """A backend that finds out which loop its model carries."""

    async def tried(self) -> None: ...


@runtime_checkable
class LazilyTriedBackend(Protocol):
    """The same, once somebody chooses its model."""

    async def choose(self) -> None: ...


@runtime_checkable
class ChosenBackend(Protocol):
    """A backend of several models: readies the one that somebody chooses, and says which are configured and not there."""

    async def choose(self, model_id: str) -> None: ...
    async def missing(self) -> Sequence[tuple[str, str]]: ...


@runtime_checkable
class TokenKeepingBackend(Protocol):
    """A backend that knows the token ids of an answer: a local model."""

    def keep_tokens(self) -> Callable[[], TokenIds | None]: ...


@runtime_checkable
class LoadableBackend(Protocol):
    """A backend that takes a model into this machine's memory, and can say before which one."""

    async def describe(self) -> None: ...
    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def settle(self) -> ModelState: ...
    async def models(self) -> Sequence[ModelInfo]: ...
    def state(self) -> ModelState: ...
    async def warm(self, messages: Sequence[Mapping[str, Json]]) -> PrefixState: ...
    def keep_tokens(self) -> Callable[[], TokenIds | None]: ...


def remote_backend(choice: ModelChoice, clock: Clock) -> RemoteBackend:
    """The backend of a choice whose model is behind a URL. Raises Misconfigured."""
    from gateway.adapters.inference.remote import RemoteBackend

    preset, name = ("", choice.url_model) if choice.url else preset_of(choice.model) or ("", "")
    key = choice.keys.get(preset, "") if preset else choice.url_key
    return RemoteBackend(
        choice.url,
        model=name,
        key=key,
        context_tokens=choice.context_tokens,
        clock=clock,
        preset=preset,
        sees_images=choice.sees_images,
    )


def build_backend(choice: ModelChoice, clock: Clock) -> ManagedBackend:
    """The backend of the first model of a choice, not started yet. Raises Misconfigured for an unusable URL or prompt cache."""
    # Imported when chosen: both bring an HTTP client, 7 MB for a gateway without a model.
    if choice.url or preset_of(choice.model):
        return remote_backend(choice, clock)
    if choice.model == NO_MODEL:
        return AbsentModel()
    if choice.model == STUB_MODEL:
        from gateway.adapters.inference.stub import stub_backend

        return stub_backend()
    from gateway.adapters.inference.local import LocalBackend

    return LocalBackend(
        choice.model,
        models=choice.models,
        state=choice.state,
        context_tokens=choice.context_tokens,
        threads=choice.threads,
        llama_server=choice.llama_server,
        llama_server_arguments=choice.llama_server_arguments,
        origins=choice.origins,
        clock=clock,
        sandbox=choice.sandbox,
        prompt_cache=choice.prompt_cache,
        preallocate=choice.preallocate,
        template=_template_of(choice),
    )


def tiered(backend: ManagedBackend, choice: ModelChoice, clock: Clock, *, once_chosen: bool = False) -> ManagedBackend:
    """The backend, whose model gets the loop that is set, known, or found out at its first use.

    That of a remote one is the start, with `once_chosen` its first question. Rules in place of weights have their loop.
    """
    if choice.model in WEIGHTLESS and not choice.url:
        return backend
    # Its module tries models with the whole loop, and a gateway without a model needs neither.
    from gateway.adapters.inference.local import LocalBackend
    from gateway.adapters.inference.tiered import TieredBackend, TieredLocalBackend, TriableBackend

    profiles = profiles_of(choice)
    if isinstance(backend, LocalBackend):
        return TieredLocalBackend(backend, backend, tier=choice.tier, profiles=profiles, clock=clock)
    if isinstance(backend, TriableBackend):
        return TieredBackend(backend, tier=choice.tier, profiles=profiles, clock=clock, once_chosen=once_chosen)
    return backend


def profiles_of(choice: ModelChoice) -> ProfileStore:
    """Where what was found out about the models of a choice is kept."""
    from gateway.adapters.inference.profiles import ProfileStore

    return ProfileStore(choice.state, _template_of(choice))


def _template_of(choice: ModelChoice) -> str:
    """The chat template that is set for a local model, empty for the weights' own. Raises Misconfigured."""
    is_remote = choice.url or preset_of(choice.model) or choice.model in WEIGHTLESS
    return "" if choice.template is None or is_remote else read_template_file(choice.template)


def build_models(choice: ModelChoice, clock: Clock) -> ManagedBackend:
    """All models of a choice as one backend, each with its loop, not started yet. Raises Misconfigured."""
    has_first = bool(choice.url) or choice.model != NO_MODEL
    # Trying a model costs requests, which somebody may pay for: those that nobody chose are not tried.
    built = [
        tiered(build_backend(each, clock), each, clock, once_chosen=place > (0 if has_first else 1))
        for place, each in enumerate((choice, *choice.others()))
    ]
    names = [each.url or each.model for each in (choice, *choice.others())]
    there = [(name, member) for name, member in zip(names, built, strict=True) if not isinstance(member, AbsentModel)]
    members = [member for _, member in there] or built
    if len(members) == 1 and not isinstance(members[0], LoadableBackend):
        return members[0]
    # One local model is a set too: it is unloaded when memory is short.
    from gateway.adapters.inference.model_set import ModelSet

    return ModelSet(members, names=[name for name, _ in there])
