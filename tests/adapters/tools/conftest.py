"""What the tools' tests share: a context to run in, and a call that goes the way the runtime goes."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.tools.catalog import ToolCatalog
from gateway.adapters.tools.declaration import AnyTool
from gateway.adapters.tools.functions import read_function, tool_threads
from gateway.adapters.tools.local import LocalSource
from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolOutput, ToolSpec
from gateway.runtime.ports import ToolContext
from tests.adapters.tools.added_scene import AddedScene
from tests.adapters.tools.sites import Handler, Site, Start
from tests.fakes.tool_context import PRINCIPAL, make_context


def catalog_of(*tools: AnyTool, source: str = "test") -> ToolCatalog:
    """A catalog of these functions, as one source."""
    threads = tool_threads()
    return catalog_over(LocalSource(source, lambda: [read_function(each, source, threads) for each in tools]))


def catalog_over(*sources: LocalSource) -> ToolCatalog:
    """A catalog of started sources."""
    catalog = ToolCatalog()
    for source in sources:
        source.load()
        catalog.publish(source)
    return catalog


def spec_of(catalog: ToolCatalog, name: str) -> ToolSpec:
    return next(spec for spec in catalog.specs() if spec.name == name)


__all__ = ["PRINCIPAL", "make_context"]

Call = Callable[..., Awaitable[ToolOutput]]


@pytest.fixture
def call() -> Call:
    """Validate, extract facts and execute, as the runtime does; arguments that do not fit fail the test."""

    async def run(catalog: ToolCatalog, name: str, /, *, context: ToolContext | None = None, **arguments: Json) -> ToolOutput:
        spec = spec_of(catalog, name)
        properties: dict[str, Any] = dict(spec.param_schema["properties"])
        given = {key: value["default"] for key, value in properties.items() if "default" in value} | arguments
        assert not catalog.find_faults(spec, given)
        catalog.facts(spec, given)
        return await catalog.execute(spec, given, context or make_context())

    return run


async def failure_of(outcome: Awaitable[ToolOutput]) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await outcome
    return caught.value


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    sites: list[Site] = []

    async def begin(
        handler: Handler | bytes, *, address: str = "127.0.0.1", port: int = 0, context: ssl.SSLContext | None = None
    ) -> Site:
        site = Site(handler, context)
        await site.start(address, port)
        sites.append(site)
        return site

    yield begin
    for site in sites:
        await site.stop()


@pytest.fixture
async def added(tmp_path: Path) -> AsyncIterator[AddedScene]:
    """A gateway's sources, to which a scripted one may be added as `notes`."""
    scene = AddedScene(tmp_path)
    await scene.sources.start(connect=True)
    yield scene
    await scene.host.close()
