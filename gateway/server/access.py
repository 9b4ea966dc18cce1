"""Who asks, from where, and whether they may: the checks that run before any handler, in one order for every row.

A cookie alone proves little: ports and sibling hosts can make a browser send it. So whatever changes state must also come
from a page of the very origin it is sent to, and say so in `Origin`; browsers do not let scripts forge that header.
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
from gateway.protocol.codec import admit
from gateway.protocol.wire import Wire
from gateway.runtime.inference import InferenceDesk, Lease
from gateway.runtime.ports import ConsoleSession, CookieSigner
from gateway.runtime.sessions import SessionDesk
from gateway.server.cookies import AGENT, CONSOLE, CookieJar
from gateway.server.responses import (
    FOREIGN_ORIGIN,
    INVALID_TOKEN,
    NO_PROBE,
    NOT_JSON,
    NOT_SIGNED_IN,
    TOO_LARGE,
    TOO_SLOW,
    Fault,
)

BODY_SECONDS = 10.0
"""For a body to arrive once its headers have; nginx's default client_body_timeout is 60 between two reads."""


class Site(StrEnum):
    """The two origins."""

    AGENT = "agent"
    CONSOLE = "console"


class Permission(Enum):
    """What a row asks of whoever comes."""

    PUBLIC = auto()
    CONSOLE_SESSION = auto()
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
    """What a body may be: bytes at most, media types, and the shape of its JSON; without a shape, the handler looks."""

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
        """`host[:port]`, what the Host header must say."""
        return urlsplit(self.of(site)).netloc

    def is_secure(self, site: Site) -> bool:
        """Whether the scheme is https."""
        return self.of(site).startswith("https:")


class Access:
    """Authenticates connections of both kinds and authorizes requests."""

    def __init__(
        self,
        *,
        origins: Origins,
        sessions: SessionDesk,
        inference: InferenceDesk,
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

    def judge_source(self, request: Request, site: Site, source: Source) -> Fault | None:
        """Whether the page that sends this may send it."""
        if source is Source.ANYWHERE:
            return None
        sent = request.headers.getlist("origin")
        if source is Source.OWN_PAGES_OR_PROGRAMS and not sent:
            return None
        if sent != [self.origins.of(site)] or request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return FOREIGN_ORIGIN
        return None

    async def authorize(self, request: Request, permission: Permission) -> Identity | Fault:
        """The identity that the permission asks for, or why not."""
        match permission:
            case Permission.PUBLIC:
                return None
            case Permission.CONSOLE_SESSION:
                return await self.console(request) or NOT_SIGNED_IN
            case Permission.AGENT_SESSION:
                return await self.agent(request) or NOT_SIGNED_IN
            case Permission.INFERENCE_LEASE:
                token = _bearer(request)
                return (None if token is None else self._inference.check(token)) or INVALID_TOKEN
            case Permission.PROBE:
                return None if self._is_probe(request) else NO_PROBE

    def _is_probe(self, request: Request) -> bool:
        token = _bearer(request)
        if token is not None and self._metrics_token is not None:
            return hmac.compare_digest(token.encode(), self._metrics_token.encode())
        # A proxy on this machine makes everybody look local, and so does a page in a browser on it.
        if any(header in request.headers for header in ("forwarded", "x-forwarded-for")):
            return False
        if request.headers.get("sec-fetch-site", "none") != "none" or request.client is None:
            return False
        try:
            return ipaddress.ip_address(request.client.host).is_loopback
        except ValueError:
            return False


async def read_body(request: Request, rule: BodyRule) -> Json | Wire | Fault:
    """The body as JSON, or as its shape. Raises MalformedJson and InvalidParams.

    An empty body with no media type stands for `{}`, so that a request without parameters needs neither.
    """
    raw = await _read_octets(request, rule.limit)
    if isinstance(raw, Fault):
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


async def _read_octets(request: Request, limit: int) -> bytes | Fault:
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
