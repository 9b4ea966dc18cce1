"""Names whose server never answers and previews that never come, at the running gateway; nobody else has to wait for them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.person import Turn
from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import Scene, make_gateway
from tests.scenarios.staging import POLICY, edit

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = 20
LOOKS = 24
"""More than the half of the threads that previews of one person have."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """One whose policy lets everybody reach every host without asking."""
    home: Path = tmp_path_factory.mktemp("slow")
    shutil.copytree(POLICY, home / "policy")
    modules = '["tests.harness.effect_tools", "tests.harness.slow_names", "tests.harness.slow_previews"]'
    process = make_gateway(home, COUNTERSIGN_TOOLS_MODULES=modules, COUNTERSIGN_POLICY=str(home / "policy"))
    edit(process, "default.cedar", "unless { principal.autoHosts.isEmpty() };", ";")
    await process.start()
    yield process
    assert await process.stop() == 0, process.output


async def test_case_313_slow_names_of_one_person_keep_nobody_elses_from_being_looked_up(scene: Scene) -> None:
    eve = await scene.another("Eve", "operator")
    theirs = await Turn.begin(await eve.agent())
    slow = [await theirs.start("http_get", {"url": f"http://n{number}.slow.test/"}) for number in range(NAMES)]
    asked, mine = scene.gateway.home / "asked", await scene.begin()
    async with asyncio.timeout(40):
        while not asked.exists():
            await mine.invoke("peek", {"what": "tea"})
        result = await mine.invoke("http_get", {"url": "http://quick.invalid/"})
    assert "quick.invalid has no address" in result["content"], result
    assert not any(call.done() for call in slow)
    (scene.gateway.home / "answer").touch()
    assert {(await call)["outcome"] for call in slow} == {"executionError"}
    await eve.leave()


async def test_case_317_slow_previews_of_one_person_take_nobody_elses_away(scene: Scene) -> None:
    eve = await scene.another("Eve", "operator")
    theirs, console = await Turn.begin(await eve.agent()), await eve.console()
    await theirs.start("paint", {"slowly": True}, "slow")
    slow = await theirs.socket.approval_requested("slow")
    await asyncio.gather(*[console.call("approvals/get", {"approvalId": slow}) for _ in range(LOOKS)])
    mine = await scene.begin()
    await mine.start("paint", {"slowly": False}, "quick")
    quick = {"approvalId": await scene.asked("quick")}
    async with asyncio.timeout(40):
        # A preview that takes longer than two seconds is left out, however slow the machine is otherwise.
        while (shown := await scene.console.call("approvals/get", quick)).get("preview") is None:
            pass
    assert shown["preview"]["target"] == "a picture"
    (scene.gateway.home / "shown").touch()
    await eve.leave()
