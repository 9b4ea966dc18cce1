"""A sidecar over the fake server, and how a test waits for it and talks to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from gateway.adapters.inference.engine import Engine, Threads, WheelEngine
from gateway.adapters.inference.sidecar import Sidecar
from gateway.adapters.inference.sidecar_plan import SidecarPlan, SupervisionTimeouts
from gateway.adapters.inference.sidecar_process import LAUNCHER
from gateway.runtime.ports import ModelPhase, ModelState
from tests.fakes.clock import FakeClock

from .conftest import read_journal

FAKE_SERVER = Path(__file__).with_name("fake_server.py")
AS_LAUNCHER = (sys.executable, "-I", "-B", str(FAKE_SERVER))
QUICK = SupervisionTimeouts(start=20, poll=0.02, probe=5, watch=0.02, misses=2)
PATIENT = 30.0
"""Seconds until a wait counts as a hang."""

CHAT = "/v1/chat/completions"


class Stage:
    """A sidecar over the fake server, with pauses that take no time and are written down."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FakeClock()
        self.pauses: list[float] = []
        self.stack = contextlib.AsyncExitStack()

    def build(
        self, *, engine: Engine | None = None, timeouts: SupervisionTimeouts = QUICK, real_launcher: bool = False
    ) -> Sidecar:
        plan = SidecarPlan(
            weights=self.folder / "m.gguf",
            weights_id="abc:qwen2",
            folder=self.folder,
            context_tokens=4096,
            threads=Threads(1, 2),
            repack=False,
            origins=("http://agent.localhost:8765",),
        )
        sidecar = Sidecar(
            plan,
            engine or WheelEngine(),
            clock=self.clock,
            timeouts=timeouts,
            pause=self.pause,
            launcher=LAUNCHER if real_launcher else AS_LAUNCHER,
        )
        self.stack.push_async_callback(sidecar.stop)
        return sidecar

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0)

    def behave(self, how: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "behaviour").write_text(how)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENT):
            while not condition():
                await asyncio.sleep(0.01)


def is_up(stage: Stage, sidecar: Sidecar, starts: int) -> bool:
    return read_journal(stage.folder).count("started") == starts and sidecar.state().phase is ModelPhase.READY


async def settled(sidecar: Sidecar) -> ModelState:
    async with asyncio.timeout(PATIENT):
        return await sidecar.settle()


async def drain(chunks: AsyncIterator[bytes]) -> None:
    async with asyncio.timeout(PATIENT):
        async for _ in chunks:
            pass


async def stream(sidecar: Sidecar, **body: object) -> bytes:
    async with asyncio.timeout(PATIENT), sidecar.ask(CHAT, json.dumps(body).encode()) as answer:
        assert (answer.status, answer.content_type) == (200, "text/event-stream")
        return b"".join([chunk async for chunk in answer.chunks()])
