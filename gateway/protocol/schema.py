"""The contract for the browser: `python -m gateway.protocol.schema` writes `web/protocol.schema.json`.

Every wire type stands under `$defs`; below `agent` and `console` each method maps to its parameters and result and each
notification to its parameters. The web build makes TypeScript from it, and a test fails when the file is not what the
models say.
"""

from __future__ import annotations

from typing import cast

import orjson
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from gateway.core.canonical import Json
from gateway.protocol.frames import AGENT, CONSOLE, Dialect, Failure, Notification, Request, Success
from gateway.protocol.shapes import ChatMessage
from gateway.protocol.wire import Wire

SCHEMA_PATH = "web/protocol.schema.json"
"""From the root of the checkout."""

_ENVELOPE: tuple[type[Wire], ...] = (Request, Success, Failure, Notification)
_VOCABULARY: tuple[type[Wire], ...] = (ChatMessage,)
"""Shapes of protocol.md section 4 that no method carries as such."""


class _WireSchema(GenerateJsonSchema):
    """An optional member is absent, never null, in both directions; this says so to the reader of the schema."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if not _is_optional(schema):
            return super().default_schema(schema)
        inner = schema["schema"]
        if inner["type"] == "nullable":
            inner = cast("core_schema.NullableSchema", inner)["schema"]
        return self.generate_inner(inner)

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        return not _is_optional(field["schema"]) and super().field_is_required(field, total)


def _is_optional(schema: core_schema.CoreSchema) -> bool:
    return schema["type"] == "default" and "default" in schema and schema["default"] is None


def schema_document() -> dict[str, Json]:
    """The whole contract as one JSON Schema (2020-12)."""
    wanted: list[tuple[type[Wire], JsonSchemaMode]] = []
    wanted.extend((model, "serialization") for model in (*_ENVELOPE, *_VOCABULARY))
    for dialect in (AGENT, CONSOLE):
        wanted.extend((shape.params, "validation") for shape in dialect.methods.values())
        wanted.extend((shape.result, "serialization") for shape in dialect.methods.values())
        wanted.extend((model, "serialization") for model in dialect.notifications.values())
    references, document = models_json_schema(wanted, by_alias=True, schema_generator=_WireSchema)

    def spoken(dialect: Dialect) -> dict[str, Json]:
        methods = {
            name: _members(
                {"params": references[(shape.params, "validation")], "result": references[(shape.result, "serialization")]}
            )
            for name, shape in dialect.methods.items()
        }
        notifications = {name: references[(model, "serialization")] for name, model in dialect.notifications.items()}
        return _members({"methods": _members(methods), "notifications": _members(notifications)})

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "CountersignProtocol",
        "description": "The wire protocol countersign.v1. Generated from gateway/protocol.",
        **_members({"agent": spoken(AGENT), "console": spoken(CONSOLE)}),
        "$defs": document["$defs"],
    }


def schema_bytes() -> bytes:
    """The document as it is committed: sorted members, two spaces, one newline at the end."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(schema_document(), option=options)


def _members(properties: dict[str, Json]) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


if __name__ == "__main__":
    with open(SCHEMA_PATH, "wb") as file:
        file.write(schema_bytes())
