"""A gateway of one's own, whose policy a test may edit while people work."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.harness.person import Person
from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import Scene, make_gateway

POLICY = Path(__file__).parents[2] / "policy"
PATIENCE = 20.0


@asynccontextmanager
async def stage(home: Path, **settings: str) -> AsyncGenerator[Scene]:
    """A gateway of one's own with these settings, and Ada at it. COUNTERSIGN_POLICY is a copy that may be edited."""
    shutil.copytree(POLICY, home / "policy")
    gateway = make_gateway(home, COUNTERSIGN_POLICY=str(home / "policy"), **settings)
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    try:
        yield Scene(gateway, ada, await ada.agent(), await ada.console())
    finally:
        await ada.leave()
        assert await gateway.stop() == 0
        assert "Traceback" not in gateway.output, gateway.output


def edit(gateway: GatewayProcess, name: str, old: str, new: str) -> None:
    """Change one document of the gateway's own copy of the policy."""
    path = gateway.home / "policy" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


async def finish(call: asyncio.Future[Any]) -> Any:
    async with asyncio.timeout(PATIENCE):
        return await call
