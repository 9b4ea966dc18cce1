"""The console's methods about connected MCP clients (docs/PROTOCOL.md section 6): a person's own, for operators everybody's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from gateway.core.times import rfc3339
from gateway.core.vocabulary import ClientEnding, Profile
from gateway.protocol import client_methods as wire
from gateway.protocol.wire import Nothing
from gateway.runtime.clients import Clients, ClientTransport, ClientView
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow
from gateway.server.methods.views import LABEL_NAMES


class ClientMethods:
    """The handlers."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        return {
            "clients/list": MethodRow(self.list, Concurrency.AT_ONCE, MethodPermission.ANY_SESSION),
            "clients/disconnect": MethodRow(
                self.disconnect,
                Concurrency.AT_ONCE,
                MethodPermission.ANY_SESSION,
                ("client-token:revoked", "agent-session:ended"),
            ),
        }

    async def list(self, caller: ConsoleCaller, _params: Nothing) -> wire.ClientList:
        """Who acts for this person, or for anybody."""
        shown = self._clients.list(None if _sees_everybody(caller) else caller.principal.id)
        return wire.ClientList(clients=tuple(map(_view_client, shown)))

    async def disconnect(self, caller: ConsoleCaller, params: wire.ClientRef) -> Nothing:
        """End what a client may do."""
        await self._clients.disconnect(
            params.client_id, ClientEnding.PERSON, caller.principal, everybodys=_sees_everybody(caller)
        )
        return Nothing()


def _sees_everybody(caller: ConsoleCaller) -> bool:
    return caller.principal.profile is Profile.OPERATOR


def _transport(transport: ClientTransport) -> Literal["stdio", "http"]:
    match transport:
        case ClientTransport.STDIO:
            return "stdio"
        case ClientTransport.HTTP:
            return "http"


def _view_client(client: ClientView) -> wire.WireClient:
    return wire.WireClient(
        client_id=client.id,
        transport=_transport(client.transport),
        principal=client.person.id,
        principal_name=client.person.name,
        name=client.name,
        version=client.version,
        since=rfc3339(client.since),
        last_call_at=None if client.last_call_at is None else rfc3339(client.last_call_at),
        connections=client.connections,
        label=LABEL_NAMES[client.label],
        expires_at=rfc3339(client.expires_at),
    )
