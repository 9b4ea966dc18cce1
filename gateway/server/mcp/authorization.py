"""The SDK's authorization server over the gateway's grants.

Clients register without being stored: a client's id is its registration, signed. Nobody can fill a table with them, and an id
outlives a restart.
"""

from __future__ import annotations

import base64
import re
import time
from typing import Final
from urllib.parse import urlsplit

import orjson
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from gateway.core.effects import escape
from gateway.core.errors import GatewayError, InvalidRequest, LedgerUnavailable, Refused
from gateway.core.vocabulary import ClientEnding
from gateway.runtime.client_grants import CODE_SECONDS, ClientRequest, TokenPair
from gateway.server.mcp.client_site import ClientSiteParts

PURPOSE: Final = "mcp-client"
REDIRECTS: Final = 3
REDIRECT_LENGTH: Final = 256
NAME_LENGTH: Final = 60

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_APP_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*")
_NO_APP: Final = frozenset(
    {"javascript", "data", "vbscript", "file", "blob", "about", "ftp", "ws", "wss", "view-source", "filesystem", "jar"}
)
"""Schemes that are no application's: a browser that is led there runs or shows what stands in the address."""


class GrantingProvider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """What the SDK's handlers ask."""

    def __init__(self, parts: ClientSiteParts) -> None:
        self._parts = parts
        self._grants = parts.grants

    # ── clients ──

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """The client whose registration that id is."""
        packed = self._parts.signer.unsign(client_id, purpose=PURPOSE)
        if packed is None:
            return None
        known = orjson.loads(base64.urlsafe_b64decode(packed))
        return OAuthClientInformationFull(
            client_id=client_id,
            client_name=known["name"],
            redirect_uris=known["redirects"],
            token_endpoint_auth_method="none",  # noqa: S106 - the method of public clients
        )

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Sign a registration. Every client is a public one: a secret in a program that people install is none."""
        redirects = [str(each) for each in client_info.redirect_uris or ()]
        if not 1 <= len(redirects) <= REDIRECTS or not all(map(_may_lead_to, redirects)):
            raise RegistrationError(
                "invalid_redirect_uri",
                f"1 to {REDIRECTS} addresses, {REDIRECT_LENGTH} characters each: https, http on this machine, or an app's scheme",
            )
        name = escape((client_info.client_name or "unnamed")[:NAME_LENGTH])
        packed = base64.urlsafe_b64encode(orjson.dumps({"name": name, "redirects": redirects})).decode()
        client_id = self._parts.signer.sign(packed, purpose=PURPOSE)
        if self._parts.signer.unsign(client_id, purpose=PURPOSE) is None:
            raise RegistrationError("invalid_redirect_uri", "these addresses are too long together")
        client_info.client_id = client_id
        client_info.client_name = name
        client_info.client_secret = None
        client_info.client_secret_expires_at = None
        client_info.token_endpoint_auth_method = "none"  # noqa: S105 - the method of public clients

    # ── the browser ──

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """The page of the console where the person decides."""
        if params.resource is not None and params.resource.rstrip("/") != self._parts.resource:
            raise AuthorizeError("invalid_target", f"tokens are made for {self._parts.resource} only")
        request = ClientRequest(
            client_id=client.client_id,
            client_name=client.client_name or "",
            redirect_uri=str(params.redirect_uri),
            is_redirect_explicit=params.redirect_uri_provided_explicitly,
            state=params.state,
            code_challenge=params.code_challenge,
            resource=self._parts.resource,
        )
        try:
            request_id = self._grants.ask(request)
        except InvalidRequest as error:
            raise AuthorizeError("invalid_request", error.message) from None
        return f"{self._parts.console_origin}/connect?request={request_id}"

    # ── tokens ──

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """A code that this client may redeem."""
        allowed = await self._grants.look_at(authorization_code, client.client_id)
        if allowed is None:
            return None
        request = allowed.request
        return AuthorizationCode(
            code=authorization_code,
            scopes=[],
            # Its age was judged by the gateway's own clock; the SDK looks at the wall's.
            expires_at=time.time() + CODE_SECONDS,
            client_id=client.client_id,
            code_challenge=request.code_challenge,
            redirect_uri=AnyUrl(request.redirect_uri),
            redirect_uri_provided_explicitly=request.is_redirect_explicit,
            resource=request.resource,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """The first tokens; the SDK has verified the proof of the code."""
        try:
            return _as_token(await self._grants.redeem(authorization_code.code))
        except LedgerUnavailable:
            # Not the client's fault, and no reason for it to begin anew.
            raise
        except GatewayError as error:
            raise TokenError("invalid_grant", error.message) from None

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        """The good refresh token of one of this client's grants."""
        grant = await self._grants.find_refresh(refresh_token, client.client_id)
        if grant is None:
            return None
        return RefreshToken(token=refresh_token, client_id=client.client_id, scopes=[], resource=grant.resource)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """The next two tokens."""
        grant = await self._grants.find_refresh(refresh_token.token, client.client_id)
        if grant is None:
            raise TokenError("invalid_grant", "this token was used already")
        try:
            return _as_token(await self._grants.refresh(grant, refresh_token.token))
        except Refused as error:
            raise TokenError("invalid_grant", error.message) from None

    async def load_access_token(self, token: str) -> AccessToken | None:
        """A token that is good now."""
        grant = await self._grants.find_access(token, self._parts.resource)
        if grant is None:
            return None
        return AccessToken(token=token, client_id=grant.client_id, scopes=[], resource=grant.resource, subject=grant.id)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """End the grant that a token belongs to."""
        if isinstance(token, AccessToken):
            grant = await self._grants.find_access(token.token, self._parts.resource)
        else:
            grant = await self._grants.find_refresh(token.token, token.client_id)
        if grant is not None:
            await self._grants.revoke(grant, ClientEnding.CLIENT)


def _as_token(pair: TokenPair) -> OAuthToken:
    return OAuthToken(access_token=pair.access, refresh_token=pair.refresh, expires_in=pair.seconds)


def _may_lead_to(uri: str) -> bool:
    if len(uri) > REDIRECT_LENGTH or not uri.isascii() or "#" in uri:
        return False
    parts = urlsplit(uri)
    # A person is shown where the browser goes, and would read a login as the name of a host.
    if "@" in parts.netloc:
        return False
    match parts.scheme:
        case "https":
            return bool(parts.hostname)
        case "http":
            return (parts.hostname or "") in _LOOPBACK
        case scheme:
            return _APP_SCHEME.fullmatch(scheme) is not None and scheme not in _NO_APP
