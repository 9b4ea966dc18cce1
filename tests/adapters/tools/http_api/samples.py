"""Values that fit a schema: enough of them to call every operation of a real document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from gateway.core.canonical import Json

TEXTS = {"date": "2026-01-02", "date-time": "2026-01-02T03:04:05Z", "email": "ada@example.com", "uri": "https://example.com/"}

PATTERNED = ("a" * 24, "a", "1.0", "a.json", "/a", "https://example.com/")


def sample(schema: Json) -> Json:
    """A value of the schema with every property that it names."""
    if not isinstance(schema, dict):
        return "anything"
    members: Mapping[str, Any] = cast("dict[str, Any]", schema)
    if "const" in members:
        return members["const"]
    if "enum" in members:
        return members["enum"][0]
    for name in ("oneOf", "anyOf"):
        if name in members:
            rest = {key: value for key, value in members.items() if key != name}
            return _both(sample(members[name][0]), sample(rest) if "properties" in rest else None)
    if "allOf" in members:
        made = None
        for each in members["allOf"]:
            made = sample(each) if made is None else _both(made, sample(each))
        return _both(made, sample({"properties": members["properties"]}) if "properties" in members else None)
    kind: str | list[str] = members.get("type", "object" if "properties" in members else "string")
    return _of_type(kind if isinstance(kind, str) else kind[0], members)


def _of_type(kind: str, members: Mapping[str, Any]) -> Json:
    match kind:
        case "object":
            properties: dict[str, Any] = members.get("properties", {})
            return {name: sample(each) for name, each in properties.items()}
        case "array":
            one = sample(members.get("items", {"type": "string"}))
            return [one for _ in range(max(1, members.get("minItems", 1)))]
        case "integer" | "number":
            return max(members.get("minimum", members.get("exclusiveMinimum", 0) + 1), 1)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            if "pattern" in members:
                return next((text for text in PATTERNED if re.search(members["pattern"], text)), "a")
            text = TEXTS.get(members.get("format", ""), "a b/ü?"[: members.get("maxLength", 6)])
            return text if len(text) >= members.get("minLength", 0) else text * members["minLength"]


def _both(one: Json, other: Json) -> Json:
    if {type(one), type(other)} == {dict}:
        return {**one, **other}
    return one if other is None else other
