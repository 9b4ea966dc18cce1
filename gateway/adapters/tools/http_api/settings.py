"""What the operator says about an HTTP API. Nothing here is secret: a header's value names secrets, `Bearer ${secret:TOKEN}`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from gateway.adapters.tools.http_api.places import ApiBase, read_base
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.core.model import DEFAULT_RESULT_CAP, DEFAULT_TOOL_TIMEOUT
from gateway.core.vocabulary import Category

MAX_TIMEOUT: Final = 600.0
"""Seconds. One request holds a connection and a call for that long."""

FIELD_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
"""A token (RFC 9110 section 5.6.2)."""

FIELD_VALUE: Final = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
"""Visible ASCII with spaces inside; RFC 9110 section 5.5 advises against anything else."""

RESERVED_FIELDS: Final = frozenset(
    {
        *("accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive"),
        *("proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that say how the message itself is to be read or whom it is for. The gateway alone sets them."""

Method: TypeAlias = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]


class _Settings(BaseModel):
    # By their own names in JSON too: what was checked is stored, and read again.
    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)


class DeclaredParameter(_Settings):
    """One argument of a declared call. `in: body` is the whole body; there is one at most. A path's argument is required."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    place: Annotated[Literal["path", "query", "header", "body"], Field(alias="in")]
    type_schema: Annotated[dict[str, Json], Field(alias="schema")]
    description: str = ""
    required: bool = False


class DeclaredCall(_Settings):
    """One call without an OpenAPI document. `path` stands behind the base URL, with places for values: `/orders/{id}`."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    method: Method
    path: Annotated[str, Field(min_length=1, max_length=1000)]
    description: Annotated[str, Field(min_length=1)]
    parameters: tuple[DeclaredParameter, ...] = ()
    body_type: str = "application/json"
    category: Category | None = None

    @model_validator(mode="after")
    def _has_one_body(self) -> Self:
        if sum(parameter.place == "body" for parameter in self.parameters) > 1:
            raise ValueError("there is one body, not two")
        return self


class HttpApiSettings(_Settings):
    """One API. Every request goes to `base_url` and nowhere else.

    At most one of the three forms of a document is given: its text, or the path of a file on one line; a file; or an address at
    the same scheme, host and port. `operations` chooses by operationId, or by the name that an operation without one gets; none
    means all of them. `timeout` is seconds, `result_cap` bytes.
    """

    base_url: str
    headers: dict[str, str] = {}
    document: str | None = None
    document_file: Path | None = None
    document_url: str | None = None
    operations: tuple[str, ...] | None = None
    calls: tuple[DeclaredCall, ...] = ()
    allow_plain_http: bool = False
    allow_private: bool = False
    """Whether the host may have an address that is not public. A loopback address or `localhost` as base URL needs no such
    word: nobody writes it by mistake, and no name server decides what it means."""
    slashes_in_paths: bool = False
    """Whether a value in a path may hold `/`, sent as `%2F`. Many servers decode it before they look where a request goes."""
    timeout: Annotated[float, Field(gt=0, le=MAX_TIMEOUT)] = DEFAULT_TOOL_TIMEOUT
    result_cap: Annotated[int, Field(ge=256, le=1024 * 1024)] = DEFAULT_RESULT_CAP

    @property
    def base(self) -> ApiBase:
        """The base URL, taken apart."""
        return read_base(self.base_url)

    @field_validator("base_url")
    @classmethod
    def _is_a_base(cls, text: str) -> str:
        try:
            read_base(text)
        except Misconfigured as error:
            raise ValueError(error.message) from None
        return text

    @field_validator("headers")
    @classmethod
    def _are_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if FIELD_NAME.fullmatch(name) is None:
                raise ValueError("a header's name is letters, digits and `-`")
            if name.lower() in RESERVED_FIELDS:
                raise ValueError(f"the header `{name}` is the gateway's own")
            if FIELD_VALUE.fullmatch(value) is None:
                raise ValueError(f"the value of the header `{name}` must be visible ASCII on one line")
        if len({name.lower() for name in headers}) < len(headers):
            raise ValueError("a header is named twice")
        return headers

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        given = [form for form in (self.document, self.document_file, self.document_url) if form is not None]
        if len(given) > 1:
            raise ValueError("give one of `document`, `document_file` and `document_url`")
        if not given and not self.calls:
            raise ValueError("give an OpenAPI document or at least one call")
        if self.operations is not None and not given:
            raise ValueError("`operations` chooses from a document, and there is none")
        base = self.base
        if base.scheme == "http" and not (base.loopback or self.allow_plain_http):
            raise ValueError("`base_url` is not encrypted; write https, or set `allow_plain_http`")
        if self.document_url is not None and not base.holds(self.document_url):
            raise ValueError("`document_url` must have the scheme, host and port of `base_url`; store another document as a file")
        return self
