"""Where an API is: one scheme, host and port, which no value of a call can change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from gateway.core.effects import show
from gateway.core.errors import Misconfigured

_BASE: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?(?P<path>(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*)",
    re.IGNORECASE,
)

_HIDDEN_SLASH: Final = re.compile(r"%2f|%5c|\\", re.IGNORECASE)
"""What some servers read as `/`, and look for parts that go up after that."""

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ApiBase:
    """`url` has no slash at its end. `host` is lower case and without brackets."""

    url: str
    scheme: str
    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether it is this machine by its own name (RFC 6761 section 6.3) or address; no name server is asked."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def pair(self) -> str:
        """`host:port`, as the egress guard lists it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def covers(self, url: str) -> bool:
        """Whether a URL is this one or beneath it, however a server reads its path."""
        if not self.holds(url):
            return False
        base, path = urlsplit(self.url).path, urlsplit(url).path
        if not base:
            return True
        return (path == base or path.startswith(f"{base}/")) and not has_dots(path) and _HIDDEN_SLASH.search(path) is None

    def holds(self, url: str) -> bool:
        """Whether a URL has this scheme, host and port, so that credentials may go there."""
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS.get(parts.scheme)
        except ValueError:
            return False
        return (parts.scheme, parts.hostname, port) == (self.scheme, self.host, self.port) and "@" not in parts.netloc


def read_base(text: str) -> ApiBase:
    """The base URL of an API. Raises Misconfigured, saying what is wrong."""
    match = _BASE.fullmatch(text)
    if match is None:
        raise Misconfigured(
            f"`base_url` is {show(text[:200])}; it is `https://host` or `https://host:port/path`, without login or query"
        )
    scheme, path = match["scheme"].lower(), match["path"].rstrip("/")
    port = int(match["port"] or _PORTS[scheme])
    if not 0 < port < 65536:
        raise Misconfigured("`base_url` has a port that there is not")
    if has_dots(path):
        raise Misconfigured("`base_url` has `.` or `..` as a part of its path")
    host = match["host"].lower().strip("[]")
    shown = f"[{host}]" if ":" in host else host
    given = "" if port == _PORTS[scheme] else f":{port}"
    return ApiBase(f"{scheme}://{shown}{given}{path}", scheme, host, port)


def has_dots(path: str) -> bool:
    """Whether a part of a path goes nowhere or up, in any spelling (RFC 3986 sections 2.3 and 5.2.4)."""
    parts = re.sub("%2e", ".", path, flags=re.IGNORECASE).split("/")
    return "." in parts or ".." in parts
