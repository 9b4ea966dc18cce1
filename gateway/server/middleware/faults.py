"""The error boundary: for every exception of the app, the peer gets a typed error and never a traceback."""

from __future__ import annotations

import logging

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.server.responses import describe, is_expected, refuse

_log = logging.getLogger(__name__)
_BEGINNINGS = ("http.response.start", "websocket.accept", "websocket.close", "websocket.http.response.start")


class ErrorBoundary:
    """Answers when the app raised. If the answer had begun already, the server closes the connection instead."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        begun = False

        async def watch(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] in _BEGINNINGS
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except ClientDisconnect:
            return
        except Exception as error:
            if begun:
                raise
            if not is_expected(error):
                _log.exception("request failed: %s %s", scope.get("method", scope["type"]), scope["path"])
            await refuse(describe(error))(scope, receive, watch)
