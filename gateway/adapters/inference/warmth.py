"""A conversation's beginning that the server keeps evaluated, so that a turn costs only its own words.

Evaluating the few-shot prompt of the default model takes some 3 s on two cores; restoring it from disk takes 0.1 s, also in
the next run, and also wakes a server that sleeps.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import orjson

from gateway.adapters.inference.openai_api import Upstream
from gateway.core.canonical import Json

SUFFIX: Final = ".slot"


class WarmPrefix:
    """The messages that every conversation begins with, and where the server saves what it made of them."""

    def __init__(self, messages: Sequence[Mapping[str, Json]], *, slots: Path, belongs_to: Sequence[str]) -> None:
        """`belongs_to` is all that decides whether a saved state still fits: weights, server, size of the context."""
        # A user's turn at the end: a last turn of the assistant would be taken for one to go on with.
        turns = [*messages, {"role": "user", "content": ""}]
        self._request = orjson.dumps({"messages": turns, "max_tokens": 1, "temperature": 0, "stream": True})
        self._slots = slots
        seal = hashlib.sha256(orjson.dumps([*belongs_to, messages]))
        self._file = seal.hexdigest() + SUFFIX

    async def warm(self, upstream: Upstream) -> None:
        """Restore, or evaluate and save. Raises ModelUnavailable."""
        if not await self.restore(upstream):
            async with upstream.ask("/v1/chat/completions", self._request) as answer:
                async for _ in answer.chunks():
                    pass
            await self._slot(upstream, "save")
            self._forget_others()

    async def restore(self, upstream: Upstream) -> bool:
        """Whether the saved state could be put back. Raises ModelUnavailable."""
        return (self._slots / self._file).is_file() and await self._slot(upstream, "restore")

    async def _slot(self, upstream: Upstream, action: str) -> bool:
        async with upstream.ask(f"/slots/0?action={action}", orjson.dumps({"filename": self._file})) as answer:
            async for _ in answer.chunks():
                pass
            return answer.status == 200

    def _forget_others(self) -> None:
        """Each is 5 to 20 MB, and those of former prompts are never asked for again."""
        for stale in self._slots.glob(f"*{SUFFIX}"):
            if stale.name != self._file:
                with contextlib.suppress(OSError):
                    stale.unlink()
