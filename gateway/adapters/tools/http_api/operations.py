"""One operation of an API: which argument goes where, and what a person reads of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, assert_never

from gateway.adapters.tools.http_api.places import ApiBase
from gateway.adapters.tools.http_api.wording import literal
from gateway.adapters.tools.offer import ToolOffer
from gateway.core.canonical import Json
from gateway.core.vocabulary import Category, Recovery

READING_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that are safe by RFC 9110 section 9.2.1: they ask for nothing to be changed."""

BODY: Final = "body"
"""The argument that is the body of a request, whole."""


class ParameterPlace(StrEnum):
    """Where in a request a value stands, as OpenAPI's `in` says. A cookie is not among them: none is ever sent."""

    PATH = "path"
    QUERY = "query"
    HEADER = "header"


class ParameterStyle(StrEnum):
    """How lists and objects become text: OpenAPI's styles, and JSON for a parameter that has `content`."""

    SIMPLE = "simple"
    FORM = "form"
    SPACES = "spaceDelimited"
    PIPES = "pipeDelimited"
    DEEP = "deepObject"
    JSON = "json"


class BodyKind(StrEnum):
    """How the `body` argument becomes bytes."""

    JSON = "JSON"
    FORM = "form fields"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ApiParameter:
    """One argument and its place. `name` is the API's own, `argument` what it is called in the tool's schema."""

    argument: str
    name: str
    place: ParameterPlace
    style: ParameterStyle
    explode: bool

    @property
    def told(self) -> str:
        """Its place in words that differ wherever the request would."""
        how = "" if self.place is ParameterPlace.PATH and self.style is ParameterStyle.SIMPLE and not self.explode else self._how
        named = "" if self.name == self.argument else f" as {literal(self.name)}"
        return f"`{self.argument}`{named}{how}"

    @property
    def _how(self) -> str:
        usual = {
            ParameterPlace.PATH: (ParameterStyle.SIMPLE, False),
            ParameterPlace.QUERY: (ParameterStyle.FORM, True),
            ParameterPlace.HEADER: (ParameterStyle.SIMPLE, False),
        }
        if (self.style, self.explode) == usual[self.place]:
            return ""
        return f" ({self.style.value}{', exploded' if self.explode else ''})"


@dataclass(frozen=True, slots=True)
class ApiBody:
    """The body of a request."""

    media_type: str
    kind: BodyKind


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One operation. `path` is literal text, already encoded, each piece followed by the argument that stands behind it.

    `answers` are the document's raw responses by status; they are read when one comes.
    """

    name: str
    method: str
    path: tuple[tuple[str, str | None], ...]
    parameters: tuple[ApiParameter, ...]
    body: ApiBody | None
    schema: Mapping[str, Json]
    description: str
    title: str | None = None
    answers: Mapping[str, Json] = field(default_factory=dict[str, Json])
    category: Category | None = None

    def offer(self, base: ApiBase, *, timeout: float, result_cap: int) -> ToolOffer:
        """The operation as a tool. Its sentences say everything of the request that the schema does not."""
        place = "".join(text.replace("{", "{{").replace("}", "}}") + (f"{{{name}}}" if name else "") for text, name in self.path)
        return ToolOffer(
            name=self.name,
            description=self.description,
            param_schema=self.schema,
            title=self.title,
            proposed=self.category or self._propose(),
            because="declared" if self.category else self.method,
            summary=f"{self.method} {base.url}{place}",
            effects=self._effects(base),
            network=True,
            recovery=Recovery.IDEMPOTENT if self.method in READING_METHODS else Recovery.UNSAFE,
            result_cap=result_cap,
            timeout=timeout,
        )

    def _propose(self) -> Category:
        if self.method in READING_METHODS:
            # Not a reading, which runs by itself or not at all: what reaches the network never runs without asking.
            return Category.NETWORK
        return Category.DESTRUCTIVE if self.method == "DELETE" else Category.WRITE

    def _effects(self, base: ApiBase) -> tuple[str, ...]:
        parts = [self._tell_place(place) for place in ParameterPlace]
        if self.body is not None:
            parts.append(f"`{BODY}` as {self.body.kind.value} ({literal(self.body.media_type)})")
        sent = "; ".join(part for part in parts if part) or "nothing but the address"
        who = "this machine" if base.loopback else base.host
        return (f"Sends to {who}: {sent}", "Whoever runs that server sees all of it")

    def _tell_place(self, place: ParameterPlace) -> str:
        told = ", ".join(parameter.told for parameter in self.parameters if parameter.place is place)
        if not told:
            return ""
        match place:
            case ParameterPlace.PATH:
                return f"{told} in the path"
            case ParameterPlace.QUERY:
                return f"{told} in the query"
            case ParameterPlace.HEADER:
                return f"{told} as headers"
            case _:
                assert_never(place)
