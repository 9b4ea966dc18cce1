"""The steps of a sign-in to one source, and of its renewal and end: OAuth 2.1 with PKCE, as a client.

What a code is redeemed for depends on nothing that came with it: endpoint, client, verifier, redirect URI and resource are those
of the attempt that the person began (RFC 9700 sections 2.1 and 4.4).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote_plus, urlencode, urlsplit

from gateway.adapters.tools.oauth.challenge import MAX_SCOPE, Challenge
from gateway.adapters.tools.oauth.discovery import Discovered, Discovery
from gateway.adapters.tools.oauth.documents import (
    ClientDocument,
    OAuthRefusal,
    ServerDocument,
    TokenDocument,
    read_document,
    read_error,
)
from gateway.adapters.tools.oauth.exchange import OAuthExchange
from gateway.adapters.tools.oauth.places import SignInPlaces
from gateway.adapters.tools.oauth.settings import SignInSettings
from gateway.adapters.tools.oauth.tokens import AHEAD_SECONDS, LONGEST_SECONDS, Tokens
from gateway.core.effects import escape, show
from gateway.core.errors import Misconfigured
from gateway.runtime.ports import SignInReply

CLIENT_NAME: Final = "Countersign"

_METHODS: Final = ("none", "client_secret_basic", "client_secret_post")
_FINAL_ERRORS: Final = frozenset({"invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type"})
"""Of a renewal (RFC 6749 section 5.2): the same request would be refused again."""


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """What this gateway is to an authorization server. `secret` is None for a client whose secret is in the settings."""

    id: str
    method: str
    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that was begun."""

    server: ServerDocument
    client: OAuthClient
    callback: str
    resource: str
    scope: str
    verifier: str = field(repr=False)


class SignInFlow:
    """The sign-in to the source at `url`. `fill` puts secrets in their places, `now` is in epoch milliseconds."""

    def __init__(
        self,
        url: str,
        settings: SignInSettings,
        places: SignInPlaces,
        fill: Callable[[str], str],
        now: Callable[[], int],
    ) -> None:
        self._url = url
        self._settings = settings
        self._places = places
        self._exchange = OAuthExchange(places)
        self._fill = fill
        self._now = now

    async def begin(self, callback: str, state: str, challenge: Challenge | None) -> tuple[str, Attempt]:
        """Where the browser goes, and what is kept until it comes back. Raises OAuthRefusal."""
        self._places.require(self._url, "the source")
        found = await Discovery(self._url, self._settings.issuer, self._places, self._exchange).find(challenge)
        client = await self._client(found.server, callback)
        verifier = secrets.token_urlsafe(48)
        attempt = Attempt(found.server, client, callback, found.resource, self._scope(found), verifier)
        fields = [
            ("response_type", "code"),
            ("client_id", client.id),
            ("redirect_uri", callback),
            ("state", state),
            ("code_challenge", _challenge_of(verifier)),
            ("code_challenge_method", "S256"),
            ("resource", attempt.resource),
        ]
        if attempt.scope:
            fields.append(("scope", attempt.scope))
        endpoint = found.server.authorization_endpoint
        joint = "" if endpoint.endswith("?") else "&" if urlsplit(endpoint).query else "?"
        return f"{endpoint}{joint}{urlencode(fields)}", attempt

    async def redeem(self, attempt: Attempt, answer: SignInReply) -> Tokens:
        """Tokens for what came back. Raises OAuthRefusal."""
        server = attempt.server
        # Another server's answer to this attempt, by which its code would be carried to the wrong endpoint (RFC 9207).
        if answer.issuer is not None and answer.issuer != server.issuer:
            raise OAuthRefusal(f"the answer comes from {show(answer.issuer[:200])} and not from {show(server.issuer)}")
        if answer.issuer is None and server.authorization_response_iss_parameter_supported:
            raise OAuthRefusal("the answer does not say who gives it (`iss`), although the authorization server always does")
        if answer.error is not None:
            raise OAuthRefusal(_word_error(answer.error))
        if not answer.code:
            raise OAuthRefusal("the authorization server sent no code")
        fields = [
            ("grant_type", "authorization_code"),
            ("code", answer.code),
            ("redirect_uri", attempt.callback),
            ("code_verifier", attempt.verifier),
            ("resource", attempt.resource),
        ]
        document = await self._ask_tokens(server.token_endpoint, fields, attempt.client)
        return self._keep(
            document,
            Tokens(
                url=self._url,
                resource=attempt.resource,
                issuer=server.issuer,
                token_endpoint=server.token_endpoint,
                revocation_endpoint=server.revocation_endpoint,
                client_id=attempt.client.id,
                client_secret=attempt.client.secret,
                client_method=attempt.client.method,
                access_token="",
                refresh_token=None,
                scope=attempt.scope,
                renew_at=None,
                expires_at=None,
            ),
        )

    async def renew(self, tokens: Tokens) -> Tokens:
        """New tokens for these. Raises OAuthRefusal."""
        if tokens.refresh_token is None:
            raise OAuthRefusal("the authorization server gave nothing to renew it with", is_final=True)
        fields = [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh_token), ("resource", tokens.resource)]
        return self._keep(await self._ask_tokens(tokens.token_endpoint, fields, self._client_of(tokens)), tokens)

    async def revoke(self, tokens: Tokens) -> None:
        """Have the tokens voided; nothing where the authorization server offers no way. Raises OAuthRefusal."""
        if tokens.revocation_endpoint is None:
            return
        # RFC 7009 section 2.1: with a refresh token its access tokens go too.
        kind = "access_token" if tokens.refresh_token is None else "refresh_token"
        fields = [("token", tokens.refresh_token or tokens.access_token), ("token_type_hint", kind)]
        sent, headers = self._authenticate(fields, self._client_of(tokens))
        what = "the revocation endpoint"
        status, body = await self._exchange.post_form(tokens.revocation_endpoint, sent, headers, what)
        if status != 200:
            raise OAuthRefusal(f"{what} answered with {read_error(body) or f'status {status}'}")

    # ── the client ──

    async def _client(self, server: ServerDocument, callback: str) -> OAuthClient:
        settings = self._settings
        if settings.client_id:
            return OAuthClient(settings.client_id, _choose_method(server, secret=bool(settings.client_secret)))
        if server.registration_endpoint is None:
            raise OAuthRefusal(
                f"{show(server.issuer)} registers no clients by itself; register one there with the redirect URI {callback}, "
                "and set `oauth` of the source to its `issuer` and `client_id`"
            )
        # Who cannot keep a secret asks for none; where a server wants one, it is sealed with the tokens.
        offered = server.token_endpoint_auth_methods_supported or ("none",)
        method = next((each for each in _METHODS if each in offered), None)
        if method is None:
            raise OAuthRefusal("the authorization server offers no way for a client to identify itself that is known here")
        wanted = {
            "client_name": CLIENT_NAME,
            "redirect_uris": [callback],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
            "application_type": "web" if callback.startswith("https:") else "native",
        }
        what = "the registration endpoint"
        status, body = await self._exchange.post_json(server.registration_endpoint, wanted, what)
        if status not in (200, 201):
            raise OAuthRefusal(f"{what} refused to register this gateway: {read_error(body) or f'status {status}'}")
        document = read_document(ClientDocument, body, f"the answer of {what}")
        if document.redirect_uris is not None and callback not in document.redirect_uris:
            raise OAuthRefusal(f"{what} registered another redirect URI than {callback}")
        method = document.token_endpoint_auth_method or method
        if method not in _METHODS or (method != "none" and document.client_secret is None):
            raise OAuthRefusal(f"{what} wants a client that identifies itself by {show(method)}, which cannot be done")
        return OAuthClient(document.client_id, method, document.client_secret if method != "none" else None)

    def _client_of(self, tokens: Tokens) -> OAuthClient:
        return OAuthClient(tokens.client_id, tokens.client_method, tokens.client_secret)

    def _authenticate(
        self, fields: Sequence[tuple[str, str]], client: OAuthClient
    ) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """Fields and headers with which the client identifies itself (RFC 6749 section 2.3.1)."""
        if client.method == "none":
            return [*fields, ("client_id", client.id)], {}
        try:
            secret = client.secret or self._fill(self._settings.client_secret)
        except Misconfigured as error:
            raise OAuthRefusal(error.message) from None
        if client.method == "client_secret_post":
            return [*fields, ("client_id", client.id), ("client_secret", secret)], {}
        pair = f"{quote_plus(client.id)}:{quote_plus(secret)}".encode()
        return list(fields), {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}

    # ── tokens ──

    async def _ask_tokens(self, endpoint: str, fields: Sequence[tuple[str, str]], client: OAuthClient) -> TokenDocument:
        what = "the token endpoint"
        sent, headers = self._authenticate(fields, client)
        status, body = await self._exchange.post_form(endpoint, sent, headers, what)
        if status != 200:
            code = read_error(body) if 400 <= status < 500 else ""
            raise OAuthRefusal(f"{what} refused: {code or f'status {status}'}", is_final=code in _FINAL_ERRORS)
        document = read_document(TokenDocument, body, f"the answer of {what}")
        if document.token_type.lower() != "bearer":
            raise OAuthRefusal(f"{what} gave a token of the type {show(document.token_type)}, which cannot be used here")
        return document

    def _keep(self, document: TokenDocument, before: Tokens) -> Tokens:
        now, renew_at, expires_at = self._now(), None, None
        refresh_token = document.refresh_token or before.refresh_token
        if document.expires_in is not None:
            seconds = min(document.expires_in, LONGEST_SECONDS)
            expires_at = now + int(seconds * 1000)
            ahead = 0.0 if refresh_token is None else min(AHEAD_SECONDS, seconds / 4)
            renew_at = now + int((seconds - ahead) * 1000)
        return before.model_copy(
            update={
                "access_token": document.access_token,
                "refresh_token": refresh_token,
                "renew_at": renew_at,
                "expires_at": expires_at,
            }
        )

    def _scope(self, found: Discovered) -> str:
        scope = self._settings.scope or found.scope
        # OpenID providers renew nothing that this was not asked for.
        if "offline_access" in (found.server.scopes_supported or ()) and "offline_access" not in scope.split():
            scope = f"{scope} offline_access".strip()
        return scope if len(scope) <= MAX_SCOPE else self._settings.scope


def _challenge_of(verifier: str) -> str:
    """RFC 7636 section 4.2."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _choose_method(server: ServerDocument, *, secret: bool) -> str:
    if not secret:
        return "none"
    # RFC 8414 section 2: what is meant where nothing is said.
    offered = server.token_endpoint_auth_methods_supported or ("client_secret_basic",)
    return next((each for each in _METHODS[1:] if each in offered), "client_secret_basic")


def _word_error(error: str) -> str:
    if error == "access_denied":
        return "the sign-in was refused at the authorization server"
    return f"the authorization server refused: {escape(error)[:100]}"
