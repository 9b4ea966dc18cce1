"""Whether a server says that a model sees images: as it lists the model, else as this kind of server can be asked."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Final

from gateway.adapters.inference.openai_api import Upstream
from gateway.adapters.inference.served_context import kind_of
from gateway.core.errors import ModelUnavailable

_SECONDS: Final = 5.0


async def ask_sight(upstream: Upstream, name: str, offer: Mapping[str, Any], preset: str = "") -> bool:
    """What the server says of it; False where it says nothing. `offer` is how it lists the model."""
    match offer:
        case {"architecture": {"input_modalities": [*kinds]}}:
            # OpenRouter.
            return "image" in kinds
        case _:
            pass
    with contextlib.suppress(ModelUnavailable):
        match kind_of(offer, preset):
            case "llamacpp":
                return _of_llama_server(await upstream.read_json("/props", seconds=_SECONDS))
            case "ollama":
                _, shown = await upstream.post_json("/api/show", {"model": name})
                return _of_ollama(shown)
            case "lmstudio":
                return _of_lm_studio(await upstream.read_json("/api/v0/models", seconds=_SECONDS), name)
            case _:
                pass
    return False


def _of_llama_server(properties: Any) -> bool:
    match properties:
        case {"modalities": {"vision": bool(sees)}}:
            return sees
        case _:
            return False


def _of_ollama(shown: Any) -> bool:
    match shown:
        case {"capabilities": [*capabilities]}:
            return "vision" in capabilities
        case _:
            return False


def _of_lm_studio(listed: Any, name: str) -> bool:
    match listed:
        case {"data": [*entries]}:
            return {"id": name, "type": "vlm"} in [_named(each) for each in entries]
        case _:
            return False


def _named(entry: Any) -> dict[str, Any]:
    match entry:
        case {"id": str(name), "type": str(kind)}:
            return {"id": name, "type": kind}
        case _:
            return {}
