"""The operations of a document: each becomes one that can be called, or a reason why not, under its name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast
from urllib.parse import quote

from pydantic import ValidationError

from gateway.adapters.tools.http_api.arguments import ApiArgument, ArgumentReader, NamedParameter, identifier, name_arguments
from gateway.adapters.tools.http_api.dialect import Direction, SchemaReader
from gateway.adapters.tools.http_api.documents import MAX_NESTING, ApiDocument, nests_deeper, word_fault
from gateway.adapters.tools.http_api.operations import (
    BODY,
    ApiOperation,
    ParameterPlace,
)
from gateway.adapters.tools.http_api.places import has_dots
from gateway.adapters.tools.http_api.references import NotOffered, follow
from gateway.adapters.tools.http_api.settings import DeclaredCall
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

_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_PLAIN_PATH: Final = re.compile(r"/[^?#\\\x00-\x20\x7f]*")


class OperationReader:
    """Reads the operations of one document. `taken` are the headers that the operator sets, in lower case."""

    def __init__(self, document: ApiDocument, taken: Collection[str]) -> None:
        self._document = document
        self._schemas = SchemaReader(document.root, v31=document.v31)
        self._arguments = ArgumentReader(self._schemas, taken)
        self.refused: dict[str, str] = {}

    def read_all(self, chosen: Collection[str] | None) -> tuple[ApiOperation, ...]:
        """Every operation, or those chosen by operationId or name; what is left out stands in `refused`."""
        found: dict[str, ApiOperation] = {}
        missing = set(chosen or ())
        for method, path, item, operation in self._list():
            given = cast("Mapping[str, Json]", operation).get("operationId") if isinstance(operation, dict) else None
            told = given if isinstance(given, str) and given.strip() else None
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
        listed = cast("Sequence[NamedParameter]", checked.parameters or ())
        raw = cast("Sequence[Mapping[str, Json]]", given["parameters"])
        arguments = name_arguments(
            [each for pair in zip(listed, raw, strict=True) if (each := self._arguments.read_parameter(*pair))]
        )
        _require_whole_characters(path, *(each.parameter.name for each in arguments))
        body, body_schema, body_required = self._arguments.read_body(method, given.get("requestBody"))
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
        if nests_deeper(members, MAX_NESTING):
            raise NotOffered(f"it nests deeper than {MAX_NESTING} levels")
        return members


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
    operation = reader.read_one(identifier(call.name), call.method.lower(), call.path, {}, raw)
    return replace(operation, category=call.category)


# ── inside ──


def _name_operation(told: str | None, method: str, path: str) -> str:
    given = told or f"{method}_{path.strip('/') or 'root'}"
    name = identifier(given)
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME - 9]}_{hashlib.sha256(given.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _read_path(path: str, arguments: Sequence[ApiArgument]) -> tuple[tuple[str, str | None], ...]:
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


def _require_whole_characters(*texts: str) -> None:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise NotOffered("its path or a parameter's name has half of a character") from None


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
