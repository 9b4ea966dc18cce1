"""The parts of the server, which the composition root builds, and the request that a handler gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.core.model import Session
from gateway.protocol.wire import Wire
from gateway.runtime.admission import Admission
from gateway.runtime.attachments import Attachments
from gateway.runtime.client_grants import ClientGrants
from gateway.runtime.conversations import Conversations
from gateway.runtime.imports import ConversationImports
from gateway.runtime.inference import InferenceBroker, Lease
from gateway.runtime.passkeys import PasskeyCeremonies
from gateway.runtime.ports import ConsoleSession, Entropy, ReadinessRecords, Toolbox
from gateway.server.access import Access, Identity, Site
from gateway.server.answers import Streams
from gateway.server.assets import WebApp
from gateway.server.call_files import CallFiles
from gateway.server.cookies import CookieJar
from gateway.server.mcp.client_site import ClientSite
from gateway.server.receipts import Receipts
from gateway.server.report_budget import ReportBudget


class Socket(Protocol):
    """The `/ws` of one site. `drain` closes each connection when its requests are answered, and takes no new one; `is_full` is
    whether a session or its person has as many connections as they may have."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...
    def is_full(self, session: Session | ConsoleSession) -> bool: ...
    async def drain(self) -> None: ...


_Shape = TypeVar("_Shape", bound=Wire)


class MetricsPage(Protocol):
    """What `/metrics` shows."""

    def count_request(self, tag: str, status: int) -> None:
        """Count one request by the tag of its route and the status of its answer."""
        ...

    def render(self) -> tuple[bytes, str]:
        """The text, and its content type."""
        ...


@dataclass(frozen=True, slots=True)
class ServerParts:
    """Everything `create_app` needs. `shell` and `console` are the two built web apps, `verifier` the page that checks
    receipts without them; the sockets are ASGI apps for `/ws`, reached only with the right Host. With `push` the console may
    start its push worker."""

    access: Access
    passkeys: PasskeyCeremonies
    inference: InferenceBroker
    records: ReadinessRecords
    attachments: Attachments
    conversations: Conversations
    imports: ConversationImports
    receipts: Receipts
    call_files: CallFiles
    toolbox: Toolbox
    entropy: Entropy
    metrics: MetricsPage
    shell: WebApp
    console: WebApp
    verifier: WebApp
    agent_socket: Socket
    console_socket: Socket
    admission: Admission
    client_grants: ClientGrants
    client_site: ClientSite | None = None
    push: bool = False
    streams: Streams = field(default_factory=Streams)
    exports: set[str] = field(default_factory=set[str])
    """The people to whom a file of calls is on its way."""

    reports: ReportBudget = field(default_factory=ReportBudget)

    def web_app(self, site: Site) -> WebApp:
        """The app of a site; it cannot serve files of the other app."""
        return self.shell if site is Site.AGENT else self.console

    def socket(self, site: Site) -> Socket:
        """The `/ws` of a site."""
        return self.agent_socket if site is Site.AGENT else self.console_socket


@dataclass(frozen=True, slots=True)
class RequestContext:
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
        """The console session; only for rows with that permission."""
        assert isinstance(self.identity, ConsoleSession)
        return self.identity

    @property
    def agent(self) -> Session:
        """The agent session; only for rows with that permission."""
        assert isinstance(self.identity, Session)
        return self.identity

    @property
    def lease(self) -> Lease:
        """The lease of the bearer token; only for rows with that permission."""
        assert isinstance(self.identity, Lease)
        return self.identity

    def read(self, shape: type[_Shape]) -> _Shape:
        """The body, as the shape of its row."""
        assert isinstance(self.body, shape)
        return self.body


Handler: TypeAlias = Callable[[RequestContext], Awaitable[Response]]
