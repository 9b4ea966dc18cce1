"""The wall clock jumps while the gateway runs (docs/SECURITY.md case 98): what was asked and done stays in order and on record,
and what ran out has run out.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene, make_gateway
from tests.scenarios.staging import finish

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVE_BY_ANOTHER_CLOCK = """
import os, pathlib
from gateway.adapters.system.clock import SystemClock
now, ahead = SystemClock.now, pathlib.Path(os.environ["SECONDS_AHEAD"])
SystemClock.now = lambda self: now(self) + int(ahead.read_text()) * 1000
"""

A_MOMENT, AN_HOUR, TWO_DAYS = 30, 60 * 60, 2 * 24 * 60 * 60
"""Within an approval's time, beyond a snapshot's, and beyond a session's; in seconds."""


@dataclass
class WallClock:
    """The wall clock that the gateway reads."""

    file: Path

    def jump(self, seconds: int) -> None:
        """Be so many seconds ahead of the real time, or behind it."""
        # One rename: the gateway reads the file all the time, and never finds it empty.
        fresh = self.file.with_suffix(".new")
        fresh.write_text(str(seconds))
        fresh.replace(self.file)


@asynccontextmanager
async def stage(home: Path) -> AsyncGenerator[tuple[Scene, WallClock]]:
    """A gateway that goes by a clock of the test's own. At the end its log is sound, and it starts on it from the past."""
    clock = WallClock(home / "ahead")
    clock.jump(0)
    gateway = make_gateway(home, SECONDS_AHEAD=str(clock.file))
    gateway.before = SERVE_BY_ANOTHER_CLOCK
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    try:
        yield Scene(gateway, ada, await ada.agent(), await ada.console()), clock
    finally:
        await ada.leave()
        await stop_in_order(gateway)
    clock.jump(-TWO_DAYS)
    await gateway.start()
    await stop_in_order(gateway)
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output


async def stop_in_order(gateway: GatewayProcess) -> None:
    assert await gateway.stop() == 0, gateway.output
    assert "Traceback" not in gateway.output, gateway.output


async def ids_of_calls(scene: Scene, turn: Turn) -> list[str]:
    listed = await scene.shell.call("tools/list-calls", {"conversationId": turn.conversation_id})
    return [call["call"]["id"] for call in listed["calls"]]


@pytest.mark.requirement("002-11", "calls stay in the order of the record when the clock jumps")
@pytest.mark.parametrize("seconds", [A_MOMENT, -A_MOMENT, -TWO_DAYS])
async def test_case_98_what_waits_and_what_is_done_stays_in_order_when_the_clock_jumps(tmp_path: Path, seconds: int) -> None:
    async with stage(tmp_path) as (scene, clock):
        turn = await scene.begin()
        # The ids tell nothing of the order.
        await turn.invoke("peek", {"what": "a"}, "d")
        waits = await turn.start("note", {"what": "milk"}, "c")
        approval_id = await scene.asked("c")

        clock.jump(seconds)

        await turn.invoke("peek", {"what": "b"}, "b")
        later = await turn.start("note", {"what": "bread"}, "a")
        later_id = await scene.asked("a")
        assert await ids_of_calls(scene, turn) == ["d", "c", "b", "a"]
        listed = (await scene.console.call("approvals/list", {"status": "pending"}))["approvals"]
        assert {each["id"] for each in listed} == {approval_id, later_id}
        await scene.ada.answer(scene.console, approval_id)
        assert (await finish(waits))["outcome"] == "ok"
        await scene.ada.answer(scene.console, later_id, "deny")
        assert (await finish(later))["outcome"] == "deniedByUser"
        clock.jump(0)
        await turn.invoke("peek", {"what": "c"}, "0")
        assert await ids_of_calls(scene, turn) == ["d", "c", "b", "a", "0"]
        assert scene.effects(turn.conversation_id) == ["d peek a", "b peek b", "c note milk 1", "0 peek c"]


@pytest.mark.requirement("002-33", "a question that ran out by the wall clock takes no answer while the clock says so")
async def test_case_98_what_ran_out_by_the_clock_lets_nothing_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as (scene, clock):
        turn = await scene.begin()
        waits = await turn.start("note", {"what": "milk"}, "c1")
        opened = await scene.console.call("approvals/get", {"approvalId": await scene.asked("c1")})

        clock.jump(AN_HOUR)

        with pytest.raises(RpcError, match="expired"):
            await scene.console.call("approvals/decide", scene.ada.decision(opened))
        assert (await turn.invoke("peek", {"what": "b"}, "c2"))["reason"] == "snapshotExpired"
        # A turn that is refreshed by the new time goes on.
        await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "c1"})
        assert (await finish(waits))["outcome"] == "cancelled"
        fresh = await Turn.begin(scene.shell, turn.conversation_id)
        assert (await fresh.invoke("peek", {"what": "c"}, "c3"))["outcome"] == "ok"
        assert scene.effects(turn.conversation_id) == ["c3 peek c"]


@pytest.mark.requirement("002-32", "a clock that is set forward ends sessions at their time, and people sign in again")
async def test_case_98_sessions_end_by_a_clock_that_is_set_forward_and_another_begins(tmp_path: Path) -> None:
    async with stage(tmp_path) as (scene, clock):
        turn = await scene.begin()

        clock.jump(TWO_DAYS)

        with pytest.raises(ConnectionError):
            await turn.invoke("peek", {"what": "a"})
        assert (await scene.shell.wait_closed())[0] == 4401
        assert (await scene.ada.sign_in()).status == 204
        assert (await scene.ada.open_shell()).status == 303
        fresh = await Turn.begin(await scene.ada.agent())
        assert (await fresh.invoke("peek", {"what": "b"}))["outcome"] == "ok"
        assert scene.effects(turn.conversation_id) == []
