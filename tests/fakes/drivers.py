"""A SourceDriver that a test scripts: what it offers, whether it is there, and which calls it got."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.adapters.tools.kinds import SourceKinds
from gateway.adapters.tools.offer import DriverResources, OfferListener, SourceAway, SourceDriver, SourceOffer, ToolOffer
from gateway.core.canonical import Json
from gateway.core.model import CallFacts, ToolOutput
from gateway.core.preview import Preview
from gateway.core.sources import SourceKind
from gateway.core.vocabulary import Category
from gateway.runtime.ports import ArgumentFault, ToolContext

SCHEMA: Mapping[str, Json] = {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": False}


def offered(name: str, description: str = "Read a note.", title: str | None = None) -> ToolOffer:
    """A tool as a server offers it, proposed as a read."""
    return ToolOffer(name, description, SCHEMA, title, proposed=Category.READ)


@dataclass
class ScriptedDriver:
    """`tools` and `identity` are what it offers next; `away` is why it cannot be reached."""

    tools: list[ToolOffer] = field(default_factory=lambda: [offered("read")])
    identity: str = "server one"
    away: str | None = None
    breaks: Exception | None = None
    refused: dict[str, str] = field(default_factory=dict[str, str])
    calls: list[tuple[str, Mapping[str, Json]]] = field(default_factory=list[tuple[str, Mapping[str, Json]]])
    opened: int = 0
    closed: bool = False
    listener: OfferListener | None = None
    opens: asyncio.Event = field(default_factory=asyncio.Event)
    filled: str = ""
    fails_with: Exception | None = None

    async def open(self, listener: OfferListener) -> SourceOffer:
        self.opened += 1
        self.listener = listener
        self.opens.set()
        if self.breaks is not None:
            raise self.breaks
        if self.away is not None:
            raise SourceAway(self.away)
        return SourceOffer(self.identity, tuple(self.tools), "1.0", self.refused)

    def find_faults(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        return ()

    def facts(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> CallFacts:
        return CallFacts(host="server.example")

    async def preview(self, tool: ToolOffer, arguments: Mapping[str, Json]) -> Preview | None:
        return None

    async def call(self, tool: ToolOffer, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        self.calls.append((tool.name, arguments))
        if self.fails_with is not None:
            raise self.fails_with
        return ToolOutput(f"{tool.name} ran")

    async def close(self) -> None:
        self.closed = True


def scripted_kinds(drivers: Mapping[str, ScriptedDriver]) -> SourceKinds:
    """Kinds whose drivers are these, by the source's name."""

    def check(_kind: SourceKind, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        return settings

    def build(_kind: SourceKind, settings: Mapping[str, Json], resources: DriverResources) -> SourceDriver:
        driver = drivers[resources.source]
        driver.filled = resources.fill(str(settings.get("token", "")))
        return driver

    return SourceKinds(check, build)
