"""Who is here: live sessions, their connections, and what is queued for each.

The connections is the one place that knows which sockets belong to which session, so it is also where authority ends: ending a
session closes its sockets, cancels its calls and voids its inference leases, in that order of urgency.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gateway.core.model import Principal, Session
from gateway.core.vocabulary import Reason, Runner
from gateway.runtime.notices import Notice, SessionEndedNotice, Urgency, size_of, urgency_of

OUTBOX_BYTES = 1024 * 1024
"""A peer this far behind has stopped reading: four of the largest frames it may send itself."""

MISSED_NOTICES = 256
"""Notices kept for a session without a connection; `tools/list-calls` holds the truth beyond that."""

ENDED_REMEMBERED = 100_000
"""Ended sessions that are still known to be ended here; the ledger knows all of them and is asked for every new request."""


Outgoing = bytes | Notice
"""An answer, encoded by whoever speaks the wire, or something said unasked."""


class Outbox:
    """What waits to be sent on one connection. Bounded; the connection's writer takes from it, everybody else puts."""

    def __init__(self, limit: int = OUTBOX_BYTES) -> None:
        self._first: deque[Outgoing] = deque()
        self._later: deque[Outgoing] = deque()
        self._bytes = 0
        self._limit = limit
        self._ready = asyncio.Event()
        self._closing: tuple[int, str] | None = None

    @property
    def closing(self) -> tuple[int, str] | None:
        """The close code and reason to send once the urgent messages are out."""
        return self._closing

    def put(self, message: Outgoing) -> None:
        """Queue a message. A full outbox drops progress and closes the connection for anything else.

        A peer that has read everything gets any one message, so that a long conversation can still be opened.
        """
        if self._closing is not None:
            return
        urgency = Urgency.FIRST if isinstance(message, bytes) else urgency_of(message)
        if self._bytes and self._bytes + _size(message) > self._limit:
            if urgency is Urgency.FIRST:
                self.close(1013, "peer does not read")
            return
        (self._first if urgency is Urgency.FIRST else self._later).append(message)
        self._bytes += _size(message)
        self._ready.set()

    def close(self, code: int, reason: str) -> None:
        """Ask the writer to close after what is urgent; the first reason wins."""
        if self._closing is None:
            self._closing = (code, reason)
        self._ready.set()

    def take(self) -> Outgoing | None:
        """The next message, or None when nothing waits."""
        queue = self._first or (self._later if self._closing is None else None)
        if not queue:
            return None
        message = queue.popleft()
        self._bytes -= _size(message)
        return message

    async def wait(self) -> None:
        """Return once there is something to take or to close."""
        while not self._first and not self._later and self._closing is None:
            self._ready.clear()
            await self._ready.wait()

    def drain(self) -> list[Notice]:
        """Urgent notices that never went out, for re-delivery. An answer belongs to the connection that asked."""
        left = [message for message in self._first if not isinstance(message, bytes)]
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

    @property
    def principal(self) -> Principal:
        """The person for whom this session acts."""
        return self.session.principal


@dataclass(eq=False, slots=True)
class ConsoleConnection:
    """One socket of a console session."""

    id: str
    principal_id: str
    console_session_id: str
    outbox: Outbox
    is_operator: bool = False


SessionEndHook = Callable[[Reason], None]
"""Closes one thing that lives on a session's authority: a turn, with its calls and inference leases."""


@dataclass(eq=False, slots=True)
class LiveSession:
    """An agent session with anything alive in this process."""

    session: Session
    connections: dict[str, Connection] = field(default_factory=dict[str, Connection])
    end_hooks: dict[str, SessionEndHook] = field(default_factory=dict[str, SessionEndHook])
    missed: deque[Notice] = field(default_factory=lambda: deque[Notice](maxlen=MISSED_NOTICES))
    calls: int | None = None
    tools_used: set[str] = field(default_factory=set[str])
    stored: int = 0
    elicitations: Counter[str] = field(default_factory=Counter[str])
    """How many forms each server has put before its person."""
    denials: int = field(init=False)
    """Questions that its person turned down since they last allowed one, through restarts of the gateway too."""
    ended: bool = False
    label: int = 0
    recorded_label: int = 0
    """The label that the ledger knows of, or will before anybody is told what raised it."""

    def __post_init__(self) -> None:
        self.label = self.recorded_label = int(self.session.label)
        self.denials = self.session.denials


class ConnectionRegistry:
    """The registry of live sessions and connections."""

    def __init__(self) -> None:
        self._sessions: dict[str, LiveSession] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._consoles: dict[str, dict[str, ConsoleConnection]] = {}
        self._barred: Counter[str] = Counter()
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

    def find(self, session_id: str) -> LiveSession | None:
        """The live record of a session, if it has not ended."""
        live = self._sessions.get(session_id)
        return None if live is None or live.ended else live

    def on_session_end(self, session_id: str, key: str, ending: SessionEndHook) -> None:
        """Have `ending` called when the session ends; at once if it has ended already."""
        live = self._sessions.get(session_id)
        if live is not None and not live.ended:
            live.end_hooks[key] = ending
        elif session_id in self._ended:
            ending(Reason.SESSION_ENDED)

    def remove_session_end(self, session_id: str, key: str) -> None:
        """What was tied is over by itself."""
        live = self._sessions.get(session_id)
        if live is not None:
            live.end_hooks.pop(key, None)

    def raise_label(self, session_id: str, label: int, *, recorded: bool) -> bool:
        """Raise a session's label to at least this one. Gives whether that was a rise. `recorded`: the caller sees to it that
        the ledger has it before anybody is told what raised it."""
        live = self._sessions.get(session_id)
        if live is None or live.label >= label:
            return False
        live.label = label
        if recorded:
            live.recorded_label = label
        return True

    def is_live(self, session_id: str, now: int) -> bool:
        """Whether the session may act: known here, not ended, not expired."""
        live = self._sessions.get(session_id)
        if live is not None and self.is_barred(live.session.principal.id):
            return False
        return live is not None and not live.ended and now < live.session.expires_at

    @contextmanager
    def barring(self, principal_id: str) -> Generator[None]:
        """No session of this person acts while the context lasts: authority is being taken from them. Between the record of that
        and the end of their last session lie some milliseconds, in which a call would still run."""
        self._barred[principal_id] += 1
        try:
            yield
        finally:
            self._barred[principal_id] -= 1
            if not self._barred[principal_id]:
                del self._barred[principal_id]

    def is_barred(self, principal_id: str) -> bool:
        """Whether authority is being taken from this person at this moment."""
        return principal_id in self._barred

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
                live.missed.extend(connection.outbox.drain())
            for react in self._lost:
                react(connection)

    def connection(self, session_id: str, connection_id: str) -> Connection | None:
        """A live connection of that session."""
        live = self._sessions.get(session_id)
        return None if live is None else live.connections.get(connection_id)

    def notify(self, session_id: str, notice: Notice) -> None:
        """Tell every connection of a session, or keep it for the next one."""
        live = self._sessions.get(session_id)
        if live is None or live.ended:
            return
        if not live.connections and urgency_of(notice) is Urgency.FIRST:
            live.missed.append(notice)
        for connection in live.connections.values():
            connection.outbox.put(notice)

    def broadcast(self, notice: Notice) -> None:
        """Tell every connection of every session and console."""
        for live in self._sessions.values():
            for connection in live.connections.values():
                connection.outbox.put(notice)
        for consoles in self._consoles.values():
            for console in consoles.values():
                console.outbox.put(notice)

    async def end_session(self, session_id: str, reason: str) -> None:
        """End an agent session here and now: nothing of it runs on, its sockets close with 4403."""
        self._ended[session_id] = None
        while len(self._ended) > ENDED_REMEMBERED:
            self._ended.popitem(last=False)
        live = self._sessions.get(session_id)
        if live is None or live.ended:
            return
        live.ended = True
        for ending in tuple(live.end_hooks.values()):
            ending(Reason.SESSION_ENDED)
        closing_notice = SessionEndedNotice(reason)
        for connection in live.connections.values():
            connection.outbox.put(closing_notice)
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

    def attach_console(
        self, principal_id: str, console_session_id: str, connection_id: str, *, is_operator: bool = False
    ) -> ConsoleConnection:
        """Register a console socket."""
        console = ConsoleConnection(connection_id, principal_id, console_session_id, Outbox(), is_operator)
        self._consoles.setdefault(principal_id, {})[connection_id] = console
        return console

    def detach_console(self, console: ConsoleConnection) -> None:
        """The console socket is gone."""
        consoles = self._consoles.get(console.principal_id, {})
        consoles.pop(console.id, None)
        if not consoles:
            self._consoles.pop(console.principal_id, None)

    def notify_console(self, principal_id: str, notice: Notice) -> None:
        """Tell every console of a principal."""
        for console in self._consoles.get(principal_id, {}).values():
            console.outbox.put(notice)

    def notify_consoles(self, wanted: Callable[[ConsoleConnection], bool], notice: Notice) -> None:
        """Tell every console, of whomever, that is wanted."""
        for consoles in self._consoles.values():
            for console in filter(wanted, consoles.values()):
                console.outbox.put(notice)

    def notify_operators(self, notice: Notice) -> None:
        """Tell every console of an operator; others learn nothing of it."""
        self.notify_consoles(lambda console: console.is_operator, notice)

    async def end_console(self, console_session_id: str, reason: str) -> None:
        """Close the sockets of one console session."""
        closing_notice = SessionEndedNotice(reason)
        for consoles in self._consoles.values():
            for console in consoles.values():
                if console.console_session_id == console_session_id:
                    console.outbox.put(closing_notice)
                    console.outbox.close(4401 if reason == "expired" else 4403, reason)


def _size(message: Outgoing) -> int:
    return len(message) if isinstance(message, bytes) else size_of(message)
