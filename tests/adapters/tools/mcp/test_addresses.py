"""Where a remote server is connected to, by names that lead elsewhere than they did (docs/SECURITY.md case 328)."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from typing import Any

import httpx2
import pytest

from gateway.adapters.tools.mcp.worker import http
from gateway.adapters.tools.mcp.worker.addresses import MOST_ADDRESSES, AddressRefused, pin
from gateway.adapters.tools.mcp.worker.http import BearerToken
from gateway.adapters.tools.mcp.worker.watching import Watch


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What each name leads to; every other one has no address."""
    known: dict[str, list[str]] = {}
    asked = socket.getaddrinfo

    def look_up(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
        if not str(host).endswith(".test"):
            return asked(host, port, *arguments, **options)
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        kinds = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(kinds[":" in each], socket.SOCK_STREAM, 6, "", (each, port)) for each in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


def request(url: str) -> httpx2.Request:
    return httpx2.Request("POST", url, content=b"{}")


FAR = ["93.184.215.14", "2606:2800:21f:cb07::7", "93.184.215.16"]
OWN = ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::", "169.254.169.254", "fe80::1%1"]


@pytest.mark.parametrize("address", OWN)
async def test_case_328_a_tool_server_whose_name_leads_to_this_machine_is_not_asked(
    names: dict[str, list[str]], address: str
) -> None:
    names["far.test"] = [FAR[0], address]
    for private in (False, True):
        with pytest.raises(AddressRefused, match="leads to this machine; if that is meant, write the address itself"):
            await pin(request("http://far.test:8000/mcp"), private=private)


INSIDE = ["10.0.0.7", "192.168.1.9", "172.16.0.1", "100.64.0.1", "fd00::7", "::ffff:10.0.0.7", "64:ff9b::a00:7", "192.0.2.7"]


@pytest.mark.parametrize("address", INSIDE)
async def test_case_334_a_name_that_leads_into_a_private_network_is_asked_only_where_that_is_allowed(
    names: dict[str, list[str]], address: str
) -> None:
    names["far.test"] = [FAR[0], address]
    with pytest.raises(AddressRefused, match=r"leads to a private network; if that is meant, set") as refused:
        await pin(request("http://far.test:8000/mcp"), private=False)
    # How the network here is laid out is not for whoever calls, but for the operator.
    assert address not in str(refused.value)
    assert refused.value.detail == f"the address is {ip_address(address)}"
    assert [each.url.host for each in await pin(request("http://far.test:8000/mcp"), private=True)] == [FAR[0], address]


async def test_case_328_it_is_connected_to_where_its_name_led_when_it_was_judged(names: dict[str, list[str]]) -> None:
    names["far.test"] = [*FAR, FAR[0], "93.184.215.15"]
    pinned = await pin(request("https://far.test/mcp?a=b"), private=False)
    assert [each.url.host for each in pinned] == FAR
    assert len(pinned) == MOST_ADDRESSES
    for each in pinned:
        assert (each.headers["Host"], each.extensions["sni_hostname"]) == ("far.test", "far.test")
        assert (each.url.scheme, each.url.raw_path, each.method) == ("https", b"/mcp?a=b", "POST")
    names.clear()
    with pytest.raises(httpx2.ConnectError, match="no address"):
        await pin(request("http://far.test/mcp"), private=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "tools.localhost", "192.168.1.9"])
async def test_what_is_written_as_an_address_or_as_this_machine_is_meant(host: str) -> None:
    asked = request(f"http://{host}:8000/mcp")
    assert await pin(asked, private=False) == (asked,)


async def test_case_328_a_name_that_moves_to_this_machine_brings_nothing_to_it(names: dict[str, list[str]]) -> None:
    came = asyncio.Event()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    names["far.test"] = ["127.0.0.1"]
    async with server:
        transport = http.OneServer(BearerToken(None), Watch(), has_headers=False, private=False)
        answer = await transport.handle_async_request(request(f"http://far.test:{port}/mcp"))
        await transport.aclose()
    assert "its name leads to this machine" in (await answer.aread()).decode()
    assert not came.is_set()
