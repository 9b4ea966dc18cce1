"""Which of the models that can be chosen a person means: by its id or title, or by the name with which it was configured."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from gateway.adapters.inference.catalog import load_catalog, models_folder
from gateway.adapters.inference.presets import PRESETS, preset_of
from gateway.core.errors import GatewayError

Model = Mapping[str, Any]
"""A `ModelInfo`."""


def find_models(models: Sequence[Model], wanted: str) -> Sequence[Model]:
    """The one that is meant; several where that is not clear, none where there is none.

    An id or a title counts before `PRESET/NAME` and a name of the catalogue, and these before a part of a title.
    """
    exact = [each for each in models if wanted in (each["id"], each["displayName"])]
    if exact:
        return exact[:1]
    beginning = _beginning_of_id(wanted)
    named = [each for each in models if beginning and str(each["id"]).startswith(beginning)]
    return named or [each for each in models if wanted.casefold() in str(each["displayName"]).casefold()]


def _beginning_of_id(wanted: str) -> str:
    """Of the id of a model that is configured by this name; empty for any other word."""
    preset = preset_of(wanted)
    if preset is not None:
        kind, name = preset
        return f"remote:{urlsplit(PRESETS[kind].url).netloc}:{name}"
    try:
        return f"{load_catalog(models_folder(os.environ)).find(wanted).sha256}:"
    except GatewayError:
        return ""
