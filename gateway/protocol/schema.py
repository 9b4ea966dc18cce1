"""The contract for the browser: `python -m gateway.protocol.schema` writes `web/protocol.schema.json`.

Every wire type stands under `$defs`; below `agent` and `console` each method maps to its parameters and result and each
notification to its parameters. The web build makes TypeScript from it, and a test fails when the file is not what the
models define.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

import orjson
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from gateway.core.canonical import Json
from gateway.protocol.agent_methods import ConversationImport
from gateway.protocol.error_words import error_words
from gateway.protocol.frames import AGENT, CONSOLE, Dialect, Failure, Notification, Request, Success
from gateway.protocol.shapes import ChatMessage
from gateway.protocol.wire import Wire

_Key = TypeVar("_Key")

SCHEMA_PATH = "web/protocol.schema.json"
"""Relative to the root of the repository."""

_ENVELOPE: tuple[type[Wire], ...] = (Request, Success, Failure, Notification)
_ERROR_WORD: dict[str, Json] = {
    "description": "The stable word of an error: the reason of a refusal, or a code.",
    "enum": list(error_words()),
    "type": "string",
}
_VOCABULARY: tuple[type[Wire], ...] = (ChatMessage, ConversationImport)
"""Shapes of docs/PROTOCOL.md that are no method's parameters or result."""


class _WireSchema(GenerateJsonSchema):
    """Removes null from optional members: they are absent, never null, in both directions."""

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
    references, document = _under_contract_names(*models_json_schema(wanted, by_alias=True, schema_generator=_WireSchema))

    def describe(dialect: Dialect) -> dict[str, Json]:
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
        **_members({"agent": describe(AGENT), "console": describe(CONSOLE)}),
        "$defs": {**document["$defs"], "ErrorWord": _ERROR_WORD},
    }


def _contract_name(name: str) -> str:
    """`Wire` and `Params` distinguish a model from the core's noun or the ledger's entry; the contract needs neither."""
    return name.removeprefix("Wire").removesuffix("Params")


def _under_contract_names(
    references: Mapping[_Key, JsonSchemaValue], document: JsonSchemaValue
) -> tuple[dict[_Key, JsonSchemaValue], JsonSchemaValue]:
    names = {name: _contract_name(name) for name in document["$defs"]}
    assert len(set(names.values())) == len(names), "two models have one name in the contract"

    def renamed(value: Json) -> Json:
        match value:
            case {"$ref": str(target), **rest}:
                return {"$ref": f"#/$defs/{names[target.removeprefix('#/$defs/')]}", **rest}
            case dict():
                return {name: renamed(member) for name, member in cast("dict[str, Json]", value).items()}
            case list():
                return [renamed(item) for item in cast("list[Json]", value)]
            case _:
                return value

    definitions = {names[name]: renamed(definition) for name, definition in document["$defs"].items()}
    for definition in definitions.values():
        definition["title"] = _contract_name(definition["title"])
    return {key: renamed(reference) for key, reference in references.items()}, {"$defs": definitions}


def schema_bytes() -> bytes:
    """The document as it is committed: sorted members, two spaces, one newline at the end."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(schema_document(), option=options)


def _members(properties: dict[str, Json]) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


if __name__ == "__main__":
    with open(SCHEMA_PATH, "wb") as file:
        file.write(schema_bytes())
