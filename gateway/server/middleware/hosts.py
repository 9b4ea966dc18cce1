"""One port, two origins: the Host header selects the origin of a request, or none."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send


class HostGate:
    """Routes a request by its Host, compared whole and without regard to case (RFC 9110 section 4.2.3).

    The allow-list prevents DNS rebinding: a page of another site, whose name resolves to this machine, still sends its own
    name. A request with two Host headers is ambiguous and belongs to no origin.
    """

    def __init__(self, sites: Mapping[str, ASGIApp], elsewhere: ASGIApp) -> None:
        self._sites = {host.lower(): app for host, app in sites.items()}
        self._elsewhere = elsewhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        hosts = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        app = self._sites.get(hosts[0], self._elsewhere) if len(hosts) == 1 else self._elsewhere
        await app(scope, receive, send)
