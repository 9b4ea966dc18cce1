"""The ASGI application: the Host gate, the headers, the barrier, and per origin a router made of the route table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prometheus_client import Counter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.core.errors import GatewayError
from gateway.server.access import Permission, Site, read_body
from gateway.server.middleware.faults import FaultBarrier
from gateway.server.middleware.headers import SecurityHeaders, headers_of
from gateway.server.middleware.hosts import HostGate, misdirected
from gateway.server.parts import ServerParts, Visit
from gateway.server.responses import (
    INTERNAL,
    NOT_A_SOCKET,
    NOT_FOUND,
    Fault,
    describe,
    refuse,
    refuse_as_openai,
    wrong_method,
)
from gateway.server.routes import ROWS, Row


def create_app(parts: ServerParts, rows: Sequence[Row] = ROWS) -> ASGIApp:
    """The gateway's two origins as one ASGI app. It needs no lifespan: what it uses is running already."""
    origins = parts.access.origins
    requests = Counter("countersign_http_requests", "Requests by route tag and status", ["tag", "status"], registry=parts.metrics)
    sites: dict[str, ASGIApp] = {}
    for site in Site:
        router = Router(
            _routes(parts, [row for row in rows if row.site is site], requests), redirect_slashes=False, default=_absent
        )
        sites[origins.host(site)] = SecurityHeaders(FaultBarrier(router), headers_of(site, secure=origins.is_secure(site)))
    return HostGate(sites, SecurityHeaders(misdirected, headers_of(None, secure=False)))


def _routes(parts: ServerParts, rows: Sequence[Row], requests: Counter) -> list[BaseRoute]:
    """One route per path, in the order of the table, whatever the methods: so that a wrong method is told the right ones."""
    by_path: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_path.setdefault(row.path, {})[row.method] = row
    routes: list[BaseRoute] = []
    for path, methods in by_path.items():
        routes.append(Route(path, _Endpoint(parts, methods, requests)))
        routes.extend(WebSocketRoute(path, _Socket(parts.socket(row.site))) for row in methods.values() if row.handler is None)
    return routes


class _Endpoint:
    """The rows of one path. Runs the checks of a row in their order, then its handler."""

    def __init__(self, parts: ServerParts, rows: Mapping[str, Row], requests: Counter) -> None:
        self._parts = parts
        self._rows = rows
        self._requests = requests
        self._allowed = ", ".join(sorted({*rows, *(["HEAD"] if "GET" in rows else [])}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        request = Request(scope, receive)
        row = self._rows.get("GET" if request.method == "HEAD" else request.method)
        if row is None:
            await refuse(wrong_method(self._allowed))(scope, receive, send)
            return
        response = await self._respond(request, row)
        self._requests.labels(row.tag.value, response.status_code).inc()
        await response(scope, receive, send)

    async def _respond(self, request: Request, row: Row) -> Response:
        is_inference = row.permission is Permission.INFERENCE_LEASE
        try:
            outcome = await self._visit(request, row)
        except GatewayError as error:
            outcome = describe(error)
            if outcome is INTERNAL:
                raise
        if isinstance(outcome, Fault):
            return refuse_as_openai(outcome) if is_inference else refuse(outcome)
        return outcome

    async def _visit(self, request: Request, row: Row) -> Response | Fault:
        access = self._parts.access
        fault = access.judge_source(request, row.site, row.source)
        if fault is not None:
            return fault
        identity = await access.authorize(request, row.permission)
        if isinstance(identity, Fault):
            return identity
        body = None if row.body is None else await read_body(request, row.body)
        if isinstance(body, Fault):
            return body
        if row.handler is None:
            return NOT_A_SOCKET
        return await row.handler(Visit(request, row.site, self._parts, identity, body))


class _Socket:
    """An ASGI app as WebSocketRoute wants one: it would take a plain function for something else."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        await self._app(scope, receive, send)


async def _absent(scope: Scope, receive: Receive, send: Send) -> None:
    await refuse(NOT_FOUND)(scope, receive, send)
