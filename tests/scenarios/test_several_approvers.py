"""Calls that take several people, and attacks on them, at the running gateway (docs/SECURITY.md cases 110 to 118)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
import rfc8785

from tests.authenticator import HONEST, Forgery, encode
from tests.harness.person import Person, Turn
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import edit, finish, stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

WRITE = '@why("This changes files, so it needs your yes")\n'
ADA = "Operator"
"""The name of the first person."""

WHY = "The site is down and nobody else is awake"


class Pair(Scene):
    """Ada asks; Ben is an operator too, at a console of his own."""

    ben: Person
    bens: Socket


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    async with stage(tmp_path_factory.mktemp("office")) as scene:
        edit(scene.gateway, "default.cedar", WRITE, f'{WRITE}@approvers("2")\n@break_glass("allowed")\n')
        assert (await scene.gateway.run("policy", "reload"))[0] == 0
        pair = Pair(scene.gateway, scene.ada, scene.shell, scene.console)
        pair.ben = await scene.another("Ben", "operator")
        pair.bens = await pair.ben.console()
        yield pair
        await pair.ben.leave()


async def ask(office: Pair, what: str = "milk") -> tuple[Turn, asyncio.Future[Any], str]:
    turn = await office.begin()
    call = await turn.start("note", {"what": what}, "c1")
    return turn, call, await office.asked("c1")


async def close(office: Pair, turn: Turn, call: asyncio.Future[Any]) -> None:
    await office.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "c1"})
    await finish(call)


async def test_the_second_person_sees_it_at_once_and_the_call_runs_on_both_passkeys(office: Pair) -> None:
    turn, call, approval_id = await ask(office)
    told = (await office.bens.notification("approvals/requested"))["approval"]
    assert (told["id"], told["needs"]["approvers"], told["requester"]) == (approval_id, 2, ADA)
    opened = await office.bens.call("approvals/get", {"approvalId": approval_id})
    assert opened["approval"]["requesterId"] == opened["statement"]["principal"]
    first = await office.ada.answer(office.console, approval_id)
    assert first["approval"]["status"] == "pending"
    changed = (await office.bens.notification("approvals/changed"))["approval"]
    assert [each["name"] for each in changed["given"]] == [ADA]
    opened = await office.console.call("approvals/get", {"approvalId": approval_id})
    assert (opened["standing"], opened["approval"]["status"]) == ("hasApproved", "pending")
    assert office.effects(turn.conversation_id) == []
    await office.ben.answer(office.bens, approval_id)
    assert (await finish(call))["outcome"] == "ok"
    assert office.effects(turn.conversation_id) == ["c1 note milk 1"]
    code, output = await office.gateway.run("audit", "explain", "c1", "--conversation", turn.conversation_id)
    assert code == 0
    assert re.search(r"Operator \(usr_[\w-]+\) approved with the passkey \S+, over that digest", output), output
    assert re.search(r"Ben \(usr_[\w-]+\) approved with the passkey \S+, over that digest", output), output
    code, output = await office.gateway.run("audit", "replay", "--json", turn.conversation_id)
    assert [json.loads(line)["finding"] for line in output.splitlines() if line.startswith("{")] == ["same"]


async def test_case_110_the_same_person_at_two_consoles_is_one_person(office: Pair) -> None:
    turn, call, approval_id = await ask(office)
    second = await office.ada.console()
    await office.ada.answer(office.console, approval_id)
    for console in (office.console, second):
        with pytest.raises(RpcError, match="another person has to approve"):
            await office.ada.answer(console, approval_id)
    assert office.effects(turn.conversation_id) == []
    await second.close()
    await close(office, turn, call)


async def test_case_111_an_assertion_over_another_question_ends_this_one(office: Pair) -> None:
    turn, call, approval_id = await ask(office)
    await office.ada.answer(office.console, approval_id)
    other_turn, other, other_id = await ask(office, "bread")
    elsewhere = office.ben.decision(await office.bens.call("approvals/get", {"approvalId": other_id}))
    opened = await office.bens.call("approvals/get", {"approvalId": approval_id})
    replayed = {**office.ben.decision(opened), "assertion": elsewhere["assertion"]}
    with pytest.raises(RpcError):
        await office.bens.call("approvals/decide", replayed)
    assert (await finish(call))["reason"] == "assertionInvalid"
    assert office.effects(turn.conversation_id) == office.effects(other_turn.conversation_id) == []
    await close(office, other_turn, other)


async def test_case_112_the_first_persons_assertion_sent_again_by_the_second_runs_nothing(office: Pair) -> None:
    turn, call, approval_id = await ask(office)
    mine = office.ada.decision(await office.console.call("approvals/get", {"approvalId": approval_id}))
    await office.console.call("approvals/decide", mine)
    opened = await office.bens.call("approvals/get", {"approvalId": approval_id})
    with pytest.raises(RpcError):
        await office.bens.call("approvals/decide", {**mine, "challenge": opened["challenge"]})
    assert (await finish(call))["reason"] == "assertionInvalid"
    assert office.effects(turn.conversation_id) == []


async def test_case_113_a_yes_after_a_no_finds_nothing_to_answer(office: Pair) -> None:
    turn, call, approval_id = await ask(office)
    await office.ada.answer(office.console, approval_id)
    ready = office.ada.decision(await office.console.call("approvals/get", {"approvalId": approval_id}))
    await office.ben.answer(office.bens, approval_id, "deny")
    assert (await finish(call))["outcome"] == "deniedByUser"
    with pytest.raises(RpcError):
        await office.console.call("approvals/decide", ready)
    assert office.effects(turn.conversation_id) == []


async def test_case_114_the_shells_session_answers_nothing_and_is_told_no_names(office: Pair) -> None:
    turn = await office.begin()
    call = await turn.start("note", {"what": "milk"}, "c1")
    told = (await office.shell.notification("approvals/requested"))["approval"]
    approval_id = told["id"]
    assert told.keys() & {"requester", "requesterId"} == set()
    opened = await office.console.call("approvals/get", {"approvalId": approval_id})
    for method in ("approvals/get", "approvals/decide", "approvals/list"):
        with pytest.raises(RpcError) as refused:
            await office.shell.call(method, office.ada.decision(opened))
        assert refused.value.code == -32601
    await office.ada.answer(office.console, approval_id)
    changed = (await office.shell.notification("approvals/changed"))["approval"]
    assert [set(each) for each in changed["given"]] == [{"at"}]
    assert office.effects(turn.conversation_id) == []
    await close(office, turn, call)


async def test_case_115_whoever_is_no_operator_neither_sees_nor_answers(office: Pair) -> None:
    turn, call, approval_id = await ask(office)
    gus = await office.another("Gus", "guest")
    theirs = await gus.console()
    assert approval_id not in str(await theirs.call("approvals/list"))
    opened = await office.console.call("approvals/get", {"approvalId": approval_id})
    for attempt in (("approvals/get", {"approvalId": approval_id}), ("approvals/decide", gus.decision(opened))):
        with pytest.raises(RpcError) as refused:
            await theirs.call(*attempt)
        assert refused.value.code == -32003
    assert office.effects(turn.conversation_id) == []
    await gus.leave()
    await close(office, turn, call)


async def test_case_116_a_removed_persons_approval_counts_no_more(office: Pair) -> None:
    turn, call, approval_id = await ask(office)
    cleo = await office.another("Cleo", "operator")
    await cleo.answer(await cleo.console(), approval_id)
    assert (await office.gateway.run("people", "remove", "Cleo"))[0] == 0
    left = await office.ben.answer(office.bens, approval_id)
    assert (left["approval"]["status"], [each["name"] for each in left["approval"]["given"]]) == ("pending", ["Ben"])
    assert office.effects(turn.conversation_id) == []
    await office.ada.answer(office.console, approval_id)
    assert (await finish(call))["outcome"] == "ok"
    await cleo.leave()


def act_alone(person: Person, opened: dict[str, Any], reason: str = WHY, forgery: Forgery = HONEST) -> dict[str, Any]:
    """What `approvals/decide` takes of the requester, an operator who breaks the glass."""
    signed = rfc8785.dumps(
        {**opened["statement"], "breakGlass": {"principal": opened["statement"]["principal"], "reason": reason}}
    )
    options = {
        "challenge": encode(hashlib.sha256(signed).digest()),
        "rpId": urlsplit(person.gateway.console_origin).hostname,
    }
    return {
        "approvalId": opened["approval"]["id"],
        "challenge": opened["challenge"],
        "decision": "approve",
        "breakGlass": reason,
        "assertion": person.authenticator.get(options, forgery),
    }


async def test_case_117_what_an_operator_does_alone_is_signed_with_its_reason_and_told_to_every_operator(office: Pair) -> None:
    turn, call, approval_id = await ask(office)
    opened = await office.console.call("approvals/get", {"approvalId": approval_id})
    assert opened["mayBreakGlass"] is True
    await office.console.call("approvals/decide", act_alone(office.ada, opened))
    assert (await finish(call))["outcome"] == "ok"
    warned = await office.bens.notification("approvals/break-glass")
    assert (warned["name"], warned["reason"], warned["tool"]) == (ADA, WHY, "note")
    listed = await office.bens.call("approvals/list")
    assert listed["brokenGlass"][0]["reason"] == WHY
    code, output = await office.gateway.run("audit", "explain", "c1", "--conversation", turn.conversation_id)
    assert f"did alone what takes several people, signed with a passkey, for this reason: “{WHY}”" in output, output
    code, output = await office.gateway.run("audit", "verify")
    assert code == 0, output


@pytest.mark.parametrize(
    ("forgery", "claimed"),
    [
        pytest.param(Forgery(user_verified=False), WHY, id="no user verification"),
        pytest.param(HONEST, "Quite another reason than was signed", id="another reason"),
        pytest.param(Forgery(challenge=b"another statement of 32 bytes ..."), WHY, id="another statement"),
    ],
)
async def test_case_118_acting_alone_takes_a_verified_passkey_over_the_reason(
    office: Pair, forgery: Forgery, claimed: str
) -> None:
    turn, call, approval_id = await ask(office)
    opened = await office.console.call("approvals/get", {"approvalId": approval_id})
    with pytest.raises(RpcError):
        await office.console.call("approvals/decide", {**act_alone(office.ada, opened, WHY, forgery), "breakGlass": claimed})
    assert (await finish(call))["reason"] == "assertionInvalid"
    assert office.effects(turn.conversation_id) == []


async def test_an_approval_survives_a_restart_and_the_second_one_comes_after_it(tmp_path: Path) -> None:
    async with stage(tmp_path, COUNTERSIGN_GRACE_SECONDS="120") as scene:
        edit(scene.gateway, "default.cedar", WRITE, f'{WRITE}@approvers("2")\n@requester_excluded("true")\n')
        assert (await scene.gateway.run("policy", "reload"))[0] == 0
        ben, cleo = await scene.another("Ben", "operator"), await scene.another("Cleo", "operator")
        turn = await scene.begin()
        await turn.start("note", {"what": "milk"}, "c1")
        approval_id = await scene.asked("c1")
        with pytest.raises(RpcError, match="somebody else has to approve"):
            await scene.ada.answer(scene.console, approval_id)
        await ben.answer(await ben.console(), approval_id)
        await scene.gateway.kill()
        await scene.gateway.start()
        bens = await ben.console()
        opened = await bens.call("approvals/get", {"approvalId": approval_id})
        assert opened["standing"] == "hasApproved"
        with pytest.raises(RpcError, match="another person has to approve"):
            await ben.answer(bens, approval_id)
        assert scene.effects(turn.conversation_id) == []
        decided = await cleo.answer(await cleo.console(), approval_id)
        assert decided["approval"]["status"] == "approved"
        again = Turn(await scene.ada.agent(), turn.conversation_id, turn.snapshot)
        assert (await again.invoke("note", {"what": "milk"}, "c1"))["outcome"] == "ok"
        assert scene.effects(turn.conversation_id) == ["c1 note milk 1"]
        code, output = await scene.gateway.run("audit", "verify")
        assert code == 0, output
        await ben.leave()
        await cleo.leave()
