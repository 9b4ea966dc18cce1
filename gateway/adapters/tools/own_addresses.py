"""Addresses of this machine, and of where a cloud tells its machines their credentials: where no name may lead that is meant
elsewhere. Light, since a worker process imports it too.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address


def is_own(address: IPv4Address | IPv6Address) -> bool:
    """Whether it is loopback, link-local or no address at all, also where it is an IPv4 address in the form of IPv6."""
    inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    judged = inner or address
    return judged.is_loopback or judged.is_link_local or judged.is_unspecified


def is_looked_up(host: str) -> bool:
    """Whether a name server decides what it means: it is no address, and not the one name of this machine (RFC 6761 section
    6.3)."""
    try:
        ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return not (host == "localhost" or host.endswith(".localhost"))
    return False
