"""Parameters and results of the console's methods about connected MCP clients."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.protocol.shapes import LabelName
from gateway.protocol.wire import Count, Timestamp, Wire


class WireClient(Wire):
    """A program that acts for a person. `name` and `version` are what it calls itself, cut and made visible, and may be empty.

    `transport` is `stdio` for a program of this machine, which is one connection, and `http` for one that was let in on the
    console and may have several, or none at the moment. `since` is when it was let in, `expiresAt` when it has to ask again.
    """

    client_id: str
    transport: Literal["stdio", "http"]
    principal: str
    principal_name: str
    name: str
    version: str
    since: Timestamp
    last_call_at: Timestamp | None = None
    connections: Count
    label: LabelName
    expires_at: Timestamp


class ClientList(Wire):
    """The person's own, for an operator everybody's, oldest first."""

    clients: tuple[WireClient, ...]


class ClientRef(Wire):
    """Which client."""

    client_id: Annotated[str, Field(min_length=1, max_length=64)]
