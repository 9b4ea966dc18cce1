"""A page for people at an address that has none: what is wrong, and where the web shell and the console are.

Programs get the error as JSON. A browser that opens an address asks for `text/html` first.
"""

from __future__ import annotations

import base64
import hashlib

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.server.access import Origins, Site
from gateway.server.responses import NOT_FOUND, WRONG_HOST, HttpError, refuse

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{max-width:34rem;margin:12vh auto;padding:0 1.5rem;font:1rem/1.5 system-ui,sans-serif}"
    "h1{font-size:1.5rem}li{margin:.75rem 0}"
)

_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

_POLICY = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Stricter than that of the apps: no script at all, and no style but the one above (CSP Level 3, section 8.4)."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{heading} · Countersign</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{heading}</h1>
<p>{sentence}</p>
<ul>
<li><a href="{agent}/">{agent}</a> is the web shell, where you talk with the agent.</li>
<li><a href="{console}/">{console}</a> is the console, where you sign in and decide.</li>
</ul>
</main>
</body>
</html>
"""

_WORDS = {
    WRONG_HOST.code: (
        "This is not the address of a page",
        "Countersign runs here, and answers under two names only, so that the agent's page and yours share nothing.",
    ),
    NOT_FOUND.code: (
        "There is no page here",
        "The address may be mistyped, or of another version. These are the two pages of this gateway.",
    ),
}


def signpost(fault: HttpError, origins: Origins) -> ASGIApp:
    """What answers every request, and a WebSocket handshake, with an error."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        await direct(scope, fault, origins)(scope, receive, send)

    return respond


def direct(scope: Scope, fault: HttpError, origins: Origins) -> Response:
    """One answer with an error: a page with links for a browser that opens an address, else the JSON of the error."""
    return _compose(fault, origins) if _is_navigation(scope) else refuse(fault)


def _is_navigation(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    return "text/html" in Headers(scope=scope).get("accept", "")


def _compose(fault: HttpError, origins: Origins) -> Response:
    # Imported by the first such page: all of HTML's characters come with it.
    from html import escape

    heading, sentence = _WORDS[fault.code]
    page = _PAGE.format(
        style=_STYLE,
        heading=escape(heading),
        sentence=escape(sentence),
        agent=escape(origins.of(Site.AGENT)),
        console=escape(origins.of(Site.CONSOLE)),
    )
    return Response(page, fault.status, {"content-security-policy": _POLICY}, "text/html; charset=utf-8")
