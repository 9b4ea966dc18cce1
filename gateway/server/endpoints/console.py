"""Signing in on the console: enrolment, sign-in, further passkeys, signing out, and lending a session to a shell."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated
from urllib.parse import urlencode

from pydantic import Field
from starlette.responses import Response

from gateway.core.errors import Refused
from gateway.protocol.wire import JsonObject, Name, Wire
from gateway.runtime.sessions import SignedIn
from gateway.server.cookies import BROWSER, CONSOLE
from gateway.server.parts import Visit
from gateway.server.responses import answer, describe, no_content, refuse

Secret = Annotated[str, Field(min_length=1, max_length=128)]
"""A token or state as it comes back; ours have 43 characters."""


class EnrolmentStart(Wire):
    """The token of an enrolment link."""

    token: Secret


class EnrolmentAnswer(Wire):
    """The new passkey, as RegistrationResponseJSON, and what to call it."""

    token: Secret
    credential: JsonObject
    name: Name | None = None


class NewPasskeyAnswer(Wire):
    """A further passkey, as RegistrationResponseJSON, and what to call it."""

    credential: JsonObject
    name: Name | None = None


class SignInAnswer(Wire):
    """A passkey's answer, as AuthenticationResponseJSON."""

    credential: JsonObject


class ShellState(Wire):
    """The state of a shell's sign-in, from the address of the page."""

    state: Secret


async def start_enrolment(visit: Visit) -> Response:
    """Options for the first passkey of the link's person."""
    browser, is_new = _browser(visit)
    options = await visit.parts.passkeys.enrolment_options(browser, visit.read(EnrolmentStart).token)
    return _with_browser(visit, answer(dict(options)), browser, is_new=is_new)


async def enrol(visit: Visit) -> Response:
    """Use up the link: 204 and the console cookie."""
    body = visit.read(EnrolmentAnswer)
    current = await visit.parts.access.console(visit.request)
    browser, _ = _browser(visit)
    return await _signed_in(visit, visit.parts.passkeys.enrol(browser, body.token, body.credential, body.name, current))


async def start_sign_in(visit: Visit) -> Response:
    """Options for any passkey of this console."""
    browser, is_new = _browser(visit)
    return _with_browser(visit, answer(dict(visit.parts.passkeys.sign_in_options(browser))), browser, is_new=is_new)


async def sign_in(visit: Visit) -> Response:
    """204 and the console cookie, with a new secret every time."""
    current = await visit.parts.access.console(visit.request)
    browser, _ = _browser(visit)
    return await _signed_in(visit, visit.parts.passkeys.sign_in(browser, visit.read(SignInAnswer).credential, current))


async def start_passkey(visit: Visit) -> Response:
    """Options for a further passkey, within five minutes of an answer by an existing one."""
    browser, is_new = _browser(visit)
    options = await visit.parts.passkeys.addition_options(browser, visit.console)
    return _with_browser(visit, answer(dict(options)), browser, is_new=is_new)


async def add_passkey(visit: Visit) -> Response:
    """204."""
    body = visit.read(NewPasskeyAnswer)
    browser, _ = _browser(visit)
    try:
        await visit.parts.passkeys.add(browser, visit.console, body.credential, body.name)
    except Refused as refusal:
        return _refused(visit, refusal)
    return no_content()


async def sign_out(visit: Visit) -> Response:
    """End this console session and every agent session it lent: 204."""
    await visit.parts.access.sessions.end_console(visit.console, "signedOut")
    response = no_content()
    visit.jar.clear(response, CONSOLE)
    return response


async def authorize_shell(visit: Visit) -> Response:
    """Where to send the browser so that the shell that waits there gets its session. Always the agent origin."""
    state = visit.read(ShellState).state
    access = visit.parts.access
    code = access.sessions.authorize(visit.console, state)
    return answer({"location": f"{access.origins.agent}/callback?{urlencode({'code': code, 'state': state})}"})


def _browser(visit: Visit) -> tuple[str, bool]:
    known = visit.jar.read(visit.request, BROWSER)
    return (visit.parts.entropy.secret(), True) if known is None else (known, False)


def _with_browser(visit: Visit, response: Response, browser: str, *, is_new: bool) -> Response:
    if is_new:
        visit.jar.write(response, BROWSER, browser)
    return response


async def _signed_in(visit: Visit, ceremony: Awaitable[SignedIn]) -> Response:
    try:
        signed_in = await ceremony
    except Refused as refusal:
        return _refused(visit, refusal)
    response = no_content()
    visit.jar.write(response, CONSOLE, signed_in.secret, seconds=signed_in.seconds)
    visit.jar.clear(response, BROWSER)
    return response


def _refused(visit: Visit, refusal: Refused) -> Response:
    response = refuse(describe(refusal))
    if refusal.reason == "tooManyFailures":
        visit.jar.clear(response, BROWSER)
    return response
