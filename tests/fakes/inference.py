"""A model that is there and says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import InferenceStream, ModelInfo, ModelPhase, ModelState

TINY = ModelInfo("w:tiny", "Tiny", "tiny", 4096, 512, "local-cpu", "q4_k_m", False, "Apache-2.0", True)
REMOTE = ModelInfo("remote:big", "Big", "big", 4096, 512, "remote-openai", "fp16", True, "", False)


class SilentBackend:
    """The InferenceBackend port, for tests that need models to exist but never ask one."""

    async def models(self) -> Sequence[ModelInfo]:
        """One local, one remote."""
        return (TINY, REMOTE)

    def state(self) -> ModelState:
        """Ready."""
        return ModelState(ModelPhase.READY, "")

    def ask(self, path: str, body: bytes) -> AbstractAsyncContextManager[InferenceStream]:
        """Never."""
        raise ModelUnavailable("this model says nothing", "absent")
