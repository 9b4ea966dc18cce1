"""Schemas made from signatures, and schemas nobody may publish (docs/SECURITY.md case 24)."""

from __future__ import annotations

import enum
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from gateway.adapters.tools.schemas import MAX_FAULTS, Validator, read_signature
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.runtime.ports import ToolContext


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


class Line(BaseModel):
    text: str
    title: str = ""


class Tree(BaseModel):
    children: list[Tree] = []


def plain(path: Annotated[str, "Where to look."], context: ToolContext, limit: int = 20, deep: bool | None = None) -> None: ...


@pytest.mark.requirement("002-25", "a function's signature becomes a closed schema")
def test_a_signature_becomes_a_small_closed_schema() -> None:
    signature = read_signature(plain)
    assert signature.schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where to look."},
            "limit": {"type": "integer", "default": 20},
            "deep": {"type": ["boolean", "null"]},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    assert signature.context_name == "context"


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def nothing() -> None: ...

    assert read_signature(nothing).schema == {"type": "object", "properties": {}, "additionalProperties": False}


def test_richer_types_are_written_out_without_references() -> None:
    def rich(
        lines: list[Line],
        size: Size = Size.SMALL,
        kind: Literal["a", "b"] = "a",
        tags: list[str] = [],  # noqa: B006 # people write such
        short: Annotated[str, Field(max_length=3, pattern="^[a-z]+$")] = "abc",
    ) -> None: ...

    properties: Any = read_signature(rich).schema["properties"]
    assert properties == {
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "title": {"type": "string", "default": ""}},
                "required": ["text"],
                "additionalProperties": False,
            },
        },
        "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
        "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "short": {"type": "string", "maxLength": 3, "pattern": "^[a-z]+$", "default": "abc"},
    }


def test_arguments_reach_the_function_as_its_own_types_and_only_those_given() -> None:
    def rich(line: Line, size: Size = Size.SMALL, copy: bool = False) -> None: ...

    assert read_signature(rich).read({"line": {"text": "a"}, "size": "large"}) == {"line": Line(text="a"), "size": Size.LARGE}


def test_what_only_the_type_knows_is_a_fault_too() -> None:
    def dated(day: date) -> None: ...

    (fault,) = read_signature(dated).find_faults({"day": "2026-02-30"})
    assert fault.path == "/day"
    assert read_signature(dated).find_faults({"day": "2026-02-28"}) == ()


def starred(*args: str) -> None: ...
def keywords(**kwargs: str) -> None: ...
def positional(path: str, /) -> None: ...
def untyped(path) -> None: ...  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
def hidden(_path: str) -> None: ...
def recursive(tree: Tree) -> None: ...
def two_contexts(one: ToolContext, other: ToolContext) -> None: ...
def unspeakable(call: Callable[[], None]) -> None: ...
def misspelt(path: Strr) -> None: ...  # noqa: F821 # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType]


UNPUBLISHABLE: list[Callable[..., None]] = [
    *(starred, keywords, positional, untyped, hidden, recursive, two_contexts, unspeakable, misspelt)
]


@pytest.mark.parametrize("function", UNPUBLISHABLE)
def test_a_signature_that_cannot_be_published_is_refused(function: Callable[..., None]) -> None:
    with pytest.raises(Misconfigured):
        read_signature(function)


def an_object(**properties: Json) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@pytest.mark.requirement("000-29", "a schema that refers outside, recurses or backtracks is refused")
@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"},
        {"type": "object", "$id": "http://example.com/"},
        an_object(a={"$ref": "http://127.0.0.1:9/schema"}),
        an_object(a={"$ref": "file:///etc/passwd"}),
        an_object(a={"$ref": "other.json"}),
        an_object(a={"$ref": "//example.com/schema"}),
        an_object(a={"$ref": "#anchor"}),
        an_object(a={"$ref": "#"}),
        an_object(a={"$ref": "#/properties/a"}),
        an_object(a={"$ref": "#/$defs/none"}),
        an_object(a={"$ref": 7}),
        an_object(a={"$dynamicRef": "#x"}),
        an_object(a={"type": "wat"}),
        an_object(a="string"),
        an_object(a={"pattern": r"(a)\1"}),
        an_object(a={"pattern": "(?=a)b"}),
        an_object(a={"pattern": "(?<=a)b"}),
        an_object(a={"pattern": "((a{1,1000}){1,1000}){1,1000}"}),
        an_object(a={"patternProperties": {r"(a)\1": {}}}),
        {**an_object(a={"$ref": "#/$defs/t"}), "$defs": {"t": {"items": {"$ref": "#/$defs/t"}}}},
        {**an_object(a={"$ref": "#/$defs/s"}), "$defs": {"s": {"$ref": "#/$defs/t"}, "t": {"not": {"$ref": "#/$defs/s"}}}},
        {
            **an_object(a={"$ref": "#/$defs/d0"}),
            "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)} | {"d30": {}},
        },
    ],
)
def test_a_schema_that_reaches_out_recurses_or_backtracks_is_refused(schema: dict[str, Json]) -> None:
    with pytest.raises(Misconfigured):
        Validator(schema)


def test_a_schema_that_nests_too_deep_is_refused() -> None:
    schema: dict[str, Json] = {}
    for _ in range(200):
        schema = {"items": schema}
    with pytest.raises(Misconfigured):
        Validator(an_object(a=schema))


def test_a_pattern_that_makes_others_backtrack_answers_at_once() -> None:
    validator = Validator(an_object(a={"type": "string", "pattern": "^(a+)+$"}))
    assert validator.find_faults({"a": "a" * 50_000 + "b"})


def test_references_within_a_schema_are_followed() -> None:
    validator = Validator({**an_object(a={"$ref": "#/$defs/t"}), "$defs": {"t": {"type": "integer"}}})
    assert validator.find_faults({"a": 1}) == ()
    assert [fault.path for fault in validator.find_faults({"a": "1"})] == ["/a"]


def test_what_is_data_in_a_schema_is_not_taken_for_a_reference() -> None:
    Validator(an_object(a={"enum": [{"$ref": "http://example.com/"}]}, **{"$ref": {"type": "string"}}))


def test_faults_say_where_and_what_would_be_right() -> None:
    schema = an_object(path={"type": "string", "maxLength": 2}, n={"type": ["integer", "null"]}, kind={"enum": ["x", "y"]})
    validator = Validator({**schema, "required": ["path", "n"]})
    faults = validator.find_faults({"path": "abc", "kind": "z", "pth": 1})
    assert {(fault.path, fault.message) for fault in faults} == {
        ("/n", "is required"),
        ("/path", "is longer than 2 characters"),
        ("/kind", 'is not one of "x" or "y"'),
        ("/pth", "is not a parameter; the parameters are path, n, kind"),
    }
    (fault,) = validator.find_faults({"path": "a", "n": "1"})
    assert (fault.path, fault.message) == ("/n", "must be integer or null, not string")


def test_faults_point_by_rfc_6901() -> None:
    validator = Validator(an_object(**{"a/b~c": {"type": "array", "items": {"type": "string"}}}))
    assert [fault.path for fault in validator.find_faults({"a/b~c": ["x", 1]})] == ["/a~1b~0c/1"]


def test_a_fault_repeats_neither_the_value_nor_more_than_a_few() -> None:
    validator = Validator(an_object(a={"type": "array", "items": {"type": "string", "maxLength": 1}}))
    secret = "hunter2" * 1000
    faults = validator.find_faults({"a": [secret] * 1000})
    assert len(faults) == MAX_FAULTS
    assert all("hunter2" not in fault.message for fault in faults)


def test_an_unexpected_name_cannot_smuggle_control_characters_into_a_fault() -> None:
    (fault,) = Validator(an_object()).find_faults({"\u202e\x1b": 1})
    assert fault.path == "/\\u202e\\u001b"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["path", "limit", "deep", "x"]), JSON))
def test_no_arguments_surprise_the_validator(arguments: dict[str, Json]) -> None:
    signature = read_signature(plain)
    validator = Validator(signature.schema)
    if not validator.find_faults(arguments) and not signature.find_faults(arguments):
        assert signature.read(arguments) == arguments
