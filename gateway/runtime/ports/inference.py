"""The models that can be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from gateway.core.vocabulary import Tier


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that can be asked, in the words of docs/PROTOCOL.md section 4."""

    id: str
    display_name: str
    arch: str
    context_tokens: int
    output_tokens: int
    backend: str
    quantisation: str
    supports_tools: bool
    licence: str
    local: bool
    tool_call_rank: int | None = None
    approx_peak_ram_bytes: int | None = None
    tier: Tier | None = None
    """The loop that it can carry; None as long as nobody has found out."""

    sees_images: bool = False
    trouble: str = ""
    """Why it would not answer now, as far as is known; empty where nothing is wrong."""


class ModelPhase(StrEnum):
    """The state of the sidecar, for people and for `/readyz`."""

    ABSENT = "absent"
    STARTING = "starting"
    READY = "ready"
    CRASHED = "crashed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ModelState:
    """The phase and one sentence that says what to do about it."""

    phase: ModelPhase
    detail: str


class InferenceStream(Protocol):
    """An upstream answer under way."""

    @property
    def status(self) -> int: ...
    @property
    def content_type(self) -> str: ...
    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives. Closing the surrounding context aborts generation upstream."""
        ...


@runtime_checkable
class IncompleteBackend(Protocol):
    """A backend of several models that knows which are configured and not there: each by its name, with the reason."""

    async def missing(self) -> Sequence[tuple[str, str]]: ...


class InferenceBackend(Protocol):
    """The models that can be asked."""

    async def models(self) -> Sequence[ModelInfo]: ...
    def state(self) -> ModelState: ...
    def ask(self, path: str, body: bytes) -> AbstractAsyncContextManager[InferenceStream]:
        """POST an OpenAI-shaped body to `/v1/…`. Raises ModelUnavailable."""
        ...
