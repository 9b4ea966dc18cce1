"""One GET through the guard, with every quantity capped: what is asked for, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gateway.adapters.tools.builtin.egress import Egress
from gateway.core.errors import ToolFailed

if TYPE_CHECKING:
    from gateway.adapters.tools.builtin.page_client import PageClient


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bytes as sent, bytes after inflating, seconds in all and between two pieces, and counts."""

    sent: int = 1024 * 1024
    inflated: int = 4 * 1024 * 1024
    total: float = 20.0
    idle: float = 10.0
    redirects: int = 5
    headers: int = 64
    header_size: int = 8 * 1024


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """What came back. `data` is inflated; `complete` is False where a limit cut it."""

    url: str
    status: int
    media_type: str
    charset: str | None
    data: bytes
    complete: bool
    redirects: int


class DamagedAnswer(ToolFailed):
    """The server has got the request, and its answer cannot be read."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What one request was answered with. `data` is inflated; `complete` is False where a limit cut it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    media_type: str
    charset: str | None
    data: bytes
    complete: bool

    def header(self, name: str) -> str | None:
        """The first field of that name, in any case of letters."""
        return next((value for given, value in self.headers if given.lower() == name.lower()), None)


class Fetcher:
    """GET and nothing else, one connection per request, no cookies, no credentials, no proxy."""

    def __init__(self, egress: Egress, limits: FetchLimits | None = None) -> None:
        self.egress = egress
        self.limits = limits or FetchLimits()

    async def get(self, url: str) -> FetchedPage:
        """The page, after at most `limits.redirects` hops, each judged like the first. Raises ToolFailed."""
        return await self._client.get(url)

    @cached_property
    def _client(self) -> PageClient:
        # Imported by the first fetch: the HTTP client takes 7 MB, which a gateway whose model is elsewhere may never need.
        from gateway.adapters.tools.builtin.page_client import PageClient

        return PageClient(self.egress, self.limits)
