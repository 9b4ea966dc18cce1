"""Signing in on the console: enrolment, sign-in, further passkeys, signing out, and the sign-in of a shell."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Literal
from urllib.parse import urlencode

from pydantic import Field
from starlette.responses import Response

from gateway.core.errors import Refused
from gateway.core.vocabulary import Label
from gateway.protocol.wire import JsonObject, Name, Wire
from gateway.runtime.sessions import SignedIn
from gateway.server.cookies import BROWSER, CONSOLE
from gateway.server.parts import RequestContext
from gateway.server.responses import answer, describe, no_content, refuse

Secret = Annotated[str, Field(min_length=1, max_length=128)]
"""A token or state that a client sends; the gateway's own have 43 characters."""


class EnrolmentStart(Wire):
    """The token of an enrolment link."""

    token: Secret


class EnrolmentAnswer(Wire):
    """The new passkey, as RegistrationResponseJSON, and its name."""

    token: Secret
    credential: JsonObject
    name: Name | None = None


class NewPasskeyAnswer(Wire):
    """A further passkey, as RegistrationResponseJSON, and its name."""

    credential: JsonObject
    name: Name | None = None


class SignInAnswer(Wire):
    """A passkey's assertion, as AuthenticationResponseJSON."""

    credential: JsonObject


class ShellState(Wire):
    """The state of a shell's sign-in, from the page's URL, and the label that its session starts at."""

    state: Secret
    label: Literal["public", "internal", "confidential", "high"] = "public"


async def start_enrolment(context: RequestContext) -> Response:
    """Options for the first passkey of the link's person."""
    browser, is_new = read_browser(context)
    options = await context.parts.passkeys.enrolment_options(browser, context.read(EnrolmentStart).token)
    return with_browser(context, answer(dict(options)), browser, is_new=is_new)


async def enrol(context: RequestContext) -> Response:
    """Redeem the link: 204 and the console cookie."""
    body = context.read(EnrolmentAnswer)
    current = await context.parts.access.console(context.request)
    browser, _ = read_browser(context)
    return await sign_in_with(context, context.parts.passkeys.enrol(browser, body.token, body.credential, body.name, current))


async def start_sign_in(context: RequestContext) -> Response:
    """Options for a sign-in with any registered passkey."""
    browser, is_new = read_browser(context)
    return with_browser(context, answer(dict(context.parts.passkeys.sign_in_options(browser))), browser, is_new=is_new)


async def sign_in(context: RequestContext) -> Response:
    """204 and the console cookie, with a new secret every time."""
    current = await context.parts.access.console(context.request)
    browser, _ = read_browser(context)
    return await sign_in_with(context, context.parts.passkeys.sign_in(browser, context.read(SignInAnswer).credential, current))


async def start_passkey(context: RequestContext) -> Response:
    """Options for a further passkey, within five minutes of an assertion by an existing one."""
    browser, is_new = read_browser(context)
    options = await context.parts.passkeys.addition_options(browser, context.console)
    return with_browser(context, answer(dict(options)), browser, is_new=is_new)


async def add_passkey(context: RequestContext) -> Response:
    """204."""
    body = context.read(NewPasskeyAnswer)
    browser, _ = read_browser(context)
    try:
        await context.parts.passkeys.add(browser, context.console, body.credential, body.name)
    except Refused as refusal:
        return _refused(context, refusal)
    return no_content()


async def sign_out(context: RequestContext) -> Response:
    """End this console session and every agent session that was issued from it: 204."""
    await context.parts.access.sessions.end_console(context.console, "signedOut")
    response = no_content()
    context.jar.clear(response, CONSOLE)
    return response


async def authorize_shell(context: RequestContext) -> Response:
    """The URL for the browser, where the shell redeems a code for its session. Always on the agent origin."""
    wanted, access = context.read(ShellState), context.parts.access
    code = access.sessions.authorize(context.console, wanted.state, Label[wanted.label.upper()])
    return answer({"location": f"{access.origins.agent}/callback?{urlencode({'code': code, 'state': wanted.state})}"})


def read_browser(context: RequestContext) -> tuple[str, bool]:
    """The value of the cookie that ceremonies are bound to, and whether it is new."""
    known = context.jar.read(context.request, BROWSER)
    return (context.parts.entropy.secret(), True) if known is None else (known, False)


def with_browser(context: RequestContext, response: Response, browser: str, *, is_new: bool) -> Response:
    """The answer, with that cookie where the browser has none yet."""
    if is_new:
        context.jar.write(response, BROWSER, browser)
    return response


async def sign_in_with(context: RequestContext, ceremony: Awaitable[SignedIn]) -> Response:
    """204 and the console cookie, or why not."""
    try:
        signed_in = await ceremony
    except Refused as refusal:
        return _refused(context, refusal)
    response = no_content()
    context.jar.write(response, CONSOLE, signed_in.secret, seconds=signed_in.seconds)
    context.jar.clear(response, BROWSER)
    return response


def _refused(context: RequestContext, refusal: Refused) -> Response:
    response = refuse(describe(refusal))
    if refusal.reason == "tooManyFailures":
        context.jar.clear(response, BROWSER)
    return response
