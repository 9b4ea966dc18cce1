"""A page for people at an address that has none: what is wrong, and where the web shell and the console are.

Programs get the error as JSON. A browser that opens an address asks for `text/html` first.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.server.access import Origins, Site
from gateway.server.responses import NOT_FOUND, WRONG_HOST, HttpError, refuse

# As the apps look, in their colours. Their faces are files of the two origins, which a page of neither may not load.
_STYLE = (
    ":root{color-scheme:light dark;--paper:#f3f5f4;--surface:#fff;--ink:#16211d;--soft:#46544f;--line:#d2dad6;--link:#0a5546}"
    "@media(prefers-color-scheme:dark){"
    ":root{--paper:#0e1412;--surface:#171f1c;--ink:#e7eeeb;--soft:#b3c1bb;--line:#2c3833;--link:#74d3ba}}"
    "body{max-width:34rem;margin:12vh auto;padding:0 1.5rem;background:var(--paper);color:var(--ink);"
    "font:1rem/1.5 Inter,system-ui,sans-serif}"
    "h1{margin:1rem 0 .5rem;font-size:1.375rem;line-height:1.25}p{margin:0 0 1.5rem;color:var(--soft)}"
    "ul{display:grid;gap:.75rem;margin:0;padding:0;list-style:none}"
    "a{display:block;padding:.875rem 1rem;border:1px solid var(--line);border-radius:.5rem;background:var(--surface);"
    "color:var(--soft);text-decoration:none}"
    "strong{display:block;color:var(--ink)}b{color:var(--link);font-weight:400;text-decoration:underline;overflow-wrap:anywhere}"
)

_SEAL = (
    '<svg viewBox="0 0 32 32" width="40" height="40" role="img" aria-label="Countersign">'
    '<rect width="32" height="32" rx="7" fill="#1f4f4a"/><g fill="none" stroke-width="3" stroke-linecap="round"'
    ' stroke-linejoin="round"><path d="M7 12.5l4 4 7-8" stroke="#8fd0c4"/><path d="M12 20.5l4 4 9-10" stroke="#fff"/></g></svg>'
)

_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

_POLICY = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Stricter than that of the apps: no script at all, and no style but the one above (CSP Level 3, section 8.4)."""

_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{heading} · Countersign</title>
<style>{style}</style>
</head>
<body>
<main>
{seal}
<h1>{heading}</h1>
<p>{sentence}</p>
<ul>
<li><a href="{agent}/"><strong>{shell_name}</strong> {shell_use}, <b>{agent}</b></a></li>
<li><a href="{console}/"><strong>{console_name}</strong> {console_use}, <b>{console}</b></a></li>
</ul>
</main>
</body>
</html>
"""

_WORDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "en": {
        WRONG_HOST.code: (
            "This is not the address of a page",
            "Countersign runs here, and answers under two names only, so that the agent's page and yours share nothing.",
        ),
        NOT_FOUND.code: (
            "There is no page here",
            "The address may be mistyped, or of another version. These are the two pages of this gateway.",
        ),
        "shell": ("The web shell", "where you talk with the agent"),
        "console": ("The console", "where you sign in and decide"),
    },
    "de": {
        WRONG_HOST.code: (
            "Das ist keine Adresse einer Seite",
            "Hier läuft Countersign. Es antwortet nur unter zwei Namen, damit die Seite des Agenten und Ihre nichts teilen.",
        ),
        NOT_FOUND.code: (
            "Hier ist keine Seite",
            "Vielleicht ist die Adresse verschrieben oder aus einer anderen Version. Das sind die beiden Seiten dieses Gateways.",
        ),
        "shell": ("Die Shell", "wo Sie mit dem Agenten sprechen"),
        "console": ("Die Konsole", "wo Sie sich anmelden und entscheiden"),
    },
}
"""By language and what is said. What a person chose in an app is kept where no other page reads it, so the browser decides."""


def signpost(fault: HttpError, origins: Origins) -> ASGIApp:
    """What answers every request, and a WebSocket handshake, with an error."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        await direct(scope, fault, origins)(scope, receive, send)

    return respond


def direct(scope: Scope, fault: HttpError, origins: Origins) -> Response:
    """One answer with an error: a page with links for a browser that opens an address, else the JSON of the error."""
    return _compose(fault, origins, _language(scope)) if _is_navigation(scope) else refuse(fault)


def _is_navigation(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    return "text/html" in Headers(scope=scope).get("accept", "")


def _language(scope: Scope) -> str:
    """The first language of the browser's that the page has, else English."""
    for tag in Headers(scope=scope).get("accept-language", "").split(","):
        language = tag.strip()[:2].lower()
        if language in _WORDS:
            return language
    return "en"


def _compose(fault: HttpError, origins: Origins, language: str) -> Response:
    # Imported by the first such page: all of HTML's characters come with it.
    from html import escape

    words = _WORDS[language]
    heading, sentence = words[fault.code]
    shell_name, shell_use = words["shell"]
    console_name, console_use = words["console"]
    page = _PAGE.format(
        language=language,
        style=_STYLE,
        seal=_SEAL,
        heading=escape(heading),
        sentence=escape(sentence),
        shell_name=shell_name,
        shell_use=shell_use,
        console_name=console_name,
        console_use=console_use,
        agent=escape(origins.of(Site.AGENT)),
        console=escape(origins.of(Site.CONSOLE)),
    )
    headers = {"content-security-policy": _POLICY, "vary": "accept-language"}
    return Response(page, fault.status, headers, "text/html; charset=utf-8")
