"""A conversation's beginning that the server keeps evaluated, so that a turn costs only its own words.

Evaluating the few-shot prompt of the default model takes some 3 s on two cores; restoring it from disk takes 0.1 s, also in
the next run, and also wakes a server that sleeps.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import orjson

from gateway.adapters.inference.openai_api import Upstream
from gateway.core.canonical import Json

SUFFIX: Final = ".slot"

_log = logging.getLogger(__name__)


class PrefixStore(Protocol):
    """Where else an evaluated beginning is kept. Both block; `store` raises OSError."""

    def fetch(self, into: Path) -> bool: ...
    def store(self, saved: Path) -> None: ...


@dataclass(frozen=True, slots=True)
class PrefixState:
    """How a beginning came to be evaluated, how many tokens it has (0 when the server did not say), and whether the store has
    taken it for later."""

    restored: bool
    tokens: int
    kept: bool = False


class WarmPrefix:
    """The messages that every conversation begins with, and where the server saves what it made of them."""

    def __init__(
        self, messages: Sequence[Mapping[str, Json]], *, slots: Path, belongs_to: Sequence[str], store: PrefixStore | None = None
    ) -> None:
        """`belongs_to` is all that decides whether a saved state still fits: weights, server, size of the context.

        With a `store`, what lies there decides, and what the server saves is put there too.
        """
        self._request = orjson.dumps({"messages": closed(messages), "max_tokens": 1, "temperature": 0, "stream": True})
        self._slots = slots
        seal = hashlib.sha256(orjson.dumps([*belongs_to, messages]))
        self._file = seal.hexdigest() + SUFFIX
        self._store = store

    async def warm(self, upstream: Upstream) -> PrefixState:
        """Restore, or evaluate and save. Raises ModelUnavailable."""
        path = self._slots / self._file
        if self._store is not None and not await asyncio.to_thread(self._store.fetch, path):
            # What the server may have put there instead of a file is its own loss.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        restored = await self.restore(upstream)
        if restored is not None:
            return PrefixState(restored=True, tokens=restored)
        async with upstream.ask("/v1/chat/completions", self._request) as answer:
            async for _ in answer.chunks():
                pass
        saved = await self._slot(upstream, "save")
        self._forget_others()
        kept = saved is not None and await self._keep(path)
        return PrefixState(restored=False, tokens=saved or 0, kept=kept)

    async def restore(self, upstream: Upstream) -> int | None:
        """How many tokens of the saved state were put back; None when it could not be. Raises ModelUnavailable."""
        return await self._slot(upstream, "restore") if (self._slots / self._file).is_file() else None

    async def _slot(self, upstream: Upstream, action: str) -> int | None:
        match await upstream.post_json(f"/slots/0?action={action}", {"filename": self._file}):
            case 200, ({"n_saved": int(tokens)} | {"n_restored": int(tokens)}):
                return tokens
            case 200, _:
                return 0
            case _:
                return None

    async def _keep(self, path: Path) -> bool:
        if self._store is None:
            return False
        try:
            await asyncio.to_thread(self._store.store, path)
        except OSError as error:
            # The next launch evaluates again, which is all that is lost.
            _log.warning("the evaluated prompt could not be kept: %s", error.strerror)
            return False
        return True

    def _forget_others(self) -> None:
        """Each is 5 to 20 MB, and those of former prompts are never asked for again."""
        for stale in self._slots.glob(f"*{SUFFIX}"):
            if stale.name != self._file:
                with contextlib.suppress(OSError):
                    stale.unlink()


def closed(messages: Sequence[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """The messages as they are evaluated: with a user's turn at the end, for a last one of the assistant's would be taken
    for one to continue."""
    return [*messages, {"role": "user", "content": ""}]
