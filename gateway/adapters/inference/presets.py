"""Model servers that have a name here: where they listen, what their key is read from, and how they are started."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.core.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of server. `url` ends in `/v1`; `key_variable` is the environment variable that its own tools read.

    `start` and `fetch` are what to do when it does not answer, and when a model is not there. `key_path` is asked about the key
    where the list of models can be had without one.
    """

    title: str
    url: str
    key_variable: str
    start: str
    fetch: str
    key_path: str = ""

    @property
    def needs_key(self) -> bool:
        """Whether nothing works without one."""
        return bool(self.key_path)

    @property
    def is_here(self) -> bool:
        """Whether it listens on this machine."""
        return self.url.startswith("http://127.0.0.1:")


PRESETS: Final = {
    "ollama": Preset(
        "Ollama",
        "http://127.0.0.1:11434/v1",
        "OLLAMA_API_KEY",
        "start it with `ollama serve`",
        "fetch one with `ollama pull NAME`",
    ),
    "lmstudio": Preset(
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        "LM_API_TOKEN",
        "start it with `lms server start`, or in its Developer tab",
        "fetch one with `lms get NAME`",
    ),
    "vllm": Preset(
        "vLLM", "http://127.0.0.1:8000/v1", "VLLM_API_KEY", "start it with `vllm serve NAME`", "start it with `vllm serve NAME`"
    ),
    "llamacpp": Preset(
        "llama-server",
        "http://127.0.0.1:8080/v1",
        "LLAMA_API_KEY",
        "start it with `llama-server -m FILE --jinja`",
        "start it with `llama-server -m FILE --jinja --alias NAME`",
    ),
    "openrouter": Preset(
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "check that this machine is online",
        "its models are listed at openrouter.ai/models",
        key_path="/v1/key",
    ),
}


def keys_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The keys that are there, by preset. Raises Misconfigured for one that no header can carry."""
    keys: dict[str, str] = {}
    for name, preset in PRESETS.items():
        if key := environment.get(preset.key_variable, ""):
            if re.search(r"[^!-~]", key):
                raise Misconfigured(f"{preset.key_variable} should be visible ASCII characters, because it is sent in a header")
            keys[name] = key
    return keys


def preset_of(model: str) -> tuple[str, str] | None:
    """Preset and model of `ollama/NAME`; the model is empty for `ollama` alone, the first one there. None for anything else."""
    name, _, wanted = model.partition("/")
    return (name, wanted) if name in PRESETS else None
