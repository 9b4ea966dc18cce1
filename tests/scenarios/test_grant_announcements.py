"""What a person's consoles are told of grants, at the running gateway."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.harness.person import Turn
from tests.harness.socket import Socket
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def listed(console: Socket) -> list[dict[str, Any]]:
    return (await console.call("grants/list"))["grants"]


async def granted(scene: Scene, scope: str) -> Turn:
    """A call that is approved for longer than once, as the person's other console is told."""
    turn = await scene.begin()
    call = await turn.start("note", {"what": "milk"}, "c1")
    await scene.ada.answer(scene.console, await scene.asked("c1"), scope=scope)
    async with asyncio.timeout(20):
        await call
    return turn


async def test_a_console_is_told_when_a_turns_grant_begins_is_used_and_ends_with_its_turn(scene: Scene) -> None:
    other = await scene.ada.console()
    turn = await granted(scene, "turn")
    await other.notification("grants/changed")
    (grant,) = await listed(other)
    assert (grant["tool"], grant["uses"]) == ("note", 0)
    assert (await turn.invoke("note", {"what": "milk"}, "c2"))["outcome"] == "ok"
    await other.notification("grants/changed")
    assert [each["uses"] for each in await listed(other)] == [1]
    await scene.shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    await other.notification("grants/changed")
    assert await listed(other) == []
    await other.close()


async def test_a_console_is_told_of_a_grant_that_is_taken_back_or_ends_with_its_session_and_nobody_else_is(scene: Scene) -> None:
    ben = await scene.another("Ben", "operator")
    bens, other = await ben.console(), await scene.ada.console()
    await granted(scene, "session")
    await other.notification("grants/changed")
    (grant,) = await listed(other)
    await scene.console.call("grants/revoke", {"grantId": grant["id"]})
    await other.notification("grants/changed")
    assert await listed(other) == []
    await granted(scene, "session")
    await other.notification("grants/changed")
    assert len(await listed(other)) == 1
    session = (await scene.shell.call("session/describe"))["session"]["id"]
    await scene.console.call("sessions/end", {"sessionId": session})
    await other.notification("grants/changed")
    assert await listed(other) == []
    # An answer that came after all of it has passed whatever was told before.
    assert await listed(bens) == []
    assert [each["method"] for each in bens.notifications if each["method"] == "grants/changed"] == []
    await other.close()
    await ben.leave()
