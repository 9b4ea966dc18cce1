"""The operations of a document: each becomes one that can be called, or a reason why not, under its name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, cast
from urllib.parse import quote

from pydantic import ValidationError

from gateway.adapters.tools.http_api.dialect import Direction, SchemaReader
from gateway.adapters.tools.http_api.documents import ApiDocument, word_fault
from gateway.adapters.tools.http_api.operations import (
    BODY,
    READING_METHODS,
    ApiBody,
    ApiOperation,
    ApiParameter,
    BodyKind,
    ParameterPlace,
    ParameterStyle,
)
from gateway.adapters.tools.http_api.places import has_dots
from gateway.adapters.tools.http_api.references import NotOffered, follow
from gateway.adapters.tools.http_api.settings import FIELD_NAME, RESERVED_FIELDS, DeclaredCall
from gateway.adapters.tools.http_api.wording import tell
from gateway.adapters.tools.schemas import Validator
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.effects import show
from gateway.core.errors import MalformedJson, Misconfigured

MAX_NAME: Final = 64
"""Characters, as of every tool's name."""

MAX_DESCRIPTION: Final = 600
MAX_TITLE: Final = 120

_METHODS: Final = ("get", "head", "options", "post", "put", "patch", "delete")

_IGNORED_FIELDS: Final = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that OpenAPI says to ignore (3.1, section 4.8.12.2)."""

_STEERING_FIELDS: Final = frozenset({"cookie", "x-http-method", "x-http-method-override", "x-method-override"})
"""Headers by which a request would be another one than it seems."""

_STYLES: Final[Mapping[ParameterPlace, Mapping[str, ParameterStyle]]] = {
    ParameterPlace.PATH: {"simple": ParameterStyle.SIMPLE},
    ParameterPlace.QUERY: {
        "form": ParameterStyle.FORM,
        "spaceDelimited": ParameterStyle.SPACES,
        "pipeDelimited": ParameterStyle.PIPES,
        "deepObject": ParameterStyle.DEEP,
    },
    ParameterPlace.HEADER: {"simple": ParameterStyle.SIMPLE},
}

_JSON: Final = re.compile(r"application/(?:json|[a-z0-9.+_-]+\+json)", re.IGNORECASE)
_MEDIA_TYPE: Final = re.compile(
    r"[A-Za-z0-9!#&^_.+-]{1,100}/[A-Za-z0-9!#&^_.+-]{1,100}(?:; ?[A-Za-z0-9_.-]{1,50}=[A-Za-z0-9_.-]{1,100}){0,4}"
)
_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_PLAIN_PATH: Final = re.compile(r"/[^?#\\\x00-\x20\x7f]*")


class _Named(Protocol):
    """What the library's parameters of 3.0 and 3.1 share."""

    name: str
    required: bool
    style: str | None
    explode: bool | None


@dataclass(frozen=True, slots=True)
class _Argument:
    """A parameter that can be sent, with its schema."""

    parameter: ApiParameter
    schema: dict[str, Json]
    required: bool


class OperationReader:
    """Reads the operations of one document. `taken` are the headers that the operator sets, in lower case."""

    def __init__(self, document: ApiDocument, taken: Collection[str]) -> None:
        self._document = document
        self._taken = taken
        self._schemas = SchemaReader(document.root, v31=document.v31)
        self.refused: dict[str, str] = {}

    def read_all(self, chosen: Collection[str] | None) -> tuple[ApiOperation, ...]:
        """Every operation, or those chosen by operationId or name; what is left out stands in `refused`."""
        found: dict[str, ApiOperation] = {}
        missing = set(chosen or ())
        for method, path, item, operation in self._list():
            told = cast("Mapping[str, Json]", operation).get("operationId") if isinstance(operation, dict) else None
            name = _name_operation(told, method, path)
            if chosen is not None and not {name, told} & set(chosen):
                continue
            missing -= {name, told}
            if name in found or name in self.refused:
                self.refused[tell(f"{name} ({method.upper()} {path})", 200)] = "another operation has this name already"
                continue
            try:
                found[name] = self.read_one(name, method, path, item, operation)
            except NotOffered as refused:
                self.refused[name] = refused.message
        for name in sorted(missing):
            self.refused[tell(name, 200)] = "the document has no such operation"
        return tuple(found.values())

    def read_one(self, name: str, method: str, path: str, item: Mapping[str, Json], operation: Json) -> ApiOperation:
        """One operation. Raises NotOffered."""
        given = self._expand(item, operation)
        try:
            checked = self._document.check(given)
        except ValidationError as error:
            raise NotOffered(f"it is not as OpenAPI says: {word_fault(error)}") from None
        listed = cast("Sequence[_Named]", checked.parameters or ())
        raw = cast("Sequence[Mapping[str, Json]]", given["parameters"])
        arguments = _name_arguments([each for pair in zip(listed, raw, strict=True) if (each := self._read_parameter(*pair))])
        body, body_schema, body_required = self._read_body(method, given.get("requestBody"))
        properties = {each.parameter.argument: each.schema for each in arguments}
        required = [each.parameter.argument for each in arguments if each.required]
        if body is not None:
            properties[BODY] = body_schema
            required += [BODY] if body_required else []
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        _check_schema(schema)
        answers = given.get("responses")
        summary = tell(checked.summary or "", MAX_TITLE)
        return ApiOperation(
            name=name,
            method=method.upper(),
            path=_read_path(path, arguments),
            parameters=tuple(each.parameter for each in arguments),
            body=body,
            schema=schema,
            description=tell(checked.description or "", MAX_DESCRIPTION) or summary or f"{method.upper()} {tell(path, 200)}",
            title=summary or None,
            answers=cast("Mapping[str, Json]", answers) if isinstance(answers, dict) else {},
        )

    def read_answer_schema(self, operation: ApiOperation, status: int, media_type: str) -> tuple[Json, tuple[str, ...]]:
        """The schema of an answer, None where there is none, and the media types that the document knows for this status.

        Raises NotOffered for a schema that cannot be read.
        """
        known = operation.answers
        told = known.get(str(status)) or known.get(f"{status // 100}XX") or known.get("default")
        if told is None:
            return None, ()
        content = follow(self._document.root, told, "the answer").get("content")
        if not isinstance(content, dict) or not content:
            return None, ()
        types = {str(name).split(";")[0].strip().lower(): each for name, each in cast("dict[str, Json]", content).items()}
        for name in (media_type, f"{media_type.split('/', 1)[0]}/*", "*/*"):
            if name in types and isinstance(types[name], dict) and "schema" in types[name]:
                return self._schemas.read(types[name]["schema"], Direction.ANSWER), tuple(types)
        return None, tuple(types)

    def _list(self) -> Iterator[tuple[str, str, Mapping[str, Json], Json]]:
        for path, raw in self._document.paths.items():
            if path.startswith("x-"):
                continue
            try:
                item = follow(self._document.root, raw, "its path")
            except NotOffered as refused:
                self.refused[tell(path, 200)] = refused.message
                continue
            for method in item:
                if method in _METHODS:
                    yield method, path, item, item[method]
                elif method == "trace":
                    self.refused[tell(f"TRACE {path}", 200)] = "TRACE is never sent"

    def _expand(self, item: Mapping[str, Json], operation: Json) -> dict[str, Json]:
        """The operation with what it has from its path, references to whole parts followed."""
        root = self._document.root
        if not isinstance(operation, dict):
            raise NotOffered("it is not an object")
        own = cast("Mapping[str, Json]", operation)
        if item.get("servers") or own.get("servers"):
            raise NotOffered("it names a server of its own, and only the base URL is asked")
        merged: dict[tuple[Json, Json], Mapping[str, Json]] = {}
        for holder in (item, own):
            listed: Json = holder.get("parameters") or []
            if not isinstance(listed, list):
                raise NotOffered("its `parameters` are not a list")
            here: set[tuple[str, str]] = set()
            for each in cast("list[Json]", listed):
                parameter = follow(root, each, "a parameter of it")
                key = (str(parameter.get("name")), str(parameter.get("in")))
                if key in here:
                    raise NotOffered(f"it has the parameter {show(key[0])} twice")
                here.add(key)
                merged[key] = parameter
        # What is called back, and how access is got, is no part of a request.
        members = {name: value for name, value in own.items() if name not in ("callbacks", "servers", "security")}
        members["parameters"] = list(merged.values())
        if "requestBody" in own:
            members["requestBody"] = follow(root, own["requestBody"], "its body")
        return members

    def _read_parameter(self, checked: _Named, raw: Mapping[str, Json]) -> _Argument | None:
        """None for one that is left out: the operator sets it, or it is optional and cannot be sent."""
        try:
            return self._read_sendable(checked, raw)
        except NotOffered:
            if checked.required or raw["in"] == "path":
                raise
            return None

    def _read_sendable(self, checked: _Named, raw: Mapping[str, Json]) -> _Argument | None:
        name, shown = checked.name, show(checked.name)
        if raw["in"] == "cookie":
            raise NotOffered(f"it needs the cookie {shown}, and cookies are never sent")
        place = ParameterPlace(raw["in"])
        if place is ParameterPlace.HEADER:
            if name.lower() in _IGNORED_FIELDS or name.lower() in self._taken:
                return None
            if FIELD_NAME.fullmatch(name) is None or name.lower() in RESERVED_FIELDS | _STEERING_FIELDS:
                raise NotOffered(f"it needs the header {shown}, which no call may set")
        style = checked.style or {ParameterPlace.QUERY: "form"}.get(place, "simple")
        explode = checked.explode if checked.explode is not None else style == "form"
        content = raw.get("content")
        if isinstance(content, dict):
            (kind, inner), *more = cast("dict[str, Json]", content).items() or [("", None)]
            if more or _JSON.fullmatch(kind) is None or not isinstance(inner, dict):
                raise NotOffered(f"its parameter {shown} is written as {show(kind)}, which cannot be done")
            schema, known, explode = cast("dict[str, Json]", inner).get("schema", True), ParameterStyle.JSON, False
        else:
            if style not in _STYLES[place]:
                raise NotOffered(f"its parameter {shown} is written in the style {show(style)}, which cannot be done")
            schema, known = raw.get("schema", True), _STYLES[place][style]
        described = _describe(self._schemas.read(schema, Direction.REQUEST), raw)
        required = checked.required or place is ParameterPlace.PATH
        return _Argument(ApiParameter(_identifier(name), name, place, known, explode), described, required)

    def _read_body(self, method: str, raw: Json) -> tuple[ApiBody | None, Json, bool]:
        if raw is None:
            return None, None, False
        members = cast("Mapping[str, Json]", raw)
        required = members.get("required") is True
        if method.upper() in READING_METHODS:
            if required:
                raise NotOffered(f"it needs a body, which a request with {method.upper()} does not have")
            return None, None, False
        content = cast("dict[str, Json]", members.get("content") or {})
        body = _choose_body(content)
        if body is None:
            kinds = ", ".join(show(kind) for kind in list(content)[:3]) or "nothing"
            raise NotOffered(f"its body is {kinds}, which cannot be written as JSON, form fields or text")
        inner = cast("Mapping[str, Json]", content[body.media_type])
        schema = self._schemas.read(inner.get("schema", True), Direction.REQUEST)
        if body.kind is BodyKind.TEXT:
            schema = {"type": "string"}
        described = _describe(schema, {"description": members.get("description")})
        if body.kind is BodyKind.FORM:
            described = {**described, "type": "object"}
        return body, described, required


def read_call(call: DeclaredCall, taken: Collection[str]) -> ApiOperation:
    """A declared call, by the same rules as an operation of a document. Raises NotOffered."""
    body = next((each for each in call.parameters if each.place == "body"), None)
    raw: dict[str, Json] = {
        "description": call.description,
        "parameters": [
            {
                "name": each.name,
                "in": each.place,
                "description": each.description,
                "required": each.required or each.place == "path",
                "schema": each.type_schema,
            }
            for each in call.parameters
            if each.place != "body"
        ],
    }
    if body is not None:
        content = {call.body_type: {"schema": body.type_schema}}
        raw["requestBody"] = {"description": body.description, "required": body.required, "content": content}
    reader = OperationReader(ApiDocument({"paths": {}}, "", "", v31=True), taken)
    operation = reader.read_one(_identifier(call.name), call.method.lower(), call.path, {}, raw)
    return replace(operation, category=call.category)


# ── inside ──


def _name_operation(told: Json, method: str, path: str) -> str:
    given = told if isinstance(told, str) and told.strip() else f"{method}_{path.strip('/') or 'root'}"
    name = _identifier(given)
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME - 9]}_{hashlib.sha256(given.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _identifier(name: str) -> str:
    """A name that models, templates and policies can hold."""
    made = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "value"
    return made if not made[0].isdigit() else f"_{made}"


def _name_arguments(arguments: Sequence[_Argument]) -> list[_Argument]:
    """Arguments that would have one name are told apart by their places, and by a number where that is not enough."""
    wanted = [each.parameter.argument for each in arguments]
    named: list[_Argument] = []
    used = {BODY}
    for each in arguments:
        parameter = each.parameter
        name = parameter.argument
        if wanted.count(name) > 1 or name == BODY:
            name = f"{parameter.place.value}_{name}"
        number, plain = 2, name
        while name in used:
            name, number = f"{plain}_{number}", number + 1
        used.add(name)
        named.append(replace(each, parameter=replace(parameter, argument=name)))
    return named


def _describe(schema: Json, raw: Mapping[str, Json]) -> dict[str, Json]:
    """An argument's schema with its description. A default is told and not filled in: the API knows what it does without."""
    made: dict[str, Json] = dict(cast("Mapping[str, Json]", schema)) if isinstance(schema, dict) else {}
    words = raw.get("description")
    parts = (
        [tell(words, 300)] if isinstance(words, str) and words.strip() else [made["description"]] if "description" in made else []
    )
    if (default := made.pop("default", None)) is not None:
        try:
            parts.append(f"Without it: {show(default)}.")
        except MalformedJson:
            parts.append("It may be left out.")
    if parts:
        made["description"] = " ".join(parts)
    return made


def _choose_body(content: Mapping[str, Json]) -> ApiBody | None:
    """The form that says most: JSON, then form fields, then text."""
    by_kind: dict[BodyKind, str] = {}
    for name, inner in content.items():
        kind = _kind_of_body(name.split(";")[0].strip().lower())
        if kind is not None and isinstance(inner, dict) and _MEDIA_TYPE.fullmatch(name):
            by_kind.setdefault(kind, name)
    return next((ApiBody(by_kind[kind], kind) for kind in BodyKind if kind in by_kind), None)


def _kind_of_body(bare: str) -> BodyKind | None:
    if _JSON.fullmatch(bare):
        return BodyKind.JSON
    if bare == "application/x-www-form-urlencoded":
        return BodyKind.FORM
    return BodyKind.TEXT if bare.startswith("text/") and bare != "text/*" else None


def _read_path(path: str, arguments: Sequence[_Argument]) -> tuple[tuple[str, str | None], ...]:
    if _PLAIN_PATH.fullmatch(path) is None or has_dots(path):
        raise NotOffered("its path is none: it begins with `/` and has no `?`, `#`, `..` or blank")
    by_name = {each.parameter.name: each.parameter.argument for each in arguments if each.parameter.place is ParameterPlace.PATH}
    pieces: list[tuple[str, str | None]] = []
    *literals, last = _PLACE.split(path)
    for text, name in zip(literals[::2], literals[1::2], strict=True):
        if name not in by_name:
            raise NotOffered(f"its path has {show(name)}, which is no parameter of it")
        pieces.append((_encode_literal(text), by_name[name]))
    if idle := by_name.keys() - set(literals[1::2]):
        raise NotOffered(f"its parameter {show(min(idle))} has no place in its path")
    return (*pieces, (_encode_literal(last), None))


def _encode_literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise NotOffered("its path has a brace without its other half")
    return quote(text, safe="/%:@!$&'()*+,;=~")


def _check_schema(schema: Mapping[str, Json]) -> None:
    try:
        Validator(schema)
        canonical_bytes(schema)
    except Misconfigured as error:
        raise NotOffered(error.message) from None
    except MalformedJson:
        raise NotOffered("its schema holds a value that not every reader of JSON can hold") from None
