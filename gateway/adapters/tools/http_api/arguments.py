"""The arguments of one operation: each parameter and the body, with what they are called and where they stand."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, cast

from gateway.adapters.tools.http_api.dialect import Direction, SchemaReader
from gateway.adapters.tools.http_api.operations import (
    BODY,
    READING_METHODS,
    ApiBody,
    ApiParameter,
    BodyKind,
    ParameterPlace,
    ParameterStyle,
)
from gateway.adapters.tools.http_api.references import NotOffered
from gateway.adapters.tools.http_api.settings import FIELD_NAME, RESERVED_FIELDS
from gateway.adapters.tools.http_api.wording import show_any, tell
from gateway.core.canonical import Json
from gateway.core.effects import show

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


class NamedParameter(Protocol):
    """What the library's parameters of 3.0 and 3.1 share."""

    name: str
    required: bool
    style: str | None
    explode: bool | None


@dataclass(frozen=True, slots=True)
class ApiArgument:
    """A parameter that can be sent, with its schema."""

    parameter: ApiParameter
    schema: dict[str, Json]
    required: bool


class ArgumentReader:
    """Reads the arguments of a document's operations. `taken` are the headers that the operator sets, in lower case."""

    def __init__(self, schemas: SchemaReader, taken: Collection[str]) -> None:
        self._schemas = schemas
        self._taken = taken

    def read_parameter(self, checked: NamedParameter, raw: Mapping[str, Json]) -> ApiArgument | None:
        """One of the parameters; None for one that is left out: the operator sets it, or it is optional and cannot be sent."""
        try:
            return self._read_sendable(checked, raw)
        except NotOffered:
            if checked.required or raw["in"] == "path":
                raise
            return None

    def _read_sendable(self, checked: NamedParameter, raw: Mapping[str, Json]) -> ApiArgument | None:
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
        return ApiArgument(ApiParameter(identifier(name), name, place, known, explode), described, required)

    def read_body(self, method: str, raw: Json) -> tuple[ApiBody | None, Json, bool]:
        """The body, its schema, and whether it is required. Raises NotOffered."""
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


def identifier(name: str) -> str:
    """A name that models, templates and policies can hold."""
    made = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "value"
    return made if not made[0].isdigit() else f"_{made}"


def name_arguments(arguments: Sequence[ApiArgument]) -> list[ApiArgument]:
    """Arguments that would have one name are told apart by their places, and by a number where that is not enough."""
    wanted = [each.parameter.argument for each in arguments]
    named: list[ApiArgument] = []
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
        parts.append(f"Without it: {show_any(default)}.")
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
