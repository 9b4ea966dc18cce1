"""Ids that are somebody else's, for every method that takes one, and conversations that go while others use them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from gateway.protocol.frames import AGENT, CONSOLE, Dialect
from tests.harness.person import Turn
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import Scene, text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHERS: dict[str, dict[str, Any]] = {
    "conversations/rename": {"title": "x"},
    "conversations/fork": {"fromTurn": 0},
    "messages/append": {"message": {"role": "user", "content": "x"}},
    "tools/invoke": {"call": {"id": "q1", "name": "peek", "arguments": {"what": "x"}}},
    "inference/token": {"modelId": "any"},
    "approvals/decide": {"challenge": "x", "decision": "approve"},
    "passkeys/rename": {"name": "x"},
    "elicitations/answer": {"action": "decline"},
    "people/set-profile": {"profile": "operator"},
    "sessions/restrict": {"label": "high"},
    "policy/sign": {"assertion": {}},
}
"""What a method has to be told besides ids."""


def ids_of(dialect: Dialect) -> Mapping[str, frozenset[str]]:
    """Which ids each method takes."""
    taken = {
        name: frozenset(
            member
            for member in method.params.model_json_schema(by_alias=True).get("properties", {})
            if member in {"principal", "snapshotDigest"} or (member.endswith("Id") and member != "modelId")
        )
        for name, method in dialect.methods.items()
    }
    return {name: members for name, members in taken.items() if members}


async def answer_to(socket: Socket, method: str, params: Mapping[str, Any], ids: Mapping[str, str]) -> str:
    """What a stranger learns, without what they sent themselves."""
    told = (await asyncio.gather(socket.call(method, params), return_exceptions=True))[0]
    if isinstance(told, RpcError):
        assert told.code != -32602, f"{method} is not tried: {told}"
        told = told.error
    told = text_of(told)
    for value in ids.values():
        told = told.replace(value, "ID")
    return told


async def test_case_7_an_id_of_somebody_else_is_answered_as_one_that_nobody_has(scene: Scene) -> None:
    """Every method of both origins that takes an id, also those that will be added."""
    turn = await scene.begin()
    asked = await turn.start("note", {"what": "milk"}, "mine")
    approval_id = await scene.asked("mine")
    granted = await turn.start("note", {"what": "tea"}, "granted")
    answered = await scene.ada.answer(scene.console, await scene.asked("granted"), scope="session")
    await granted
    described = await scene.shell.call("session/describe")
    hers: dict[str, str] = {
        "conversationId": turn.conversation_id,
        "turnId": turn.snapshot["turnId"],
        "snapshotId": turn.snapshot["id"],
        "snapshotDigest": turn.snapshot["digest"],
        "callId": "mine",
        "approvalId": approval_id,
        "grantId": answered["grant"]["id"],
        "sessionId": described["session"]["id"],
        "principal": described["session"]["principal"],
        "clientId": described["connectionId"],
        "passkeyId": (await scene.console.call("passkeys/list"))["passkeys"][0]["id"],
        "elicitationId": "eli_AAAAAAAAAAAAAAAAAAAAAA",
        "proposalId": "prp_AAAAAAAAAAAAAAAAAAAAAA",
        "principalId": described["session"]["principal"],
    }
    nobodys = {name: f"{value[:4]}{value[:3:-1]}" if len(value) > 8 else f"{value}s" for name, value in hers.items()}
    stranger = await scene.another("Mallory", "guest")
    for socket, dialect in ((await stranger.agent(), AGENT), (await stranger.console(), CONSOLE)):
        for method, members in ids_of(dialect).items():
            assert members <= hers.keys(), f"{method}: say which {members - hers.keys()} the first person has"
            heard = [
                await answer_to(socket, method, {**{name: ids[name] for name in members}, **OTHERS.get(method, {})}, ids)
                for ids in (hers, nobodys)
            ]
            assert heard[0] == heard[1], method
    assert not asked.done()
    assert scene.effects(turn.conversation_id) == ["granted note tea 1"]
    await scene.shell.call("tools/cancel", {"conversationId": turn.conversation_id, "callId": "mine"})
    await asked
    await stranger.leave()


@pytest.mark.parametrize("how", ["conversations/delete", "audit/erase"])
async def test_case_146_a_conversation_that_goes_while_turns_begin_in_it_is_there_or_gone_for_all(scene: Scene, how: str) -> None:
    """Of a deletion and what is sent with it at once, one comes first, and the rest is answered like anything unknown."""
    other = await scene.ada.agent()
    goes = scene.console if how == "audit/erase" else other
    for _ in range(15):
        turn = await Turn.begin(scene.shell)
        place = {"conversationId": turn.conversation_id}
        await scene.shell.call("turns/end", {**place, "turnId": turn.snapshot["turnId"]})
        message = {**place, "turnId": turn.snapshot["turnId"], "message": {"role": "user", "content": "x"}}
        sent = [
            await goes.send(how, place),
            await scene.shell.send("turns/begin", place),
            await other.send("turns/begin", place),
            await other.send("messages/append", message),
            await scene.shell.send("conversations/rename", {**place, "title": "x"}),
        ]
        for each in await asyncio.gather(*sent, return_exceptions=True):
            code = each.code if isinstance(each, RpcError) else 0
            # There, unknown, or kept by a turn that came first.
            assert code in (0, -32003, -32004, -32602), each
        opened = await asyncio.gather(scene.shell.call("conversations/open", place), return_exceptions=True)
        assert not isinstance(opened[0], RpcError) or opened[0].code == -32003
    await other.close()
