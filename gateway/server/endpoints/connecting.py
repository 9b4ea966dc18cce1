"""A person decides on the console whether a program may act for them."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlencode, urlsplit

from pydantic import Field
from starlette.responses import Response

from gateway.protocol.wire import Wire
from gateway.runtime.client_grants import REQUEST_LENGTH, ClientRequest
from gateway.server.parts import RequestContext
from gateway.server.responses import answer

RequestSecret = Annotated[str, Field(min_length=1, max_length=REQUEST_LENGTH)]


class ConnectionRequest(Wire):
    """The request that the page's address names."""

    request: RequestSecret


class ConnectionDecision(Wire):
    """What the person decided about it."""

    request: RequestSecret
    decision: Literal["allow", "deny"]


async def describe_connection(context: RequestContext) -> Response:
    """What the client calls itself, and where the browser goes afterwards. Only the second is more than a claim."""
    request = context.parts.client_grants.find(context.read(ConnectionRequest).request)
    return answer({"client": request.client_name, "destination": _destination(request)})


async def decide_connection(context: RequestContext) -> Response:
    """The address at the client that the browser goes to, with a code or with the refusal (RFC 6749 section 4.1.2)."""
    wanted, grants = context.read(ConnectionDecision), context.parts.client_grants
    if wanted.decision == "allow":
        request, code = grants.allow(wanted.request, context.console)
        said = {"code": code}
    else:
        request = await grants.deny(wanted.request, context.console)
        said = {"error": "access_denied"}
    if request.state is not None:
        said["state"] = request.state
    # RFC 9207: whoever asks several servers can tell which one answered.
    said["iss"] = request.resource.removesuffix("/mcp")
    joint = "&" if urlsplit(request.redirect_uri).query else "?"
    return answer({"location": f"{request.redirect_uri}{joint}{urlencode(said)}"})


def _destination(request: ClientRequest) -> str:
    parts = urlsplit(request.redirect_uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}:"
