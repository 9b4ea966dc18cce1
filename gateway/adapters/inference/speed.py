"""How fast a model reads and writes, by the clock: one question of some 700 tokens, answered with at most 64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from gateway.adapters.inference.openai_api import CHAT
from gateway.agent.completion_stream import read_failure
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import Clock, InferenceBackend, ModelInfo, ModelPhase

WRITTEN: Final = 64
_LINES: Final = 48
_FEWEST: Final = 8
"""Tokens of an answer whose pace says something."""

_PIECES: Final = ("content", "reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True)
class ModelSpeed:
    """Tokens a second, None where the server counts none or the answer was too short to tell."""

    prompt_rate: float | None
    decode_rate: float | None


async def measure_speed(backend: InferenceBackend, model: ModelInfo, clock: Clock) -> ModelSpeed:
    """Ask once. Raises ModelUnavailable, also where the server refuses the question: then it would refuse every other one."""
    body = {
        "model": model.display_name,
        "messages": [{"role": "user", "content": _question(clock.now())}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": WRITTEN,
        "temperature": 0,
    }
    began = clock.monotonic()
    first = last = None
    usage: Mapping[str, Any] = {}
    rest = b""
    async with backend.ask(CHAT, orjson.dumps(body)) as answer:
        async for chunk in answer.chunks():
            rest += chunk
            if answer.status != 200:
                continue
            *lines, rest = rest.split(b"\n")
            for event in map(_read, lines):
                if _has_piece(event):
                    last = clock.monotonic()
                    first = last if first is None else first
                usage = event.get("usage") or usage
        if answer.status != 200:
            raise ModelUnavailable(f"the model server refuses a question: {read_failure(answer.status, rest)}", ModelPhase.READY)
    if first is None or last is None:
        return ModelSpeed(None, None)
    fed, written = _counts(usage)
    return ModelSpeed(_rate(fed, first - began), _rate(written - 1, last - first) if written >= _FEWEST else None)


def _question(nonce: int) -> str:
    """Begins with what no earlier question had, so that nothing of it is read from a cache."""
    lines = "\n".join(f"Box {number} holds {number * 7 % 90} nails and {number * 13 % 70} screws." for number in range(1, _LINES))
    return f"List {nonce}.\n{lines}\nPay no heed to the list. Count from 1 to 60 in digits, and write nothing else."


def _read(line: bytes) -> Mapping[str, Any]:
    try:
        event = orjson.loads(line.removeprefix(b"data:")) if line.startswith(b"data:") else None
    except orjson.JSONDecodeError:
        return {}
    return cast("Mapping[str, Any]", event) if isinstance(event, dict) else {}


def _has_piece(event: Mapping[str, Any]) -> bool:
    match event:
        case {"choices": [{"delta": {**delta}}, *_]}:
            return any(delta.get(name) for name in _PIECES)
        case _:
            return False


def _counts(usage: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens that were read and not found in a cache, and tokens that were written."""
    match usage:
        case {
            "prompt_tokens": int(fed),
            "completion_tokens": int(written),
            "prompt_tokens_details": {"cached_tokens": int(cached)},
        }:
            return fed - cached, written
        case {"prompt_tokens": int(fed), "completion_tokens": int(written)}:
            return fed, written
        case _:
            return 0, 0


def _rate(tokens: int, seconds: float) -> float | None:
    return round(tokens / seconds, 1) if tokens > 0 and seconds > 0 else None
