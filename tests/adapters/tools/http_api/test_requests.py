"""Arguments on their way into a request: typed, in their places, and never more than a value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from yarl import URL

from gateway.adapters.tools.http_api.places import has_dots
from gateway.adapters.tools.offer import ToolOffer
from gateway.adapters.tools.schemas import Validator
from gateway.core.canonical import Json
from gateway.core.effects import summarise
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolSpec
from gateway.core.vocabulary import Category, Recovery
from tests.adapters.tools.http_api.apis import OpenApi, document_of, open_api, settings_of

BASE = "https://api.example.com/v1"


def parameter(name: str, place: str, schema: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": schema or {"type": "string"}, "required": place == "path", **more}


async def api_of(method: str, path: str, *parameters: dict[str, Any], body: Any = None, **given: Any) -> OpenApi:
    operation: dict[str, Any] = {"operationId": "it", "parameters": list(parameters)}
    if body is not None:
        operation["requestBody"] = {"content": body, "required": True}
    return await open_api(settings_of(document=document_of((method, path, operation)), **given))


ARRAY = {"type": "array", "items": {"type": "string"}}
OBJECT = {"type": "object", "additionalProperties": {"type": "string"}}


@pytest.mark.parametrize(
    ("schema", "more", "value", "query"),
    [
        ({"type": "string"}, {}, "a b&c=d#e?f/g", "?p=a%20b%26c%3Dd%23e%3Ff%2Fg"),
        ({"type": "string"}, {}, "", "?p="),
        ({"type": "string"}, {}, "é\u202e\r\n", "?p=%C3%A9%E2%80%AE%0D%0A"),
        ({"type": "string"}, {"allowReserved": True}, "a/b", "?p=a%2Fb"),
        ({"type": "integer"}, {}, 7, "?p=7"),
        ({"type": "number"}, {}, 1.5, "?p=1.5"),
        ({"type": "boolean"}, {}, True, "?p=true"),
        (ARRAY, {}, ["a", "b,c"], "?p=a&p=b%2Cc"),
        (ARRAY, {"explode": False}, ["a", "b,c"], "?p=a,b%2Cc"),
        (ARRAY, {"style": "spaceDelimited", "explode": False}, ["a", "b"], "?p=a%20b"),
        (ARRAY, {"style": "pipeDelimited", "explode": False}, ["a", "b"], "?p=a%7Cb"),
        (ARRAY, {}, [], ""),
        (OBJECT, {}, {"x": "1", "y&": "2"}, "?x=1&y%26=2"),
        (OBJECT, {"explode": False}, {"x": "1", "y": "2"}, "?p=x,1,y,2"),
        (OBJECT, {"style": "deepObject", "explode": True}, {"x": "1"}, "?p%5Bx%5D=1"),
    ],
)
async def test_a_query_is_written_as_openapi_says(schema: Any, more: dict[str, Any], value: Json, query: str) -> None:
    api = await api_of("get", "/it", parameter("p", "query", schema, **more))
    assert (await api.lines("it", p=value))[0] == f"GET {BASE}/it{query}"


async def test_a_parameter_with_content_is_json() -> None:
    api = await api_of(
        "get", "/it", {"name": "p", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}}
    )
    assert (await api.lines("it", p={"a": [1, None]}))[0] == f"GET {BASE}/it?p=%7B%22a%22%3A%5B1%2Cnull%5D%7D"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("a b", "a%20b"),
        ("a?b#c", "a%3Fb%23c"),
        ("a@evil.example:80", "a%40evil.example%3A80"),
        ("%2e%2e", "%252e%252e"),
        ("...", "..."),
        ("a;b=c", "a%3Bb%3Dc"),
        ("ü", "%C3%BC"),
    ],
)
async def test_a_value_in_a_path_stays_one_part_of_it(value: str, path: str) -> None:
    api = await api_of("get", "/orders/{id}/lines", parameter("id", "path"))
    assert (await api.lines("it", id=value))[0] == f"GET {BASE}/orders/{path}/lines"


HOSTILE_PARTS = ["..", ".", "", "a/b", "../x", "/", "//evil.example", "a\\b", "..\\x", "a\0b", "a\r\nb", "a\x7fb", "\n"]


@pytest.mark.parametrize("value", HOSTILE_PARTS)
async def test_a_value_that_would_change_the_path_is_refused(value: str) -> None:
    api = await api_of("delete", "/orders/{id}", parameter("id", "path"))
    ((path, _),) = api.faults("it", id=value)
    assert path == "/id"
    with pytest.raises(ToolFailed):
        await api.lines("it", id=value)


async def test_slashes_are_for_apis_that_the_operator_says_want_them() -> None:
    api = await api_of("get", "/projects/{id}", parameter("id", "path"), slashes_in_paths=True)
    assert (await api.lines("it", id="group/project"))[0] == f"GET {BASE}/projects/group%2Fproject"
    for value in ("group/../x", "/x", "x/", "a//b", "a/./b", "a\\b"):
        assert api.faults("it", id=value)


async def test_dots_that_only_the_whole_path_makes_are_refused() -> None:
    api = await api_of("get", "/a/.{x}", parameter("x", "path"))
    assert (await api.lines("it", x="hidden"))[0] == f"GET {BASE}/a/.hidden"
    assert api.faults("it", x=".")
    two = await api_of("get", "/a/{x}{y}/b", parameter("x", "path"), parameter("y", "path"))
    assert two.faults("it", x="..", y="a") == [("/x", "must not be `.` or `..`: the path would be another one")]


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=200, deadline=None)
async def test_no_value_changes_scheme_host_port_or_path(part: str, query: str) -> None:
    api = await api_of("get", "/a/{p}/z", parameter("p", "path"), parameter("q", "query"))
    if api.faults("it", p=part, q=query):
        return
    method, _, url = (await api.lines("it", p=part, q=query))[0].partition(" ")
    read = URL(url)
    assert (method, read.scheme, read.raw_host, read.port) == ("GET", "https", "api.example.com", 443)
    assert url.startswith(f"{BASE}/a/")
    assert url.split("?")[0].endswith("/z")
    assert url.split("?")[0].count("/") == 6
    assert url.count("?") == 1
    assert not has_dots(url.split("?")[0])
    assert (read.path, read.query["q"]) == (f"/v1/a/{part}/z", query)
    assert url.isascii()


@pytest.mark.parametrize(
    "value", ["a\r\nX-Admin: 1", "a\nb", "a\0", "é", " a", "a ", "a\tb", "\x7f", "${secret:TOKEN}", "x" * 3000]
)
async def test_a_header_is_one_line_and_never_a_secret(value: str) -> None:
    api = await api_of("get", "/it", parameter("X-Trace", "header"), headers={"Authorization": "Bearer ${secret:TOKEN}"})
    ((path, _),) = api.faults("it", X_Trace=value)
    assert path == "/X_Trace"


async def test_headers_are_written_in_the_simple_style() -> None:
    api = await api_of("get", "/it", parameter("X-List", "header", ARRAY), parameter("X-Map", "header", OBJECT, explode=True))
    lines = await api.lines("it", X_List=["a", "b"], X_Map={"x": "1", "y": "2"})
    assert {"X-List: a,b", "X-Map: x=1,y=2"} <= set(lines)


async def test_a_header_of_the_operator_is_no_argument() -> None:
    document = [parameter(name, "header") for name in ("X-Api-Key", "authorization", "Accept", "X-Free")]
    api = await api_of("get", "/it", *document, headers={"x-api-key": "${secret:TOKEN}"})
    assert list(api.tool("it").param_schema["properties"]) == ["X_Free"]
    assert "x-api-key: ${secret:TOKEN}" in await api.lines("it")


async def test_what_is_optional_and_cannot_be_sent_is_left_out() -> None:
    api = await api_of("get", "/it", parameter("c", "cookie"), parameter("Host", "header"), parameter("s", "query", style="odd"))
    assert api.tool("it").param_schema["properties"] == {}
    assert api.offer.refused == {}


async def test_names_that_clash_are_told_apart_by_their_places() -> None:
    api = await api_of(
        "post",
        "/{id}",
        *(parameter("id", "path"), parameter("id", "query"), parameter("body", "query"), parameter("a-b", "query")),
        *(parameter("a.b", "query"), parameter("7up", "query")),
        body={"application/json": {"schema": {"type": "object"}}},
    )
    names = ["path_id", "query_id", "query_body", "query_a_b", "query_a_b_2", "_7up", "body"]
    assert list(api.tool("it").param_schema["properties"]) == names
    lines = await api.lines("it", **dict.fromkeys(names[:-1], "1"), body={})
    assert lines[0] == f"POST {BASE}/1?id=1&body=1&a-b=1&a.b=1&7up=1"


INDENTED = ["{", '  "b": [', "    1,", "    {", '      "c": null', "    }", "  ],", '  "a": "x\u202e"', "}"]

BODIES: list[tuple[str, Any, list[str]]] = [
    ("application/json", {"b": [1, {"c": None}], "a": "x\u202e"}, INDENTED),
    ("application/merge-patch+json", {}, ["{}"]),
    ("application/x-www-form-urlencoded", {"a b": "c&d", "e": [1, True]}, ["a+b=c%26d&e=1&e=true"]),
    ("text/plain", "one\ntwo", ["one", "two"]),
]


@pytest.mark.parametrize(("kind", "value", "lines"), BODIES)
async def test_a_body_is_shown_as_the_bytes_that_it_is(kind: str, value: Json, lines: list[str]) -> None:
    api = await api_of("post", "/it", body={kind: {}})
    shown = await api.lines("it", body=value)
    assert shown[shown.index("") + 1 :] == lines
    assert f"Content-Type: {kind}" in shown
    assert api.driver.facts(api.tool("it"), {"body": value}).bytes == len("\n".join(lines).encode())


async def test_json_is_chosen_before_a_form_and_a_form_before_text() -> None:
    api = await api_of("post", "/it", body={"text/plain": {}, "application/x-www-form-urlencoded": {}, "application/json": {}})
    assert "Content-Type: application/json" in await api.lines("it", body={})
    api = await api_of("post", "/it", body={"text/plain": {}, "application/x-www-form-urlencoded": {}})
    assert "Content-Type: application/x-www-form-urlencoded" in await api.lines("it", body={})


async def test_a_body_that_nobody_would_read_is_not_sent() -> None:
    api = await api_of("post", "/it", body={"text/plain": {}})
    assert api.faults("it", body="x" * 100_000) == []
    assert api.faults("it", body="x" * 100_001) == [("/body", "must not be longer than 100000 bytes")]
    assert api.faults("it", body="é" * 50_001) == [("/body", "must not be longer than 100000 bytes")]


async def test_an_address_that_no_server_takes_is_not_sent() -> None:
    api = await api_of("get", "/it", parameter("q", "query"))
    assert api.faults("it", q="x" * 3000) == [("/q", "makes an address of more than 2048 characters")]


TEXTLESS: list[tuple[Any, Any]] = [
    ({"description": "anything"}, None),
    ({"type": "array"}, [None]),
    ({"type": "array"}, [[1]]),
    ({"type": "array"}, [{}]),
    ({"type": "object"}, {"a": {}}),
]


@pytest.mark.parametrize(("schema", "value"), TEXTLESS)
async def test_a_value_without_a_text_is_refused(schema: Any, value: Json) -> None:
    for place in ("query", "header"):
        api = await api_of("get", "/it", parameter("p", place, schema))
        ((path, _),) = api.faults("it", p=value)
        assert path == "/p"
    api = await api_of("get", "/{p}", parameter("p", "path", schema))
    assert api.faults("it", p=value)


# ── what is offered ──


async def test_schemas_of_openapi_3_0_are_told_in_2020_12() -> None:
    given: dict[str, Any] = {
        "type": "object",
        "required": ["n", "id"],
        "properties": {
            "n": {"type": "integer", "nullable": True, "minimum": 0, "exclusiveMinimum": True, "example": 3, "xml": {}},
            "e": {"type": "string", "nullable": True, "enum": ["a"]},
            "m": {"type": "integer", "maximum": 9223372036854775807, "maxLength": 2**60, "exclusiveMaximum": False},
            "r": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/R"}]},
            "id": {"type": "string", "readOnly": True},
            "s": {"type": "string", "writeOnly": True},
        },
    }
    document = document_of(
        (
            "post",
            "/it",
            {"operationId": "it", "requestBody": {"required": True, "content": {"application/json": {"schema": given}}}},
        ),
        version="3.0.3",
        schemas={"R": {"type": "string", "description": "R\n\u202eit"}},
    )
    api = await open_api(settings_of(document=document))
    schema = api.tool("it").param_schema
    assert schema["properties"]["body"] == {
        "type": "object",
        "required": ["n"],
        "properties": {
            "n": {"type": ["integer", "null"], "exclusiveMinimum": 0},
            "e": {"type": ["string", "null"], "enum": ["a", None]},
            "m": {"type": "integer"},
            "r": {"anyOf": [{"allOf": [{"type": "string", "description": "R \\u202eit"}]}, {"type": "null"}]},
            "s": {"type": "string"},
        },
    }
    faults = Validator(schema).find_faults
    assert faults({"body": {"n": 1, "r": None}}) == ()
    assert faults({"body": {"n": 0}})
    assert faults({"body": {"n": None, "r": 1}})


async def test_beside_a_reference_3_1_means_both_and_3_0_the_reference_alone() -> None:
    beside = {"$ref": "#/components/schemas/R", "description": "mine", "maxLength": 2}
    for version, longest in (("3.1.0", 2), ("3.0.3", None)):
        document = document_of(
            ("get", "/it", {"operationId": "it", "parameters": [parameter("p", "query", beside)]}),
            version=version,
            schemas={"R": {"type": "string"}},
        )
        api = await open_api(settings_of(document=document))
        faults = Validator(api.tool("it").param_schema).find_faults({"p": "abc"})
        assert bool(faults) is (longest is not None)


async def test_a_default_is_told_and_not_sent() -> None:
    api = await api_of("get", "/it", parameter("limit", "query", {"type": "integer", "default": 20}))
    assert api.tool("it").param_schema["properties"]["limit"] == {"type": "integer", "description": "Without it: 20."}


def spec_of(tool: ToolOffer) -> ToolSpec:
    return ToolSpec(tool.name, tool.description, "i", "m", tool.param_schema, tool.proposed, "s", summary=tool.summary)


async def test_a_person_reads_method_and_address_with_the_values_in_it() -> None:
    api = await api_of("post", "/or{{ders/{order-id}", parameter("order-id", "path"))
    assert api.offer.tools == ()
    api = await api_of("post", "/orders/{order-id}", parameter("order-id", "path"), parameter("dry", "query"))
    tool = api.tool("it")
    assert summarise(spec_of(tool), {"order_id": "A7"}) == f"POST {BASE}/orders/A7"
    assert summarise(spec_of(tool), {"order_id": "7 or 8"}) == f'POST {BASE}/orders/"7 or 8"'
    assert tool.effects == (
        "Sends to api.example.com: `order_id` as order-id in the path; `dry` in the query",
        "Whoever runs that server sees all of it",
    )


@pytest.mark.parametrize(
    ("method", "category", "recovery"),
    [
        ("get", Category.NETWORK, Recovery.IDEMPOTENT),
        ("head", Category.NETWORK, Recovery.IDEMPOTENT),
        ("options", Category.NETWORK, Recovery.IDEMPOTENT),
        ("post", Category.WRITE, Recovery.UNSAFE),
        ("put", Category.WRITE, Recovery.UNSAFE),
        ("patch", Category.WRITE, Recovery.UNSAFE),
        ("delete", Category.DESTRUCTIVE, Recovery.UNSAFE),
    ],
)
async def test_the_method_proposes_a_category(method: str, category: Category, recovery: Recovery) -> None:
    for base in (BASE, "http://127.0.0.1:8000", "http://localhost"):
        tool = (await api_of(method, "/it", base_url=base)).tool("it")
        assert (tool.proposed, tool.because, tool.network, tool.recovery) == (category, method.upper(), True, recovery)


async def test_texts_of_the_document_are_one_line_without_hidden_characters() -> None:
    operation = {"operationId": "it", "summary": "Do\n\x1b[31mit\u202e", "description": "a\n\nb\u200b" + "x" * 5000}
    api = await open_api(settings_of(document=document_of(("get", "/it", operation))))
    tool = api.tool("it")
    assert tool.title == "Do \\u001b[31mit\\u202e"
    assert tool.description.startswith("a b\\u200bxxx")
    assert len(tool.description) == 600


async def test_a_pin_is_lost_when_the_request_would_be_another_one() -> None:
    def document(**more: Any) -> str:
        return document_of(("get", "/it", {"operationId": "it", "parameters": [parameter("p", "query", ARRAY, **more)]}))

    plain = await open_api(settings_of(document=document()))
    other = await open_api(settings_of(document=document(explode=False)))
    again = await open_api(settings_of(document=document()))
    moved = await open_api(settings_of(document=document(), base_url="https://api.example.com/v2"))
    pins = [api.offer.pin(api.tool("it")) for api in (plain, other, again, moved)]
    assert pins[0] == pins[2]
    assert len(set(pins)) == 3
    with pytest.raises(ToolFailed, match="no operation of this API now"):
        await other.driver.preview(plain.tool("it"), {"p": ["a"]})


async def test_declared_calls_follow_the_same_rules() -> None:
    calls = [
        {
            "name": "close order",
            "method": "POST",
            "path": "/orders/{id}/close",
            "description": "Close an order.",
            "category": "destructive",
            "parameters": [
                {"name": "id", "in": "path", "schema": {"type": "integer"}},
                {"name": "X-Why", "in": "header", "schema": {"type": "string"}, "description": "Why."},
                {"name": "note", "in": "body", "schema": {"type": "object"}, "required": True},
            ],
        },
        {"name": "bad", "method": "GET", "path": "/{gone}", "description": "x"},
        {"name": "close.order", "method": "GET", "path": "/", "description": "x"},
    ]
    api = await open_api(settings_of(calls=calls))
    assert api.offer.refused == {
        "bad": "its path has gone, which is no parameter of it",
        "close_order (GET /)": "another call has this name already",
    }
    tool = api.tool("close_order")
    assert (tool.proposed, tool.because, tool.param_schema["required"]) == (Category.DESTRUCTIVE, "declared", ["id", "body"])
    assert (await api.lines("close_order", id=7, X_Why="done", body={"a": 1}))[0] == f"POST {BASE}/orders/7/close"
