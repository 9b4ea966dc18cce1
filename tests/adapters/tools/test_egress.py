"""The guard before the network (docs/SECURITY.md case 50). Nothing here touches the network."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.tools.builtin.addresses import PUBLIC
from gateway.adapters.tools.builtin.egress import AddressRow, Egress
from gateway.adapters.tools.builtin.page_client import PinnedResolver
from gateway.core.errors import Misconfigured, ToolFailed


def answer(address: str, port: int = 80) -> AddressRow:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    place: tuple[Any, ...] = (address, port, 0, 0) if family is socket.AF_INET6 else (address, port)
    return (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place)


class Names:
    """A name server that gives its answers one after the other and counts how often it is asked."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[AddressRow]:
        self.asked.append(host)
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not given:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [answer(address, port) for address in given]


LOOPBACK_FORMS = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0/",
    "http://0.0.0.0/",
    "http://127.0.0.1./",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::80ff:fffe]/",
    "http://[::1%25lo]/",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://user@127.0.0.1/",
]
"""26 spellings (docs/SECURITY.md case 50): in a naive client twelve of them reach this machine."""

INTERNAL_FORMS = [
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://240.0.0.1/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://[2001:db8::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:c0a8:101::1]/",
]

OTHER_FORMS = [
    "",
    " ",
    "example.com",
    "//example.com/",
    "/etc/passwd",
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com/",
    "data:text/html,x",
    "javascript:alert(1)",
    "ws://example.com/",
    "http:example.com",
    "http:///example.com",
    "http://",
    "http://user:pass@example.com/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1\\@example.com/",
    "http://example.com\\.evil.example/",
    "http://exa mple.com/",
    "http://example.com/\r\nHost: evil.example",
    "http://example.com\t.evil.example/",
    "http://example.com:22/",
    "http://example.com:8080/",
    "http://example.com:0/",
    "http://example.com:99999/",
    "http://example.com:x/",
    "http://[example.com/",
    "http://[::g]/",
    "http://a..example.com/",
    "http://example.com%00.evil.example/",
    "http://ex%61mple.com/",
    "http://" + "a" * 300 + ".example.com/",
    "http://example.com/" + "x" * 3_000,
    "http://faß.example/",
    "http://1.2.3.4.5/",
    "http://example.0x7f/",
    "http://８.８.８.８/",
    "http://[v1.x]/",
]


@pytest.mark.parametrize("url", [*LOOPBACK_FORMS, *INTERNAL_FORMS, *OTHER_FORMS])
async def test_a_url_that_may_not_be_asked_for_is_refused_without_a_lookup(url: str) -> None:
    names = Names(["93.184.215.14"])
    with pytest.raises(ToolFailed):
        await Egress(lookup=names).locate(Egress(lookup=names).inspect(url))
    assert names.asked == []


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("http://example.com", "example.com", 80),
        ("HTTPS://EXAMPLE.com:443/a?b#c", "example.com", 443),
        ("http://example.com./", "example.com", 80),
        ("http://例え.jp/ü?q=ä", "xn--r8jz45g.jp", 80),
        ("http://8.8.8.8/", "8.8.8.8", 80),
        ("http://[2606:4700:4700::1111]/", "2606:4700:4700::1111", 80),
        ("https://a-b.c_d.example/".replace("_", "-"), "a-b.c-d.example", 443),
    ],
)
def test_the_host_is_the_one_the_request_goes_to(url: str, host: str, port: int) -> None:
    """Requirement: facts come from the parser that the executor uses."""
    destination = Egress().inspect(url)
    assert (destination.host, (destination.url.raw_host or "").removesuffix("."), destination.url.port) == (host, host, port)


def test_a_host_has_one_spelling_for_the_policy() -> None:
    egress = Egress()
    assert egress.inspect("http://EXAMPLE.com./").host == egress.inspect("http://example.com/").host
    for other in ("http://[::ffff:8.8.8.8]/", "http://[0:0::ffff:808:808]/", "http://[64:ff9b::8.8.8.8]/"):
        with pytest.raises(ToolFailed, match="has to be written as what it is"):
            egress.inspect(other)


PRIVATE = ("127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.1.1", "100.64.0.1", "0.0.0.0")

EMBEDDINGS = {
    "mapped, RFC 4291": "::ffff:{v4}",
    "compatible, RFC 4291": "::{v4}",
    "SIIT, RFC 2765": "::ffff:0:{v4}",
    "NAT64, RFC 6052": "64:ff9b::{v4}",
    "NAT64 of one network, RFC 8215": "64:ff9b:1::{v4}",
    "NAT64 of one network, longer": "64:ff9b:1:abcd::{v4}",
    "6to4, RFC 3056": "2002:{high}:{low}::1",
    "Teredo's client, RFC 4380": "2001:0:808:808::{not_high}:{not_low}",
    "Teredo's server, RFC 4380": "2001:0:{high}:{low}::f7f7:f7f7",
    "ISATAP, RFC 5214": "2606:4700::5efe:{v4}",
    "ISATAP of a universal address": "2606:4700::200:5efe:{v4}",
}
"""The ways to write an IPv4 address into an IPv6 address that anything on the way may deliver to the former."""


def embed(form: str, v4: str) -> str:
    number = int(ipaddress.IPv4Address(v4))
    return form.format(
        v4=v4,
        high=f"{number >> 16:x}",
        low=f"{number & 0xFFFF:x}",
        not_high=f"{~number >> 16 & 0xFFFF:x}",
        not_low=f"{~number & 0xFFFF:x}",
    )


@pytest.mark.parametrize("form", EMBEDDINGS.values(), ids=EMBEDDINGS)
@pytest.mark.parametrize("v4", PRIVATE)
async def test_a_private_address_inside_an_ipv6_address_is_refused_in_a_url_and_in_an_answer(form: str, v4: str) -> None:
    address = embed(form, v4)
    egress = Egress(lookup=Names([address]))
    with pytest.raises(ToolFailed):
        egress.inspect(f"http://[{address}]/")
    with pytest.raises(ToolFailed):
        await egress.locate(egress.inspect("http://example.com/"))


@pytest.mark.parametrize(
    ("form", "judged_by_content"),
    [(form, name.startswith(("mapped", "NAT64, "))) for name, form in EMBEDDINGS.items()],
    ids=EMBEDDINGS,
)
async def test_a_public_address_inside_an_ipv6_address_is_followed_only_where_name_servers_answer_so(
    form: str, judged_by_content: bool
) -> None:
    egress = Egress(lookup=Names([embed(form, "93.184.215.14")]))
    if judged_by_content:
        assert await egress.locate(egress.inspect("http://example.com/"))
        return
    with pytest.raises(ToolFailed):
        await egress.locate(egress.inspect("http://example.com/"))


@pytest.mark.parametrize(
    "address",
    [
        "fec0::1",  # site-local, RFC 3879
        "feff::1",
        "fc00::1",
        "fe80::1",
        "ff0e::1",
        "100::1",  # discard only, RFC 6666
        "2001:db8::1",  # documentation, RFC 3849 and RFC 9637
        "3fff:fff::1",
        "192.0.2.1",  # documentation, RFC 5737
        "198.51.100.1",
        "203.0.113.1",
        "5f00::1",  # segment routing, RFC 9602
        "1::1",  # not assigned
        "200::1",
        "64:ff9b:2::1",
        "4000::1",
        "e000::1",
    ],
)
async def test_an_address_that_nobody_has_as_a_public_one_is_refused(address: str) -> None:
    egress = Egress(lookup=Names([address]))
    with pytest.raises(ToolFailed):
        egress.inspect(f"http://[{address}]/" if ":" in address else f"http://{address}/")
    with pytest.raises(ToolFailed):
        await egress.locate(egress.inspect("http://example.com/"))


@given(st.ip_addresses(v=6))
def test_no_ipv6_address_outside_global_unicast_is_public_unless_it_holds_a_public_ipv4_address(
    address: ipaddress.IPv6Address,
) -> None:
    """`ipaddress` reads the registries independently of the table."""
    blocked = PUBLIC.classify(address).blocked
    inner = address.ipv4_mapped or (
        ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in ipaddress.IPv6Network("64:ff9b::/96") else None
    )
    if inner is not None:
        assert blocked is PUBLIC.classify(inner).blocked
    elif address not in ipaddress.IPv6Network("2000::/3") or address.sixtofour or address.teredo:
        assert blocked


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["100.64.0.1"],
        ["0.0.0.0"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["fe80::1%1"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["93.184.215.14", "127.0.0.1"],
        ["2606:4700:4700::1111", "10.0.0.1"],
        [],
        ["nonsense"],
    ],
)
async def test_a_name_with_one_address_that_is_not_public_is_refused_whole(addresses: list[str]) -> None:
    egress = Egress(lookup=Names(addresses))
    with pytest.raises(ToolFailed):
        await egress.locate(egress.inspect("http://example.com/"))


async def test_a_name_is_looked_up_once_and_its_addresses_are_kept() -> None:
    names = Names(["93.184.215.14"], ["127.0.0.1"])
    egress = Egress(lookup=names)
    found = await egress.locate(egress.inspect("http://example.com/"))
    assert [str(address.ip) for address in found] == ["93.184.215.14"]
    assert names.asked == ["example.com"]


async def test_no_more_than_a_few_addresses_are_tried() -> None:
    egress = Egress(lookup=Names([f"93.184.215.{number}" for number in range(1, 200)]))
    assert len(await egress.locate(egress.inspect("http://example.com/"))) == 4


@pytest.mark.parametrize("error", [UnicodeError("label too long"), OSError("down"), ValueError("odd")])
async def test_a_lookup_that_fails_is_the_tools_failure(error: Exception) -> None:
    async def fail(host: str, port: int) -> Sequence[AddressRow]:
        raise error

    egress = Egress(lookup=fail)
    with pytest.raises(ToolFailed, match="has no address"):
        await egress.locate(egress.inspect("http://example.com/"))


async def test_the_systems_resolver_refuses_what_it_turns_into_this_machine() -> None:
    async with asyncio.timeout(20):
        egress = Egress()
        with pytest.raises(ToolFailed):
            await egress.locate(egress.inspect("http://localhost/"))


# ── the operator's list ──


async def test_a_listed_pair_may_be_private_and_nothing_else_may() -> None:
    egress = Egress(["127.0.0.1:8080", "Intranet.example:80", "[::1]:9"], lookup=Names(["10.0.0.7"]))
    listed = egress.inspect("http://intranet.example/")
    assert [str(address.ip) for address in await egress.locate(listed)] == ["10.0.0.7"]
    assert egress.inspect("http://127.0.0.1:8080/").listed
    assert egress.inspect("http://[::1]:9/").listed
    for other in (
        "http://127.0.0.1/",
        "http://127.0.0.1:8081/",
        "http://127.1:8080/",
        "http://localhost:8080/",
        "http://intranet.example:8080/",
        "http://u@intranet.example/",
        "file://intranet.example/",
    ):
        with pytest.raises(ToolFailed):
            await egress.locate(egress.inspect(other))


@pytest.mark.parametrize(
    "pair", ["", "host", "host:", ":80", "host:0", "host:65536", "host:x", "http://host:80", "a b:80", "u@h:80"]
)
def test_a_pair_that_is_none_is_the_operators_mistake(pair: str) -> None:
    with pytest.raises(Misconfigured):
        Egress([pair])


# ── what is pinned ──


async def test_a_pinned_resolver_knows_one_name() -> None:
    egress = Egress(lookup=Names(["93.184.215.14", "2606:4700:4700::1111"]))
    resolver = PinnedResolver("example.com", await egress.locate(egress.inspect("http://example.com/")))
    assert [found["host"] for found in await resolver.resolve("example.com", 80)] == ["93.184.215.14", "2606:4700:4700::1111"]
    with pytest.raises(OSError, match="looked up"):
        await resolver.resolve("other.example", 80)


@pytest.mark.parametrize("place", [("127.0.0.1", 80), ("93.184.215.14", 81), ("::1", 80, 0, 0)])
async def test_no_socket_is_made_for_an_address_that_was_not_judged(place: tuple[Any, ...]) -> None:
    egress = Egress(lookup=Names(["93.184.215.14"]))
    resolver = PinnedResolver("example.com", await egress.locate(egress.inspect("http://example.com/")))
    family = socket.AF_INET6 if len(place) == 4 else socket.AF_INET
    with pytest.raises(OSError, match="looked up"):
        resolver.make_socket((family, socket.SOCK_STREAM, 0, "", place))
    resolver.make_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("93.184.215.14", 80))).close()


@given(st.text(alphabet=st.sampled_from("htps:/@.[]%\\#?0127x①。 -_aß\n") | st.characters(), max_size=60))
def test_no_url_surprises_the_guard(url: str) -> None:
    for text in (url, "http://" + url, "https://" + url + "/"):
        try:
            destination = Egress().inspect(text)
        except ToolFailed:
            continue
        assert destination.url.scheme in ("http", "https")
        assert destination.host == (destination.url.raw_host or "").removesuffix(".")
