"""A person approves while the tab cancels (docs/SECURITY.md case 97): the answer, the approval, the record and what the tool
really did say the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.harness.person import Person, Turn
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene, make_gateway
from tests.scenarios.staging import finish

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROUNDS = 20
NOTHING_RAN = "nothing ran"
MAY_HAVE_RUN = "it may have taken effect"

Cancel = Callable[[Scene, Turn, str], Awaitable[asyncio.Future[Any]]]


async def cancel_call(scene: Scene, turn: Turn, call_id: str) -> asyncio.Future[Any]:
    return await scene.shell.send("tools/cancel", {"conversationId": turn.conversation_id, "callId": call_id})


async def cancel_turn(scene: Scene, turn: Turn, call_id: str) -> asyncio.Future[Any]:
    del call_id
    return await scene.shell.send("turns/cancel", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})


async def decide(scene: Scene, decision: Mapping[str, Any]) -> asyncio.Future[Any]:
    return await scene.console.send("approvals/decide", decision)


async def status_of(scene: Scene, approval_id: str) -> str:
    return (await scene.console.call("approvals/get", {"approvalId": approval_id}))["approval"]["status"]


async def executed_on_record(scene: Scene, turn: Turn, call_id: str) -> bool:
    (closing,) = [entry for entry in await scene.closings(turn.conversation_id) if entry["body"]["callId"] == call_id]
    return closing["body"]["executed"]


def says_that_nothing_ran(result: Mapping[str, Any]) -> bool:
    """Whether the answer leaves no doubt that there was no effect. Every other answer has to leave that open, or be `ok`."""
    if result["outcome"] == "ok":
        return False
    assert result["outcome"] == "cancelled", result
    assert (NOTHING_RAN in result["error"]) != (MAY_HAVE_RUN in result["error"]), result
    return NOTHING_RAN in result["error"]


@pytest.mark.requirement("002-09", "a call that had begun when it was cancelled is never answered as if nothing had run")
@pytest.mark.parametrize("cancel", [cancel_call, cancel_turn], ids=["the call", "the turn"])
@pytest.mark.parametrize("effect", [False, True], ids=["before its effect", "after its effect"])
async def test_case_97_a_tool_that_had_begun_is_answered_as_one_that_may_have_run(
    scene: Scene, tmp_path: Path, cancel: Cancel, effect: bool
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    turn = await scene.begin()
    call = await turn.start("inscribe", {"what": "a", "before": str(before), "after": str(after)}, "c1")
    approval_id = await scene.asked("c1")
    await scene.ada.answer(scene.console, approval_id)
    await scene.shell.notification("tools/progress", message="begun")
    if effect:
        before.touch()
        await scene.shell.notification("tools/progress", message="inscribed")

    await (await cancel(scene, turn, "c1"))

    result = await finish(call)
    assert not says_that_nothing_ran(result)
    assert await status_of(scene, approval_id) == "approved"
    assert await executed_on_record(scene, turn, "c1")
    before.touch()
    after.touch()
    # The tool does not listen: it goes on to its end, which is recorded and told to nobody.
    await late_result(scene, turn)
    assert scene.effects(turn.conversation_id) == ["c1 inscribe a"]


async def late_result(scene: Scene, turn: Turn) -> None:
    """Return once the record has a result that nobody waited for."""
    query = {"filter": {"conversationId": turn.conversation_id}}
    async with asyncio.timeout(20):
        while "call:result-discarded" not in str(await scene.console.call("audit/list", query)):
            await asyncio.sleep(0.02)


@pytest.mark.requirement("002-33", "an approval that meets a cancel ends in one way, the same for call, console and record")
@pytest.mark.parametrize("cancel", [cancel_call, cancel_turn], ids=["the call", "the turn"])
@pytest.mark.parametrize("first", ["approve", "cancel"])
async def test_case_97_an_approval_and_a_cancel_at_once_end_in_one_way_for_everybody(
    tmp_path: Path, cancel: Cancel, first: str
) -> None:
    gateway = make_gateway(tmp_path)
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    scene = Scene(gateway, ada, await ada.agent(), await ada.console())
    claims: dict[str, bool] = {}
    turn = await scene.begin()
    try:
        for number in range(ROUNDS):
            if number and cancel is cancel_turn:
                turn = await Turn.begin(scene.shell, turn.conversation_id)
            call_id = f"c{number}"
            claims[call_id] = await race(scene, turn, call_id, cancel, approve_first=first == "approve")
    finally:
        await ada.leave()
        # Whatever a tool still had to do is done now.
        assert await gateway.stop() == 0, gateway.output
    assert "Traceback" not in gateway.output, gateway.output
    ran = [line.split()[0] for line in scene.effects(turn.conversation_id)]
    assert len(ran) == len(set(ran)), "a call ran twice"
    assert [call_id for call_id in ran if claims[call_id]] == [], "a call ran and was answered as if it had not"
    code, output = await gateway.run("audit", "verify")
    assert code == 0, output


async def race(scene: Scene, turn: Turn, call_id: str, cancel: Cancel, *, approve_first: bool) -> bool:
    """One question that is approved and cancelled at the same moment. Gives whether its answer says that nothing ran, after
    everybody who was told something was told the same."""
    call = await turn.start("note", {"what": "milk"}, call_id)
    approval_id = await scene.asked(call_id)
    decision = scene.ada.decision(await scene.console.call("approvals/get", {"approvalId": approval_id}))
    if approve_first:
        answered, cancelled = await decide(scene, decision), await cancel(scene, turn, call_id)
    else:
        cancelled, answered = await cancel(scene, turn, call_id), await decide(scene, decision)
    result = await finish(call)
    await finish(cancelled)
    counted = await counted_as_approved(answered)

    nothing_ran = says_that_nothing_ran(result)
    assert await status_of(scene, approval_id) == ("approved" if counted else "cancelled")
    assert nothing_ran or counted, "a call ran although whoever approved it was told that it did not"
    assert await executed_on_record(scene, turn, call_id) == (not nothing_ran)
    again = await turn.invoke("note", {"what": "milk"}, call_id)
    assert (again["outcome"], again["error"], again["replayed"]) == (result["outcome"], result["error"], True)
    return nothing_ran


async def counted_as_approved(answered: asyncio.Future[Any]) -> bool:
    """Whether whoever approved is told that it counted. If not, they are told that it came too late."""
    try:
        return (await finish(answered))["approval"]["status"] == "approved"
    except RpcError as refused:
        if refused.code in (-32003, -32004):
            return False
        raise
