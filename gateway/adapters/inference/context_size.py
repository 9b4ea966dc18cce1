"""How long a local model's context may become, and how much of it a request needs.

llama.cpp's server takes the memory for its whole context when it starts, 12 KiB a token for the default model, and can be told
neither to wait nor to give it back. So it is started with a short one, and again with a longer one when a request needs that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from gateway.adapters.inference.gguf import GgufHead

START_TOKENS: Final = 4096
"""What a server is started with, and all there is where a file or the machine does not say what would fit."""

MEMORY_SHARE: Final = 4
"""One part in so many of the memory that is left beside the weights may become cache of keys and values."""

STEP: Final = 1024
UNSAID_OUTPUT: Final = 1024
"""Tokens for the reply to a request that sets no limit."""

BYTES_PER_TOKEN: Final = 3
"""Fewer than most texts have: a start for nothing costs seconds, a prompt without room costs the answer."""

_PER_MESSAGE: Final = 8
_EXCEEDED: Final = "exceed_context_size_error"


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """Tokens at the start and at most. `cache_bytes` are those of each token, None where memory does not decide: the operator has
    set the size, or nothing is known."""

    start: int
    largest: int
    cache_bytes: int | None = None

    def next_size(self, needed: int, current: int) -> int:
        """The size to grow to for so many tokens: twice the current one as often as it takes, at most the largest."""
        size = current
        while size < needed and size < self.largest:
            size *= 2
        return min(size, self.largest)


UNPLANNED: Final = ContextPlan(START_TOKENS, START_TOKENS)


def plan_context(
    head: GgufHead | None,
    weights_bytes: int,
    *,
    wanted: int | None,
    trained: int | None,
    available: int | None,
    preallocate: bool,
) -> ContextPlan:
    """What a model was trained for, or `wanted` if that is less; without `wanted`, as much as a share of the memory holds.

    `available` are the bytes that can still be had, before the weights are loaded.
    """
    most = trained or START_TOKENS
    if wanted is not None:
        largest, cache_bytes = min(wanted, most), None
    elif head is None or head.cache_bytes is None or available is None:
        largest, cache_bytes = min(START_TOKENS, most), None
    else:
        fitting = max(0, available - weights_bytes) // MEMORY_SHARE // head.cache_bytes
        largest, cache_bytes = min(most, max(START_TOKENS, fitting // STEP * STEP)), head.cache_bytes
    return ContextPlan(largest if preallocate else min(START_TOKENS, largest), largest, cache_bytes)


def tokens_needed(body: bytes) -> int:
    """Roughly, and rather more than fewer: prompt, declared tools and reply of a chat request; 0 for a body that is none."""
    asked = _object(body)
    messages = cast("list[Any]", asked.get("messages")) if isinstance(asked.get("messages"), list) else []
    shown = len(orjson.dumps([messages, asked.get("tools")]))
    return shown // BYTES_PER_TOKEN + _PER_MESSAGE * len(messages) + reply_tokens(body) if messages else 0


def reply_tokens(body: bytes) -> int:
    """How long the reply to a chat request may be."""
    limit = _object(body).get("max_tokens")
    return limit if isinstance(limit, int) and limit > 0 else UNSAID_OUTPUT


def tokens_refused(answer: bytes) -> int | None:
    """The tokens of a prompt that the server refuses for its length; None for another refusal."""
    match _object(answer):
        case {"error": {"type": str(kind), "n_prompt_tokens": int(tokens)}} if kind == _EXCEEDED:
            return tokens
        case _:
            return None


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return cast("Mapping[str, Any]", document) if isinstance(document, dict) else {}
