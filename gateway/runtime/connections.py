"""Who is here: live sessions, their connections, and what is queued for each.

The hub is the one place that knows which sockets belong to which session, so it is also where authority ends: ending a
session closes its sockets, cancels its calls and voids its inference leases, in that order of urgency.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

import orjson

from gateway.core.canonical import Json
from gateway.core.model import Session
from gateway.core.vocabulary import Reason, Runner

OUTBOX_BYTES = 1024 * 1024
"""A peer this far behind has stopped reading: four of the largest frames it may send itself."""

MISSED_EVENTS = 256
"""Notifications kept for a session without a connection; `tools/list-calls` holds the truth beyond that."""


ENDED_REMEMBERED = 100_000
"""Ended sessions that are still known to be ended here; the ledger knows all of them and is asked for every new request."""


class Urgency(Enum):
    """Results, approvals and cancels go ahead of progress."""

    FIRST = auto()
    LATER = auto()


class Outbox:
    """What waits to be sent on one connection. Bounded; the pump takes from it, everybody else puts."""

    def __init__(self, limit: int = OUTBOX_BYTES) -> None:
        self._first: deque[bytes] = deque()
        self._later: deque[bytes] = deque()
        self._bytes = 0
        self._limit = limit
        self._ready = asyncio.Event()
        self._closing: tuple[int, str] | None = None

    @property
    def closing(self) -> tuple[int, str] | None:
        """The close code and reason to send once the urgent messages are out."""
        return self._closing

    def put(self, message: bytes, urgency: Urgency = Urgency.FIRST) -> None:
        """Queue a message. A full outbox drops progress and closes the connection for anything else.

        A peer that has read everything gets any one message, so that a long conversation can still be opened.
        """
        if self._closing is not None:
            return
        if self._bytes and self._bytes + len(message) > self._limit:
            if urgency is Urgency.FIRST:
                self.close(1013, "peer does not read")
            return
        (self._first if urgency is Urgency.FIRST else self._later).append(message)
        self._bytes += len(message)
        self._ready.set()

    def close(self, code: int, reason: str) -> None:
        """Ask the pump to close after what is urgent; the first reason wins."""
        if self._closing is None:
            self._closing = (code, reason)
        self._ready.set()

    def take(self) -> bytes | None:
        """The next message, or None when nothing waits."""
        queue = self._first or (self._later if self._closing is None else None)
        if not queue:
            return None
        message = queue.popleft()
        self._bytes -= len(message)
        return message

    async def wait(self) -> None:
        """Return once there is something to take or to close."""
        while not self._first and not self._later and self._closing is None:
            self._ready.clear()
            await self._ready.wait()

    def drain(self) -> list[bytes]:
        """Urgent messages that never went out, for re-delivery."""
        left = list(self._first)
        self._first.clear()
        self._later.clear()
        self._bytes = 0
        return left


@dataclass(eq=False, slots=True)
class Connection:
    """One socket of an agent session, or the loop at this machine's terminal."""

    id: str
    session: Session
    outbox: Outbox
    runner: Runner = Runner.BROWSER

    def notify(self, method: str, params: Mapping[str, Json], urgency: Urgency = Urgency.FIRST) -> None:
        """Queue a notification."""
        self.outbox.put(encode_notification(method, params), urgency)


@dataclass(eq=False, slots=True)
class ConsoleConnection:
    """One socket of a console session."""

    id: str
    principal_id: str
    console_session_id: str
    outbox: Outbox


Ending = Callable[[Reason], None]
"""Closes one thing that lives on a session's authority: a turn, with its calls and inference leases."""


@dataclass(eq=False, slots=True)
class LiveSession:
    """An agent session with anything alive in this process."""

    session: Session
    connections: dict[str, Connection] = field(default_factory=dict[str, Connection])
    endings: dict[str, Ending] = field(default_factory=dict[str, Ending])
    missed: deque[bytes] = field(default_factory=lambda: deque[bytes](maxlen=MISSED_EVENTS))
    calls: int | None = None
    stored: int = 0
    tokens: int = 0
    ended: bool = False


class Hub:
    """The registry of live sessions and connections."""

    def __init__(self) -> None:
        self._sessions: dict[str, LiveSession] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._consoles: dict[str, dict[str, ConsoleConnection]] = {}
        self._lost: list[Callable[[Connection], None]] = []

    def on_lost(self, react: Callable[[Connection], None]) -> None:
        """Register what happens to the snapshots of a lost connection; wired once, at composition."""
        self._lost.append(react)

    # ── agent sessions ──

    def live(self, session: Session) -> LiveSession:
        """The live record of a session that was just authenticated."""
        live = self._sessions.get(session.id)
        if live is None:
            live = self._sessions[session.id] = LiveSession(session, ended=session.id in self._ended)
        return live

    def tie(self, session_id: str, key: str, ending: Ending) -> None:
        """Have `ending` called when the session ends; at once if it has ended already."""
        live = self._sessions.get(session_id)
        if live is not None and not live.ended:
            live.endings[key] = ending
        elif session_id in self._ended:
            ending(Reason.SESSION_ENDED)

    def untie(self, session_id: str, key: str) -> None:
        """What was tied is over by itself."""
        live = self._sessions.get(session_id)
        if live is not None:
            live.endings.pop(key, None)

    def is_live(self, session_id: str, now: int) -> bool:
        """Whether the session may act: known here, not ended, not expired."""
        live = self._sessions.get(session_id)
        return live is not None and not live.ended and now < live.session.expires_at

    def attach(self, session: Session, connection_id: str, runner: Runner = Runner.BROWSER) -> Connection:
        """Register a new socket; what the session missed is queued for it first."""
        live = self.live(session)
        connection = Connection(connection_id, session, Outbox(), runner)
        while live.missed:
            connection.outbox.put(live.missed.popleft())
        live.connections[connection.id] = connection
        return connection

    def detach(self, connection: Connection) -> None:
        """The socket is gone. Its unsent urgent notifications wait for the session's next connection."""
        live = self._sessions.get(connection.session.id)
        if live is None or live.connections.pop(connection.id, None) is None:
            return
        if live.ended and not live.connections:
            del self._sessions[connection.session.id]
        if not live.ended:
            if not live.connections:
                live.missed.extend(message for message in connection.outbox.drain() if _is_notification(message))
            for react in self._lost:
                react(connection)

    def connection(self, session_id: str, connection_id: str) -> Connection | None:
        """A live connection of that session."""
        live = self._sessions.get(session_id)
        return None if live is None else live.connections.get(connection_id)

    def notify(self, session_id: str, method: str, params: Mapping[str, Json], urgency: Urgency = Urgency.FIRST) -> None:
        """Tell every connection of a session, or keep it for the next one."""
        live = self._sessions.get(session_id)
        if live is None or live.ended:
            return
        message = encode_notification(method, params)
        if not live.connections and urgency is Urgency.FIRST:
            live.missed.append(message)
        for connection in live.connections.values():
            connection.outbox.put(message, urgency)

    def broadcast(self, method: str, params: Mapping[str, Json]) -> None:
        """Tell every connection of every session and console."""
        message = encode_notification(method, params)
        for live in self._sessions.values():
            for connection in live.connections.values():
                connection.outbox.put(message)
        for consoles in self._consoles.values():
            for console in consoles.values():
                console.outbox.put(message)

    async def end_session(self, session_id: str, reason: str) -> None:
        """End an agent session here and now: nothing of it runs on, its sockets close with 4403."""
        self._ended[session_id] = None
        while len(self._ended) > ENDED_REMEMBERED:
            self._ended.popitem(last=False)
        live = self._sessions.get(session_id)
        if live is None or live.ended:
            return
        live.ended = True
        for ending in tuple(live.endings.values()):
            ending(Reason.SESSION_ENDED)
        farewell = encode_notification("session/ended", {"reason": reason})
        for connection in live.connections.values():
            connection.outbox.put(farewell)
            connection.outbox.close(4401 if reason == "expired" else 4403, reason)
        live.missed.clear()
        if not live.connections:
            del self._sessions[session_id]

    def sessions(self) -> tuple[Session, ...]:
        """Every session with anything alive."""
        return tuple(live.session for live in self._sessions.values() if not live.ended)

    def connection_count(self) -> int:
        """Open agent sockets."""
        return sum(len(live.connections) for live in self._sessions.values())

    # ── consoles ──

    def attach_console(self, principal_id: str, console_session_id: str, connection_id: str) -> ConsoleConnection:
        """Register a console socket."""
        console = ConsoleConnection(connection_id, principal_id, console_session_id, Outbox())
        self._consoles.setdefault(principal_id, {})[connection_id] = console
        return console

    def detach_console(self, console: ConsoleConnection) -> None:
        """The console socket is gone."""
        consoles = self._consoles.get(console.principal_id, {})
        consoles.pop(console.id, None)
        if not consoles:
            self._consoles.pop(console.principal_id, None)

    def notify_console(self, principal_id: str, method: str, params: Mapping[str, Json]) -> None:
        """Tell every console of a principal."""
        message = encode_notification(method, params)
        for console in self._consoles.get(principal_id, {}).values():
            console.outbox.put(message)

    async def end_console(self, console_session_id: str, reason: str) -> None:
        """Close the sockets of one console session."""
        farewell = encode_notification("session/ended", {"reason": reason})
        for consoles in self._consoles.values():
            for console in consoles.values():
                if console.console_session_id == console_session_id:
                    console.outbox.put(farewell)
                    console.outbox.close(4401 if reason == "expired" else 4403, reason)


def encode_notification(method: str, params: Mapping[str, Json]) -> bytes:
    """A JSON-RPC 2.0 notification."""
    return orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})


def _is_notification(message: bytes) -> bool:
    return b'"method":' in message[:40]
