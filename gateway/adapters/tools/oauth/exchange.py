"""One request about a sign-in: through the guard, no redirect, no cookie, no proxy, and every quantity capped."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode, urlsplit

import aiohttp
import orjson

from gateway import __version__
from gateway.adapters.tools.builtin.fetching import FetchLimits, HttpAnswer
from gateway.adapters.tools.builtin.page_client import REDIRECTS, PageClient
from gateway.adapters.tools.oauth.documents import OAuthRefusal
from gateway.adapters.tools.oauth.places import SignInPlaces
from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed

LIMITS: Final = FetchLimits(sent=256 * 1024, inflated=256 * 1024, total=15.0, idle=10.0, redirects=0)

_HEADERS: Final = {"User-Agent": f"countersign/{__version__}", "Accept": "application/json", "Accept-Encoding": "identity"}


class OAuthExchange:
    """Asks the addresses of one source's sign-in."""

    def __init__(self, places: SignInPlaces, limits: FetchLimits | None = None) -> None:
        self._places = places
        self._limits = limits or LIMITS
        # One for all: it reads the system's certificates once.
        self._client = PageClient(places.guard(), self._limits)

    async def fetch(self, url: str, what: str) -> bytes | None:
        """A document; None where the server has none there. Raises OAuthRefusal."""
        answer = await self._send("GET", url, {}, None, what)
        if 400 <= answer.status < 500:
            return None
        if answer.status != 200:
            raise OAuthRefusal(f"{what} was answered with status {answer.status}")
        return answer.data

    async def post_form(
        self, url: str, fields: Sequence[tuple[str, str]], headers: Mapping[str, str], what: str
    ) -> tuple[int, bytes]:
        """Status and body. Raises OAuthRefusal."""
        typed = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
        answer = await self._send("POST", url, typed, urlencode(fields).encode(), what)
        return answer.status, answer.data

    async def post_json(self, url: str, value: Json, what: str) -> tuple[int, bytes]:
        """Status and body. Raises OAuthRefusal."""
        answer = await self._send("POST", url, {"Content-Type": "application/json"}, orjson.dumps(value), what)
        return answer.status, answer.data

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, what: str) -> HttpAnswer:
        destination = self._places.locate(url, what, self._client.egress)
        where = f"{what} ({urlsplit(url).netloc[:200]})"
        try:
            async with asyncio.timeout(self._limits.total):
                answer = await self._client.exchange(destination, method, {**_HEADERS, **headers}, body)
        except TimeoutError:
            raise OAuthRefusal(f"{where} did not answer within {self._limits.total:g} seconds") from None
        except ToolFailed as failure:
            raise OAuthRefusal(f"{where}: {failure.message}") from None
        except aiohttp.ClientSSLError:
            raise OAuthRefusal(f"{where} has no certificate that can be trusted") from None
        except aiohttp.ClientConnectorError:
            raise OAuthRefusal(f"{where} cannot be reached") from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise OAuthRefusal(f"{where} gave no proper answer") from None
        if answer.status in REDIRECTS:
            raise OAuthRefusal(f"{where} redirects, which is not followed")
        if not answer.complete:
            raise OAuthRefusal(f"{where} sent more than {self._limits.sent >> 10} KB, or broke off")
        return answer
