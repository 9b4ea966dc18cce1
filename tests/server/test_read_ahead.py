"""How far a socket is read before the gateway has taken what was sent: a peer that sends without end is made to wait."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from gateway.server.transport import READ_AHEAD, SMALL_MESSAGE
from tests.server.bare_socket import BareSocket, open_socket


@pytest.fixture
async def socket() -> AsyncGenerator[BareSocket]:
    async with open_socket() as opened:
        yield opened


async def test_a_few_small_messages_are_read_before_the_first_is_taken(socket: BareSocket) -> None:
    socket.send(*[SMALL_MESSAGE] * READ_AHEAD)
    assert socket.peer.is_read


async def test_a_peer_that_sends_on_and_on_is_read_no_further_until_all_of_it_was_taken(socket: BareSocket) -> None:
    socket.send(*[SMALL_MESSAGE] * READ_AHEAD)
    socket.send(SMALL_MESSAGE)
    assert not socket.peer.is_read
    for _ in range(READ_AHEAD):
        await socket.take()
        assert not socket.peer.is_read
    await socket.take()
    assert socket.peer.is_read


async def test_behind_a_long_message_nothing_is_read_until_it_was_taken(socket: BareSocket) -> None:
    socket.send(SMALL_MESSAGE + 1)
    assert not socket.peer.is_read
    await socket.take()
    assert socket.peer.is_read


async def test_a_small_message_behind_a_long_one_does_not_let_the_peer_send_on(socket: BareSocket) -> None:
    socket.send(SMALL_MESSAGE + 1, 200)
    assert not socket.peer.is_read
    await socket.take()
    assert not socket.peer.is_read
    await socket.take()
    assert socket.peer.is_read
