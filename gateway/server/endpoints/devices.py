"""A further device of a person, such as their phone: a one-time link, shown as a QR code, and what it leads to."""

from __future__ import annotations

from starlette.responses import Response

from gateway.protocol.wire import JsonObject, Name, Wire
from gateway.runtime.device_offers import DEVICE_LINK_SECONDS
from gateway.server.endpoints.console import Secret, read_browser, sign_in_with, with_browser
from gateway.server.parts import RequestContext
from gateway.server.qr import qr_rows
from gateway.server.responses import answer


class DeviceStart(Wire):
    """The token of a device link."""

    token: Secret


class DeviceAnswer(Wire):
    """The new passkey, as RegistrationResponseJSON, and its name."""

    token: Secret
    credential: JsonObject
    name: Name | None = None


async def offer_device(context: RequestContext) -> Response:
    """The link, how many seconds it works, and its QR code: a string of `0` and `1` (dark) for each row of modules, without the
    quiet zone. Within five minutes of an assertion by an existing passkey."""
    token = context.parts.passkeys.offer_device(context.console)
    link = context.parts.access.origins.device_link(token)
    return answer({"link": link, "seconds": int(DEVICE_LINK_SECONDS), "qr": list(qr_rows(link))})


async def look_at_offer(context: RequestContext) -> Response:
    """What has become of the link that this console session made last."""
    return answer({"state": context.parts.passkeys.device_state(context.console).value})


async def start_device(context: RequestContext) -> Response:
    """Options for the new device's passkey, for the browser that shows the link first."""
    token = context.read(DeviceStart).token
    browser, is_new = read_browser(context)
    options = await context.parts.passkeys.device_options(browser, token)
    return with_browser(context, answer(dict(options)), browser, is_new=is_new)


async def add_device(context: RequestContext) -> Response:
    """Redeem the link: 204 and the console cookie."""
    body = context.read(DeviceAnswer)
    current = await context.parts.access.console(context.request)
    browser, _ = read_browser(context)
    return await sign_in_with(
        context, context.parts.passkeys.add_device(browser, body.token, body.credential, body.name, current)
    )
