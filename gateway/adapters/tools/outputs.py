"""What a tool gave back, as text and JSON; and what may be reported of its failure."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any, Final

import orjson
from pydantic_core import PydanticSerializationError, to_jsonable_python

from gateway.core.canonical import Json, canonical_bytes
from gateway.core.errors import MalformedJson, ToolFailed
from gateway.core.model import ToolOutput, ToolSpec

FAILURES: Final = (Exception, SystemExit, KeyboardInterrupt)
"""What an author's code may raise. The last two would leave the task that they are raised in, and stop the event loop and with it
the gateway."""

_log = logging.getLogger(__name__)


def read_output(value: Any) -> ToolOutput:
    """A tool's return value as an output. Raises ToolFailed for what has no JSON form."""
    match value:
        case None:
            return ToolOutput("done")
        case str():
            return ToolOutput(make_encodable(value))
        case ToolOutput():
            structured = _jsonable(value.structured)
            return replace(
                value,
                text=make_encodable(value.text),
                structured=structured,
                labels=tuple(value.labels),
                attached=tuple(value.attached),
            )
        case _:
            structured = _jsonable(value)
            return ToolOutput(orjson.dumps(structured).decode(), structured)


def make_encodable(text: str) -> str:
    """The text with `?` for what UTF-8 cannot carry."""
    return text.encode("utf-8", "replace").decode()


def hide_failure(spec: ToolSpec, error: BaseException) -> ToolFailed:
    """Only the class of an unforeseen error is reported: its text may hold paths, addresses or secrets. The rest is logged."""
    _log.error("tool %s failed", spec.name, exc_info=error)
    return ToolFailed(f"the tool failed ({type(error).__name__})")


def _jsonable(value: Any) -> Json:
    if value is None:
        return None
    try:
        jsonable = to_jsonable_python(value, inf_nan_mode="constants")
        # Hashed later on; better refused here, where it is still the tool's failure. NaN is asked for apart, because
        # orjson under the canonical form writes it as null.
        json.dumps(jsonable, allow_nan=False)
        canonical_bytes(jsonable)
    except (PydanticSerializationError, MalformedJson, ValueError):
        raise ToolFailed("the tool gave back something that is not JSON") from None
    return jsonable
