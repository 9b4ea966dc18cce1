"""From the address of a source to its authorization server, believing nobody about somebody else.

A document about a resource is taken from that resource's own origin and has to be about it; a document about an authorization
server has to name the very issuer whose document was asked for (RFC 9728 section 3.3, RFC 8414 section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from gateway.adapters.tools.http_api.places import has_dots
from gateway.adapters.tools.oauth.challenge import Challenge
from gateway.adapters.tools.oauth.documents import OAuthRefusal, ResourceDocument, ServerDocument, read_document
from gateway.adapters.tools.oauth.exchange import OAuthExchange
from gateway.adapters.tools.oauth.places import SignInPlaces, read_origin
from gateway.core.effects import show

_OF_RESOURCE: Final = "/.well-known/oauth-protected-resource"
_OF_SERVER: Final = "/.well-known/oauth-authorization-server"
_OF_PROVIDER: Final = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class Discovered:
    """The authorization server of a source, what the resource is called there, and the scope to ask for."""

    server: ServerDocument
    resource: str
    scope: str


class Discovery:
    """Finds and checks the documents for one source."""

    def __init__(self, url: str, issuer: str, places: SignInPlaces, exchange: OAuthExchange) -> None:
        self._url = url
        self._issuer = issuer
        self._places = places
        self._exchange = exchange

    async def find(self, challenge: Challenge | None) -> Discovered:
        """What a sign-in needs to know. Raises OAuthRefusal."""
        document = await self._find_resource(challenge)
        if document is None:
            # Servers of before RFC 9728 are their own authorization servers (the protocol's version 2025-03-26).
            resource, issuers = self._url.partition("?")[0], (_origin(self._url),)
        else:
            resource, issuers = self._check_resource(document), document.authorization_servers
        issuer = self._choose(issuers, is_told=document is not None)
        server = await self._find_server(issuer)
        self._check_server(server)
        scope = (challenge.scope if challenge is not None else "") or (
            " ".join(document.scopes_supported or ()) if document is not None else ""
        )
        return Discovered(server, resource, scope)

    # ── the resource ──

    async def _find_resource(self, challenge: Challenge | None) -> ResourceDocument | None:
        what = "the document about the source"
        named = challenge.resource_metadata if challenge is not None else ""
        if named:
            if read_origin(named, what) != read_origin(self._url, "the source"):
                raise OAuthRefusal(f"the source names {show(named[:200])} as its document, which is not its own")
            data = await self._exchange.fetch(named, what)
            if data is None:
                raise OAuthRefusal(f"there is no document at {show(named[:200])}, which the source names")
            return read_document(ResourceDocument, data, what)
        path = urlsplit(self._url).path.rstrip("/")
        for place in dict.fromkeys((f"{_OF_RESOURCE}{path}", _OF_RESOURCE)):
            data = await self._exchange.fetch(_origin(self._url) + place, what)
            if data is not None:
                return read_document(ResourceDocument, data, what)
        return None

    def _check_resource(self, document: ResourceDocument) -> str:
        """The resource that tokens are asked for. A document about another one would have them made for that."""
        resource = document.resource
        same = read_origin(resource, "the resource") == read_origin(self._url, "the source")
        path, own = urlsplit(resource).path.rstrip("/"), urlsplit(self._url).path
        if not same or has_dots(path) or not (own == path or own.startswith(f"{path}/")) or "?" in resource:
            raise OAuthRefusal(f"the source's document is about {show(resource[:200])}, which is not the source")
        return resource

    def _choose(self, issuers: tuple[str, ...], *, is_told: bool) -> str:
        if not self._issuer:
            if not issuers:
                raise OAuthRefusal("the source names no authorization server")
            return issuers[0]
        if is_told and issuers and self._issuer not in issuers:
            raise OAuthRefusal(f"the source does not name {show(self._issuer)} as its authorization server, as its settings do")
        return self._issuer

    # ── the authorization server ──

    async def _find_server(self, issuer: str) -> ServerDocument:
        what = "the authorization server"
        self._places.require(issuer, what)
        if "?" in issuer or has_dots(urlsplit(issuer).path):
            raise OAuthRefusal(f"{what} is {show(issuer[:200])}, which is no issuer")
        for url in _documents_of(issuer):
            data = await self._exchange.fetch(url, what)
            if data is not None:
                document = read_document(ServerDocument, data, f"the document of {what}")
                if document.issuer != issuer:
                    raise OAuthRefusal(f"{what} {show(issuer[:200])} says that it is {show(document.issuer[:200])}")
                return document
        raise OAuthRefusal(f"{what} {show(issuer[:200])} has no document that describes it")

    def _check_server(self, server: ServerDocument) -> None:
        named = {
            "the authorization endpoint": server.authorization_endpoint,
            "the token endpoint": server.token_endpoint,
            "the registration endpoint": server.registration_endpoint,
            "the revocation endpoint": server.revocation_endpoint,
        }
        for what, url in named.items():
            if url is not None:
                self._places.require(url, what)
        if "S256" not in server.code_challenge_methods_supported:
            raise OAuthRefusal("the authorization server does not offer PKCE with S256, without which a code can be stolen")
        if "code" not in server.response_types_supported:
            raise OAuthRefusal("the authorization server gives no codes (`response_types_supported`)")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _documents_of(issuer: str) -> Iterator[str]:
    """Where the document of an issuer may be, in the order in which the protocol's specification asks."""
    origin, path = _origin(issuer), urlsplit(issuer).path.rstrip("/")
    yield f"{origin}{_OF_SERVER}{path}"
    yield f"{origin}{_OF_PROVIDER}{path}"
    if path:
        yield f"{origin}{path}{_OF_PROVIDER}"
