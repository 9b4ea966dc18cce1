"""How many tokens of context a server gives a model: as it lists the model, else as this kind of server can be asked.

What a model was trained for is not what it is served with: Ollama takes 4096 tokens of a model that could have 131,072, and drops
the beginning of what is longer without a word. So only what is served counts, and what was trained for is no more than a bound.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.adapters.inference.openai_api import Upstream
from gateway.core.errors import ModelUnavailable

ASSUMED_TOKENS: Final = 4096
"""Where nobody says: what Ollama serves by default."""

LARGEST_CONTEXT: Final = 10_000_000
_SECONDS: Final = 5.0
_NUM_CTX: Final = re.compile(r"^\s*num_ctx\s+(\d{1,8})\s*$", re.MULTILINE)

_OWNERS: Final = {"llamacpp": "llamacpp", "library": "ollama", "organization_owner": "lmstudio"}
"""What a kind of server writes into `owned_by` of each model that it lists, and the preset of that kind."""


@dataclass(frozen=True, slots=True)
class ServedContext:
    """Tokens that are served, and that may be served at most; None for what is not said."""

    served: int | None = None
    most: int | None = None

    def tokens(self, wanted: int | None) -> int:
        """What to reckon with. `wanted`, set by the operator, stands for what the server does not say, and bounds it."""
        bounds = [each for each in (self.served, self.most, wanted) if each is not None]
        return min(bounds if self.served or wanted else [*bounds, ASSUMED_TOKENS])


def kind_of(offer: Mapping[str, Any], preset: str = "") -> str | None:
    """The preset of this kind of server, by its name or by how it lists a model; None for others."""
    return preset or _OWNERS.get(str(offer.get("owned_by")))


async def ask_context(upstream: Upstream, name: str, offer: Mapping[str, Any], preset: str = "") -> ServedContext:
    """What the server says about the model's context, if anything. `offer` is how it lists the model."""
    if (listed := _listed(offer)) is not None:
        return ServedContext(listed)
    with contextlib.suppress(ModelUnavailable):
        match kind_of(offer, preset):
            case "llamacpp":
                return _of_llama_server(await upstream.read_json("/props", seconds=_SECONDS))
            case "ollama":
                running = _of_ollama_running(await upstream.read_json("/api/ps", seconds=_SECONDS), name)
                _, shown = await upstream.post_json("/api/show", {"model": name})
                return _of_ollama_model(shown, running)
            case "lmstudio":
                return _of_lm_studio(await upstream.read_json("/api/v0/models", seconds=_SECONDS), name)
            case _:
                pass
    return ServedContext()


def _listed(offer: Mapping[str, Any]) -> int | None:
    """As vLLM, OpenRouter and llama.cpp list it."""
    match offer:
        case {"context_length": tokens, "top_provider": {"context_length": provided}} if _count(provided):
            return min(filter(None, (_count(tokens), _count(provided))))
        case {"max_model_len": tokens} | {"context_length": tokens} | {"meta": {"n_ctx": tokens}}:
            return _count(tokens)
        case _:
            return None


def _of_llama_server(properties: Any) -> ServedContext:
    match properties:
        case {"default_generation_settings": {"n_ctx": tokens}}:
            return ServedContext(_count(tokens))
        case _:
            return ServedContext()


def _of_ollama_running(listed: Any, name: str) -> int | None:
    match listed:
        case {"models": [*running]}:
            for each in running:
                match each:
                    case {"model": model, "context_length": tokens} | {"name": model, "context_length": tokens} if model == name:
                        return _count(tokens)
                    case _:
                        pass
        case _:
            pass
    return None


def _of_ollama_model(shown: Any, running: int | None) -> ServedContext:
    match shown:
        case {"model_info": {**facts}}:
            trained = next((_count(value) for key, value in facts.items() if str(key).endswith(".context_length")), None)
        case _:
            trained = None
    match shown:
        case {"parameters": str(parameters)} if found := _NUM_CTX.search(parameters):
            return ServedContext(running or _count(int(found[1])), trained)
        case _:
            return ServedContext(running, trained)


def _of_lm_studio(listed: Any, name: str) -> ServedContext:
    match listed:
        case {"data": [*entries]}:
            for each in entries:
                match each:
                    case {"id": str(model), **facts} if model == name:
                        return ServedContext(_count(facts.get("loaded_context_length")), _count(facts.get("max_context_length")))
                    case _:
                        pass
        case _:
            pass
    return ServedContext()


def _count(tokens: Any) -> int | None:
    # `true` is an integer too, and 1.
    return min(tokens, LARGEST_CONTEXT) if isinstance(tokens, int) and tokens > 1 else None
