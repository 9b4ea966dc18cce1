"""One POST through the guard, to an address that somebody else chose: https, no redirect, and little is read of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from gateway.adapters.tools.builtin.egress import Destination, Egress
from gateway.adapters.tools.builtin.fetching import FetchLimits
from gateway.core.effects import show
from gateway.core.errors import ToolFailed

if TYPE_CHECKING:
    from gateway.adapters.tools.builtin.page_client import PageClient

POST_LIMITS: Final = FetchLimits(sent=1024, inflated=1024, total=10.0, idle=5.0, redirects=0, headers=64, header_size=8 * 1024)
"""Nobody reads the answer: its status is all."""


class Poster:
    """POST and nothing else. An address of the operator's list may be http where it is of this machine."""

    def __init__(self, egress: Egress, limits: FetchLimits = POST_LIMITS) -> None:
        self._egress = egress
        self._limits = limits

    def check(self, url: str) -> str:
        """The host, for a URL that may be asked. Asks nobody. Raises ToolFailed."""
        return self._inspect(url).host

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """The status of the answer. Raises ToolFailed."""
        destination = self._inspect(url)
        # Imported by the first request, for which it has been loaded already where tools fetch pages.
        import aiohttp

        try:
            async with asyncio.timeout(self._limits.total):
                return (await self._client.exchange(destination, "POST", headers, body)).status
        except TimeoutError:
            raise ToolFailed(f"{show(url)} took too long to answer") from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise ToolFailed(f"{show(url)} gave no proper answer") from None

    def close(self) -> None:
        """Let its threads end."""
        self._egress.close()

    def _inspect(self, url: str) -> Destination:
        destination = self._egress.inspect(url)
        address = destination.target.address
        here = destination.listed and address is not None and address.is_loopback
        if destination.url.scheme != "https" and not here:
            raise ToolFailed(f"{show(url)} may not be asked: it is not https")
        return destination

    @cached_property
    def _client(self) -> PageClient:
        from gateway.adapters.tools.builtin.page_client import PageClient

        return PageClient(self._egress, self._limits)
