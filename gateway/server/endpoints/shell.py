"""The shell's own sign-in: away to the console with a state, back with a code, and out again.

Every redirect goes to an origin of ours that the settings name; nothing in a request can choose another.
"""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from gateway.core.errors import Refused
from gateway.server.cookies import AGENT, LOGIN
from gateway.server.parts import Visit
from gateway.server.responses import describe, no_content, refuse

SEE_OTHER = 303


async def login(visit: Visit) -> Response:
    """To the console, with a state that only this browser's cookie can redeem."""
    state = visit.parts.entropy.secret()
    console = visit.parts.access.origins.console
    response = RedirectResponse(f"{console}/authorize?{urlencode({'state': state})}", SEE_OTHER)
    visit.jar.write(response, LOGIN, state)
    return response


async def finish_login(visit: Visit) -> Response:
    """The way back: a code and the state it was given for, and the cookie that `/login` set. Ends at the shell's page."""
    try:
        lent = await visit.parts.access.sessions.redeem(_only(visit, "code"), _state(visit))
    except Refused as refusal:
        response = _explain(visit, refusal)
        visit.jar.clear(response, LOGIN)
        return response
    response = RedirectResponse("/", SEE_OTHER)
    visit.jar.write(response, AGENT, lent.secret, seconds=lent.seconds)
    visit.jar.clear(response, LOGIN)
    return response


async def logout(visit: Visit) -> Response:
    """End this agent session; the console stays signed in: 204."""
    await visit.parts.access.sessions.end_agent(visit.agent, "signedOut")
    response = no_content()
    visit.jar.clear(response, AGENT)
    return response


def _explain(visit: Visit, refusal: Refused) -> Response:
    """A refusal that a person can read, where it is a person's browser that came here: the shell's page says it in words."""
    if "text/html" not in visit.request.headers.get("accept", ""):
        return refuse(describe(refusal))
    page = visit.parts.shell.page(visit.request)
    page.status_code = refusal.status
    return page


def _state(visit: Visit) -> str:
    state = _only(visit, "state")
    if visit.jar.read(visit.request, LOGIN) != state:
        raise Refused("state", "this sign-in was started in another browser, or too long ago; start again")
    return state


def _only(visit: Visit, name: str) -> str:
    values = visit.request.query_params.getlist(name)
    if len(values) != 1 or not values[0]:
        raise Refused("malformed", f"`{name}` must be there once", 400)
    return values[0]
