"""The turn of an MCP client: it opens with the first request of a burst, and ends when no request came for a while.

The protocol knows no turns, so that the gateway makes them. A grant for a turn then covers what a client asks for in one go, and
the noes of a turn are those that a person gave to one go.
"""

from __future__ import annotations

import asyncio
from typing import Final

from gateway.core.errors import NotFound
from gateway.core.model import Snapshot
from gateway.runtime.connections import Connection
from gateway.runtime.conversation import Conversation, Turn
from gateway.runtime.gateway import Gateway

IDLE_SECONDS: Final = 30.0
"""A burst is over when nothing was asked for so long: more than a model takes to read a result and ask for the next, and less
than a person who comes back with another question."""


class ClientTurn:
    """The turn of one connection. `enter` gives the snapshot under which a request runs, and `leave` follows each `enter`."""

    def __init__(
        self, gateway: Gateway, connection: Connection, conversation_id: str, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._gateway = gateway
        self._connection = connection
        self._conversation_id = conversation_id
        self._idle_seconds = idle_seconds
        self._open: tuple[Conversation, Turn] | None = None
        self._busy = 0
        self._lock = asyncio.Lock()
        self._ending: asyncio.TimerHandle | None = None
        self._renewing: asyncio.Task[Snapshot] | None = None

    async def enter(self) -> Snapshot:
        """A snapshot that is in force now, of the open turn or of a new one. Raises GatewayStopping, TooManyRequests,
        LedgerUnavailable, NotFound for a session that is over."""
        self._busy += 1
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        try:
            async with self._lock:
                snapshot = self._in_force()
                if snapshot is None:
                    # A request that is cancelled must not leave a turn on record that nobody here knows of.
                    self._renewing = asyncio.get_running_loop().create_task(self._renew())
                    self._renewing.add_done_callback(_take_fault)
                    snapshot = await asyncio.shield(self._renewing)
                return snapshot
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """A request is answered. The turn ends if it was the last one for a while."""
        self._busy -= 1
        if not self._busy and self._open is not None:
            self._ending = asyncio.get_running_loop().call_later(self._idle_seconds, self._end_later)

    def close(self) -> None:
        """The connection is gone; whoever ends its session ends the turn."""
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        self._open = None

    def _in_force(self) -> Snapshot | None:
        if self._open is None:
            return None
        conversation, turn = self._open
        snapshot = turn.snapshot
        if conversation.turn is not turn or snapshot is None or snapshot.connection_id != self._connection.id:
            return None
        is_void = snapshot.id in turn.revoked or self._gateway.ports.clock.now() >= snapshot.expires_at
        return None if is_void else snapshot

    async def _renew(self) -> Snapshot:
        turns, connection, conversation_id = self._gateway.turns, self._connection, self._conversation_id
        self._gateway.admission.check()
        snapshot = await self._refresh()
        if snapshot is None:
            snapshot = await turns.begin(connection, conversation_id)
        self._open = await turns.open_turn(connection.session, conversation_id, snapshot.turn_id)
        return snapshot

    async def _refresh(self) -> Snapshot | None:
        """Another snapshot for the turn that is open; None where none is."""
        if self._open is None:
            return None
        conversation, turn = self._open
        if conversation.turn is not turn:
            return None
        try:
            return await self._gateway.turns.refresh(self._connection, self._conversation_id, turn.id)
        except NotFound:
            return None

    def _end_later(self) -> None:
        self._ending = None
        self._gateway.tasks.spawn(self._end())

    async def _end(self) -> None:
        async with self._lock:
            if self._busy or self._open is None:
                return
            _, turn = self._open
            self._open = None
            await self._gateway.turns.end(self._connection.session, self._conversation_id, turn.id, None)


def _take_fault(renewing: asyncio.Task[Snapshot]) -> None:
    """Whoever waits is told. Where nobody waits any more, a session that ended meanwhile is no fault to be logged."""
    if not renewing.cancelled():
        renewing.exception()
