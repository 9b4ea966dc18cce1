"""What ends by itself, what survives a restart, and what a policy or an operator changes while people work.

docs/SECURITY.md cases 1, 9, 31 and 65; docs/PROTOCOL.md section 7 rows 6, 8, 10, 12 and 14.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from tests.harness.http import Browser
from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import RpcError, Socket
from tests.scenarios.conftest import make_gateway
from tests.scenarios.staging import PATIENCE, POLICY, edit, finish, stage

# ── the policy ──


@pytest.mark.requirement("002-52", "a new policy voids the snapshot, and a refresh makes the table of the new version")
@pytest.mark.requirement("002-32", "a new policy refuses calls under the old snapshot, also one that was just approved")
async def test_row_8_a_new_policy_voids_open_snapshots_and_says_so_to_both_sides(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        waiting = await turn.start("note", {"what": "milk"}, "c1")
        approval_id = await scene.asked("c1")
        edit(scene.gateway, "default.cedar", "This changes files, so it needs your yes", "This changes files, so you are asked")
        scene.gateway.send(signal.SIGHUP)
        revoked = await scene.shell.notification("snapshot/revoked", snapshotId=turn.snapshot["id"])
        assert revoked["reason"] == "policyChanged"
        version = (await scene.shell.notification("policy/changed"))["policyVersion"]
        assert (await scene.console.notification("policy/changed"))["policyVersion"] == version != turn.snapshot["policyVersion"]
        result = await turn.invoke("peek", {"what": "a"})
        assert (result["outcome"], result["reason"]) == ("refusedByPolicy", "policyChanged")
        # Row 14: what was asked under the old policy is not asked any more.
        assert (await finish(waiting))["reason"] == "policyChanged"
        opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
        assert opened["approval"]["status"] == "cancelled"
        assert "challenge" not in opened
        assert scene.effects(turn.conversation_id) == []
        turn_ref = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
        turn.snapshot = (await scene.shell.call("turns/refresh", turn_ref))["snapshot"]
        assert turn.snapshot["policyVersion"] == version
        assert (await turn.invoke("peek", {"what": "a"}))["outcome"] == "ok"


BROKEN = {
    "a rule that does not parse": ("default.cedar", "permit (", "permit ("[::-1]),
    "a rule about nothing that exists": ("default.cedar", 'Countersign::Category::"read"', "Countersign::Nonsense"),
    "a profile without its quota": ("profiles.toml", "calls_per_turn = 40\n", ""),
    "no TOML": ("profiles.toml", "[operator]", "[operator"),
}


@pytest.mark.requirement("002-08", "a policy that does not load leaves the last good one in force")
async def test_case_65_a_broken_policy_changes_nothing_and_the_last_good_one_stays_in_force(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        turn = await scene.begin()
        for number, (document, old, new) in enumerate(BROKEN.values(), start=1):
            before = (scene.gateway.home / "policy" / document).read_text()
            edit(scene.gateway, document, old, new)
            scene.gateway.send(signal.SIGHUP)
            await scene.gateway.wait_for(re.compile("(?s)" + ".*the policy was not reloaded" * number))
            (scene.gateway.home / "policy" / document).write_text(before)
            # The snapshot is still good, and so is the rule that asks.
            assert (await turn.invoke("peek", {"what": "a"}))["outcome"] == "ok"
            call = await turn.start("note", {"what": "milk"})
            approval = (await scene.shell.notification("approvals/requested"))["approval"]
            # Approved: a no would stand for the rest of the turn.
            await scene.ada.answer(scene.console, approval["id"])
            assert (await finish(call))["outcome"] == "ok"
        shutil.move(scene.gateway.home / "policy", scene.gateway.home / "elsewhere")
        scene.gateway.send(signal.SIGHUP)
        await scene.gateway.wait_for(re.compile("(?s)" + ".*the policy was not reloaded" * (len(BROKEN) + 1)))
        assert (await turn.invoke("peek", {"what": "a"}))["outcome"] == "ok"


@pytest.mark.requirement("002-08", "without a policy that loads nothing is served")
async def test_case_65_without_any_good_policy_the_gateway_does_not_start(tmp_path: Path) -> None:
    shutil.copytree(POLICY, tmp_path / "policy")
    gateway = make_gateway(tmp_path, COUNTERSIGN_POLICY=str(tmp_path / "policy"))
    edit(gateway, "default.cedar", "permit (", "permit")
    (tmp_path / "policy" / "default.cedar").write_text("permit (")
    code, output = await gateway.run("serve")
    assert code == 2, output
    assert "default.cedar" in output
    assert "Traceback" not in output


# ── quotas ──


@pytest.mark.requirement("002-55", "calls per turn and per session are limited, over a restart too")
@pytest.mark.requirement("002-67", "calls per session are counted on the server and survive a restart")
async def test_row_10_a_used_up_turn_or_session_refuses_before_anybody_is_asked(tmp_path: Path) -> None:
    shutil.copytree(POLICY, tmp_path / "small")
    profiles = tmp_path / "small" / "profiles.toml"
    small = profiles.read_text().replace("calls_per_turn = 40", "calls_per_turn = 2")
    profiles.write_text(small.replace("calls_per_session = 2_000", "calls_per_session = 3"))
    gateway = make_gateway(tmp_path, COUNTERSIGN_POLICY=str(tmp_path / "small"))
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    shell, console = await ada.agent(), await ada.console()
    limits = (await shell.call("session/describe"))["limits"]
    assert (limits["callsPerTurn"], limits["callsPerSession"]) == (2, 3)
    turn = await Turn.begin(shell)
    assert [(await turn.invoke("peek", {"what": "a"}))["outcome"] for _ in range(2)] == ["ok", "ok"]
    over = await turn.invoke("note", {"what": "milk"})
    assert (over["outcome"], over["reason"]) == ("refusedByPolicy", "quotaExceeded")
    # A new snapshot is no new turn, and a new turn no new session.
    place = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
    turn.snapshot = (await shell.call("turns/refresh", place))["snapshot"]
    assert (await turn.invoke("peek", {"what": "a"}))["reason"] == "quotaExceeded"
    later = await Turn.begin(shell, turn.conversation_id)
    assert (await later.invoke("peek", {"what": "a"}))["outcome"] == "ok"
    other = await Turn.begin(shell)
    assert (await other.invoke("peek", {"what": "a"}))["reason"] == "quotaExceeded"
    # Nor does a restart forget.
    await ada.leave()
    await gateway.kill()
    await gateway.start()
    shell, console = await ada.agent(), await ada.console()
    again = await Turn.begin(shell)
    assert (await again.invoke("peek", {"what": "a"}))["reason"] == "quotaExceeded"
    assert (await console.call("approvals/list"))["approvals"] == []
    await ada.leave()
    assert await gateway.stop() == 0


@pytest.mark.requirement("002-67", "what a session may store is limited")
async def test_a_tab_that_floods_the_record_is_cut_off_before_the_disk_is_full_and_nothing_of_it_runs(tmp_path: Path) -> None:
    shutil.copytree(POLICY, tmp_path / "small")
    profiles = tmp_path / "small" / "profiles.toml"
    profiles.write_text(profiles.read_text().replace("stored_megabytes_per_session = 256", "stored_megabytes_per_session = 1"))
    gateway = make_gateway(tmp_path, COUNTERSIGN_POLICY=str(tmp_path / "small"))
    await gateway.start()
    ada = await Person.at(gateway).arrive()
    shell = await ada.agent()
    turn = await Turn.begin(shell)
    # A refusal is on record with its arguments, so ten of these fill a megabyte.
    flood = {"what": "x" * 100_000}
    refusals = [await turn.invoke("nothing_like_this", flood, f"c{number}") for number in range(9)]
    assert {refused["outcome"] for refused in refusals} == {"unknownTool"}
    message = {"role": "user", "content": "more"}
    for method, params in (
        ("tools/invoke", turn.request("nothing_like_this", flood, "c10")),
        ("turns/begin", {"conversationId": turn.conversation_id, "message": {**message, "content": "x" * 100_000}}),
        ("messages/append", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"], "message": message}),
        ("tools/invoke", turn.request("peek", {"what": "a"}, "late")),
        ("conversations/open", {}),
    ):
        with pytest.raises(RpcError) as refused:
            await shell.call(method, params)
        assert refused.value.code == -32002, method
    # What is known already is still told.
    assert (await turn.invoke("nothing_like_this", flood, "c0"))["replayed"] is True
    listed = await shell.call("tools/list-calls", {"conversationId": turn.conversation_id})
    assert [each["call"]["id"] for each in listed["calls"]] == [f"c{number}" for number in range(9)]
    # Another session of the same person, which only the console can give, is not held to account for it.
    assert (await ada.open_shell()).status in (302, 303)
    other = await Turn.begin(await ada.agent())
    assert (await other.invoke("peek", {"what": "a"}))["outcome"] == "ok"
    await ada.leave()
    assert await gateway.stop() == 0


# ── time ──


async def test_rows_12_and_13_a_question_that_nobody_answers_times_out_and_a_late_approval_is_refused(tmp_path: Path) -> None:
    async with stage(tmp_path, COUNTERSIGN_APPROVAL_SECONDS="1") as scene:
        turn = await scene.begin()
        for number, tool in enumerate(("note", "erase")):
            call = await turn.start(tool, {"what": "milk"}, f"c{number}")
            opened = await scene.console.call("approvals/get", {"approvalId": await scene.asked(f"c{number}")})
            result = await finish(call)
            assert (result["outcome"], result["reason"]) == ("timedOut", "approvalExpired")
            resolved = await scene.console.notification("approvals/resolved", callId=f"c{number}")
            assert resolved["status"] == "expired"
            try:
                await scene.console.call("approvals/decide", scene.ada.decision(opened))
            except RpcError as refused:
                assert refused.code in (-32003, -32004)  # noqa: PT017 - an expired approval may be gone already
            else:
                raise AssertionError("a late yes was taken")
        assert scene.effects(turn.conversation_id) == []
        # The late answer does not revive it, and the same call again gets the same answer.
        assert (await turn.invoke("erase", {"what": "milk"}, "c1"))["reason"] == "approvalExpired"


@pytest.mark.requirement("002-28", "a snapshot runs out, also under a call that waits for its approval")
async def test_row_6_a_snapshot_that_has_run_out_runs_nothing_until_it_is_refreshed(tmp_path: Path) -> None:
    async with stage(tmp_path, COUNTERSIGN_SNAPSHOT_SECONDS="1") as scene:
        turn = await scene.begin()
        call = await turn.start("note", {"what": "milk"}, "in-time")
        await scene.asked("in-time")
        async with asyncio.timeout(PATIENCE):
            while (await turn.invoke("peek", {"what": "a"})).get("reason") != "snapshotExpired":
                await asyncio.sleep(0.1)
        # Its question waits no longer than the snapshot.
        result = await finish(call)
        assert (result["outcome"], result["reason"]) == ("timedOut", "approvalExpired")
        place = {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]}
        turn.snapshot = (await scene.shell.call("turns/refresh", place))["snapshot"]
        assert (await turn.invoke("peek", {"what": "fresh"}))["outcome"] == "ok"
        assert not any("note" in line for line in scene.effects(turn.conversation_id))


@pytest.mark.requirement("002-32", "a lost tab's calls and questions are cancelled when the grace period ends")
async def test_the_end_of_the_grace_period_cancels_what_ran_and_what_waited(tmp_path: Path) -> None:
    async with stage(tmp_path, COUNTERSIGN_GRACE_SECONDS="0.5") as scene:
        lost = await scene.ada.agent()
        turn = await Turn.begin(lost)
        await turn.start("linger", {}, "running")
        await lost.notification("tools/progress", callId="running")
        await turn.start("note", {"what": "milk"}, "waiting")
        approval_id = (await scene.console.notification("approvals/requested"))["approval"]["id"]
        opened = await scene.console.call("approvals/get", {"approvalId": approval_id})
        lost.drop()
        assert (await scene.console.notification("approvals/resolved", approvalId=approval_id))["status"] == "cancelled"
        calls = await scene.shell.call("tools/list-calls", {"conversationId": turn.conversation_id})
        async with asyncio.timeout(PATIENCE):
            while {each["state"] for each in calls["calls"]} != {"closed"}:
                await asyncio.sleep(0.05)
                calls = await scene.shell.call("tools/list-calls", {"conversationId": turn.conversation_id})
        assert {(each["result"]["outcome"], each["result"]["reason"]) for each in calls["calls"]} == {
            ("cancelled", "sessionEnded")
        }
        assert "openTurn" not in await scene.shell.call("conversations/open", {"conversationId": turn.conversation_id})
        try:
            await scene.console.call("approvals/decide", scene.ada.decision(opened))
        except RpcError as refused:
            assert refused.code in (-32003, -32004)  # noqa: PT017 - either word is right
        else:
            raise AssertionError("a yes was taken for a turn that is over")
        assert scene.effects(turn.conversation_id) == ["running linger"]


# ── restarts ──


@pytest.mark.requirement("002-56", "conversation, grants and open questions survive a kill and a restart")
@pytest.mark.requirement("002-84", "sessions are kept by the server and survive its restart")
async def test_a_restart_keeps_sessions_conversations_grants_and_what_waits_for_an_answer(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        gateway, ada = scene.gateway, scene.ada
        turn = await scene.begin()
        granted = await turn.start("note", {"what": "bread"}, "c1")
        await ada.answer(scene.console, await scene.asked("c1"), scope="session")
        assert (await finish(granted))["outcome"] == "ok"
        await turn.start("erase", {"what": "old"}, "c2")
        approval_id = await scene.asked("c2")
        before = await scene.console.call("approvals/get", {"approvalId": approval_id})
        await gateway.kill()
        await gateway.start()
        shell, console = await ada.agent(), await ada.console()
        opened = await console.call("approvals/get", {"approvalId": approval_id})
        assert opened["statement"] == before["statement"]
        rebound = await shell.call("conversations/open", {"conversationId": turn.conversation_id})
        turn.socket, turn.snapshot = shell, rebound["openTurn"]["snapshot"]
        waiting = await turn.start("erase", {"what": "old"}, "c2")
        await console.call("approvals/decide", ada.decision(opened))
        result = await finish(waiting)
        assert (result["outcome"], result["replayed"]) == ("ok", True)
        assert (await turn.invoke("note", {"what": "bread"}, "c3"))["outcome"] == "ok"
        assert scene.effects(turn.conversation_id) == ["c1 note bread 1", "c2 erase old", "c3 note bread 1"]
        # Somebody without a cookie is nobody after a restart too.
        assert (await Browser(gateway.port).post(f"{gateway.console_origin}/signout")).status == 401
        code, output = await gateway.run("audit", "verify")
        assert code == 0, output


async def test_a_turn_that_nobody_binds_again_has_one_grace_period_over_all_restarts(tmp_path: Path) -> None:
    async with stage(tmp_path, COUNTERSIGN_GRACE_SECONDS="600") as scene:
        gateway, turn = scene.gateway, await scene.begin()
        await turn.start("note", {"what": "milk"}, "waiting")
        approval_id = await scene.asked("waiting")
        since = [await restarted(gateway) for _ in range(2)]
        assert since[0] == since[1]
        console, shell = await scene.ada.console(), await scene.ada.agent()
        assert await pending(console) == [approval_id]
        bound = await shell.call("conversations/open", {"conversationId": turn.conversation_id})
        assert bound["openTurn"]["turnId"] == turn.snapshot["turnId"]
        # It was bound, so what it waited before counts no more.
        assert await restarted(gateway) != since[1]
        await gateway.kill()
        with sqlite3.connect(gateway.state / "ledger.db") as database:
            assert database.execute("UPDATE turns SET suspended_at = suspended_at - 600000").rowcount == 1
        database.close()
        await gateway.start()
        console, shell = await scene.ada.console(), await scene.ada.agent()
        async with asyncio.timeout(PATIENCE):
            while await pending(console):
                await asyncio.sleep(0.05)
        assert "openTurn" not in await shell.call("conversations/open", {"conversationId": turn.conversation_id})
        ended = (await console.call("audit/list", {"filter": {"event": "turn:ended"}}))["entries"]
        assert [each["body"]["reason"] for each in ended] == ["connectionLost"]


async def restarted(gateway: GatewayProcess) -> int:
    """Since when the only turn waits to be bound again, after a kill and a start."""
    await gateway.kill()
    await gateway.start()
    with sqlite3.connect(f"file:{gateway.state / 'ledger.db'}?mode=ro", uri=True) as database:
        ((since,),) = database.execute("SELECT suspended_at FROM turns").fetchall()
    database.close()
    return int(since)


async def pending(console: Socket) -> list[str]:
    """The ids of the questions that wait."""
    return [each["id"] for each in (await console.call("approvals/list", {"status": "pending"}))["approvals"]]
