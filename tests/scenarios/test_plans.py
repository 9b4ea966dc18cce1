"""Calls that follow one another and are answered together, and attacks on that, at the running gateway (docs/SECURITY.md cases
134 to 137)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.identity.recorded_answers import check_recorded_answer
from gateway.core.receipts import check_receipt
from tests.harness.person import Turn
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import finish, stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

LABELLED = {"COUNTERSIGN_TOOLS_MODULES": '["tests.harness.effect_tools", "tests.harness.labelled_tools"]'}

Plan = tuple[Turn, list[asyncio.Future[Any]], list[str]]


async def ask(scene: Scene, tool: str = "erase", count: int = 3) -> Plan:
    """A plan of `p1`, `p2`, … : the turn, the calls, and the questions in order."""
    turn = await scene.begin()
    calls: list[asyncio.Future[Any]] = []
    questions: list[str] = []
    for step in range(1, count + 1):
        after = None if step == 1 else f"p{step - 1}"
        calls.append(await turn.start(tool, {"what": f"thing-{step}"}, f"p{step}", after=after))
        questions.append(await scene.asked(f"p{step}"))
    return turn, calls, questions


async def outcomes(calls: list[asyncio.Future[Any]]) -> list[str]:
    return [(await finish(call))["outcome"] for call in calls]


async def refusal(scene: Scene, params: dict[str, Any]) -> str:
    with pytest.raises(RpcError) as refused:
        await scene.console.call("approvals/decide-plan", params)
    return str(refused.value.error["data"]["code"])


async def give_up(scene: Scene, turn: Turn, calls: list[asyncio.Future[Any]]) -> None:
    await scene.shell.call("turns/cancel", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    await outcomes(calls)


@pytest.mark.requirement("002-31", "a run of calls that ask is one question, and its list is what a passkey signs")
async def test_one_ceremony_answers_a_whole_plan_and_each_receipt_proves_it(scene: Scene, tmp_path: Path) -> None:
    turn, calls, questions = await ask(scene)
    decided = (await scene.ada.answer_plan(scene.console, questions[1]))["approvals"]
    assert [each["id"] for each in decided] == questions
    assert decided[0]["status"] == "approved"
    assert await outcomes(calls) == ["ok"] * 3
    assert scene.effects(turn.conversation_id) == [f"p{step} erase thing-{step}" for step in (1, 2, 3)]
    for call_id in ("p1", "p3"):
        path = tmp_path / f"{call_id}.json"
        code, said = await scene.gateway.run("audit", "receipt", call_id, "-o", str(path))
        assert code == 0, said
        report = check_receipt(path.read_bytes().removesuffix(b"\n"), check_recorded_answer)
        assert (report.fault, report.signatures) == (None, 1)
        (answer,) = [each.payload["plan"] for each in report.records if each.payload and "plan" in each.payload]
        assert (len(answer["statements"]), answer["index"]) == (3, int(call_id[1]) - 1)
    verified = await scene.console.call("audit/verify", {})
    assert verified["verified"], verified["detail"]


async def test_consents_of_a_plan_are_answered_with_one_click_and_any_of_them_denied(scene: Scene) -> None:
    turn, calls, questions = await ask(scene, "note")
    opened = await scene.console.call("approvals/get-plan", {"approvalId": questions[0]})
    assert [part["question"]["approval"]["id"] for part in opened["parts"]] == questions
    assert opened["parts"][2]["question"]["approval"]["plan"] == {"first": "p1", "after": "p2", "step": 3}
    assert "passkeyOptions" not in opened
    await scene.ada.answer(scene.console, questions[1], "deny")
    await scene.ada.answer_plan(scene.console, questions[2])
    assert await outcomes(calls) == ["ok", "deniedByUser", "ok"]
    assert scene.effects(turn.conversation_id) == ["p1 note thing-1 1", "p3 note thing-3 1"]


@pytest.mark.requirement("002-31", "a call follows only an open call of its own turn")
async def test_case_134_after_names_an_open_call_of_the_same_turn_or_nothing_runs(scene: Scene) -> None:
    turn, calls, _ = await ask(scene, "note", 2)
    elsewhere = await scene.begin()
    other_shell = await scene.ada.agent()
    theirs = await Turn.begin(other_shell)
    await elsewhere.invoke(
        "peek",
        {"what": "x"},
        "refused",
    )
    denied = await elsewhere.start("note", {"what": "no"}, "closed")
    await scene.ada.answer(scene.console, await scene.asked("closed"), "deny")
    await finish(denied)
    tries = [
        (elsewhere, "p1", "of-another-turn"),
        (theirs, "p1", "of-another-session"),
        (elsewhere, "closed", "of-a-closed-call"),
        (elsewhere, "itself", "itself"),
        (elsewhere, "later", "of-what-is-not-there"),
        (turn, "p1", "a-second-follower"),
    ]
    for asker, after, call_id in tries:
        result = await finish(await asker.start("note", {"what": call_id}, call_id, after=after))
        assert (result["outcome"], result["reason"]) == ("refusedByPolicy", "notInOrder"), call_id
    await give_up(scene, turn, calls)
    assert scene.effects(turn.conversation_id) == []
    assert [line for line in scene.effects(elsewhere.conversation_id) if "note" in line] == []
    assert scene.effects(theirs.conversation_id) == []
    await other_shell.close()


async def test_case_134_a_plan_has_eight_steps_at_most(scene: Scene) -> None:
    turn, calls, _ = await ask(scene, "note", 8)
    result = await finish(await turn.start("note", {"what": "more"}, "p9", after="p8"))
    assert result["reason"] == "notInOrder"
    await give_up(scene, turn, calls)


@pytest.mark.requirement("002-31", "a signature over a plan counts for that list alone")
async def test_case_135_a_plan_is_all_that_waits_in_its_order(scene: Scene) -> None:
    turn, calls, questions = await ask(scene)
    for order in ([1, 0, 2], [0, 1], [1, 2], [0, 0], [0, 1, 2, 2]):
        opened = await scene.console.call("approvals/get-plan", {"approvalId": questions[0]})
        assert await refusal(scene, scene.ada.plan_decision(opened, order)) == "planChanged"
    assert scene.effects(turn.conversation_id) == []
    await scene.ada.answer_plan(scene.console, questions[0])
    assert await outcomes(calls) == ["ok"] * 3


@pytest.mark.parametrize("order", [[1, 0, 2], [0, 1], [0, 2, 1, 0]], ids=["reordered", "shortened", "lengthened"])
async def test_case_135_a_signature_over_another_list_lets_nothing_run(scene: Scene, order: list[int]) -> None:
    turn, calls, questions = await ask(scene)
    opened = await scene.console.call("approvals/get-plan", {"approvalId": questions[0]})
    forged = scene.ada.plan_decision(opened, order)["assertion"]
    assert await refusal(scene, {**scene.ada.plan_decision(opened), "assertion": forged}) == "assertionInvalid"
    assert await outcomes(calls) == ["stepUpFailed", "cancelled", "cancelled"]
    assert scene.effects(turn.conversation_id) == []


async def test_case_136_a_signature_over_a_plan_is_none_over_a_statement_nor_the_reverse(scene: Scene) -> None:
    turn, calls, questions = await ask(scene, count=2)
    opened = await scene.console.call("approvals/get-plan", {"approvalId": questions[0]})
    whole = scene.ada.plan_decision(opened)
    single = scene.ada.decision(opened["parts"][0]["question"])
    with pytest.raises(RpcError) as refused:
        await scene.console.call("approvals/decide", {**single, "assertion": whole["assertion"]})
    assert refused.value.error["data"]["code"] == "assertionInvalid"
    assert await outcomes(calls) == ["stepUpFailed", "cancelled"]
    again, calls, questions = await ask(scene, count=2)
    opened = await scene.console.call("approvals/get-plan", {"approvalId": questions[0]})
    single = scene.ada.decision(opened["parts"][0]["question"])
    whole = scene.ada.plan_decision(opened)
    assert await refusal(scene, {**whole, "assertion": single["assertion"]}) == "assertionInvalid"
    assert await outcomes(calls) == ["stepUpFailed", "cancelled"]
    assert scene.effects(turn.conversation_id) + scene.effects(again.conversation_id) == []


async def test_case_136_a_plan_that_was_answered_is_not_answered_again(scene: Scene) -> None:
    _, calls, questions = await ask(scene, count=2)
    opened = await scene.console.call("approvals/get-plan", {"approvalId": questions[0]})
    answer = scene.ada.plan_decision(opened)
    await scene.console.call("approvals/decide-plan", answer)
    assert await outcomes(calls) == ["ok", "ok"]
    assert await refusal(scene, answer) == "not_found"


async def test_case_282_a_yes_that_let_something_run_is_never_told_that_nothing_ran(scene: Scene) -> None:
    for _ in range(6):
        turn, calls, questions = await ask(scene)
        opened = await scene.console.call("approvals/get-plan", {"approvalId": questions[0]})
        told, _ = await asyncio.gather(
            scene.console.call("approvals/decide-plan", scene.ada.plan_decision(opened)),
            scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "p2"}),
            return_exceptions=True,
        )
        await outcomes(calls)
        assert not isinstance(told, BaseException) or scene.effects(turn.conversation_id) == [], told
        if isinstance(told, dict):
            assert told["approvals"][0]["status"] == "approved"


async def test_case_137_a_label_that_rises_between_two_steps_stops_what_was_approved(tmp_path: Path) -> None:
    async with stage(tmp_path, **LABELLED) as scene:
        turn = await scene.begin()
        calls = [await turn.start("note", {"what": "a"}, "p1")]
        questions = [await scene.asked("p1")]
        calls.append(await turn.start("confide", {}, "p2", after="p1"))
        calls.append(await turn.start("send", {"what": "b"}, "p3", after="p2"))
        questions.append(await scene.asked("p3"))
        await scene.ada.answer_plan(scene.console, questions[0])
        results = [await finish(call) for call in calls]
        assert [each["outcome"] for each in results] == ["ok", "ok", "refusedByPolicy"]
        assert results[2]["reason"] == "forbidden"
        assert not [line for line in scene.effects(turn.conversation_id) if "send" in line]


async def test_a_plan_that_waits_goes_on_after_a_restart_in_its_order(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn, _, questions = await ask(scene, "note", 2)
        gap, lost = await plan_with_a_gap(scene)
        await scene.gateway.kill()
        await scene.gateway.start()
        shell, console = await scene.ada.agent(), await scene.ada.console()
        for each in (turn, gap):
            await shell.call("conversations/open", {"conversationId": each.conversation_id})
        await scene.ada.answer_plan(console, questions[0])
        await wait_for_effects(scene, turn, "p1", "p2")
        await scene.ada.answer(console, lost[0])
        await wait_for_effects(scene, gap, "p1")
        closed: dict[str, str | None] = {}
        async with asyncio.timeout(20):
            while not {"p3", "p5"} <= closed.keys():
                listed = await shell.call("tools/list-calls", {"conversationId": gap.conversation_id})
                closed = {each["call"]["id"]: each["result"].get("reason") for each in listed["calls"] if each.get("result")}
        assert {call_id: closed[call_id] for call_id in ("p3", "p5")} == dict.fromkeys(("p3", "p5"), "earlierCallFailed")
        assert scene.effects(gap.conversation_id) == ["p1 note a 1"]
        await shell.close()
        await console.close()


async def plan_with_a_gap(scene: Scene) -> tuple[Turn, list[str]]:
    """Five steps. The second asks nobody and so leaves no record until it runs; the fourth was denied."""
    turn = await scene.begin()
    questions: list[str] = []
    for call_id, tool, what in (
        ("p1", "note", "a"),
        ("p2", "peek", "b"),
        ("p3", "note", "c"),
        ("p4", "note", "d"),
        ("p5", "note", "e"),
    ):
        await turn.start(tool, {"what": what}, call_id, after=None if call_id == "p1" else f"p{int(call_id[1]) - 1}")
        if tool == "note":
            questions.append(await scene.asked(call_id))
    await scene.ada.answer(scene.console, questions[2], "deny")
    return turn, questions


async def wait_for_effects(scene: Scene, turn: Turn, *call_ids: str) -> None:
    """Until these calls, and no other, have had their effect, in this order."""
    async with asyncio.timeout(20):
        while len(scene.effects(turn.conversation_id)) < len(call_ids):
            await asyncio.sleep(0.02)
    assert [line.split()[0] for line in scene.effects(turn.conversation_id)] == list(call_ids)
