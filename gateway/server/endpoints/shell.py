"""The shell's sign-in and sign-out: a redirect to the console with a state, and a redirect back with a code.

Every redirect goes to an origin from the settings; nothing in a request can choose another.
"""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from gateway.core.errors import Refused
from gateway.server.cookies import AGENT, LOGIN
from gateway.server.parts import RequestContext
from gateway.server.responses import describe, no_content, refuse

SEE_OTHER = 303


async def login(context: RequestContext) -> Response:
    """Redirect to the console, with a state that only this browser's cookie can redeem."""
    state = context.parts.entropy.secret()
    console = context.parts.access.origins.console
    response = RedirectResponse(f"{console}/authorize?{urlencode({'state': state})}", SEE_OTHER)
    context.jar.write(response, LOGIN, state)
    return response


async def finish_login(context: RequestContext) -> Response:
    """The redirect back: a code, its state, and the cookie that `/login` set. Redirects to the shell's page."""
    sessions = context.parts.access.sessions
    try:
        issued = await sessions.redeem(_only(context, "code"), _state(context))
    except Refused as refusal:
        await sessions.burn(context.request.query_params.getlist("code"))
        response = _explain(context, refusal)
        context.jar.clear(response, LOGIN)
        return response
    response = RedirectResponse("/", SEE_OTHER)
    context.jar.write(response, AGENT, issued.secret, seconds=issued.seconds)
    context.jar.clear(response, LOGIN)
    return response


async def logout(context: RequestContext) -> Response:
    """End this agent session; the console stays signed in: 204."""
    await context.parts.access.sessions.end_agent(context.agent, "signedOut")
    response = no_content()
    context.jar.clear(response, AGENT)
    return response


def _explain(context: RequestContext, refusal: Refused) -> Response:
    """A refusal: the shell's page, which shows a message, for a browser; JSON for a program."""
    if "text/html" not in context.request.headers.get("accept", ""):
        return refuse(describe(refusal))
    page = context.parts.shell.page(context.request)
    page.status_code = refusal.status
    return page


def _state(context: RequestContext) -> str:
    state = _only(context, "state")
    if context.jar.read(context.request, LOGIN) != state:
        raise Refused("state", "this sign-in was started in another browser, or too long ago; start again")
    return state


def _only(context: RequestContext, name: str) -> str:
    values = context.request.query_params.getlist(name)
    if len(values) != 1 or not values[0]:
        raise Refused("malformed", f"`{name}` must be there once", 400)
    return values[0]
