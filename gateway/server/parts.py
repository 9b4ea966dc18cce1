"""What the server is made of, handed over whole by the composition root, and what a handler is handed of a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from gateway.core.model import Session
from gateway.protocol.wire import Wire
from gateway.runtime.inference import InferenceDesk, Lease
from gateway.runtime.passkeys import PasskeyDesk
from gateway.runtime.ports import ConsoleSession, Entropy, Records, Toolbox
from gateway.server.access import Access, Identity, Site
from gateway.server.assets import WebApp
from gateway.server.cookies import CookieJar
from gateway.server.relay import Streams

_Shape = TypeVar("_Shape", bound=Wire)


@dataclass(frozen=True, slots=True)
class ServerParts:
    """Everything `create_app` needs. `shell` and `console` are the two built web apps; the sockets are ASGI apps for `/ws`,
    reached only with the right Host."""

    access: Access
    passkeys: PasskeyDesk
    inference: InferenceDesk
    records: Records
    toolbox: Toolbox
    entropy: Entropy
    metrics: CollectorRegistry
    shell: WebApp
    console: WebApp
    agent_socket: ASGIApp
    console_socket: ASGIApp
    streams: Streams = field(default_factory=Streams)

    def web_app(self, site: Site) -> WebApp:
        """The app of a site; the other one's files are out of its reach."""
        return self.shell if site is Site.AGENT else self.console

    def socket(self, site: Site) -> ASGIApp:
        """The `/ws` of a site."""
        return self.agent_socket if site is Site.AGENT else self.console_socket


@dataclass(frozen=True, slots=True)
class Visit:
    """A request that passed every check of its row."""

    request: Request
    site: Site
    parts: ServerParts
    identity: Identity
    body: Any

    @property
    def jar(self) -> CookieJar:
        """The cookies of this site."""
        return self.parts.access.jar(self.site)

    @property
    def console(self) -> ConsoleSession:
        """Who is signed in; only for rows with that permission."""
        assert isinstance(self.identity, ConsoleSession)
        return self.identity

    @property
    def agent(self) -> Session:
        """Whose shell this is; only for rows with that permission."""
        assert isinstance(self.identity, Session)
        return self.identity

    @property
    def lease(self) -> Lease:
        """What the bearer token stands for; only for rows with that permission."""
        assert isinstance(self.identity, Lease)
        return self.identity

    def read(self, shape: type[_Shape]) -> _Shape:
        """The body, as the shape that its row names."""
        assert isinstance(self.body, shape)
        return self.body


Handler: TypeAlias = Callable[[Visit], Awaitable[Response]]
