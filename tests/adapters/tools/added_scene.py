"""A catalog with sources that were added, and the drivers that stand for the other sides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.storage.secret_box import SecretBox
from gateway.adapters.tools.added import AddedSources, Secrets
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolSpec
from gateway.core.sources import AddedSource, SourceKind
from gateway.core.vocabulary import Category
from gateway.runtime.ports import SourcePhase
from gateway.runtime.source_views import ToolDecision
from gateway.runtime.sources import Sources
from gateway.sandbox.job import SandboxUnavailable
from tests.fakes.clock import FakeClock
from tests.fakes.drivers import ScriptedDriver, scripted_kinds
from tests.fakes.ledger import MemoryLedger
from tests.fakes.sign_ins import make_sign_ins
from tests.fakes.tool_context import make_context

PATIENCE = 10.0


@dataclass
class AddedScene:
    """A catalog with sources, and the drivers that stand for the other sides."""

    folder: Path
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    catalog: ToolCatalog = field(default_factory=ToolCatalog)
    drivers: dict[str, ScriptedDriver] = field(default_factory=dict[str, ScriptedDriver])
    withdrawn: int = 0
    declared: tuple[AddedSource, ...] = ()

    def __post_init__(self) -> None:
        self.drivers.setdefault("notes", ScriptedDriver())
        secrets = Secrets()
        self.host = AddedSources(
            self.catalog,
            secrets,
            state=self.folder,
            private=(),
            find_sandbox=lambda: SandboxUnavailable("none here"),
            kinds=scripted_kinds(self.drivers),
        )
        self.sources = Sources(
            ledger=self.ledger,
            records=self.ledger,
            host=self.host,
            sealer=SecretBox(self.folder),
            shelf=secrets,
            sign_ins=make_sign_ins(self.ledger, self.folder),
            declared=self.declared,
            clock=FakeClock(),
            on_withdrawn=self.count,
        )

    @property
    def driver(self) -> ScriptedDriver:
        return self.drivers["notes"]

    def count(self) -> None:
        self.withdrawn += 1

    async def add(self, name: str = "notes", **settings: Any) -> None:
        await self.sources.add(name, SourceKind.MCP, settings, "prn_ada")
        await self.until(lambda: self.host.state(name).phase is not SourcePhase.CONNECTING)

    async def decide(self, category: Category | None = Category.READ, *, tool: str = "read", name: str = "notes") -> None:
        found = next(each for each in (await self.sources.find(name)).tools if each.seen.tool == tool)
        seen = found.pending or found.seen
        await self.sources.decide(name, [ToolDecision(tool, seen.pin, category)], "prn_ada")

    def spec(self, name: str = "notes__read") -> ToolSpec:
        found = self.catalog.find(name)
        assert found is not None, f"{name} is not published"
        return found

    async def call(self, spec: ToolSpec | None = None) -> str:
        async with asyncio.timeout(PATIENCE):
            output = await self.catalog.execute(spec or self.spec(), {"id": "7"}, make_context())
        return output.text

    async def refusal(self, spec: ToolSpec | None = None) -> ToolFailed:
        with pytest.raises(ToolFailed) as failed:
            await self.call(spec)
        return failed.value

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await asyncio.sleep(0.005)

    async def offer_again(self) -> None:
        await self.sources.probe("notes")
