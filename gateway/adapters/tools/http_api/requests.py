"""The request of one call, made once for whoever is asked and for the wire alike.

Values come from an untrusted model. A value never becomes more than a value: in a path it is one part of it, in a query one
value, in a header one line; scheme, host, port and method come from the operator and the document alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never, cast
from urllib.parse import quote, quote_plus

import orjson

from gateway import __version__
from gateway.adapters.tools.builtin.egress import MAX_URL
from gateway.adapters.tools.http_api.operations import (
    BODY,
    ApiBody,
    ApiOperation,
    ApiParameter,
    BodyKind,
    ParameterPlace,
    ParameterStyle,
)
from gateway.adapters.tools.http_api.places import ApiBase
from gateway.adapters.tools.http_api.settings import FIELD_VALUE
from gateway.core.canonical import Json, canonical_bytes
from gateway.core.errors import ToolFailed
from gateway.core.preview import LineMark, Preview, PreviewChange, PreviewLine

MAX_BODY: Final = 100_000
"""Bytes. A person reads all of it before it is sent, and arguments that are longer belong into a file."""

MAX_FIELD: Final = 2_000
"""Characters of a header's value; servers commonly take 8 kB of headers in all."""

_FIXED: Final = {
    "User-Agent": f"countersign/{__version__}",
    "Accept": "application/json, text/*;q=0.8, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}


class ArgumentRefused(ToolFailed):
    """A value cannot be sent. `path` is a JSON pointer into the arguments, `fault` what is wrong with it there."""

    def __init__(self, argument: str, fault: str) -> None:
        super().__init__(f"/{argument}: {fault}")
        self.path = f"/{argument}"
        self.fault = fault


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request as it leaves, with `${secret:NAME}` where a secret goes. Of the headers only `Host`, `Content-Length` and
    `Connection` are missing, which follow from the rest."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None

    def preview(self) -> Preview:
        """The request line by line, nothing left out."""
        head = [f"{self.method} {self.url}", *(f"{name}: {value}" for name, value in self.headers)]
        lines = head if self.body is None else [*head, "", *self.body.decode().split("\n")]
        return Preview(
            PreviewChange.SEND,
            self.url,
            bytes_after=len(self.body or b""),
            digest=hashlib.sha256("\n".join(lines).encode()).hexdigest(),
            lines=tuple(PreviewLine(LineMark.SAME, line) for line in lines),
        )


@dataclass(frozen=True, slots=True)
class RequestWriter:
    """Writes the requests of one API. `headers` are the operator's, not filled."""

    base: ApiBase
    headers: Mapping[str, str]
    slashes_in_paths: bool = False

    def write(self, operation: ApiOperation, arguments: Mapping[str, Json]) -> ApiRequest:
        """The request of a call whose arguments fit the schema. Raises ArgumentRefused."""
        given = [each for each in operation.parameters if each.argument in arguments]
        path = "".join(
            text + ("" if name is None else self._write_part(_of(operation.parameters, name), arguments))
            for text, name in operation.path
        )
        queries = [piece for each in given if each.place is ParameterPlace.QUERY for piece in _write_query(each, arguments)]
        url = f"{self.base.url}{path}" + (f"?{'&'.join(queries)}" if queries else "")
        if len(url) > MAX_URL:
            raise ArgumentRefused(given[0].argument if given else "", f"makes an address of more than {MAX_URL} characters")
        fields = {each.name: _write_field(each, arguments) for each in given if each.place is ParameterPlace.HEADER}
        body = None
        if operation.body is not None and BODY in arguments:
            body = _write_body(operation.body, arguments[BODY])
            fields["Content-Type"] = operation.body.media_type
        return ApiRequest(operation.method, url, tuple(_merge(_FIXED, self.headers, fields).items()), body)

    def write_document_request(self, url: str) -> ApiRequest:
        """The request for the API's own document, with the operator's headers."""
        return ApiRequest("GET", url, tuple(_merge(_FIXED, self.headers).items()), None)

    def _write_part(self, parameter: ApiParameter, arguments: Mapping[str, Json]) -> str:
        texts = [text for pair in _spell_all(parameter, arguments[parameter.argument]) for text in pair if text is not None]
        for text in texts:
            parts = re.split(r"[/\\]", text)
            if not text:
                raise ArgumentRefused(parameter.argument, "must not be empty: the path would be another one")
            if len(parts) > 1 and (not self.slashes_in_paths or "\\" in text):
                raise ArgumentRefused(parameter.argument, "must not hold `/` or `\\`: it is one part of a path")
            # Only a value of dots alone can make a part of dots, whatever stands around its place.
            if "." in parts or ".." in parts or (len(parts) > 1 and "" in parts):
                raise ArgumentRefused(parameter.argument, "must not be `.` or `..`: the path would be another one")
            if re.search(r"[\x00-\x1f\x7f]", text):
                raise ArgumentRefused(parameter.argument, "must not hold control characters")
        if not texts:
            raise ArgumentRefused(parameter.argument, "must not be empty: the path would be another one")
        return ",".join(
            _join(pair, "=" if parameter.explode else ",") for pair in _spell_all(parameter, arguments[parameter.argument])
        )


def _of(parameters: Iterable[ApiParameter], argument: str) -> ApiParameter:
    return next(each for each in parameters if each.argument == argument)


def _merge(*layers: Mapping[str, str]) -> dict[str, str]:
    """Later layers win, in whatever case of letters a name is written."""
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        for name, value in layer.items():
            merged[name.lower()] = (name, value)
    return dict(merged.values())


# ── values as text ──


def _spell(argument: str, value: Json) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return canonical_bytes(value).decode()
        case None:
            raise ArgumentRefused(argument, "must not be null: it has no text")
        case _:
            raise ArgumentRefused(argument, "must not hold lists or objects inside: they have no text")


def _spell_all(parameter: ApiParameter, value: Json) -> list[tuple[str | None, str]]:
    """The texts of a value, each with its key if it is of an object."""
    if parameter.style is ParameterStyle.JSON:
        return [(None, canonical_bytes(value).decode())]
    if isinstance(value, list):
        return [(None, _spell(parameter.argument, each)) for each in cast("list[Json]", value)]
    if isinstance(value, dict):
        return [(key, _spell(parameter.argument, each)) for key, each in cast("dict[str, Json]", value).items()]
    return [(None, _spell(parameter.argument, value))]


def _join(pair: tuple[str | None, str], between: str) -> str:
    return between.join(_encode(text) for text in pair if text is not None)


def _encode(text: str) -> str:
    """Percent-encoded but for RFC 3986's unreserved characters, so that no delimiter is left."""
    return quote(text, safe="")


def _write_query(parameter: ApiParameter, arguments: Mapping[str, Json]) -> Sequence[str]:
    value, name = arguments[parameter.argument], _encode(parameter.name)
    pairs = _spell_all(parameter, value)
    match parameter.style:
        case ParameterStyle.JSON:
            return [f"{name}={_encode(pairs[0][1])}"]
        case ParameterStyle.DEEP:
            if not isinstance(value, dict):
                raise ArgumentRefused(parameter.argument, "must be an object")
            return [f"{name}%5B{_encode(key or '')}%5D={_encode(text)}" for key, text in pairs]
        case ParameterStyle.FORM | ParameterStyle.SIMPLE | ParameterStyle.SPACES | ParameterStyle.PIPES:
            if parameter.explode:
                return [f"{name if key is None else _encode(key)}={_encode(text)}" for key, text in pairs]
            between = {ParameterStyle.SPACES: "%20", ParameterStyle.PIPES: "%7C"}.get(parameter.style, ",")
            return [f"{name}={between.join(_join(pair, between) for pair in pairs)}"] if pairs else []
        case _:
            assert_never(parameter.style)


def _write_field(parameter: ApiParameter, arguments: Mapping[str, Json]) -> str:
    pairs = _spell_all(parameter, arguments[parameter.argument])
    between = "=" if parameter.explode else ","
    text = ",".join(between.join(each for each in pair if each is not None) for pair in pairs)
    if FIELD_VALUE.fullmatch(text) is None or len(text) > MAX_FIELD:
        raise ArgumentRefused(parameter.argument, f"must be visible ASCII on one line of at most {MAX_FIELD} characters")
    # A header that names a secret would otherwise be filled like the operator's own.
    if "${" in text:
        raise ArgumentRefused(parameter.argument, "must not hold `${`")
    return text


def _write_body(body: ApiBody, value: Json) -> bytes:
    match body.kind:
        case BodyKind.JSON:
            # On lines of its own, so that what is shown line by line is what is sent.
            written = orjson.dumps(value, option=orjson.OPT_INDENT_2)
        case BodyKind.TEXT:
            written = str(value).encode()
        case BodyKind.FORM:
            written = "&".join(_write_form_field(name, each) for name, each in cast("dict[str, Json]", value).items()).encode()
        case _:
            assert_never(body.kind)
    if len(written) > MAX_BODY:
        raise ArgumentRefused(BODY, f"must not be longer than {MAX_BODY} bytes")
    return written


def _write_form_field(name: str, value: Json) -> str:
    values = cast("list[Json]", value) if isinstance(value, list) else [value]
    return "&".join(f"{quote_plus(name)}={quote_plus(_spell(BODY, each))}" for each in values)
