"""What an operator may say about the sign-in to a source. Nothing has to be said where clients register themselves."""

from __future__ import annotations

import re
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from gateway.adapters.tools.oauth.challenge import read_scope
from gateway.adapters.tools.oauth.documents import OAuthRefusal
from gateway.adapters.tools.oauth.places import read_origin

_SECRET: Final = re.compile(r"\$\{secret:[^{}]+\}")
_CLIENT_ID: Final = re.compile(r"[!-~]{1,500}")


class SignInSettings(BaseModel):
    """The authorization server and the client that was registered there, where the operator registered one.

    A client belongs to one server, so `client_id` needs `issuer`: otherwise the source could name a server of its own, which
    would be sent the client's secret. `client_secret` is `${secret:NAME}`. `scope` takes the place of what the source asks for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str = ""
    client_id: str = ""
    client_secret: str = ""
    scope: str = ""

    @field_validator("issuer")
    @classmethod
    def _is_issuer(cls, issuer: str) -> str:
        try:
            origin = read_origin(issuer, "`issuer`") if issuer else None
        except OAuthRefusal as refusal:
            raise ValueError(refusal.message) from None
        if origin is not None and origin.scheme != "https" and not origin.loopback:
            raise ValueError("it should begin with `https://`")
        return issuer

    @field_validator("client_id")
    @classmethod
    def _is_client(cls, client: str) -> str:
        if client and _CLIENT_ID.fullmatch(client) is None:
            raise ValueError("it should be at most 500 visible ASCII characters")
        return client

    @field_validator("client_secret")
    @classmethod
    def _is_reference(cls, secret: str) -> str:
        if secret and _SECRET.fullmatch(secret) is None:
            raise ValueError("it should be `${secret:NAME}`; `countersign secrets set NAME` stores the secret")
        return secret

    @field_validator("scope")
    @classmethod
    def _is_scope(cls, scope: str) -> str:
        if read_scope(scope) != scope:
            raise ValueError("it should be words with single spaces between them")
        return scope

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.client_id and not self.issuer:
            raise ValueError("`client_id` needs the `issuer` at which it is registered")
        if self.client_secret and not self.client_id:
            raise ValueError("`client_secret` needs the `client_id` that it belongs to")
        return self
