"""Which addresses may be asked in the name of one source, since the documents that name them are hostile.

Encrypted, public, and on the usual port: that is asked without a word. An address that is not public, an unusual port or plain
http on this machine is asked only where the operator wrote it: the source's own address, or the `issuer` of its settings. The
name of a source is held to what it is held to when the source itself is asked: it leads to public addresses unless
`allow_private` is set. No name leads to this machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from gateway.adapters.tools.builtin.egress import Destination, Egress, Lookup
from gateway.adapters.tools.http_api.places import ApiBase, read_base
from gateway.adapters.tools.oauth.documents import MAX_URL, OAuthRefusal
from gateway.adapters.tools.own_addresses import is_looked_up
from gateway.core.effects import show
from gateway.core.errors import Misconfigured, ToolFailed

_VISIBLE: Final = re.compile(r"[!-\[\]-~]+")
"""Visible ASCII without the backslash, which some take for a slash."""

_PORTS: Final = frozenset({443})


def read_origin(url: str, what: str) -> ApiBase:
    """Scheme, host and port of an address. Raises OAuthRefusal for what is no plain http address."""
    refusal = OAuthRefusal(f"{what} is {show(url[:200])}, which is no address that can be used")
    if len(url) > MAX_URL or _VISIBLE.fullmatch(url) is None:
        raise refusal
    try:
        parts = urlsplit(url)
        return read_base(f"{parts.scheme}://{parts.netloc}") if not parts.fragment and "#" not in url else _refuse(refusal)
    except (ValueError, Misconfigured):
        raise refusal from None


def _refuse(refusal: OAuthRefusal) -> ApiBase:
    raise refusal


@dataclass(frozen=True, slots=True)
class SignInPlaces:
    """What the operator wrote: the source's address, and its authorization server where they named one. `private`: the source's
    host may be in a private network, where it is a name."""

    source: ApiBase
    issuer: ApiBase | None = None
    lookup: Lookup | None = None
    private: bool = False

    def require(self, url: str, what: str) -> ApiBase:
        """The origin of an address that secrets may go to, as far as its text tells. Raises OAuthRefusal."""
        origin = read_origin(url, what)
        if origin.scheme != "https" and not (self._is_meant(origin) and origin.loopback):
            raise OAuthRefusal(f"{what} at {show(url[:200])} is not encrypted")
        return origin

    def guard(self) -> Egress:
        """The guard that every request goes through. It would let an unusual port pass for any host; `locate` does not."""
        meant = [origin for origin in (self.source, self.issuer) if origin is not None]
        ports = _PORTS | {origin.port for origin in meant}
        may_be_inside = self.private or not is_looked_up(self.source.host)
        listed = {origin.pair for origin in meant if may_be_inside or origin.host != self.source.host}
        return Egress(listed, self.lookup, ports=ports, names_lead_here=False)

    def locate(self, url: str, what: str, guard: Egress) -> Destination:
        """The destination of a request. Raises OAuthRefusal."""
        origin = self.require(url, what)
        if origin.port not in _PORTS and not self._is_meant(origin):
            raise OAuthRefusal(f"{what} at {show(url[:200])} may not be fetched: its port is unusual")
        try:
            return guard.inspect(url)
        except ToolFailed as failure:
            raise OAuthRefusal(f"{what}: {failure.message}") from None

    def _is_meant(self, origin: ApiBase) -> bool:
        return origin in (self.source, self.issuer)
