"""Documents of any kind: a broken one gives one clear line, a broken operation leaves the others alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.tools.http_api import dialect, documents, yaml_values
from gateway.adapters.tools.http_api.catalogue import read_catalogue
from gateway.adapters.tools.http_api.documents import read_document
from gateway.adapters.tools.schemas import MAX_SUBSCHEMAS
from gateway.core.errors import Misconfigured
from tests.adapters.tools.http_api.apis import document_of, open_api, settings_of

HEAD = '"openapi": "3.1.0", "info": {"title": "t", "version": "1"}'
YAML_HEAD = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\n"
BOMB = "".join(
    f"{chr(97 + n)}: &{chr(97 + n)} [{', '.join(f'*{chr(96 + n)}' for _ in range(10)) if n else 'x'}]\n" for n in range(12)
)

MALFORMED: list[tuple[str, bytes | str, str]] = [
    ("nothing", "", "is no OpenAPI document"),
    ("blank", " \n\t", "no YAML: line 2"),
    ("a list", "[]", "it is not an object"),
    ("a text", '"openapi"', "it is not an object"),
    ("prose", "This is our API. It is good.", "it is not an object"),
    ("HTML", "<!doctype html><title>Login</title>", "it is not an object"),
    ("half of JSON", '{"openapi": "3.1.0", "pa', "no JSON: line 1, column"),
    ("a trailing comma", '{"openapi": "3.1.0",}', "no JSON: line 1, column"),
    ("two documents", '{"openapi": "3.1.0"} {}', "no JSON: line 1, column 22"),
    ("a member twice", '{"openapi": "3.1.0", "openapi": "3.0.0"}', "has openapi twice"),
    ("NaN", '{"openapi": NaN}', "`NaN`"),
    ("too many digits", '{"openapi": 1' + "0" * 5000 + "}", "too many digits"),
    ("deep nesting", '{"a":' * 200 + "1" + "}" * 200, "nests deeper than 100"),
    ("endless nesting", '{"a":' * 200_000, "nests deeper than 100"),
    ("other bytes", b"{\xff\xfe\x00}", "not UTF-8"),
    ("UTF-16", '{"openapi": "3.1.0"}'.encode("utf-16"), "not UTF-8"),
    ("binary", b"\x7fELF\x02\x01\x01\x00", "characters that YAML does not allow"),
    ("no version", '{"info": {}}', "has no `openapi`"),
    ("Swagger 2", '{"swagger": "2.0", "info": {}, "paths": {}}', "is Swagger 2.0"),
    ("another version", '{"openapi": "4.0.0"}', "OpenAPI 4.0.0"),
    ("a version as a number", '{"openapi": 3.1}', "OpenAPI 3.1; 3.0 and 3.1 can be read, written as a text"),
    ("a version as a list", '{"openapi": ["3.1.0"]}', "3.0 and 3.1 can be read"),
    ("no info", '{"openapi": "3.1.0", "paths": {"/a": {}}}', "`info` is wrong"),
    ("info without title", '{"openapi": "3.1.0", "info": {"version": "1"}, "paths": {"/a": {}}}', "`title`"),
    ("no paths", f"{{{HEAD}}}", "has no `paths`"),
    ("empty paths", f'{{{HEAD}, "paths": {{}}}}', "has no `paths`"),
    ("paths as a list", f'{{{HEAD}, "paths": []}}', "has no `paths`"),
    ("components as a list", f'{{{HEAD}, "paths": {{"/a": {{}}}}, "components": []}}', "`components` is not an object"),
    ("no operation", f'{{{HEAD}, "paths": {{"/a": {{}}}}}}', "no operation that could be called"),
    ("another dialect", f'{{{HEAD}, "jsonSchemaDialect": "https://example.com/x", "paths": {{"/a": {{}}}}}}', "of the dialect"),
    ("YAML with a tab", "openapi: 3.1.0\n\tinfo: x", "no YAML: line 2, column 1"),
    ("YAML of nowhere", "a: *b", "alias of nothing"),
    ("YAML in itself", "a: &a [*a]", "alias of nothing, or of what it stands in"),
    ("YAML that explodes", BOMB, "once its aliases are followed"),
    ("YAML with a key twice", "openapi: 3.1.0\nopenapi: 3.0.0", "has openapi twice"),
    ("YAML with a list as key", "? [a]\n: b", "a key that is no text"),
    ("YAML of several documents", "a: 1\n---\nb: 2", "several in one file"),
    ("YAML with Python in it", "openapi: !!python/object/apply:os.system ['true']", "the tag"),
    ("YAML with a tag of its own", "openapi: !env TOKEN", "the tag"),
    ("YAML with a number that is none", "openapi: !!int three", "the tag"),
    ("YAML with too many digits", "openapi: 1" + "0" * 5000, "too many digits"),
    ("deep YAML", "[" * 5000, "nests deeper than 100"),
    ("YAML that merges a text", "a:\n  <<: b", "merges something"),
    ("YAML with an escape that is none", 'a: "\\q"', "no YAML: line 1"),
]


@pytest.mark.parametrize(("document", "line"), [case[1:] for case in MALFORMED], ids=[case[0] for case in MALFORMED])
async def test_a_document_that_is_none_gives_one_line(tmp_path: Path, document: bytes | str, line: str) -> None:
    path = tmp_path / "openapi.json"
    path.write_bytes(document if isinstance(document, bytes) else document.encode())
    with pytest.raises(Misconfigured) as caught:
        await open_api(settings_of(document_file=path))
    assert line in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 300
    assert str(tmp_path) not in caught.value.message


async def test_a_file_that_cannot_be_read_is_named_without_its_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.json", tmp_path):
        for given in ({"document_file": path}, {"document": str(path)}):
            with pytest.raises(Misconfigured, match=f"the document {path.name} cannot be read") as caught:
                await open_api(settings_of(**given))
            assert str(tmp_path.parent) not in caught.value.message
    with pytest.raises(Misconfigured, match="NUL"):
        await open_api(settings_of(document="a\0b"))


async def test_a_document_is_given_as_text_or_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(document_of(GOOD))
    for given in ({"document_file": path}, {"document": str(path)}, {"document": document_of(GOOD)}):
        assert [tool.name for tool in (await open_api(settings_of(**given))).offer.tools] == ["good"]


@pytest.mark.parametrize(("most", "document"), [("MAX_JSON", b"{" + b" " * 2000), ("MAX_YAML", b"# " + b"x" * 2000)])
def test_a_gigantic_document_is_not_even_parsed(monkeypatch: pytest.MonkeyPatch, most: str, document: bytes) -> None:
    monkeypatch.setattr(documents, most, 1000)
    with pytest.raises(Misconfigured, match="more than 0 MiB"):
        read_document(document)


def test_values_of_yaml_are_counted_as_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_values, "MAX_VALUES", 100)
    assert yaml_values.read_yaml(f"[{'x, ' * 99}]", 10) == ["x"] * 99
    with pytest.raises(Misconfigured):
        yaml_values.read_yaml(f"[{'x, ' * 100}]", 10)


def test_yaml_is_read_as_json_would_be() -> None:
    text = """
    no: no
    on: 2024-01-01
    200: [1, 0o17, 0x1F, -1.5e3, .5, null, ~, "", '1', !!str 1, 010, 1_000, 12:30, true, False, yes]
    all: &all {a: 1, b: 2}
    some: {<<: *all, b: 3}
    more: {<<: [{a: 5}, *all]}
    text: |
      one
      two
    """
    assert yaml_values.read_yaml(text, 10) == {
        "no": "no",
        "on": "2024-01-01",
        "200": [1, 15, 31, -1500.0, 0.5, None, None, "", "1", "1", 10, "1_000", "12:30", True, False, "yes"],
        "all": {"a": 1, "b": 2},
        "some": {"a": 1, "b": 3},
        "more": {"a": 5, "b": 2},
        "text": "one\ntwo\n",
    }


# ── operations ──

GOOD = ("get", "/good", {"operationId": "good"})


def parameter(**given: Any) -> dict[str, Any]:
    return {"operationId": "bad", "parameters": [{"name": "p", "in": "query", "schema": {"type": "string"}, **given}]}


def body(content: Any, **given: Any) -> dict[str, Any]:
    return {"operationId": "bad", "requestBody": {"content": content, **given}}


def schema(given: Any) -> dict[str, Any]:
    return body({"application/json": {"schema": given}})


def nested(levels: int) -> dict[str, Any]:
    return {"type": "array", "items": nested(levels - 1)} if levels else {"type": "string"}


BAD: list[tuple[str, Any, str]] = [
    ("no object", "x", "it is not an object"),
    ("a name that is a list", {"operationId": ["bad"]}, "not as OpenAPI says"),
    ("parameters as an object", {"operationId": "bad", "parameters": {"a": 1}}, "`parameters` are not a list"),
    ("a parameter as a text", {"operationId": "bad", "parameters": ["a"]}, "a parameter of it is not an object"),
    ("a parameter without a name", {"operationId": "bad", "parameters": [{"in": "query"}]}, "not as OpenAPI says"),
    ("a parameter from nowhere", parameter(**{"in": "moon"}), "not as OpenAPI says"),
    ("a parameter twice", {"operationId": "bad", "parameters": [{"name": "p", "in": "query"}] * 2}, "parameter p twice"),
    ("a path parameter without a place", parameter(**{"in": "path", "required": True}), "has no place in its path"),
    ("a cookie", parameter(**{"in": "cookie", "required": True}), "cookies are never sent"),
    ("a header of the message", parameter(**{"in": "header", "name": "Host", "required": True}), "no call may set"),
    ("a header that steers", parameter(**{"in": "header", "name": "X-HTTP-Method", "required": True}), "no call may set"),
    ("a header with a line in its name", parameter(**{"in": "header", "name": "a\r\nb", "required": True}), "no call may set"),
    ("a style that there is not", parameter(style="curly", required=True), "the style curly"),
    ("content in XML", parameter(schema=None, content={"text/xml": {}}, required=True), "written as text/xml"),
    ("a body of files", body({"multipart/form-data": {}}), "multipart/form-data, which cannot"),
    ("a body of nothing", body({}), "its body is nothing"),
    ("a body that is no object", {"operationId": "bad", "requestBody": []}, "its body is not an object"),
    ("a reference to another file", schema({"$ref": "other.json#/a"}), "nothing is fetched"),
    ("a reference to an address", schema({"$ref": "http://169.254.169.254/latest"}), "nothing is fetched"),
    ("a reference to the machine", schema({"$ref": "file:///etc/passwd"}), "nothing is fetched"),
    ("a reference to nothing", schema({"$ref": "#/components/schemas/Gone"}), "which the document does not hold"),
    ("a reference that is a number", schema({"$ref": 7}), "a `$ref` is not a text"),
    ("a reference in a ring", {"requestBody": {"$ref": "#/components/requestBodies/Ring"}}, "refers to itself"),
    ("a schema that is a text", schema("string"), "not as OpenAPI says"),
    ("a type that there is not", schema({"type": "money"}), "not as OpenAPI says"),
    ("a pattern that is none", schema({"type": "string", "pattern": "("}), "refused"),
    ("a pattern that looks around", schema({"type": "string", "pattern": "^(?!a)b"}), "refused"),
    ("a pattern without end", schema({"type": "string", "pattern": "a" * 2000}), "a pattern of 2,000 characters"),
    ("a schema with an identity", schema({"$id": "https://example.com/s", "type": "string"}), "`$id`"),
    ("a schema with a moving reference", schema({"$dynamicRef": "#x"}), "`$dynamicRef`"),
    ("a schema without bottom", schema(nested(40)), "nests deeper than 32"),
    ("a schema that unfolds", schema({"$ref": "#/components/schemas/S9"}), "more than 2,000 parts"),
    ("a number beyond JSON", schema({"type": "integer", "enum": [2**60]}), "not every reader of JSON"),
    ("a server of its own", {"operationId": "bad", "servers": [{"url": "https://evil.example"}]}, "a server of its own"),
]  # fmt: skip

UNFOLDING: dict[str, Any] = {"S0": {"type": "string"}}
for _n in range(1, 10):
    UNFOLDING[f"S{_n}"] = {"type": "object", "properties": {k: {"$ref": f"#/components/schemas/S{_n - 1}"} for k in "abcd"}}


@pytest.mark.parametrize(("operation", "line"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
async def test_a_broken_operation_is_refused_by_name_and_the_others_go_on(operation: Any, line: str) -> None:
    raw = orjson.loads(document_of(GOOD, schemas=UNFOLDING, requestBodies={"Ring": {"$ref": "#/components/requestBodies/Ring"}}))
    raw["paths"]["/bad"] = {"post": operation}
    api = await open_api(settings_of(document=orjson.dumps(raw).decode()))
    assert [tool.name for tool in api.offer.tools] == ["good"]
    (told,) = api.offer.refused.items()
    assert told[0] in ("bad", "post_bad")
    assert line in told[1]
    assert "\n" not in told[1]
    assert len(told[1]) < 400


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("bad", "its path is none"),
        ("/a?x=1", "its path is none"),
        ("/a#b", "its path is none"),
        ("/a/../b", "its path is none"),
        ("/a/%2e%2E/b", "its path is none"),
        ("/a b", "its path is none"),
        ("/a\\b", "its path is none"),
        ("/a/{x", "a brace without its other half"),
        ("/a/{x}", "has x, which is no parameter of it"),
    ],
)
async def test_a_path_that_is_none_is_refused(path: str, line: str) -> None:
    api = await open_api(settings_of(document=document_of(GOOD, ("get", path, {"operationId": "bad"}))))
    assert [tool.name for tool in api.offer.tools] == ["good"]
    assert line in api.offer.refused["bad"]


async def test_two_operations_of_one_name_are_one_and_a_refusal() -> None:
    api = await open_api(settings_of(document=document_of(GOOD, ("post", "/other", {"operationId": "good"}))))
    assert [tool.summary for tool in api.offer.tools] == ["GET https://api.example.com/v1/good"]
    assert api.offer.refused == {"good (POST /other)": "another operation has this name already"}


async def test_trace_is_never_sent() -> None:
    raw = orjson.loads(document_of(GOOD))
    raw["paths"]["/good"]["trace"] = {"responses": {}}
    api = await open_api(settings_of(document=orjson.dumps(raw).decode()))
    assert api.offer.refused == {"TRACE /good": "TRACE is never sent"}


async def test_a_schema_that_contains_itself_is_cut_where_it_begins_again() -> None:
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "below": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}},
    }
    document = document_of(
        (
            "post",
            "/trees",
            {
                "operationId": "grow",
                **schema({"$ref": "#/components/schemas/Node"}),
            },
        ),
        schemas={"Node": node},
    )
    raw = orjson.loads(document)
    raw["paths"]["/trees"]["post"]["operationId"] = "grow"
    api = await open_api(settings_of(document=orjson.dumps(raw).decode()))
    tool = api.tool("grow")
    assert tool.param_schema["properties"]["body"]["properties"]["below"]["items"] == {
        "type": "object",
        "description": "More of the same; not described again.",
    }


@pytest.mark.parametrize("count", [20, 60])
def test_schemas_that_all_contain_each_other_are_given_up_soon(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Some `count!` ways lead through them."""
    visited: list[int] = []

    def tell(words: str, most: int) -> str:
        visited.append(most)
        return words

    monkeypatch.setattr(dialect, "tell", tell)
    names = [f"T{n}" for n in range(count)]
    properties = {each: {"$ref": f"#/components/schemas/{each}"} for each in names}
    schemas = {name: {"type": "object", "description": "x", "properties": properties} for name in names}
    many = [("post", f"/p{n}", {**schema({"$ref": f"#/components/schemas/T{n}"}), "operationId": f"p{n}"}) for n in range(count)]
    catalogue = read_catalogue(settings_of(document=document_of(GOOD, *many, schemas=schemas)), None)
    assert list(catalogue.operations) == ["good"]
    assert len(catalogue.refused) == count
    assert len(visited) <= 2 * count * MAX_SUBSCHEMAS


async def test_only_chosen_operations_are_offered_and_one_that_is_not_there_is_named() -> None:
    document = document_of(GOOD, ("get", "/list-things", {"operationId": "things/list"}), ("get", "/un-named", {}))
    api = await open_api(settings_of(document=document, operations=("things/list", "get_un_named", "gone")))
    assert [tool.name for tool in api.offer.tools] == ["things_list", "get_un_named"]
    assert api.offer.refused == {"gone": "the document has no such operation"}
