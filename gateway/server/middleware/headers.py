"""The headers of every answer, errors included.

The policy is the one that frontend.md measured clean on every route: no inline script or style, no frame, no foreign
connection, and Trusted Types with no policy at all, so that a string can never become markup.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.server.access import Site

REPORT_PATH = "/csp-report"

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        # Not report-to: Chromium then holds reports back for up to a minute, and the tests want them at once.
        f"report-uri {REPORT_PATH}",
    )
)

_DENIED = ("camera", "display-capture", "geolocation", "hid", "microphone", "midi", "payment", "serial", "usb")
_PASSKEYS = ("publickey-credentials-create", "publickey-credentials-get")


PUSH_WORKER_POLICY = "trusted-types push-worker"
"""Browsers take the address of a service worker from a policy alone. The console's one policy knows that one address."""


def headers_of(site: Site | None, *, secure: bool, push: bool = False) -> dict[str, str]:
    """The headers of one site's answers; None for answers to a Host that is neither. OpenCeremonies run on the console only, and
    so does the push worker, where `push` is configured."""
    policy = CONTENT_SECURITY_POLICY
    if push and site is Site.CONSOLE:
        policy = policy.replace("trusted-types 'none'", PUSH_WORKER_POLICY)
    passkeys = "(self)" if site is Site.CONSOLE else "()"
    headers = {
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": ", ".join(
            [f"{feature}=()" for feature in _DENIED] + [f"{feature}={passkeys}" for feature in _PASSKEYS]
        ),
        # Under this policy, fetch keeps Origin for requests in `cors` mode, which script fetches are by default;
        # the POST of a form sends `null`, and is refused.
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "cache-control": "no-store",
    }
    if secure:
        headers["strict-transport-security"] = "max-age=31536000"
    return headers


class SecurityHeaders:
    """Adds headers to every answer, except those that the answer has set itself, such as the caching of hashed assets."""

    def __init__(self, app: ASGIApp, headers: MutableMapping[str, str]) -> None:
        self._app = app
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""

        async def send_guarded(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                self._complete(message)
            await send(message)

        await self._app(scope, receive, send_guarded)

    def _complete(self, message: MutableMapping[str, Any]) -> None:
        headers = MutableHeaders(raw=list(message.get("headers", [])))
        for name, value in self._headers.items():
            headers.setdefault(name, value)
        message["headers"] = headers.raw
