"""The JSON Schemas that servers send, as the one dialect that is published: 2020-12, where they mean the same in it.

Most servers are written with tools that name draft-07 and use nothing that changed since. What did change is rewritten where
that can be done exactly, and refused otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import orjson

from gateway.adapters.tools.mcp.wire import MAX_TOOL
from gateway.adapters.tools.mcp.worker.inert import hides_something, inert_description
from gateway.adapters.tools.schemas import Validator
from gateway.core.errors import Misconfigured

MAX_SCHEMA_TEXT: Final = 1_000
"""Characters of one description inside a schema."""

_NEW: Final = "https://json-schema.org/draft/2020-12/schema"
_MIDDLE: Final = "https://json-schema.org/draft/2019-09/schema"
_OLD: Final = frozenset({"http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-06/schema"})

_TEXTS: Final = frozenset({"description", "title", "$comment"})
_VALUES: Final = frozenset({"default", "const", "enum", "examples"})
_MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_BESIDE_A_REFERENCE: Final = frozenset({"description", "title", "$comment", "default", "examples", "readOnly", "writeOnly"})
"""Without effect on what is valid. In draft-07 every member beside `$ref` is ignored; in 2020-12 it counts."""

_MOST_NESTED: Final = 64


def read_parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments as it is published. Raises Misconfigured for one that cannot be."""
    if size_of(schema) > MAX_TOOL:
        raise Misconfigured(f"its schema is larger than {MAX_TOOL >> 10} KB")
    read = normalise(schema)
    Validator(read)
    return read


def size_of(value: Any) -> int:
    """Bytes that it takes as JSON. Raises Misconfigured for what no line can hold: numbers of more than 64 bits, halves of
    characters, objects in objects without end."""
    try:
        return len(orjson.dumps(value))
    except orjson.JSONEncodeError as error:
        raise Misconfigured(f"it holds what cannot be passed on: {error}") from None


def normalise(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema in 2020-12, its texts inert. Raises Misconfigured where that is not exactly possible."""
    named = schema.get("$schema", _NEW)
    dialect = named.rstrip("#") if isinstance(named, str) else None
    if dialect not in (_NEW, _MIDDLE, *_OLD):
        raise Misconfigured("its schema is written in a dialect of JSON Schema that is not known here")
    # At the root a name changes nothing as long as every reference begins with `#`, and others are refused anyway.
    members = {name: value for name, value in schema.items() if name not in ("$schema", "$id")}
    return _read(members, old=dialect in _OLD, before_tuples=dialect != _NEW, depth=0)


def _read(schema: Mapping[str, Any], *, old: bool, before_tuples: bool, depth: int) -> dict[str, Any]:
    if depth > _MOST_NESTED:
        raise Misconfigured("its schema is nested too deep")

    def inner(value: Any) -> Any:
        if isinstance(value, dict):
            return _read(cast("dict[str, Any]", value), old=old, before_tuples=before_tuples, depth=depth + 1)
        return [inner(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value

    if old and "$ref" in schema and (beside := schema.keys() - _BESIDE_A_REFERENCE - {"$ref", "definitions", "$defs"}):
        raise Misconfigured(f"its schema has `{min(beside)}` beside a `$ref`, which draft-07 ignores")
    read: dict[str, Any] = {}
    for name, value in schema.items():
        if hides_something(name):
            raise Misconfigured("its schema has a name with characters that cannot be seen")
        if name in _TEXTS:
            read[name] = inert_description(value, MAX_SCHEMA_TEXT) if isinstance(value, str) else value
        elif name in _VALUES:
            require_visible(value)
            read[name] = value
        elif name in _MAPS and isinstance(value, dict):
            parts = cast("dict[str, Any]", value)
            if any(map(hides_something, parts)):
                raise Misconfigured("its schema has a name with characters that cannot be seen")
            read[name] = {key: inner(part) for key, part in parts.items()}
        else:
            read[name] = inner(value)
    return _rewrite(read) if before_tuples else read


def _rewrite(schema: dict[str, Any]) -> dict[str, Any]:
    """Members that other names took over in 2020-12."""
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")
    # Without a list of items it never had an effect.
    schema.pop("additionalItems", None)
    dependencies = schema.pop("dependencies", None)
    if isinstance(dependencies, dict):
        for name, value in cast("dict[str, Any]", dependencies).items():
            kind = "dependentRequired" if isinstance(value, list) else "dependentSchemas"
            schema.setdefault(kind, {})[name] = value
    return schema


def require_visible(value: Any) -> None:
    """Raises Misconfigured for a JSON value that holds a character that cannot be seen."""
    match value:
        case str():
            if hides_something(value):
                raise Misconfigured("its schema has a value with characters that cannot be seen")
        case list():
            for each in cast("list[Any]", value):
                require_visible(each)
        case dict():
            for name, each in cast("dict[str, Any]", value).items():
                require_visible(name)
                require_visible(each)
        case _:
            pass
