"""Where a server is connected to: at addresses of its name that were looked at, and by a name only where it was meant to be.

Whoever answers for a name may answer otherwise each time. A server that the operator means on the Internet must not become one of
the local network, and never one of this machine, which trusts whoever comes from here, or the place where a cloud tells its
machines their credentials.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

import httpx2

from gateway.adapters.tools.own_addresses import is_looked_up, is_own

MOST_ADDRESSES: Final = 3
"""Addresses of one name that are tried."""


class AddressRefused(Exception):
    """A name leads to where the server is not meant to be. The message says nothing of how the network here is laid out, for it
    is told to whoever calls; `detail` is for the operator."""

    def __init__(self, message: str, address: IPv4Address | IPv6Address) -> None:
        super().__init__(message)
        self.detail = f"the address is {address}"


async def pin(request: httpx2.Request, *, private: bool) -> Sequence[httpx2.Request]:
    """The request to each address of its host, from one lookup. Certificates are still checked against the name. `private` says
    whether the host may have an address that is not public.

    Raises AddressRefused, and ConnectError for a name that has no address.
    """
    host = request.url.host
    if not is_looked_up(host):
        return (request,)
    port = request.url.port or {"https": 443}.get(request.url.scheme, 80)
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpx2.ConnectError(f"the name has no address: {error.strerror}") from None
    found = list(dict.fromkeys(str(row[4][0]) for row in rows))
    if not found:
        raise httpx2.ConnectError("the name has no address")
    for address in (ip_address(each.partition("%")[0]) for each in found):
        if is_own(address):
            raise AddressRefused("its name leads to this machine; if that is meant, write the address itself into `url`", address)
        if not private and not _is_public(address):
            raise AddressRefused(
                "its name leads to a private network; if that is meant, set `allow_private`, or write the address itself into"
                " `url`",
                address,
            )
    return [_to(request, host, each) for each in found[:MOST_ADDRESSES]]


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    # The table takes a while to load, and a server that is a program needs none.
    from gateway.adapters.tools.builtin.addresses import PUBLIC

    return not PUBLIC.classify(address).blocked


def _to(request: httpx2.Request, host: str, address: str) -> httpx2.Request:
    """The header `Host` is there already, and says the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )
