"""The two web apps: the same page for every address of an app, its assets, and nothing of the other."""

from __future__ import annotations

from starlette.responses import Response

from gateway.server.access import Site
from gateway.server.assets import WebApp
from gateway.server.parts import Visit


async def show_page(visit: Visit) -> Response:
    """The app's page."""
    return _app(visit).page(visit.request)


async def fetch_asset(visit: Visit) -> Response:
    """A hashed file."""
    return _app(visit).asset(visit.request, visit.request.path_params["name"])


async def fetch_beside(visit: Visit) -> Response:
    """An icon or manifest."""
    return _app(visit).beside(visit.request, visit.request.path_params["name"])


def _app(visit: Visit) -> WebApp:
    return visit.parts.shell if visit.site is Site.AGENT else visit.parts.console
