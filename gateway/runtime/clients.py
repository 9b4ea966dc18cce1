"""Which programs of others act for people now, and how a person ends that.

A program on this machine is one connection, with a session of its own. One that comes over HTTP is a grant, with as many
connections as it likes. What a program calls itself is its own claim: it is shown, and nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.core.effects import escape
from gateway.core.errors import NotFound
from gateway.core.model import Principal, Session
from gateway.core.vocabulary import ClientEnding, Label
from gateway.runtime.client_grants import ClientGrants
from gateway.runtime.connections import Connection, ConnectionRegistry
from gateway.runtime.gateway import Ports
from gateway.runtime.ports import Clock
from gateway.runtime.sessions import Sessions

NAME_LENGTH: Final = 60
VERSION_LENGTH: Final = 30


class ClientTransport(StrEnum):
    """How a client comes in."""

    STDIO = "stdio"
    """A program of this machine, by `countersign mcp`."""
    HTTP = "http"


@dataclass(eq=False, slots=True)
class ConnectedClient:
    """One connection of a client, as long as it is open."""

    connection: Connection
    grant_id: str | None
    since: int
    name: str = ""
    version: str = ""
    last_call_at: int | None = None

    def introduce(self, name: str, version: str) -> None:
        """Take down what it calls itself, cut and made visible."""
        self.name, self.version = escape(name[:NAME_LENGTH]), escape(version[:VERSION_LENGTH])


@dataclass(frozen=True, slots=True)
class ClientView:
    """A client, as people are shown it. `connections` is how many it has open; `since` is when it was let in."""

    id: str
    transport: ClientTransport
    person: Principal
    name: str
    version: str
    since: int
    last_call_at: int | None
    connections: int
    label: Label
    expires_at: int


def assemble_clients(ports: Ports, sessions: Sessions, connections: ConnectionRegistry) -> Clients:
    """The clients of a gateway that is put together from these ports."""
    grants = ClientGrants(
        sessions=sessions,
        connections=connections,
        ledger=ports.ledger,
        records=ports.records,
        clock=ports.clock,
        entropy=ports.entropy,
    )
    return Clients(grants, sessions, connections, ports.clock)


class Clients:
    """The clients of everybody."""

    def __init__(self, grants: ClientGrants, sessions: Sessions, connections: ConnectionRegistry, clock: Clock) -> None:
        self.grants = grants
        self._sessions = sessions
        self._connections = connections
        self._clock = clock
        self._connected: dict[str, ConnectedClient] = {}
        self._last_calls: dict[str, int] = {}

    def attend(self, connection: Connection, grant_id: str | None = None) -> ConnectedClient:
        """A connection was made; `dismiss` follows."""
        connected = ConnectedClient(connection, grant_id, self._clock.now())
        self._connected[connection.id] = connected
        return connected

    def dismiss(self, connected: ConnectedClient) -> None:
        """It is gone."""
        self._connected.pop(connected.connection.id, None)
        if connected.grant_id is not None and connected.last_call_at is not None:
            known = {grant.id for grant in self.grants.clients()}
            self._last_calls = {key: at for key, at in self._last_calls.items() if key in known}
            self._last_calls[connected.grant_id] = connected.last_call_at

    def list(self, principal_id: str | None = None) -> Sequence[ClientView]:
        """Everybody's, or one person's, oldest first."""
        views = [*self._local(), *self._remote()]
        return sorted((view for view in views if principal_id in (None, view.person.id)), key=lambda view: (view.since, view.id))

    async def disconnect(self, client_id: str, reason: ClientEnding, by: Principal | None, *, everybodys: bool) -> None:
        """End what a client may do, with everything that it has under way. Raises NotFound; also for one of somebody else,
        unless `everybodys`."""
        owner = None if everybodys or by is None else by.id
        for grant in self.grants.clients():
            if grant.id == client_id and owner in (None, grant.session.principal.id):
                await self.grants.revoke(grant, reason, None if by is None else by.id)
                return
        connected = self._connected.get(client_id)
        if connected is None or connected.grant_id is not None or owner not in (None, connected.connection.principal.id):
            raise NotFound("there is no such client; it may have gone already")
        await self._sessions.end_agent(connected.connection.session, "revoked")

    def _local(self) -> Sequence[ClientView]:
        return [
            ClientView(
                id=each.connection.id,
                transport=ClientTransport.STDIO,
                person=each.connection.principal,
                name=each.name,
                version=each.version,
                since=each.since,
                last_call_at=each.last_call_at,
                connections=1,
                label=self._label(each.connection.session),
                expires_at=each.connection.session.expires_at,
            )
            for each in self._connected.values()
            if each.grant_id is None
        ]

    def _remote(self) -> Sequence[ClientView]:
        views: list[ClientView] = []
        for grant in self.grants.clients():
            own = [each for each in self._connected.values() if each.grant_id == grant.id]
            called = [each.last_call_at for each in own if each.last_call_at is not None]
            before = self._last_calls.get(grant.id)
            views.append(
                ClientView(
                    id=grant.id,
                    transport=ClientTransport.HTTP,
                    person=grant.session.principal,
                    name=grant.client_name,
                    version=next((each.version for each in reversed(own) if each.version), ""),
                    since=grant.granted_at,
                    last_call_at=max([*called, *([] if before is None else [before])], default=None),
                    connections=len(own),
                    label=self._label(grant.session),
                    expires_at=grant.session.expires_at,
                )
            )
        return views

    def _label(self, session: Session) -> Label:
        live = self._connections.find(session.id)
        return session.label if live is None else Label(live.label)
