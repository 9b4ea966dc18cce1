"""The ASGI application: the Host gate, the headers, the error boundary, and one router per origin, built from the route table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.core.errors import GatewayError
from gateway.core.model import Session
from gateway.protocol.handshake import HandshakeVerdict
from gateway.runtime.ports import ConsoleSession
from gateway.server.access import Identity, Permission, Site, read_body
from gateway.server.endpoints.exports import ExportResponse
from gateway.server.middleware.faults import ErrorBoundary
from gateway.server.middleware.headers import SecurityHeaders, headers_of
from gateway.server.middleware.hosts import HostGate
from gateway.server.parts import RequestContext, ServerParts
from gateway.server.responses import (
    INTERNAL,
    NOT_A_SOCKET,
    NOT_FOUND,
    NOT_SIGNED_IN,
    WRONG_HOST,
    HttpError,
    describe,
    refusal_of,
    refuse,
    refuse_as_openai,
    wrong_method,
)
from gateway.server.routes import ROWS, Row, page_rows
from gateway.server.signposts import signpost


def create_app(parts: ServerParts, rows: Sequence[Row] = ROWS) -> ASGIApp:
    """The gateway's two origins as one ASGI app. It has no lifespan: its parts are running already."""
    origins = parts.access.origins
    absent = signpost(NOT_FOUND, origins)
    sites: dict[str, ASGIApp] = {}
    for site in Site:
        own = (*page_rows(site, parts.web_app(site).paths), *(row for row in rows if row.site is site))
        router = Router(_routes(parts, own), redirect_slashes=False, default=absent)
        headers = headers_of(site, secure=origins.is_secure(site), push=parts.push)
        sites[origins.host(site)] = SecurityHeaders(ErrorBoundary(router), headers)
    clients = parts.client_site
    if clients is not None:
        secure = clients.origin.startswith("https:")
        sites[clients.host] = SecurityHeaders(ErrorBoundary(clients), headers_of(None, secure=secure))
    return HostGate(sites, SecurityHeaders(signpost(WRONG_HOST, origins), headers_of(None, secure=False)))


def _routes(parts: ServerParts, rows: Sequence[Row]) -> list[BaseRoute]:
    """One route per path, in the order of the table, for all methods, so that a 405 can list the allowed ones."""
    by_path: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_path.setdefault(row.path, {})[row.method] = row
    routes: list[BaseRoute] = []
    for path, methods in by_path.items():
        routes.append(Route(path, _Endpoint(parts, methods)))
        routes.extend(WebSocketRoute(path, _Socket(parts.socket(row.site))) for row in methods.values() if row.handler is None)
    return routes


_OF_SESSIONS: Final = frozenset({Permission.CONSOLE_SESSION, Permission.CONSOLE_READER, Permission.AGENT_SESSION})


class _Endpoint:
    """The rows of one path. Runs the checks of a row in their order, then its handler."""

    def __init__(self, parts: ServerParts, rows: Mapping[str, Row]) -> None:
        self._parts = parts
        self._rows = rows
        self._allowed = ", ".join(sorted({*rows, *(["HEAD"] if "GET" in rows else [])}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        request = Request(scope, receive)
        row = self._rows.get("GET" if request.method == "HEAD" else request.method)
        if row is None:
            await refuse(wrong_method(self._allowed))(scope, receive, send)
            return
        response = await self._respond(request, row)
        self._parts.metrics.count_request(row.tag.value, response.status_code)
        await response(scope, receive, send)

    async def _respond(self, request: Request, row: Row) -> Response:
        is_inference = row.permission is Permission.INFERENCE_LEASE
        try:
            outcome = await self._answer_row(request, row)
        except GatewayError as error:
            outcome = describe(error)
            if outcome is INTERNAL:
                raise
        if isinstance(outcome, HttpError):
            return refuse_as_openai(outcome) if is_inference else refuse(outcome)
        return outcome

    async def _answer_row(self, request: Request, row: Row) -> Response | HttpError:
        access = self._parts.access
        fault = access.judge_source(request, row.site, row.source)
        if fault is not None:
            return fault
        identity = await access.authorize(request, row.permission)
        if isinstance(identity, HttpError):
            return identity
        body = None if row.body is None else await read_body(request, row.body)
        if isinstance(body, HttpError):
            return body
        if row.body is not None and row.permission is not Permission.INFERENCE_LEASE:
            # A body may take as long as it likes within its limit, and whoever sends it may have lost their session meanwhile.
            # Inference looks at its token again by itself, since there a refusal is a record.
            identity = await access.authorize(request, row.permission)
            if isinstance(identity, HttpError):
                return identity
        if row.handler is None:
            return self._refuse_plain_request(row.site, identity)
        answer = await row.handler(RequestContext(request, row.site, self._parts, identity, body))
        if row.method == "GET" and row.permission in _OF_SESSIONS:
            # What is read may take as long to find, or wait for what somebody else reads. Where something was changed, how it
            # went has to be said, and signing out ends the session itself.
            return await self._give_to_who_asked(request, row, answer)
        return answer

    async def _give_to_who_asked(self, request: Request, row: Row, answer: Response | HttpError) -> Response | HttpError:
        """The answer, if who asked is still signed in."""
        ended: Identity | HttpError = NOT_SIGNED_IN
        try:
            ended = await self._parts.access.authorize(request, row.permission)
        finally:
            if isinstance(ended, HttpError) and isinstance(answer, ExportResponse):
                # Nobody will have it send itself, which is when it ends.
                answer.end()
        return ended if isinstance(ended, HttpError) else answer

    def _refuse_plain_request(self, site: Site, identity: Identity) -> HttpError:
        """Pages ask this way why their socket was refused, for a browser shows them no answer to a handshake."""
        is_full = isinstance(identity, ConsoleSession | Session) and self._parts.socket(site).is_full(identity)
        return refusal_of(HandshakeVerdict.TOO_MANY_SOCKETS) if is_full else NOT_A_SOCKET


class _Socket:
    """An ASGI app in a class, because WebSocketRoute treats a plain function as an endpoint, not as an app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        await self._app(scope, receive, send)
