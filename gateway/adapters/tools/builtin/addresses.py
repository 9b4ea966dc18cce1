"""Which addresses are public: `ssrfguard`'s table of IANA's registries, narrowed where an address can lead to another one.

An IPv6 address can hold an IPv4 address that a translator or a tunnel on the way delivers to. Two of these forms are ordinary
in answers of name servers and are judged by what they hold: IPv4-mapped (RFC 4291) and NAT64's well-known prefix (RFC 6052).
All others are refused whole, since nobody needs them to fetch a page: they are deprecated, or belong to one network only.
"""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from ssrfguard import DEFAULT_DENIED, AddressTable, Block, Reach, Verdict

_JUDGED_BY_CONTENT: Final = frozenset({ip_network("::ffff:0:0/96"), ip_network("64:ff9b::/96")})

_FURTHER: Final = (
    # IANA has assigned unicast addresses from 2000::/3 only, so a form that nobody thought of here is outside of it too.
    Block(ip_network("::/0"), "outside global unicast", "RFC4291", Reach.DENIED),
    Block(ip_network("2000::/3"), "Global Unicast", "RFC4291", Reach.PERMITTED),
    Block(ip_network("::ffff:0:0:0/96"), "IPv4-translated (SIIT)", "RFC2765", Reach.DENIED),
)

_ISATAP: Final = Block(ip_network("::/0"), "an ISATAP interface identifier", "RFC5214", Reach.DENIED)
_ISATAP_WORDS: Final = (0x0000_5EFE, 0x0200_5EFE)
"""The upper half of such an identifier, whose lower half is an IPv4 address; it can stand behind any prefix."""


class PublicAddresses(AddressTable):
    """The table that every address of a request is judged by."""

    def classify(self, address: str | IPv4Address | IPv6Address) -> Verdict:
        """What the table says, and no for ISATAP, which no prefix tells. Raises ValueError for text that is no address."""
        parsed = ip_address(address) if isinstance(address, str) else address
        if parsed.version == 6 and (int(parsed) >> 32) & 0xFFFF_FFFF in _ISATAP_WORDS:
            return Verdict(parsed, blocked=True, block=_ISATAP)
        return super().classify(parsed)


def holds_ipv4(address: IPv4Address | IPv6Address) -> bool:
    """Whether it is a second spelling of an IPv4 address that is judged by its first one."""
    return any(address in network for network in _JUDGED_BY_CONTENT)


def _narrow(block: Block) -> Block:
    if block.reach is Reach.TRANSLATED and block.network not in _JUDGED_BY_CONTENT:
        return replace(block, reach=Reach.DENIED)
    return block


PUBLIC: Final = PublicAddresses((*map(_narrow, DEFAULT_DENIED.blocks), *_FURTHER))
