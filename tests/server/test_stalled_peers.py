"""A peer that reads its answer slowly is waited for, and one that does not read is dropped."""

from __future__ import annotations

import asyncio
from typing import cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from gateway.server.listener import STALLED_SECONDS, LimitedHttp
from tests.server.bare_socket import Peer


class SlowPeer(Peer):
    """One for whom so many bytes wait."""

    unread = 100_000
    dropped = False

    def get_write_buffer_size(self) -> int:
        """asyncio.Transport."""
        return self.unread

    def abort(self) -> None:
        """asyncio.Transport."""
        self.dropped = True


class Connection:
    """An answer under way that the peer has not taken yet; time passes when a test says so."""

    def __init__(self) -> None:
        self.peer = SlowPeer()
        config = Config(lambda: None, ws="none", lifespan="off", log_config=None)
        self.http = LimitedHttp(config, ServerState(), {})
        self.http.connection_made(self.peer)
        self.http.pause_writing()

    def wait(self) -> None:
        """The time that a peer has is over."""
        timer = cast("asyncio.TimerHandle", self.http.__dict__["_stall"])
        look, arguments = timer.__getattribute__("_callback"), timer.__getattribute__("_args")
        timer.cancel()
        look(*arguments)

    @property
    def is_watched(self) -> bool:
        return self.http.__dict__["_stall"] is not None


async def test_a_peer_that_reads_nothing_is_dropped() -> None:
    connection = Connection()
    connection.wait()
    assert connection.peer.dropped
    connection.http.connection_lost(None)
    assert not connection.is_watched


async def test_a_peer_that_reads_slowly_is_waited_for() -> None:
    connection = Connection()
    for _ in range(3):
        connection.peer.unread -= 1_000
        connection.wait()
    assert (connection.peer.dropped, connection.is_watched) == (False, True)
    connection.http.resume_writing()
    assert not connection.is_watched
    connection.http.connection_lost(None)


async def test_when_the_gateway_stops_a_peer_that_reads_slowly_is_waited_for_no_longer() -> None:
    connection = Connection()
    connection.http.shutdown()
    connection.peer.unread -= 1_000
    connection.wait()
    assert connection.peer.dropped
    connection.http.connection_lost(None)


def test_a_peer_has_as_long_as_one_of_a_socket() -> None:
    assert STALLED_SECONDS == 10
