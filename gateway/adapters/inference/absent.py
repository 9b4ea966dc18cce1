"""No model at all: the gateway works without one, and reports that to a caller that asks for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import InferenceStream, ModelInfo, ModelPhase, ModelState

_DETAIL = "this gateway runs without a model; set COUNTERSIGN_MODEL or COUNTERSIGN_MODEL_URL and start it again"


class AbsentModel:
    """The InferenceBackend port where `model` is `none`."""

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Nothing to stop."""

    async def models(self) -> Sequence[ModelInfo]:
        """None."""
        return ()

    def state(self) -> ModelState:
        """Absent, and what to do about it."""
        return ModelState(ModelPhase.ABSENT, _DETAIL)

    def ask(self, path: str, body: bytes) -> AbstractAsyncContextManager[InferenceStream]:
        """Raises ModelUnavailable."""
        raise ModelUnavailable(_DETAIL, ModelPhase.ABSENT.value)
