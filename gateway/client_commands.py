"""What a running gateway does about connected MCP clients for other commands of this machine, over its control socket."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.application import Application
from gateway.core.canonical import Json
from gateway.core.vocabulary import ClientEnding
from gateway.server.control import Answerer


def client_commands(application: Application) -> Mapping[str, Answerer]:
    """Each command and the function that answers it."""
    clients = application.clients

    async def list_clients(_asked: Mapping[str, Json]) -> Json:
        return [
            {
                "id": client.id,
                "transport": client.transport.value,
                "person": client.person.name,
                "name": client.name,
                "version": client.version,
                "since": client.since,
                "lastCallAt": client.last_call_at,
                "connections": client.connections,
                "label": client.label.name.lower(),
                "expiresAt": client.expires_at,
            }
            for client in clients.list()
        ]

    async def disconnect(asked: Mapping[str, Json]) -> Json:
        await clients.disconnect(str(asked.get("client", "")), ClientEnding.TERMINAL, None, everybodys=True)
        return {}

    return {"clients": list_clients, "client-disconnect": disconnect}
