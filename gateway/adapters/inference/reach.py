"""Whether a server answers, takes the key and has the model: one question, before anything is said to the model itself."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from gateway.adapters.inference.openai_api import OtherAnswer, ServerWords, Upstream
from gateway.adapters.inference.presets import Preset
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import ModelPhase

LIST_SECONDS: Final = 5.0

LONGEST_NAME: Final = 128
"""Characters of a model's name, which becomes a part of an id of at most 200."""

SHOWN_NAMES: Final = 8
"""Of the models that are there, in a sentence about one that is not."""

_ANY_TAG: Final = ":latest"
"""What Ollama adds to a name without a tag."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What came of it: ready, or why not and what to do. `offers` are the models that it lists, by id, as it describes them."""

    phase: ModelPhase
    detail: str
    offers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    model: str = ""
    """The one that was asked for, as the server calls it; the first one if none was."""


def words_of(preset: Preset) -> ServerWords:
    """How errors speak of a preset's server."""
    return ServerWords(preset.title, preset.start, preset.key_variable)


def upstream_of(preset: Preset, key: str) -> Upstream:
    """A connection to a preset's server, not open yet."""
    return Upstream(preset.url.removesuffix("/v1"), key=key, keep_alive=True, words=words_of(preset))


async def reach(preset: Preset, *, key: str, model: str = "") -> Reached:
    """Ask a preset's server over a connection of its own."""
    upstream = upstream_of(preset, key)
    await upstream.open()
    try:
        return await ask_what_is_there(upstream, model, preset=preset, key=key)
    finally:
        await upstream.close()


async def ask_what_is_there(upstream: Upstream, model: str, *, preset: Preset | None = None, key: str = "") -> Reached:
    """Ask over an open connection. A server without a preset may have models that it does not list."""
    if preset is not None and preset.needs_key and not key:
        return Reached(ModelPhase.ABSENT, f"{preset.title} wants a key; set {preset.key_variable}")
    try:
        if preset is not None and preset.key_path:
            await upstream.read_json(preset.key_path, seconds=LIST_SECONDS)
        offers = offers_of(await upstream.read_json("/v1/models", seconds=LIST_SECONDS))
    except ModelUnavailable as error:
        if isinstance(error, OtherAnswer) and model and preset is None:
            return Reached(ModelPhase.READY, "", {}, model)
        return Reached(ModelPhase(error.state), error.message)
    title = "the model server" if preset is None else preset.title
    if not model and not offers:
        advice = "check its URL, or name a model of it" if preset is None else preset.fetch
        return Reached(ModelPhase.ABSENT, f"{title} lists no model; {advice}")
    wanted = model or next(iter(offers))
    found = next((name for name in (wanted, wanted + _ANY_TAG) if name in offers), None)
    if found is None and preset is not None:
        return Reached(ModelPhase.ABSENT, _missing(preset, wanted, list(offers)), offers)
    return Reached(ModelPhase.READY, "", offers, found or wanted)


def is_name(text: str) -> bool:
    """Whether a model can be called that."""
    return len(text) <= LONGEST_NAME and text.isprintable()


def offers_of(listed: Any) -> dict[str, Mapping[str, Any]]:
    """Models by id, of any answer; what has no id is passed over."""
    offers: dict[str, Mapping[str, Any]] = {}
    match listed:
        case {"data": [*entries]}:
            for entry in entries:
                match entry:
                    case {"id": str(name)} if name and is_name(name):
                        offers[name] = cast("Mapping[str, Any]", entry)
                    case _:
                        pass
        case _:
            pass
    return offers


def list_names(names: list[str], near: str = "") -> str:
    """Some names in a sentence, those that are like `near` first."""
    first = difflib.get_close_matches(near, names, n=SHOWN_NAMES, cutoff=0.4)
    shown = [*first, *(name for name in names if name not in first)][:SHOWN_NAMES]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(f"`{name}`" for name in shown) + more


def _missing(preset: Preset, wanted: str, names: list[str]) -> str:
    there = f"there are {list_names(names, wanted)}" if names else "there is none"
    return f"{preset.title} has no model `{wanted}`; {there}; {preset.fetch}"
