"""A browser's HTTP requests: cookies per host, the Origin of the page, and no redirect is followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson


@dataclass(frozen=True)
class Reply:
    """The response."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    set_cookies: tuple[str, ...]

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return orjson.loads(self.body)


@dataclass
class Browser:
    """Cookies by host; every request goes to the gateway's loopback port, for any host name."""

    port: int
    cookies: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    async def request(
        self,
        method: str,
        url: str,
        *,
        body: Any = None,
        origin: str | None = "same",
        headers: Mapping[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Reply:
        """One request. `origin="same"` sends the target's own origin for unsafe methods, None sends none at all."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        sent: dict[str, str] = {"Host": parts.netloc}
        jar = self.cookies.get(host, {})
        if jar:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        if origin == "same":
            if method not in ("GET", "HEAD"):
                sent["Origin"] = f"{parts.scheme}://{parts.netloc}"
                sent["Sec-Fetch-Site"] = "same-origin"
        elif origin is not None:
            sent["Origin"] = origin
        data = raw
        if body is not None:
            data = orjson.dumps(body)
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        target = f"http://127.0.0.1:{self.port}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), timeout=aiohttp.ClientTimeout(total=30)) as session,
            session.request(method, target, data=data, headers=sent, allow_redirects=False) as response,
        ):
            content = await response.read()
            set_cookies = tuple(response.headers.getall("Set-Cookie", []))
            self._keep(host, set_cookies)
            return Reply(response.status, dict(response.headers), content, set_cookies)

    async def get(self, url: str, **options: Any) -> Reply:
        """GET."""
        return await self.request("GET", url, **options)

    async def post(self, url: str, body: Any = None, **options: Any) -> Reply:
        """POST JSON."""
        return await self.request("POST", url, body={} if body is None and "raw" not in options else body, **options)

    def _keep(self, host: str, set_cookies: tuple[str, ...]) -> None:
        jar = self.cookies.setdefault(host, {})
        for header in set_cookies:
            parsed: SimpleCookie = SimpleCookie()
            parsed.load(header)
            for name, morsel in parsed.items():
                if morsel["max-age"] == "0" or not morsel.value:
                    jar.pop(name, None)
                else:
                    jar[name] = morsel.value
