"""An OpenAPI document, from bytes that nobody vouches for: within bounds, its frame checked, every fault one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Never, cast

from openapi_pydantic.v3 import v3_0, v3_1
from pydantic import ValidationError

from gateway.adapters.tools.http_api.wording import show_any
from gateway.adapters.tools.http_api.yaml_values import read_yaml
from gateway.core.canonical import Json
from gateway.core.effects import escape, show
from gateway.core.errors import Misconfigured

MAX_JSON: Final = 16 * 1024 * 1024
"""Bytes. GitHub's, among the largest that there are, has 7 MB."""

MAX_YAML: Final = 4 * 1024 * 1024
"""Bytes. YAML takes twenty times as long to read as JSON."""

MAX_NESTING: Final = 100
"""Levels. Schemas nest, and each level of one is three or four of the document."""

_TOO_DEEP: Final = f"the document nests deeper than {MAX_NESTING} levels"

_VERSION: Final = re.compile(r"3\.([01])\.[0-9]{1,3}")

_DIALECTS: Final = re.compile(r"https://(?:spec\.openapis\.org/oas/3\.1/dialect/.*|json-schema\.org/draft/2020-12/schema)")


@dataclass(frozen=True, slots=True)
class ApiDocument:
    """A document whose frame is sound. `paths` and what stands below them is still unchecked."""

    root: Mapping[str, Json]
    title: str
    version: str
    v31: bool

    @property
    def paths(self) -> Mapping[str, Json]:
        """The path items by their templates."""
        return cast("Mapping[str, Json]", self.root["paths"])

    def check(self, operation: Mapping[str, Json]) -> v3_0.Operation | v3_1.Operation:
        """One operation as the library reads it. Raises pydantic's ValidationError."""
        # Documents without `responses` are common, and it is not needed to ask.
        given: dict[str, Json] = {"responses": {}, **operation}
        return v3_1.Operation.model_validate(given) if self.v31 else v3_0.Operation.model_validate(given)


def read_document(raw: bytes) -> ApiDocument:
    """The document. Raises Misconfigured with one line that says what is wrong."""
    root = _read_json(raw) if raw.lstrip()[:1] in (b"{", b"[", b'"') else _read_yaml(raw)
    if not isinstance(root, dict):
        raise Misconfigured("the document is no OpenAPI document: it is not an object")
    members = cast("dict[str, Json]", root)
    if "swagger" in members:
        raise Misconfigured("the document is Swagger 2.0; convert it to OpenAPI 3 first")
    told = members.get("openapi")
    if told is None:
        raise Misconfigured("the document is no OpenAPI document: it has no `openapi` with its version")
    match = _VERSION.fullmatch(told) if isinstance(told, str) else None
    if match is None:
        raise Misconfigured(
            f'the document is of OpenAPI {show_any(told)}; 3.0 and 3.1 can be read, written as a text such as "3.1.0"'
        )
    v31 = match[1] == "1"
    info = _check_frame(members, v31=v31)
    return ApiDocument(members, info.title, info.version, v31)


def word_fault(error: ValidationError) -> str:
    """The first fault that the library found, as one line without the value."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    # Alternatives and model names are the library's business; the members of the document are the reader's.
    place = "/".join(str(step) for step in first["loc"] if not str(step)[:1].isupper())
    return f"`{escape(place)[:200]}`: {escape(first['msg'])[:200]}" if place else escape(first["msg"])[:200]


def _check_frame(members: Mapping[str, Json], *, v31: bool) -> v3_0.Info | v3_1.Info:
    if not isinstance(paths := members.get("paths"), dict) or not paths:
        raise Misconfigured("the document has no `paths`, so there is nothing to call")
    dialect = members.get("jsonSchemaDialect")
    if dialect is not None and not (isinstance(dialect, str) and _DIALECTS.fullmatch(dialect)):
        raise Misconfigured(f"the document's schemas are of the dialect {show_any(dialect)}, which cannot be read")
    if not isinstance(members.get("components", {}), dict):
        raise Misconfigured("the document's `components` is not an object")
    try:
        return (v3_1.Info if v31 else v3_0.Info).model_validate(members.get("info"))
    except ValidationError as error:
        raise Misconfigured(f"the document's `info` is wrong: {word_fault(error)}") from None


def _read_json(raw: bytes) -> Json:
    if len(raw) > MAX_JSON:
        raise Misconfigured(f"the document has more than {MAX_JSON // 1024 // 1024} MiB")
    try:
        read = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_once_each, parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise Misconfigured("the document is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Misconfigured(f"the document is no JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise Misconfigured(_TOO_DEEP) from None
    except ValueError:
        raise Misconfigured("the document holds a number with too many digits") from None
    if not isinstance(read, dict):
        return read
    # What nests too deep below a path is refused with its own operation, and no other one is with it.
    members = cast("dict[str, Json]", read)
    frame = {name: value for name, value in members.items() if name not in ("paths", "components")}
    if nests_deeper(frame, MAX_NESTING):
        raise Misconfigured(_TOO_DEEP)
    return members


def _once_each(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise Misconfigured(f"the document has {show(twice)} twice in one object")
    return members


def _refuse_constant(name: str) -> Never:
    raise Misconfigured(f"the document holds `{name}`, which is no JSON")


def nests_deeper(value: Json, levels: int) -> bool:
    """Whether there are more objects and lists in one another than that."""
    level = [value]
    for _ in range(levels):
        level = [inner for each in level for inner in _inside(each) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _inside(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        yield from cast("dict[str, Json]", value).values()
    elif isinstance(value, list):
        yield from cast("list[Json]", value)


def _read_yaml(raw: bytes) -> Json:
    if len(raw) > MAX_YAML:
        raise Misconfigured(f"the document has more than {MAX_YAML // 1024 // 1024} MiB of YAML; convert it to JSON")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Misconfigured("the document is not UTF-8") from None
    return read_yaml(text, MAX_NESTING)
