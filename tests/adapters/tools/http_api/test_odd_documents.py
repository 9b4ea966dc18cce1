"""Documents that are nearly right: whatever stands where something else belongs, it is one line, and never a crash."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adapters.tools.http_api.catalogue import Catalogue, read_catalogue
from gateway.adapters.tools.schemas import Validator
from gateway.core.canonical import canonical_bytes
from gateway.core.errors import Misconfigured
from tests.adapters.tools.http_api.apis import document_of, settings_of

QUERY = {"application/json": {"schema": {"$ref": "#/components/schemas/Query"}}}

WORKING = document_of(
    (
        "post",
        "/search/{kind}",
        {
            "operationId": "search",
            "summary": "Search",
            "tags": ["a"],
            "parameters": [
                {"name": "kind", "in": "path", "required": True, "schema": {"type": "string", "enum": ["a", "b"]}},
                {"$ref": "#/components/parameters/Page"},
                {"name": "f", "in": "query", "style": "deepObject", "explode": True, "schema": {"type": "object"}},
                {"name": "j", "in": "query", "content": {"application/json": {"schema": {"type": "array", "items": {}}}}},
                {"name": "X-A", "in": "header", "schema": {"allOf": [{"type": "string"}, {"minLength": 1}]}},
            ],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Query"}}},
            },
            "responses": {
                "200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Query"}}}},
                "4XX": {"$ref": "#/components/responses/Bad"},
            },
        },
    ),
    ("get", "/all", {"deprecated": True, "security": [{"key": []}]}),
    parameters={"Page": {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1, "minimum": 1}}},
    responses={"Bad": {"description": "bad", "content": {"application/json": {"schema": {"type": "object"}}}}},
    schemas={
        "Query": {
            "type": "object",
            "required": ["text"],
            "properties": {
                "text": {"type": "string", "pattern": "^a", "maxLength": 10, "description": "What."},
                "and": {"type": "array", "items": {"$ref": "#/components/schemas/Query"}, "minItems": 1},
                "or": {"oneOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
            },
        }
    },
)


ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    2**60,
    1.5,
    "",
    "x",
    "#/",
    "#/paths",
    "#",
    [],
    ["x"],
    {},
    {"$ref": "#"},
    {"$ref": "#/info"},
    {"": []},
]


def replace_part(data: st.DataObject, part: dict[Any, Any] | list[Any]) -> None:
    """Put something odd in the place of a part, at any depth."""
    keys: list[Any] = list(part) if isinstance(part, dict) else list(range(len(part)))
    key = data.draw(st.sampled_from(keys))
    inner: Any = part[key]
    if type(inner) in (dict, list) and inner and data.draw(st.integers(0, 3)):
        replace_part(data, inner)
    else:
        part[key] = deepcopy(data.draw(st.sampled_from(ODD)))


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_whatever_is_odd_in_a_document_is_one_line_or_one_refusal(data: st.DataObject) -> None:
    """A document that works, with one to three of its parts replaced by something else."""
    root: Any = orjson.loads(WORKING)
    for _ in range(data.draw(st.integers(1, 3))):
        replace_part(data, root)
    chosen = data.draw(st.sampled_from([None, ("search", "x")]))
    try:
        catalogue = read_catalogue(settings_of(document=orjson.dumps(root).decode(), operations=chosen), None)
    except Misconfigured as error:
        catalogue = Catalogue({}, {"document": error.message})
    for operation in catalogue.operations.values():
        tool = operation.offer(settings_of(document="{}").base, timeout=1, result_cap=1000)
        Validator(tool.param_schema)
        canonical_bytes(tool.described())
        for status in (200, 404):
            catalogue.checker(operation).find_mismatches(status, "application/json", {"a": 1})
    for name, why in catalogue.refused.items():
        assert "\n" not in name + why
        assert why


def test_the_document_that_is_made_odd_works() -> None:
    catalogue = read_catalogue(settings_of(document=WORKING), None)
    assert (list(catalogue.operations), dict(catalogue.refused)) == (["search", "get_all"], {})
