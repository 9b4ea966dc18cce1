"""Authentication, origin checks and authorization: they run before any handler, in the same order for every row.

A cookie alone proves little: pages on other ports and sibling hosts can make a browser send it. So a request that changes
state must also have an `Origin` equal to the origin it is sent to; browsers do not let scripts forge that header.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import TypeAlias, cast
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request

from gateway.core.canonical import Json, parse
from gateway.core.errors import InvalidParams, Misconfigured
from gateway.core.model import Session
from gateway.core.vocabulary import Profile
from gateway.protocol.codec import admit
from gateway.protocol.wire import Wire
from gateway.runtime.inference import InferenceBroker, Lease
from gateway.runtime.ports import ConsoleSession, CookieSigner
from gateway.runtime.sessions import Sessions
from gateway.server.cookies import AGENT, CONSOLE, CookieJar
from gateway.server.responses import (
    AUDITOR_READS_ONLY,
    FOREIGN_ORIGIN,
    INVALID_TOKEN,
    NO_PROBE,
    NOT_JSON,
    NOT_SIGNED_IN,
    TOO_LARGE,
    TOO_SLOW,
    HttpError,
)

BODY_SECONDS = 10.0
"""Seconds for a body to arrive after its headers; nginx's default client_body_timeout is 60 between two reads."""


_OF_PROXIES_AND_PAGES = frozenset(
    {"forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip", "origin"}
)


class Site(StrEnum):
    """The two origins."""

    AGENT = "agent"
    CONSOLE = "console"


class Permission(Enum):
    """What a row requires of the caller."""

    PUBLIC = auto()
    CONSOLE_SESSION = auto()
    """Of somebody who may do something: an auditor's is refused."""

    CONSOLE_READER = auto()
    """Any console session, an auditor's too."""

    AGENT_SESSION = auto()
    INFERENCE_LEASE = auto()
    PROBE = auto()
    """From this machine, not through a proxy and not from a page; or with the metrics token."""


class Source(Enum):
    """Which pages may send a request."""

    ANYWHERE = auto()
    OWN_PAGES = auto()
    OWN_PAGES_OR_PROGRAMS = auto()
    """Programs send no Origin and carry a bearer token, which no browser attaches by itself."""


@dataclass(frozen=True, slots=True)
class BodyRule:
    """The limits of a body: bytes, media types, and the shape of its JSON; without a shape, the handler validates it."""

    limit: int
    media_types: tuple[str, ...]
    shape: type[Wire] | None = None


Identity: TypeAlias = ConsoleSession | Session | Lease | None


@dataclass(frozen=True, slots=True)
class Origins:
    """The two origins, as browsers serialise them: `http://agent.localhost:8765`. Raises Misconfigured for others."""

    agent: str
    console: str

    def __post_init__(self) -> None:
        for origin in (self.agent, self.console):
            parsed = urlsplit(origin)
            if (
                parsed.scheme not in ("http", "https")
                or origin != f"{parsed.scheme}://{parsed.netloc}"
                or origin != origin.lower()
            ):
                raise Misconfigured(f"`{origin}` is not an origin such as `https://console.example.com`")
        if urlsplit(self.agent).hostname == urlsplit(self.console).hostname:
            raise Misconfigured("the agent and the console need two different host names, or they share their cookies")

    def of(self, site: Site) -> str:
        """The origin of a site."""
        return self.agent if site is Site.AGENT else self.console

    def host(self, site: Site) -> str:
        """`host[:port]`, the required Host header."""
        return urlsplit(self.of(site)).netloc

    def enrolment_link(self, token: str) -> str:
        """The link with which a person enrols, once. The token is in the fragment: browsers do not send it, so no server logs
        it."""
        return f"{self.console}/enrol#t={token}"

    def device_link(self, token: str) -> str:
        """The link with which a person registers a further device, once."""
        return f"{self.console}/device#t={token}"

    def is_secure(self, site: Site) -> bool:
        """Whether the scheme is https."""
        return self.of(site).startswith("https:")


class Access:
    """Authenticates connections of both kinds and authorizes requests."""

    def __init__(
        self,
        *,
        origins: Origins,
        sessions: Sessions,
        inference: InferenceBroker,
        signer: CookieSigner,
        metrics_token: str | None = None,
    ) -> None:
        self.origins = origins
        self.sessions = sessions
        self._inference = inference
        self._metrics_token = metrics_token
        self._jars = {site: CookieJar(signer, secure=origins.is_secure(site)) for site in Site}

    def jar(self, site: Site) -> CookieJar:
        """The cookies of a site."""
        return self._jars[site]

    async def console(self, connection: HTTPConnection) -> ConsoleSession | None:
        """The console session of a connection's cookie; for HTTP and WebSocket alike."""
        secret = self.jar(Site.CONSOLE).read(connection, CONSOLE)
        return None if secret is None else await self.sessions.console(secret)

    async def agent(self, connection: HTTPConnection) -> Session | None:
        """The agent session of a connection's cookie; for HTTP and WebSocket alike."""
        secret = self.jar(Site.AGENT).read(connection, AGENT)
        return None if secret is None else await self.sessions.agent(secret)

    def judge_source(self, request: Request, site: Site, source: Source) -> HttpError | None:
        """Whether the page that sends this request may send it."""
        if source is Source.ANYWHERE:
            return None
        sent = request.headers.getlist("origin")
        if source is Source.OWN_PAGES_OR_PROGRAMS and not sent:
            return None
        if sent != [self.origins.of(site)] or request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return FOREIGN_ORIGIN
        return None

    async def authorize(self, request: Request, permission: Permission) -> Identity | HttpError:
        """The identity that the permission requires, or the error."""
        match permission:
            case Permission.PUBLIC:
                return None
            case Permission.CONSOLE_READER:
                return await self.console(request) or NOT_SIGNED_IN
            case Permission.CONSOLE_SESSION:
                session = await self.console(request)
                if session is None:
                    return NOT_SIGNED_IN
                return AUDITOR_READS_ONLY if session.principal.profile is Profile.AUDITOR else session
            case Permission.AGENT_SESSION:
                return await self.agent(request) or NOT_SIGNED_IN
            case Permission.INFERENCE_LEASE:
                token = _bearer(request)
                return (None if token is None else await self._inference.admit(token)) or INVALID_TOKEN
            case Permission.PROBE:
                return None if self._is_probe(request) else NO_PROBE

    def _is_probe(self, request: Request) -> bool:
        token = _bearer(request)
        if token is not None and self._metrics_token is not None:
            return hmac.compare_digest(token.encode(), self._metrics_token.encode())
        # Every request through a proxy on this machine has a local address, and so has a page in a browser on it.
        if any(header in _OF_PROXIES_AND_PAGES or header.startswith("x-forwarded-") for header in request.headers):
            return False
        if request.headers.get("sec-fetch-site", "none") != "none" or request.client is None:
            return False
        try:
            return ipaddress.ip_address(request.client.host).is_loopback
        except ValueError:
            return False


async def read_body(request: Request, rule: BodyRule) -> Json | Wire | HttpError:
    """The body as JSON, or as its shape. Raises MalformedJson and InvalidParams.

    An empty body with no media type is read as `{}`, so that a request without parameters needs neither.
    """
    raw = await read_octets(request, rule.limit)
    if isinstance(raw, HttpError):
        return raw
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in rule.media_types and (raw or media_type):
        return NOT_JSON
    value = parse(raw or b"{}")
    if rule.shape is None:
        return value
    if not isinstance(value, dict):
        raise InvalidParams("the body is not an object")
    return admit(rule.shape, cast("dict[str, Json]", value))


async def read_octets(request: Request, limit: int) -> bytes | HttpError:
    """The body, at most `limit` bytes and within `BODY_SECONDS`."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced[:20]) > limit:
        return TOO_LARGE
    raw = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                raw += chunk
                if len(raw) > limit:
                    return TOO_LARGE
    except TimeoutError:
        return TOO_SLOW
    return bytes(raw)


def _bearer(request: Request) -> str | None:
    sent: Sequence[str] = request.headers.getlist("authorization")
    if len(sent) != 1:
        return None
    scheme, _, token = sent[0].partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
