"""A backup that is put back beside a gateway that runs, with calls under way and a question that waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.conftest import Scene
from tests.scenarios.staging import finish

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _kept(state: Path) -> list[str]:
    """The files of a state, without those that SQLite makes and removes as databases are opened and closed."""
    return sorted(path.name for path in state.iterdir() if not path.name.endswith(("-wal", "-shm")))


async def test_case_330_nothing_is_put_back_under_calls_that_run(scene: Scene, tmp_path: Path) -> None:
    gateway, backup = scene.gateway, str(tmp_path / "backup.tar")
    code, output = await gateway.run("backup", backup)
    assert code == 0, output
    turn = await scene.begin()
    running = await turn.start("linger", {}, "running")
    await scene.shell.notification("tools/progress", callId="running")
    waiting = await turn.start("note", {"what": "milk"}, "waiting")
    approval = await scene.asked("waiting")
    before = _kept(gateway.state)
    for command in (("restore", backup), ("recover",), ("recover", "--discard"), ("audit", "rotate-key")):
        code, output = await gateway.run(*command, "--yes")
        assert (code, "Traceback" in output) == (2, False), output
    assert _kept(gateway.state) == before
    # Both go on, and are on record where they were asked for.
    await scene.ada.answer(scene.console, approval)
    assert (await finish(waiting))["outcome"] == "ok"
    await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "running"})
    assert (await finish(running))["outcome"] == "cancelled"
    assert {each["body"]["callId"] for each in await scene.closings(turn.conversation_id)} == {"running", "waiting"}
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output
