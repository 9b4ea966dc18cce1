"""The two web apps: the same page for every address of an app, its assets, and nothing of the other."""

from __future__ import annotations

from starlette.responses import Response

from gateway.server.parts import Visit


async def show_page(visit: Visit) -> Response:
    """The app's page."""
    return visit.parts.web_app(visit.site).page(visit.request)


async def fetch_asset(visit: Visit) -> Response:
    """A hashed file."""
    return visit.parts.web_app(visit.site).asset(visit.request, visit.request.path_params["name"])


async def fetch_beside(visit: Visit) -> Response:
    """An icon or manifest."""
    return visit.parts.web_app(visit.site).beside(visit.request, visit.request.path_params["name"])
