"""The two web apps: each serves one page for all its addresses, its own assets, and no file of the other app."""

from __future__ import annotations

from starlette.responses import Response

from gateway.server.parts import RequestContext
from gateway.server.responses import NOT_FOUND
from gateway.server.signposts import direct


async def show_page(context: RequestContext) -> Response:
    """The app's page."""
    return context.parts.web_app(context.site).page(context.request)


async def fetch_asset(context: RequestContext) -> Response:
    """A hashed file."""
    return context.parts.web_app(context.site).asset(context.request, context.request.path_params["name"])


async def fetch_beside(context: RequestContext) -> Response:
    """An icon or manifest; where there is none, what is shown at an address without a page."""
    file = context.parts.web_app(context.site).beside(context.request, context.request.path_params["name"])
    return direct(context.request.scope, NOT_FOUND, context.parts.access.origins) if file is None else file
