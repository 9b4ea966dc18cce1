"""A peer that does not answer is asked twice before it is dropped (docs/PROTOCOL.md section 2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.server.bare_socket import BareSocket, open_socket

PING, CLOSE = b"\x89\x04", b"\x88\x18" + (1011).to_bytes(2) + b"keepalive ping timeout"


@pytest.fixture
async def socket() -> AsyncGenerator[BareSocket]:
    async with open_socket() as opened:
        yield opened


def pings(socket: BareSocket) -> int:
    return sum(sent.startswith(PING) for sent in socket.peer.heard)


async def test_a_peer_that_misses_two_pings_is_dropped_and_one_that_misses_one_is_not(socket: BareSocket) -> None:
    socket.ping()
    socket.miss()
    assert (pings(socket), CLOSE in socket.peer.heard) == (2, False)
    socket.miss()
    assert (pings(socket), CLOSE in socket.peer.heard) == (2, True)


async def test_an_answer_to_the_second_ping_counts_for_both(socket: BareSocket) -> None:
    socket.ping()
    socket.miss()
    socket.answer()
    socket.ping()
    socket.miss()
    assert CLOSE not in socket.peer.heard


async def test_what_answers_no_ping_does_not_count(socket: BareSocket) -> None:
    socket.ping()
    socket.miss()
    socket.pong()
    socket.miss()
    assert CLOSE in socket.peer.heard
