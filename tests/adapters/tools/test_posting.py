"""A POST to an address that somebody else chose; the guard itself is tested with `http_get`."""

from __future__ import annotations

import asyncio
import socket

import pytest
from aiohttp import web

from gateway.adapters.tools.builtin.egress import AddressRow, Egress
from gateway.adapters.tools.builtin.fetching import FetchLimits
from gateway.adapters.tools.builtin.posting import Poster
from gateway.core.errors import ToolFailed
from tests.harness.process import free_port
from tests.harness.web_app import posted_to


def leads_to(address: str) -> Egress:
    """A guard whose every name leads there."""

    async def look_up(_host: str, port: int) -> list[AddressRow]:
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))]

    return Egress(lookup=look_up, ports=frozenset({443}))


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.1.1", "0.0.0.0", "100.64.0.1"])
async def test_a_name_that_leads_inside_is_not_asked(address: str) -> None:
    """The name looks like any other when it is given, and may lead elsewhere each time it is looked up."""
    poster = Poster(leads_to(address))
    assert poster.check("https://push.example/x") == "push.example"
    with pytest.raises(ToolFailed, match="may not be fetched"):
        await poster.post("https://push.example/x", {}, b"")


async def test_http_is_for_listed_addresses_of_this_machine_alone() -> None:
    port = free_port()

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(status=201)

    listed = Poster(Egress((f"127.0.0.1:{port}", "192.0.2.1:80", "push.example:80")))
    async with posted_to("/x", answer, port):
        assert await listed.post(f"http://127.0.0.1:{port}/x", {}, b"text") == 201
        with pytest.raises(ToolFailed):
            Poster(Egress()).check(f"http://127.0.0.1:{port}/x")
    for url in ("http://192.0.2.1/x", "http://push.example/x"):
        with pytest.raises(ToolFailed, match="it is not https"):
            listed.check(url)
    with pytest.raises(ToolFailed, match="no proper answer"):
        await listed.post(f"http://127.0.0.1:{port}/x", {}, b"text")


async def test_a_redirect_is_an_answer_like_any_other_and_no_answer_takes_too_long() -> None:
    port, asked = free_port(), list[str]()

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        if request.query.get("slow"):
            response = web.StreamResponse(status=201)
            await response.prepare(request)
            while not request.transport or not request.transport.is_closing():
                await response.write(b"x")
        raise web.HTTPTemporaryRedirect("/elsewhere")

    egress = Egress((f"127.0.0.1:{port}",))
    async with posted_to("/x", answer, port):
        assert await Poster(egress).post(f"http://127.0.0.1:{port}/x", {}, b"") == 307
        limits = FetchLimits(sent=1 << 40, inflated=1 << 40, total=0.3)
        with pytest.raises(ToolFailed, match="took too long"):
            async with asyncio.timeout(60):
                await Poster(egress, limits).post(f"http://127.0.0.1:{port}/x?slow=1", {}, b"")
    assert asked == ["/x", "/x"]
