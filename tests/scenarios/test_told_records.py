"""Records that somebody changed in the database of a running gateway are named, and not told."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.harness.person import Turn
from tests.harness.record_texts import unpack_records
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ('body = replace(body, \'"decision":"auto"\', \'"decision":"consented"\')', "record {} of the audit log was changed"),
        # It is of no conversation that anybody asks for by now.
        ('body = replace(body, \'"conversationId":"cnv\', \'"conversationId":"xnv\')', "record {} of the audit log was changed"),
        (
            "payload = CAST(replace(CAST(payload AS TEXT), 'milk', 'beer') AS BLOB)",
            "the payload of record {} of the audit log was changed",
        ),
    ],
)
@pytest.mark.requirement("002-74", "what the console and the command line tell of a call is what was signed")
async def test_case_241_a_changed_record_is_named_by_the_console_and_by_the_command_line(
    tmp_path: Path, change: str, told: str
) -> None:
    async with stage(tmp_path) as scene:
        turns = [await scene.begin(), await scene.begin()]
        for turn in turns:
            assert (await turn.invoke("peek", {"what": "milk"}, "peek-1"))["outcome"] == "ok"
        first, second = (turn.conversation_id for turn in turns)
        found = await scene.console.call("audit/calls", {"filter": {"conversationId": first}})
        position = found["calls"][0]["position"]
        assert (await scene.console.call("audit/call", {"position": position}))["entries"]
        with sqlite3.connect(scene.gateway.state / "ledger.db") as database:
            unpack_records(database)
            (index,) = database.execute(
                "SELECT position FROM leaves WHERE body LIKE '%call:intended%' ORDER BY position LIMIT 1"
            ).fetchone()
            database.execute(f"UPDATE leaves SET {change} WHERE position = ?", (index,))
        for method, asked in (("audit/call", {"position": position}), ("audit/compare", {"first": first, "second": second})):
            with pytest.raises(RpcError) as refused:
                await scene.console.call(method, asked)
            assert refused.value.error["data"]["code"] == "ledger_damaged", method
            assert told.format(index) in refused.value.error["message"]
        for command in (("explain", "peek-1", "--conversation", first), ("compare", first, second)):
            code, output = await scene.gateway.run("audit", *command)
            assert (code, told.format(index) in output) == (2, True), output


@pytest.mark.requirement("002-72", "the console and the command line name the same model for a call")
async def test_a_call_without_a_token_is_told_with_the_model_of_its_turn_in_both_places(scene: Scene) -> None:
    opened = await scene.shell.call("conversations/open")
    conversation = opened["conversation"]["id"]
    begun = await scene.shell.call("turns/begin", {"conversationId": conversation, "modelId": "model-7"})
    turn = Turn(scene.shell, conversation, begun["snapshot"])
    assert (await turn.invoke("peek", {"what": "milk"}, "peek-7"))["outcome"] == "ok"
    found = await scene.console.call("audit/calls", {"filter": {"conversationId": conversation}})
    assert "modelId" not in found["calls"][0]
    details = await scene.console.call("audit/call", {"position": found["calls"][0]["position"]})
    assert details["turnModelId"] == "model-7"
    code, output = await scene.gateway.run("audit", "explain", "peek-7", "--conversation", conversation)
    assert (code, "the turn began with `model-7`" in output) == (0, True), output
