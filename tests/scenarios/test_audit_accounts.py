"""What happened in a call and in a conversation, told from the record of a running gateway."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.adapters.storage.accounts import read_offers, read_rows
from gateway.adapters.storage.inspection import open_stored_log
from gateway.policy_records import RecordedPolicies
from gateway.runtime.audit_replay import Repetition, replay_conversation
from tests.harness.person import Turn
from tests.harness.record_texts import unpack_records
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import edit, finish, stage

FOR_NOBODY = (
    'resource in Countersign::Category::"admin"\n)\nunless { principal in Countersign::Profile::"operator" };',
    'resource in Countersign::Category::"admin"\n);',
)
CHANGE_PAYLOAD = "UPDATE leaves SET payload = CAST(replace(CAST(payload AS TEXT), '{}', '{}') AS BLOB) WHERE body LIKE '%{}%'"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def told(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Scene, Turn, Turn]]:
    """A gateway with two conversations: one with a decision of nearly every kind, and one with a single call."""
    async with stage(tmp_path_factory.mktemp("accounts")) as scene:
        edit(scene.gateway, "default.cedar", *FOR_NOBODY)
        code, output = await scene.gateway.run("policy", "reload", "--without-cases")
        assert code == 0, output
        turn = await scene.begin()
        said = {"role": "user", "content": "remove the milk"}
        where = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
        await scene.shell.call("messages/append", {**where, "message": said})
        assert (await turn.invoke("peek", {"what": "a"}, "peek-1"))["outcome"] == "ok"
        for call_id, tool, decision, scope in (
            ("note-1", "note", "approve", "turn"),
            ("erase-1", "erase", "approve", "once"),
            ("erase-2", "erase", "deny", "once"),
        ):
            call = await turn.start(tool, {"what": "milk"}, call_id)
            await scene.ada.answer(scene.console, await scene.asked(call_id), decision, scope=scope)
            await finish(call)
        assert (await turn.invoke("note", {"what": "milk"}, "note-2"))["outcome"] == "ok"
        assert (await turn.invoke("no_such_tool", {}, "unknown"))["outcome"] == "unknownTool"
        assert (await turn.invoke("peek", {"what": 7}, "wrong"))["outcome"] == "invalidArguments"
        assert (await turn.invoke("administer", {"what": "a\u202eb"}, "admin"))["outcome"] == "refusedByPolicy"
        old = turn.request("peek", {"what": "late"}, "stale")
        await scene.shell.call("turns/end", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
        assert (await scene.shell.call("tools/invoke", old))["reason"] == "turnClosed"
        other = await scene.begin()
        assert (await other.invoke("peek", {"what": "a"}, "peek-1"))["outcome"] == "ok"
        yield scene, turn, other


async def audit(scene: Scene, *arguments: str | Path) -> tuple[int, str]:
    return await scene.gateway.run("audit", *map(str, arguments))


def forge(scene: Scene, into: Path, change: str) -> Path:
    """A copy of the gateway's state in which somebody has changed the database."""
    into.mkdir()
    for name in scene.gateway.state.iterdir():
        if name.is_file() and not name.name.startswith("ledger.db"):
            shutil.copy(name, into)
    with sqlite3.connect(scene.gateway.state / "ledger.db") as source, sqlite3.connect(into / "ledger.db") as target:
        source.backup(target)
        unpack_records(target)
        assert target.execute(change).rowcount > 0
    return into


@pytest.mark.asyncio(loop_scope="module")
async def test_a_call_is_told_from_the_proposal_to_the_result(told: tuple[Scene, Turn, Turn]) -> None:
    scene, turn, _ = told
    code, account = await audit(scene, "explain", "erase-1")
    assert code == 0, account
    for part in (
        "Call `erase-1` of `erase`",
        turn.conversation_id,
        "on behalf of Operator",
        'Its arguments: {"what":"milk"}',
        "was asked to sign it with a passkey",
        "approved with the passkey",
        "What the person had written, as the loop says: “remove the milk”",
        "The policy was asked about: ",
        "before it ran",
        ": ok.",
        "Its result: did erase milk",
        "all of them are covered by the newest checkpoint",
    ):
        assert part in account, account
    code, account = await audit(scene, "explain", "note-2")
    assert "under the grant" in account
    code, account = await audit(scene, "explain", "erase-2")
    assert "Operator" in account
    assert "said no." in account
    assert "was closed without having run" in account
    code, account = await audit(scene, "explain", "admin")
    assert "`admin.operators-only` (Only operators may use administrative tools)" in account
    assert "It said no." in account
    # What the agent wrote cannot turn the reading direction of the terminal.
    assert "\u202e" not in account


@pytest.mark.asyncio(loop_scope="module")
async def test_an_id_that_two_conversations_use_must_be_told_apart(told: tuple[Scene, Turn, Turn]) -> None:
    scene, turn, other = told
    code, output = await audit(scene, "explain", "peek-1")
    assert code == 2
    assert turn.conversation_id in output
    assert other.conversation_id in output
    code, output = await audit(scene, "explain", "peek-1", "--conversation", other.conversation_id)
    assert (code, other.conversation_id in output, "by itself" in output) == (0, True, True)
    code, output = await audit(scene, "explain", "nothing")
    assert (code, "no call `nothing` is on record" in output, "Traceback" in output) == (2, True, False)


async def replayed(scene: Scene, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    code, output = await audit(scene, "replay", "--json", *arguments)
    decided = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return code, {each["call_id"]: each for each in decided}


@pytest.mark.asyncio(loop_scope="module")
async def test_each_decision_of_a_conversation_comes_out_the_same_again(told: tuple[Scene, Turn, Turn]) -> None:
    scene, turn, _ = told
    code, decided = await replayed(scene, turn.conversation_id)
    assert code == 0, decided
    assert {call: each["finding"] for call, each in decided.items()} == {
        **dict.fromkeys(("peek-1", "note-1", "erase-1", "erase-2", "note-2", "unknown", "admin", "stale"), "same"),
        "wrong": "notRepeatable",
    }
    code, output = await audit(scene, "replay", turn.conversation_id)
    assert "9 decisions: 8 came out the same, 0 differently, 1 cannot be made again from the records." in output
    code, output = await audit(scene, "replay", "cnv_nowhere")
    assert (code, "is on record" in output) == (2, True)


@pytest.mark.parametrize(
    ("change", "call"),
    [
        # It asked for consent, and is said to have run by itself.
        ('UPDATE leaves SET body = replace(body, \'"decision":"consented"\', \'"decision":"auto"\')', "note-1"),
        # What the policy was asked is made harmless.
        (CHANGE_PAYLOAD.format("destructive", "read", "call:intended"), "erase-1"),
        # A no is turned into a yes.
        ('UPDATE leaves SET body = replace(body, \'"status":"denied"\', \'"status":"approved"\')', "erase-2"),
        # A tool that was offered is said to be none.
        (CHANGE_PAYLOAD.format("no_such_tool", "peek", "notAdvertised"), "unknown"),
        # A turn never ended.
        ("UPDATE leaves SET body = replace(body, 'turn:ended', 'message:appended')", "stale"),
        # A refusal for what is allowed.
        (CHANGE_PAYLOAD.format('"category":"admin"', '"category":"read"', "forbidden"), "admin"),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_record_that_says_otherwise_than_its_inputs_is_noticed(
    told: tuple[Scene, Turn, Turn], tmp_path: Path, change: str, call: str
) -> None:
    scene, turn, _ = told
    with open_stored_log(forge(scene, tmp_path / "forged", change)) as stored:
        rows = read_rows(stored.connection, stored.places.of_conversation(turn.conversation_id))
        digests = {row.body["snapshotDigest"] for row in rows if row.body.get("snapshotDigest") is not None}
        decided = replay_conversation(rows, read_offers(stored.connection, digests), RecordedPolicies.of(stored))
    assert call in {each.call_id for each in decided if each.finding is Repetition.DIFFERENT}


@pytest.mark.asyncio(loop_scope="module")
async def test_two_conversations_stand_side_by_side(told: tuple[Scene, Turn, Turn]) -> None:
    scene, turn, other = told
    code, output = await audit(scene, "compare", turn.conversation_id, other.conversation_id)
    lines = output.splitlines()[1:]
    assert code == 1
    assert [line.count("  =  ") for line in lines].count(1) == 1
    assert sum("  <" in line for line in lines) == 8
    code, output = await audit(scene, "compare", other.conversation_id, other.conversation_id)
    assert code == 0, output
