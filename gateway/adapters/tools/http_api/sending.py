"""A request on its way: through the egress guard, with the operator's secrets filled in at last, and back in bounds."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from gateway.adapters.tools.builtin.egress import PUBLIC_PORTS, Egress
from gateway.adapters.tools.builtin.fetching import DamagedAnswer, FetchLimits, HttpAnswer
from gateway.adapters.tools.builtin.page_client import REDIRECTS, PageClient
from gateway.adapters.tools.http_api.places import ApiBase
from gateway.adapters.tools.http_api.requests import ApiRequest
from gateway.adapters.tools.http_api.settings import FIELD_VALUE
from gateway.adapters.tools.offer import SourceAway
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.vocabulary import Reason

_SECRET: Final = re.compile(r"\$\{secret:[^{}]*\}")

_FOLLOWED: Final = frozenset({"GET", "HEAD"})
"""What is asked again at another address of the same server. Anything else might be done twice."""

_TOLD_SHORTEST: Final = 4
"""Characters of a secret that is looked for in answers; a shorter one would be found everywhere and protects nothing."""


def guard(base: ApiBase, *, private: bool) -> Egress:
    """The egress rules of one API: its own port, and an address that is not public only where the operator means one."""
    listed = (base.pair,) if private or base.loopback else ()
    return Egress(listed, ports=PUBLIC_PORTS | {base.port})


class CredentialHeaders:
    """The operator's headers, filled when a request leaves, and kept out of what comes back."""

    def __init__(self, headers: Mapping[str, str], fill: Callable[[str], str]) -> None:
        self._headers = headers
        self._fill = fill

    def fill(self, headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
        """The headers as they are sent; only the operator's own are looked at. Raises Misconfigured."""
        own = {name.lower() for name in self._headers}
        filled = {name: self._fill(value) if name.lower() in own else value for name, value in headers}
        for name, value in filled.items():
            if FIELD_VALUE.fullmatch(value) is None:
                raise Misconfigured(
                    f"the header `{escape(name)}` cannot be sent: its secret is more than one line of visible ASCII"
                )
        return filled

    def find(self) -> tuple[tuple[str, str], ...]:
        """Each secret's value with the word that stands for it, longest first."""
        words = {word for value in self._headers.values() for word in _SECRET.findall(value)}
        found = [(self._fill(word), word) for word in words]
        return tuple(
            sorted(((value, word) for value, word in found if len(value) >= _TOLD_SHORTEST), key=lambda each: -len(each[0]))
        )


class ApiClient:
    """Sends requests to one API and to nobody else: one connection each, no cookies, no proxy of the environment. `beneath`:
    also a redirect stays beneath its base URL."""

    def __init__(
        self, base: ApiBase, egress: Egress, limits: FetchLimits, secrets: CredentialHeaders, *, beneath: bool = True
    ) -> None:
        self._base = base
        self._beneath = beneath
        self._limits = limits
        self._secrets = secrets
        self._client = PageClient(egress, limits)

    async def send(self, request: ApiRequest) -> HttpAnswer:
        """The answer, after redirects within this server for what only reads.

        Raises SourceAway where it is sure that nothing was sent, ToolFailed otherwise.
        """
        where = f"{self._base.scheme}://{self._base.host}:{self._base.port}"
        doubt = "" if request.method in _FOLLOWED else "; it may have taken effect"
        try:
            headers = self._secrets.fill(request.headers)
        except Misconfigured as error:
            raise ToolFailed(error.message, Reason.SOURCE_UNAVAILABLE) from None
        try:
            async with asyncio.timeout(self._limits.total):
                return await self._follow(request, headers)
        except TimeoutError as error:
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                raise SourceAway(f"{where} does not answer") from None
            raise ToolFailed(
                f"{where} did not answer within {self._limits.total:g} seconds{doubt}", Reason.TOOL_TIMEOUT
            ) from None
        except aiohttp.ClientSSLError:
            raise SourceAway(f"{where} has no certificate that can be trusted") from None
        except aiohttp.ClientConnectorError:
            raise SourceAway(f"{where} cannot be reached") from None
        except DamagedAnswer as failure:
            raise ToolFailed(f"{failure.message}{doubt}") from None
        except aiohttp.ClientPayloadError:
            raise ToolFailed(f"{where} broke off its answer{doubt}") from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise ToolFailed(f"{where} gave no proper answer{doubt}") from None

    async def _follow(self, request: ApiRequest, headers: Mapping[str, str]) -> HttpAnswer:
        url = request.url
        for hop in range(self._limits.redirects + 1):
            destination = self._client.egress.inspect(url)
            # As it was shown: the parser would write some of it in another way.
            exact = replace(destination, url=URL(url, encoded=True))
            try:
                answer = await self._client.exchange(exact, request.method, headers, request.body)
            except (aiohttp.ClientConnectorError, aiohttp.ClientSSLError, aiohttp.ConnectionTimeoutError):
                if hop == 0:
                    raise
                raise ToolFailed("the server redirects to where it cannot be reached") from None
            location = answer.header("Location")
            if answer.status not in REDIRECTS or location is None or request.method not in _FOLLOWED:
                return answer
            following = _resolve(url, location)
            # Credentials are bound to the base URL: what is beside it on one host may be others'. Elsewhere nothing is asked at
            # all, and the answer says where it led. A document may lie anywhere on the host.
            within = self._base.covers if self._beneath else self._base.holds
            if following is None or not within(following):
                return answer
            url = following
        raise ToolFailed("the server redirects more often than is followed")


def _resolve(url: str, location: str) -> str | None:
    """Where a redirect leads, as a request can be sent there; None for what is no address."""
    try:
        return str(URL(urljoin(url, location)))
    except ValueError:
        return None
