"""`--output-schema`: the file, and what of an answer does not fit it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

import jsonschema_rs
import orjson

from gateway.adapters.schema_faults import describe_schema_fault
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured

MOST: Final = 64 << 10
"""Bytes of a schema: it is shown to the model, and most models' context is smaller."""

FAULTS_TOLD: Final = 5

_MASK: Final = "the value"
"""In place of the value: it stands in the answer, which the model has before it."""


class OutputSchema:
    """A JSON Schema of any common draft. `name` is the file's."""

    def __init__(self, path: Path) -> None:
        """Raises Misconfigured for a file that holds none. Nothing is fetched, and patterns match in linear time."""
        self.name = escape(path.name)
        self.schema = _read(path, self.name)
        try:
            self._validator = jsonschema_rs.validator_for(
                self.schema, offline=True, pattern_options=jsonschema_rs.RegexOptions(), mask=_MASK
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            why = describe_schema_fault(error)
            raise Misconfigured(f"the output schema `{self.name}` is not a JSON Schema: {why}") from None

    def read(self, text: str) -> tuple[Json, str]:
        """The value of a text, and what is wrong with it in words for a model; empty words where it fits."""
        try:
            value: Json = orjson.loads(_without_fence(text))
        except orjson.JSONDecodeError as error:
            return None, f"it is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        faults = [
            f"{_pointer(error.instance_path)}: {error.message.removeprefix(f'{_MASK} ')}"
            for error, _ in zip(self._validator.iter_errors(value), range(FAULTS_TOLD), strict=False)
        ]
        return value, escape("; ".join(faults))[:1000]


def _read(path: Path, name: str) -> dict[str, Json]:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST + 1)
    except OSError as error:
        raise Misconfigured(f"the output schema `{name}` cannot be read: {error.strerror}") from None
    if len(raw) > MOST:
        raise Misconfigured(f"the output schema `{name}` has more than {MOST >> 10} KiB")
    try:
        value: Any = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise Misconfigured(
            f"the output schema `{name}` is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    if not isinstance(value, dict):
        raise Misconfigured(f'the output schema `{name}` must be a JSON object, like {{"type": "object"}}')
    return cast("dict[str, Json]", value)


def _without_fence(text: str) -> str:
    """Models like to put JSON into a code block, also where nobody asked."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text.partition("\n")[2].removesuffix("```")
    return text


def _pointer(path: list[str | int]) -> str:
    return "".join(f"/{step}" for step in path) or "the whole"
