"""Schemas of an OpenAPI document as JSON Schema 2020-12 without references.

OpenAPI 3.0 has its own dialect of a draft of 2013; 3.1 has JSON Schema 2020-12 itself. Only keywords that check something or
explain it are kept. Where a schema contains itself the inner one is cut to its type: what is deeper is checked by the API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, cast

from gateway.adapters.tools.http_api.references import NotOffered, find_part
from gateway.adapters.tools.http_api.wording import tell
from gateway.adapters.tools.schemas import MAX_SCHEMA_DEPTH, MAX_SUBSCHEMAS
from gateway.core.canonical import MAX_INTEGER, Json
from gateway.core.effects import show

MAX_WORDS: Final = 300
"""Characters of a description inside a schema. Every tool's schema is read by the model in every turn."""

MAX_REFERENCES: Final = 100
"""References that lead on from one another. Each is some calls deep, and a document may chain thousands."""

CUT: Final = "More of the same; not described again."

_KEPT: Final = frozenset(
    {
        *("type", "enum", "const", "format", "default", "required", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains"),
        *("minProperties", "maxProperties", "dependentRequired"),
    }
)
_ONE: Final = (
    *("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas")
_BOUNDS: Final = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_REBASING: Final = frozenset({"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$schema"})
_NOTES: Final = frozenset(
    {"description", "summary", "title", "default", "example", "examples", "deprecated", "readOnly", "writeOnly"}
)


class Direction(StrEnum):
    """A request leaves out what is `readOnly`, an answer need not have what is `writeOnly`."""

    REQUEST = "readOnly"
    ANSWER = "writeOnly"


@dataclass(frozen=True, slots=True)
class _Read:
    """A schema, how many there are in it, how deep they nest, and which references were cut short above it."""

    schema: Json
    size: int = 1
    depth: int = 1
    cut: frozenset[str] = frozenset()


class SchemaReader:
    """Reads the schemas of one document, each component once."""

    def __init__(self, root: Mapping[str, Json], *, v31: bool) -> None:
        self._root = root
        self._v31 = v31
        self._known: dict[tuple[str, Direction], _Read | NotOffered] = {}

    def read(self, schema: Json, direction: Direction) -> Json:
        """The schema, closed in itself. Raises NotOffered for one that has no such form or is too large."""
        return self._read(schema, direction, (), 0).schema

    def is_hidden(self, schema: Json, direction: Direction) -> bool:
        """Whether a property is left out in this direction."""
        for _ in range(MAX_SCHEMA_DEPTH):
            if not isinstance(schema, dict):
                return False
            members = cast("Mapping[str, Json]", schema)
            if members.get(direction.value) is True:
                return True
            if "$ref" not in members:
                return False
            schema = find_part(self._root, members["$ref"])
        return False

    def _read(self, schema: Json, direction: Direction, within: tuple[str, ...], level: int) -> _Read:
        if level > MAX_SCHEMA_DEPTH:
            raise NotOffered(f"a schema of it nests deeper than {MAX_SCHEMA_DEPTH} levels", lasting=False)
        if isinstance(schema, bool):
            return _Read(schema)
        if not isinstance(schema, dict):
            raise NotOffered("a schema of it is not an object")
        members = cast("Mapping[str, Json]", schema)
        if rebasing := _REBASING & members.keys():
            raise NotOffered(f"a schema of it uses `{min(rebasing)}`, which cannot be read")
        if "$ref" in members:
            return self._read_reference(members, direction, within, level)
        return self._read_members(members, direction, within, level)

    def _read_reference(self, members: Mapping[str, Json], direction: Direction, within: tuple[str, ...], level: int) -> _Read:
        reference = members["$ref"]
        target = find_part(self._root, reference)
        read = self._read_component(str(reference), target, direction, within, level)
        beside = {name: value for name, value in members.items() if name != "$ref"}
        # In 3.0 nothing beside a reference counts (section 4.7.23 there).
        if not self._v31 or not beside:
            return read
        if beside.keys() <= _NOTES:
            words, plain = beside.get("description"), read.schema
            if isinstance(plain, dict) and isinstance(words, str):
                described = {**cast("dict[str, Json]", plain), "description": tell(words, MAX_WORDS)}
                return _Read(described, read.size, read.depth, read.cut)
            return read
        other = self._read_members(beside, direction, within, level + 1)
        both = {"allOf": [read.schema, other.schema]}
        return _checked(_Read(both, 1 + read.size + other.size, 1 + max(read.depth, other.depth), read.cut | other.cut))

    def _read_component(self, reference: str, target: Json, direction: Direction, within: tuple[str, ...], level: int) -> _Read:
        if reference in within:
            return _Read(_cut(target), cut=frozenset({reference}))
        if len(within) >= MAX_REFERENCES:
            raise NotOffered(f"a schema of it refers on more than {MAX_REFERENCES} times", lasting=False)
        known = self._known.get((reference, direction))
        if isinstance(known, NotOffered):
            raise known
        if known is not None:
            return known
        try:
            read = self._read(target, direction, (*within, reference), level)
        except NotOffered as refused:
            if refused.lasting:
                self._known[reference, direction] = refused
            raise
        read = _Read(read.schema, read.size, read.depth, read.cut - {reference})
        # What was cut for the sake of something above reads differently from elsewhere.
        if not read.cut:
            self._known[reference, direction] = read
        return read

    def _read_members(self, members: Mapping[str, Json], direction: Direction, within: tuple[str, ...], level: int) -> _Read:
        made: dict[str, Json] = {name: members[name] for name in members if name in _KEPT}
        size, depth, cut = 1, 0, frozenset[str]()

        def inner(schema: Json) -> Json:
            nonlocal size, depth, cut
            read = self._read(schema, direction, within, level + 1)
            size, depth, cut = size + read.size, max(depth, read.depth), cut | read.cut
            return read.schema

        if isinstance(words := members.get("description"), str) and words.strip():
            made["description"] = tell(words, MAX_WORDS)
        for name in _ONE:
            if name in members:
                made[name] = inner(members[name])
        for name in _LISTS:
            if name in members:
                if not isinstance(members[name], list):
                    raise NotOffered(f"`{name}` in a schema of it is not a list")
                made[name] = [inner(each) for each in cast("list[Json]", members[name])]
        for name in _MAPS:
            if name in members:
                if not isinstance(members[name], dict):
                    raise NotOffered(f"`{name}` in a schema of it is not an object")
                given = cast("dict[str, Json]", members[name])
                hidden = {key for key, each in given.items() if name == "properties" and self.is_hidden(each, direction)}
                left_out = hidden if direction is Direction.REQUEST else set[str]()
                made[name] = {key: inner(each) for key, each in given.items() if key not in left_out}
                if hidden and isinstance(required := made.get("required"), list):
                    made["required"] = [key for key in cast("list[Json]", required) if key not in hidden]
        if not self._v31:
            made = _from_draft_5(made, members)
        return _checked(_Read(_without_strange_numbers(made), size, depth + 1, cut))


def _checked(read: _Read) -> _Read:
    """Whatever is visited is part of a result, so that this bounds the work too."""
    if read.size > MAX_SUBSCHEMAS:
        raise NotOffered(f"a schema of it has more than {MAX_SUBSCHEMAS:,} parts once its references are followed")
    if read.depth > MAX_SCHEMA_DEPTH:
        raise NotOffered(f"a schema of it nests deeper than {MAX_SCHEMA_DEPTH} levels")
    return read


def _cut(target: Json) -> Json:
    kind = cast("Mapping[str, Json]", target).get("type") if isinstance(target, dict) else None
    return {"type": kind, "description": CUT} if isinstance(kind, str) else {"description": CUT}


def _from_draft_5(made: dict[str, Json], members: Mapping[str, Json]) -> dict[str, Json]:
    """What 3.0 spells otherwise: `nullable`, and bounds that are exclusive by a word beside them."""
    for bound, exclusive in _BOUNDS:
        if isinstance(word := made.get(exclusive), bool):
            del made[exclusive]
            if word and bound in made:
                made[exclusive] = made.pop(bound)
    if members.get("nullable") is not True:
        return made
    if isinstance(kind := made.get("type"), str):
        made["type"] = [kind, "null"]
        if isinstance(choices := made.get("enum"), list) and None not in choices:
            made["enum"] = [*cast("list[Json]", choices), None]
        return made
    words = {"description": made.pop("description")} if "description" in made else {}
    # Without a type the word has no effect by the letter (3.0.3, section 4.7.24.1); everybody who writes it means this.
    return {"anyOf": [made, {"type": "null"}], **words} if made else words


def _without_strange_numbers(made: dict[str, Json]) -> dict[str, Json]:
    """A bound beyond what a JSON number of this gateway can be (RFC 7493) checks nothing, and would not survive hashing."""
    for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        value = made.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and not -MAX_INTEGER <= value <= MAX_INTEGER:
            del made[name]
    for name in ("maxLength", "maxItems", "maxProperties", "maxContains"):
        if isinstance(value := made.get(name), int) and value > MAX_INTEGER:
            del made[name]
    if isinstance(pattern := made.get("pattern"), str) and len(pattern) > 1000:
        raise NotOffered(f"a schema of it has a pattern of {len(pattern):,} characters, {show(pattern[:40])}")
    return made
