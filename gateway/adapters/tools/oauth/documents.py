"""The documents of other sides: only what is used is read, and everything has a size."""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.core.effects import escape

MAX_URL: Final = 2_048
MAX_TOKEN: Final = 16 * 1024
"""Characters of a token. A header of that size is as much as servers take."""

_Url = Annotated[str, Field(max_length=MAX_URL)]
_Urls = Annotated[tuple[_Url, ...], Field(max_length=50)]
_Words = Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=500)]
_Visible = Annotated[str, Field(pattern=r"\A[!-~]+\z", max_length=MAX_TOKEN)]
"""Visible ASCII (RFC 6749 appendix A); a token is sent in a header."""


class OAuthRefusal(Exception):
    """An authorization server or a resource cannot be used as it is. `message` is one sentence that is safe to show.

    `is_final`: asking once more with the same tokens is of no use.
    """

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_final = is_final


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class ResourceDocument(_Document):
    """RFC 9728: which authorization servers a resource believes."""

    resource: _Url
    authorization_servers: _Urls = ()
    scopes_supported: _Words | None = None


class ServerDocument(_Document):
    """RFC 8414, and OpenID Connect Discovery, which is the same as far as it is read here."""

    issuer: _Url
    authorization_endpoint: _Url
    token_endpoint: _Url
    registration_endpoint: _Url | None = None
    revocation_endpoint: _Url | None = None
    scopes_supported: _Words | None = None
    response_types_supported: _Words = ("code",)
    code_challenge_methods_supported: _Words = ()
    token_endpoint_auth_methods_supported: _Words | None = None
    authorization_response_iss_parameter_supported: bool = False


class ClientDocument(_Document):
    """RFC 7591: what a client was registered as."""

    client_id: _Visible
    client_secret: Annotated[_Visible | None, Field(repr=False)] = None
    token_endpoint_auth_method: Annotated[str, Field(max_length=100)] | None = None
    redirect_uris: _Urls | None = None


class TokenDocument(_Document):
    """RFC 6749 section 5.1. `expires_in` is in seconds."""

    access_token: Annotated[_Visible, Field(repr=False)]
    token_type: Annotated[str, Field(max_length=100)]
    expires_in: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    refresh_token: Annotated[_Visible | None, Field(repr=False)] = None
    scope: Annotated[str, Field(max_length=4_000)] | None = None


class ErrorDocument(_Document):
    """RFC 6749 section 5.2."""

    error: Annotated[str, Field(max_length=200)]


_AnyDocument = TypeVar("_AnyDocument", bound=_Document)


def read_document(kind: type[_AnyDocument], data: bytes, what: str) -> _AnyDocument:
    """The document in these bytes. Raises OAuthRefusal, which says where it is wrong and nothing of what it holds."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = escape(".".join(str(step) for step in fault["loc"]))[:80]
        raise OAuthRefusal(f"{what} is not what it should be" + (f", at `{where}`" if where else "; it is no JSON")) from None


def read_error(data: bytes) -> str:
    """The error code of an answer that refuses, made inert; empty where there is none."""
    try:
        return escape(ErrorDocument.model_validate_json(data).error)[:100]
    except ValidationError:
        return ""
