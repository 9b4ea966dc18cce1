"""Which address a request may go to: decided once per hop, from one lookup, and then the only one that can be connected to.

A guard that checks a name and hands it on is looked up twice, and the second answer may differ. So the name is resolved
here, every address of the answer is judged, and the connection is made to these addresses and no name. The judging is
`ssrfguard`'s, with the table of `addresses`; both are imported by the first URL that is judged.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

from gateway.adapters.tools.own_addresses import is_looked_up, is_own
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core.effects import escape, show
from gateway.core.errors import Misconfigured, ToolFailed

if TYPE_CHECKING:
    import ssrfguard
    from yarl import URL

AddressRow: TypeAlias = tuple[int, int, int, str, tuple[Any, ...]]
"""One row of `socket.getaddrinfo`."""

Lookup: TypeAlias = Callable[[str, int], Awaitable[Sequence[AddressRow]]]

PUBLIC_PORTS: Final = frozenset({80, 443})

MAX_URL = 2_048
"""Characters; RFC 9110 section 4.1 asks for 8000 to be supported, this is what browsers long agreed on."""

_LOOKUPS = 16
"""Lookups at once, of which one person's calls have half. A name server that never answers holds one for as long as the system's
resolver waits."""

_ENDS_IN_NUMBER: Final = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?", re.IGNORECASE)
"""Hosts that the URL standard takes for IPv4 addresses, however they are spelt (its `ends in a number` check)."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A URL that may be asked for if its host resolves well. `listed` is whether the operator named this host and port."""

    url: URL
    target: ssrfguard.Target
    listed: bool

    @property
    def host(self) -> str:
        """What policies compare: one spelling per host, lower case, in ASCII, without the root's dot."""
        return self.target.host.removesuffix(".") if self.target.address is None else str(self.target.address)


class Egress:
    """The operator's rules: public addresses on `ports`, and `allow_hosts`, exact `host:port` pairs, besides. `names_lead_here`:
    a pair whose host is a name may lead to this machine, and not only one whose host is `localhost` or an address."""

    def __init__(
        self,
        allow_hosts: Iterable[str] = (),
        lookup: Lookup | None = None,
        ports: frozenset[int] = PUBLIC_PORTS,
        *,
        names_lead_here: bool = True,
    ) -> None:
        self._listed = frozenset(_read_pair(pair) for pair in allow_hosts)
        self._ports = ports
        self._names_lead_here = names_lead_here
        self._own_lookup = _SystemLookup()
        self._lookup: Lookup = lookup or self._own_lookup

    @cached_property
    def _public(self) -> ssrfguard.Policy:
        import ssrfguard

        from gateway.adapters.tools.builtin.addresses import PUBLIC

        return ssrfguard.Policy(denied_networks=PUBLIC, allowed_ports=self._ports, max_url_length=MAX_URL)

    @cached_property
    def _any_address(self) -> ssrfguard.Policy:
        """For listed pairs everything but the address is judged as ever."""
        import ssrfguard

        return ssrfguard.Policy(
            allowed_ports=self._ports | {port for _, port in self._listed},
            allowed_networks=("0.0.0.0/0", "::/0"),  # pyright: ignore[reportArgumentType] # parsed by its constructor
            max_url_length=MAX_URL,
        )

    def close(self) -> None:
        """Let its threads end. It can be used again."""
        self._own_lookup.close()

    def inspect(self, url: str) -> Destination:
        """Every check of a URL that needs no network. Raises ToolFailed."""
        import ssrfguard
        from yarl import URL

        from gateway.adapters.tools.builtin.addresses import holds_ipv4

        try:
            target = self._any_address.check_url(url)
            listed = (target.host, target.port) in self._listed
            if not listed:
                target = self._public.check_url(url)
            parsed = URL(url)
        except (ssrfguard.BlockedURLError, ssrfguard.BlockedAddressError) as refused:
            raise _refuse(url, refused.reason) from None
        except ValueError:
            raise _refuse(url, "it is not a URL") from None
        if target.address is None and _ENDS_IN_NUMBER.fullmatch(target.host):
            raise _refuse(url, "its host is an oddly written address")
        if target.address is not None and not target.host_as_written.isascii():
            raise _refuse(url, "its host is an oddly written address")
        if target.address is None and "[" in urlsplit(url).netloc:
            raise _refuse(url, "its host is no address, although it is written as one")
        # A rule of the policy that names a host would otherwise have to name every spelling of it.
        if target.address is not None and holds_ipv4(target.address) and not listed:
            raise _refuse(url, "it is an IPv4 address in the form of IPv6, which has to be written as what it is")
        # Two parsers that see two hosts in one URL are how guards are passed; the connection is made by the other one.
        if parsed.scheme != target.scheme or parsed.port != target.port or not _is_same(parsed.raw_host, target):
            raise _refuse(url, "it can be read as two different hosts")
        return Destination(parsed, target, listed)

    async def locate(self, destination: Destination) -> tuple[ssrfguard.Address, ...]:
        """The addresses to connect to, from one lookup. Raises ToolFailed if there is none, or one that may not be."""
        import ssrfguard

        target = destination.target
        try:
            answers = await self._lookup(target.host, target.port)
            policy = self._any_address if destination.listed else self._public
            found = ssrfguard.resolve(target, policy=policy, resolver=lambda *_: answers)
        except ssrfguard.BlockedAddressError as refused:
            raise _refuse(str(destination.url), refused.reason) from None
        except (OSError, ValueError):
            raise ToolFailed(f"{show(target.host)} has no address") from None
        if not self._names_lead_here and is_looked_up(target.host) and any(is_own(each.ip) for each in found):
            raise _refuse(str(destination.url), "its name leads to this machine")
        return found[: self._public.max_connection_attempts]


class _SystemLookup:
    """`getaddrinfo` in threads of its own, so that slow name servers hold up nothing else."""

    def __init__(self) -> None:
        self._threads = WorkerThreads("lookup", _LOOKUPS)

    async def __call__(self, host: str, port: int) -> Sequence[AddressRow]:
        return await self._threads.submit(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))

    def close(self) -> None:
        """Let its threads end."""
        self._threads.close()


def _read_pair(pair: str) -> tuple[str, int]:
    match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]@]+):([0-9]{1,5})", pair)
    if match is None or not 0 < int(match[2]) < 65536:
        raise Misconfigured(f"`{escape(pair)}` is not `host:port`")
    return match[1].strip("[]").lower(), int(match[2])


def _is_same(host: str | None, target: ssrfguard.Target) -> bool:
    if target.address is None:
        return host == target.host
    try:
        return ip_address(host or "") == target.address
    except ValueError:
        return False


def _refuse(url: str, reason: str) -> ToolFailed:
    return ToolFailed(f"{show(url)} may not be fetched: {escape(reason)[:300]}")
